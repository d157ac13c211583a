"""The node cases of the onnx package through ONNX Runtime's CANN provider.

    jumar run -- python nodes.py                 all cases; compares with refused.txt
    jumar run -- python nodes.py --update        all cases; writes refused.txt
    jumar run -- python nodes.py test_add test_relu

A case passes if its outputs are those of the suite, or those of ONNX Runtime's CPU provider where the suite expects something
else. A case may fail with an error that ONNX Runtime or its provider reports, and then stands in refused.txt with the reason. Wrong
values and crashes are never listed: they fail.

Cases with tensors of strings are left out: ONNX Runtime constructs the objects of its strings in the provider's memory and copies their
bytes there and back, so that two owners free each string, whatever the device does.
"""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
LISTED = HERE / "refused.txt"
LIMIT = 60


def cases():
    from onnx.backend.test.loader import load_model_tests

    return {case.name: case for case in load_model_tests(kind="node")}


def arrays(folder, model):
    """The inputs by name and the expected outputs of a data set."""
    import onnx

    def load(name, value):
        path = folder / name
        kind = value.type.WhichOneof("value")
        if kind == "sequence_type":
            proto = onnx.SequenceProto.FromString(path.read_bytes())
            return onnx.numpy_helper.to_list(proto)
        if kind == "optional_type":
            proto = onnx.OptionalProto.FromString(path.read_bytes())
            return onnx.numpy_helper.to_optional(proto)
        return onnx.numpy_helper.to_array(onnx.TensorProto.FromString(path.read_bytes()))

    stored = {one.name for one in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in stored]
    given = {value.name: load(f"input_{index}.pb", value) for index, value in enumerate(inputs)}
    return given, [load(f"output_{index}.pb", value) for index, value in enumerate(model.graph.output)]


def difference(found, wanted, rtol, atol):
    import numpy as np

    if isinstance(wanted, list):
        if len(found) != len(wanted):
            return f"{len(found)} elements, expected {len(wanted)}"
        for one, other in zip(found, wanted):
            text = difference(one, other, rtol, atol)
            if text:
                return text
        return ""
    if wanted is None:
        return "" if found is None else "a value, expected none"
    found, wanted = np.asarray(found), np.asarray(wanted)
    if found.shape != wanted.shape:
        return f"shape {list(found.shape)}, expected {list(wanted.shape)}"
    if found.dtype != wanted.dtype:
        return f"type {found.dtype}, expected {wanted.dtype}"
    if wanted.dtype == object or wanted.dtype.kind in "SU":
        return "" if (found == wanted).all() else "another text"
    # Half precision: the suite rounds after each step, an implementation once at the end.
    if wanted.dtype == np.float16:
        rtol = max(rtol, 2 * 2.0**-10)
    # Where large numbers cancel, results are off by a unit of the largest.
    if wanted.dtype.kind == "f" and wanted.size:
        finite = np.abs(wanted[np.isfinite(wanted)].astype(np.float64))
        unit = 2.0**-10 if wanted.dtype == np.float16 else 2.0**-23
        atol = max(atol, unit * float(finite.max(initial=0.0)))
    near = np.isclose(found, wanted, rtol=rtol, atol=atol, equal_nan=True)
    if near.all():
        return ""
    at = tuple(int(i) for i in np.argwhere(~near)[0])
    return f"{int((~near).sum())} of {near.size} values differ, first at {list(at)}: {found[at]}, expected {wanted[at]}"


def has_strings(model):
    """Whether a string tensor enters or leaves the graph, or a value of it is one."""
    import onnx

    graph = model.graph
    for value in [*graph.input, *graph.output, *graph.value_info]:
        kind = value.type.WhichOneof("value")
        of = value.type
        while kind in ("sequence_type", "optional_type"):
            of = getattr(of, kind).elem_type
            kind = of.WhichOneof("value")
        if kind == "tensor_type" and of.tensor_type.elem_type == onnx.TensorProto.STRING:
            return True
    return any(node.domain == "ai.onnx.ml" and any(attr.strings or attr.t.string_data for attr in node.attribute) for node in graph.node)


# Cases whose expected outputs are drawn at random: the shapes and types count.
RANDOM = re.compile(r"test_bernoulli|test_training_dropout_(?!zero_ratio)|test_dropout_random")


def same_as_on_the_cpu(folder, given, index, found, case):
    import onnxruntime

    try:
        session = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
        wanted = session.run(None, given)[index]
    except Exception:  # noqa: BLE001 - it has no opinion then
        return False
    return not difference(found, wanted, case.rtol, case.atol)


def run_case(case):
    """Returns what became of a case: right, refused, strings or wrong, and why."""
    import onnx
    import onnxruntime

    folder = pathlib.Path(case.model_dir)
    model = onnx.load(folder / "model.onnx")
    if has_strings(model):
        return "strings", ""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    provider = ("CANNExecutionProvider", {"device_id": 0, "enable_cann_graph": True})
    try:
        session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options, providers=[provider, "CPUExecutionProvider"])
    except Exception as error:  # noqa: BLE001 - every kind of refusal of the session is one
        return "refused", str(error)
    if "CANNExecutionProvider" not in session.get_providers():
        return "wrong", "the session has no CANN provider"
    for data in sorted(folder.glob("test_data_set_*")):
        given, wanted = arrays(data, model)
        try:
            found = session.run(None, given)
        except Exception as error:  # noqa: BLE001
            return "refused", str(error)
        for index, (one, other) in enumerate(zip(found, wanted)):
            if RANDOM.search(case.name):
                if one.shape != other.shape or one.dtype != other.dtype:
                    return "wrong", f"output {index}: {one.shape} {one.dtype}, expected {other.shape} {other.dtype}"
                continue
            # JPEG leaves the rounding of its inverse transform and of colours to the decoder: two steps of 256.
            atol = 2.0 if "_decode_jpeg_" in case.name else case.atol
            text = difference(one, other, case.rtol, atol)
            if text and not same_as_on_the_cpu(folder, given, index, one, case):
                return "wrong", f"output {index}: {text}"
    return "right", ""


def work():
    """Runs the cases that come on standard input, and prints a line of JSON for each."""
    import tempfile

    known = cases()
    answers = os.fdopen(os.dup(1), "w")
    # The provider drops Jumar's sentences. The log has them, on standard output.
    with tempfile.TemporaryFile() as log:
        os.dup2(log.fileno(), 1)
        for line in sys.stdin:
            how, why = run_case(known[line.strip()])
            log.seek(0)
            sentences = re.findall(r"\[ERROR\] (?:GE|ASCENDCL)\(.*? (E\w\d+: .*)", log.read().decode(errors="replace"))
            log.truncate(0)
            log.seek(0)
            answers.write(json.dumps([how, sentences[-1] if how == "refused" and sentences else why]) + "\n")
            answers.flush()


class Worker:
    """A process that runs cases. It is started again after a case that ends it."""

    def __init__(self, folder):
        self.folder, self.process = folder, None

    def run(self, name):
        if self.process is None:
            self.said = collections.deque(maxlen=30)
            self.process = subprocess.Popen(
                [sys.executable, __file__, "--work"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                text=True, cwd=self.folder, env=dict(os.environ, ASCEND_SLOG_PRINT_TO_STDOUT="1"))
            threading.Thread(target=lambda pipe=self.process.stderr: self.said.extend(pipe), daemon=True).start()
        timer = threading.Timer(LIMIT, self.process.kill)
        timer.start()
        try:
            self.process.stdin.write(name + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except OSError:
            line = ""
        timer.cancel()
        if line:
            return json.loads(line)
        code, self.process = self.process.wait(), None
        return "crashed", f"status {code}: {''.join(self.said)[-600:]}"

    def stop(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait(60)


def reason(text):
    """The sentence of a refusal without numbers and paths that differ between runs."""
    text = re.sub(r"^\[ONNXRuntimeError\] : \d+ : ", "", text.strip())
    text = re.sub(r"^.*Status Message: ", "", text, flags=re.DOTALL)
    line = text.splitlines()[0] if text else "no text"
    line = re.sub(r"/\S*/", "", line)
    line = re.sub(r"_\d{6,}(_\d+)*", "", line)
    line = re.sub(r"\bstream \d+", "a stream", line)
    return line[:200].rstrip()


def main(arguments):
    import tempfile

    update = "--update" in arguments
    chosen = [one for one in arguments if not one.startswith("--")]
    names = sorted(name for name in cases() if not chosen or name in chosen)
    listed = dict(line.split("\t", 1) for line in LISTED.read_text().splitlines() if line and not line.startswith("#")) if LISTED.exists() else {}
    found, problems = {}, []
    with tempfile.TemporaryDirectory() as folder:
        worker = Worker(folder)
        for name in names:
            found[name] = worker.run(name)
            how, why = found[name]
            if how in ("wrong", "crashed"):
                problems.append(f"{name}: {how}: {why}")
            elif how == "refused" and name not in listed and not update:
                problems.append(f"{name}: refused, and not in refused.txt: {why}")
            elif how == "right" and name in listed and not update:
                problems.append(f"{name}: runs, so its line in refused.txt has to go")
        worker.stop()
    count = collections.Counter(how for how, _ in found.values())
    if update:
        lines = ["# Node cases of onnx 1.17.0 that ONNX Runtime 1.24.4 or its CANN provider refuses, with its reason.",
                 "# Written by `nodes.py --update`."]
        lines += [f"{name}\t{reason(why)}" for name, (how, why) in sorted(found.items()) if how == "refused"]
        LISTED.write_text("\n".join(lines) + "\n")
    print("\n".join(problems))
    print(", ".join(f"{count[how]} {how}" for how in ["right", "refused", "strings", "wrong", "crashed"]))
    return 1 if problems else 0


if __name__ == "__main__":
    if "--work" in sys.argv:
        work()
    else:
        sys.exit(main(sys.argv[1:]))
