"""Runs the cases that it reads from its standard input, one per line, and prints one line of JSON for each.

`acl`: converts with the command atc and executes through the acl module, as a user's program does.
`host`: the same conversion and kernels through the model runner of jumar-graph, without the shared library: for
work on an operator without a build of the install tree.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx

import cases

SUCCESS, H2D, D2H, HUGE_FIRST = 0, 1, 2, 0


class Refused(Exception):
    """atc did not convert the model; the text is what it said."""


class Failed(Exception):
    """The model was converted, and did not give what it has to."""


# The distance of two neighbouring numbers, relative to their size.
UNITS = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}


def tolerance(case, wanted):
    """The suite's relative and absolute tolerance, with two allowances for expectations that no exact computation produces.

    Its half-precision results are rounded after every step; ours, computed in float32, once at the end: two units in the
    last place. Where large numbers cancel, its results are off by a unit of the largest (a transform of a transform). And JPEG
    leaves to the decoder how its inverse transform and the change of colours round: two steps of brightness of 256.
    """
    if case.operator == "ImageDecoder" and "jpeg_" in case.name:
        return 0.0, 2.0
    unit = UNITS.get(wanted.dtype.name, 0.0)
    rtol = max(case.rtol, 2 * unit) if unit > 2.0**-23 else case.rtol
    finite = wanted[np.isfinite(wanted)] if unit else np.zeros(0)
    largest = float(np.max(np.abs(finite.astype(np.float64)), initial=0.0))
    return rtol, max(case.atol, unit * largest)


def compare(found, wanted, case):
    if len(found) != len(wanted):
        raise Failed(f"{len(found)} outputs, {len(wanted)} expected")
    for index, (a, b) in enumerate(zip(found, wanted)):
        if a.dtype != b.dtype:
            raise Failed(f"output {index} is {a.dtype}, has to be {b.dtype}")
        if a.shape != b.shape:
            raise Failed(f"output {index} has the shape {list(a.shape)}, has to have {list(b.shape)}")
        wide = np.complex128 if np.issubdtype(a.dtype, np.complexfloating) else np.float64
        exact = a.dtype == b.dtype and np.issubdtype(a.dtype, np.integer)
        if exact and np.array_equal(a, b):
            continue
        rtol, atol = tolerance(case, b)
        near = np.isclose(a.astype(wide), b.astype(wide), rtol=rtol, atol=atol, equal_nan=True)
        if not near.all():
            at = tuple(int(i) for i in np.argwhere(~near)[0])
            raise Failed(f"output {index} differs in {int((~near).sum())} of {near.size}, first at {list(at)}: {a[at]}, has to be {b[at]}")


def outputs_of(case, count):
    """The types of the outputs; those of a sequence are alike."""
    found = []
    for value in onnx.load_model_from_string(case.model).graph.output:
        type_ = value.type.optional_type.elem_type if value.type.WhichOneof("value") == "optional_type" else value.type
        if type_.WhichOneof("value") == "sequence_type":
            inner = type_.sequence_type.elem_type.tensor_type
            return [onnx.helper.tensor_dtype_to_np_dtype(inner.elem_type)] * count
        found.append(onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type))
    return found


class Acl:
    """Through atc and the acl module."""

    def __init__(self):
        import acl

        self.acl = acl
        self.check(acl.init(), "init")
        self.check(acl.rt.set_device(0), "set_device")

    def check(self, code, what):
        if code != SUCCESS:
            text = self.acl.get_recent_err_msg() or ""
            raise Failed(f"{what} gave {code}: {text.strip()}")

    def convert(self, path, case):
        command = ["atc", f"--model={path}", "--framework=5", f"--output={path.with_suffix('')}", "--soc_version=Ascend910B1"]
        if cases.shapes(case):
            command.append(f"--input_shape={cases.shapes(case)}")
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        if done.returncode < 0:
            raise Failed(f"atc ended by signal {-done.returncode}")
        if done.returncode or not path.with_suffix(".om").exists():
            raise Refused(done.stderr + done.stdout)
        return path.with_suffix(".om")

    def buffer(self, size, data=None):
        acl = self.acl
        # A tensor without elements has an address all the same.
        address, code = acl.rt.malloc(max(size, 1), HUGE_FIRST)
        self.check(code, "malloc")
        if data:
            self.check(acl.rt.memcpy(address, size, acl.util.bytes_to_ptr(data), len(data), H2D), "memcpy")
        handle = acl.create_data_buffer(address, size)
        return address, size, handle

    def run(self, path, case, inputs, expected):
        acl = self.acl
        model = self.convert(path, case)
        ident, code = acl.mdl.load_from_file(str(model))
        self.check(code, "load_from_file")
        description, buffers, sets = acl.mdl.create_desc(), [], []
        try:
            self.check(acl.mdl.get_desc(description, ident), "get_desc")
            count = acl.mdl.get_num_inputs(description)
            if count != len(inputs):
                raise Failed(f"the model has {count} inputs, and {len(inputs)} are given")
            made = []
            for array in inputs:
                data = np.ascontiguousarray(array).tobytes()
                made.append(self.buffer(len(data), data))
            ends = []
            for index in range(acl.mdl.get_num_outputs(description)):
                # A size of 0 means that the size is unknown before the model ran.
                size = acl.mdl.get_output_size_by_index(description, index) or expected[index].nbytes + 64
                ends.append(self.buffer(size))
            buffers = made + ends
            for list_ in (made, ends):
                dataset = acl.mdl.create_dataset()
                sets.append(dataset)
                for _, _, handle in list_:
                    self.check(acl.mdl.add_dataset_buffer(dataset, handle)[1], "add_dataset_buffer")
            self.check(acl.mdl.execute(ident, *sets), "execute")
            found = []
            for index, ((address, size, _), dtype) in enumerate(zip(ends, outputs_of(case, len(ends)))):
                dims = self.dims(description, sets[1], index)
                wanted = int(np.prod(dims, dtype=np.int64)) * dtype.itemsize
                if wanted > size:
                    raise Failed(f"output {index} has the shape {dims} and a buffer of {size} bytes")
                host = bytes(wanted)
                if wanted:
                    pointer = acl.util.bytes_to_ptr(host)
                    self.check(acl.rt.memcpy(pointer, wanted, address, wanted, D2H), "memcpy")
                found.append(np.frombuffer(host, dtype).reshape(dims))
            return found
        finally:
            for address, _, handle in buffers:
                acl.destroy_data_buffer(handle)
                acl.rt.free(address)
            for dataset in sets:
                acl.mdl.destroy_dataset(dataset)
            acl.mdl.destroy_desc(description)
            acl.mdl.unload(ident)

    def dims(self, description, dataset, index):
        acl = self.acl
        dims, code = acl.mdl.get_cur_output_dims(description, index)
        self.check(code, "get_cur_output_dims")
        dims = dims["dims"]
        if min(dims, default=0) >= 0:
            return dims
        # Its size was decided by the values: the dataset says it afterwards.
        tensor = acl.mdl.get_dataset_tensor_desc(dataset, index)
        if not tensor:
            raise Failed(f"get_dataset_tensor_desc gave nothing for output {index}, whose dims are {dims}")
        rank = acl.get_tensor_desc_num_dims(tensor)
        return [acl.get_tensor_desc_dim_v2(tensor, axis)[0] for axis in range(rank)]


class Host:
    """Through the runner of jumar-graph."""

    def __init__(self):
        self.runner = os.environ["JUMAR_RUN_MODEL"]

    def run(self, path, case, inputs, expected):
        files = []
        for index, array in enumerate(inputs):
            file = path.parent / f"input_{index}.bin"
            file.write_bytes(np.ascontiguousarray(array).tobytes())
            files.append(str(file))
        command = [self.runner, str(path), str(path.parent), "--shape", cases.shapes(case), *files]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        if done.returncode == 1 and "loaded in" not in done.stderr:
            raise Refused(done.stderr)
        if done.returncode:
            raise Failed(f"the runner ended with {done.returncode}: {done.stderr[-600:]}")
        found = []
        lines = (path.parent / "description.txt").read_text().splitlines()
        for index, (line, dtype) in enumerate(zip(lines, outputs_of(case, len(lines)))):
            dims = line.split(" ", 2)[1]
            dims = [int(d) for d in dims.split(",")] if dims else []
            data = (path.parent / f"output_{index}.bin").read_bytes()
            found.append(np.frombuffer(data, dtype)[: int(np.prod(dims))].reshape(dims))
        return found


def answer(runner, case):
    """Returns pass, wrong or unsupported, and the message."""
    with tempfile.TemporaryDirectory(prefix="node-") as folder:
        path = pathlib.Path(folder) / "case.onnx"
        path.write_bytes(case.model)
        try:
            with np.errstate(all="ignore"):
                for inputs, wanted in case.data:
                    inputs, wanted = cases.tensors(inputs), cases.tensors(wanted)
                    compare(runner.run(path, case, inputs, wanted), wanted, case)
        except Refused as refusal:
            return "unsupported", str(refusal).strip()
        except Failed as failure:
            return "wrong", str(failure)
        except subprocess.TimeoutExpired:
            return "wrong", "it took longer than 60 s"
        return "pass", ""


def main():
    # The answers go to the real standard output, whatever a library prints.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    runner = {"acl": Acl, "host": Host}[sys.argv[1]]()
    known = {case.name: case for case in cases.load()}
    for line in sys.stdin:
        result, text = answer(runner, known[line.strip()])
        out.write(json.dumps([line.strip(), result, text]) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
