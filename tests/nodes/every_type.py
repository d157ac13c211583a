"""Every standard operator in every type that its definition lists.

    python tests/nodes/every_type.py                    all operators; compares with untyped.txt
    python tests/nodes/every_type.py Softmax Gather     some operators, with what is said of each case
    python tests/nodes/every_type.py --keep FOLDER Add  leaves the models and tensors of the cases there

The definition is ONNX's own: for each type variable of an operator, at the newest operator set that atc reads, each type
that a tensor in memory can have here. The cases are the node cases of the onnx package, written anew for the type: their
tensors are rounded to it, and what must come out is computed by onnx's reference, in float64 for floats and in the
type itself for integers and booleans, and rounded once. A pair of an operator and a type without a case fails, and so does one
that is refused, unless untyped.txt lists it with its reason. Converts and computes through the runner of jumar-graph, which it
builds first: many models in one process.
"""

import argparse
import collections
import multiprocessing
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import warnings

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import cases

HERE = pathlib.Path(__file__).resolve().parent
LISTED = HERE / "untyped.txt"
SKIPPED = 77

# The types of tensors in memory, by the name that definitions use.
TYPES = {
    "bool": TensorProto.BOOL, "int8": TensorProto.INT8, "int16": TensorProto.INT16, "int32": TensorProto.INT32,
    "int64": TensorProto.INT64, "uint8": TensorProto.UINT8, "uint16": TensorProto.UINT16, "uint32": TensorProto.UINT32,
    "uint64": TensorProto.UINT64, "float16": TensorProto.FLOAT16, "bfloat16": TensorProto.BFLOAT16,
    "float": TensorProto.FLOAT, "double": TensorProto.DOUBLE,
}
NUMPY = {
    "bool": np.bool_, "float": np.float32, "double": np.float64, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16,
} | {f"{sign}int{bits}": np.dtype(f"{sign}int{bits}").type for sign in ("", "u") for bits in (8, 16, 32, 64)}
REAL = {"float16", "bfloat16", "float", "double"}
NAMES = {number: name for name, number in TYPES.items()}
# What a result may be off, relative to itself and to the largest: sums of a few numbers in float32, rounded once to the type.
# What onnx's reference itself computes in float32, or with constants in float32, however wide its inputs are.
COARSE = {"Adam", "AffineGrid", "DeformConv", "Erf", "Gelu", "GridSample", "GroupNormalization", "HardSwish", "Resize"}
# What its reference does step by step in float32, as the definition has it: the rounding to integers depends on it.
AS_IT_IS = {"DynamicQuantizeLinear"}
# The definition leaves open how interpolated values between integers are rounded: integer cases use nearest.
NEAREST = {"GridSample", "Resize"}
WITHIN = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float": 1e-5, "double": 1e-11}
# Operators that have to do with other things than tensors of numbers.
OTHER = ("Sequence", "SplitToSequence", "ConcatFromSequence", "Optional", "String", "Regex")
# Where no input has the type, the attribute that says it.
SAID_BY = {
    ("BlackmanWindow", "T2"): "output_datatype", ("HammingWindow", "T2"): "output_datatype", ("HannWindow", "T2"): "output_datatype",
    ("MelWeightMatrix", "T3"): "output_datatype", ("EyeLike", "T2"): "dtype", ("Cast", "T2"): "to",
    ("ConstantOfShape", "T2"): "value", ("Constant", "T"): "value", ("LayerNormalization", "U"): "stash_type",
}
# So many cases a type at most, one for each choice of inputs that node cases make.
FORMS = 4
# What no node case is about, and no case here either.
UNUSED = {"Gradient"}
# Types that have to go together, for want of another way to say the second.
TOGETHER = {("DequantizeLinear", "T2"): ["T3"], ("DequantizeLinear", "T3"): ["T2"],
            ("LinearAttention", "T"): ["S"]}


class Unfit(Exception):
    """A node case cannot be written in a type."""


class Typed:
    """A node case in one type."""

    def __init__(self, operator, variable, name, source, model, inputs, wanted, coarse=False):
        self.operator, self.variable, self.type, self.source = operator, variable, name, source
        self.model, self.inputs, self.wanted, self.coarse = model, inputs, wanted, coarse


def definitions():
    """Returns {operator: (schema, {variable: [types]})} of every operator that is about tensors of numbers."""
    found = {}
    for name, domain in sorted({(schema.name, schema.domain) for schema in onnx.defs.get_all_schemas()}):
        if domain not in cases.STANDARD:
            continue
        try:
            schema = onnx.defs.get_schema(name, 1 if domain else cases.NEWEST, domain)
        except onnx.defs.SchemaError:
            continue
        if schema.deprecated or name.startswith(OTHER) or name in cases.RANDOM or name in UNUSED:
            continue
        variables = {}
        for constraint in schema.type_constraints:
            types = [t for t in TYPES if f"tensor({t})" in constraint.allowed_type_strs]
            if types:
                variables[constraint.type_param_str] = types
        for formal in [*schema.inputs, *schema.outputs]:
            for t in TYPES:
                if formal.type_str == f"tensor({t})":
                    variables[formal.type_str] = [t]
        found[name] = (schema, variables)
    return found


def formals(schema, node):
    """Returns (name of the value, variable, whether it is an input) for every value of a node."""
    for given, defined, inwards in ((node.input, schema.inputs, True), (node.output, schema.outputs, False)):
        for index, name in enumerate(given):
            if name:
                yield name, defined[min(index, len(defined) - 1)].type_str, inwards


def convert(array, name):
    """Rounds numbers to a type, so that something is left of their differences."""
    array = np.asarray(array)
    to = NUMPY[name]
    if name in REAL or array.dtype == to:
        return array.astype(to)
    real = array.dtype.kind == "f" or array.dtype == ml_dtypes.bfloat16
    values = array.astype(np.float64) if real else array
    if name == "bool":
        middle = np.median(values) if real and values.size else 0
        return (values > middle) if real else (values != 0)
    if real:
        values = np.where(np.isfinite(values), values, 0)
        largest = float(np.max(np.abs(values), initial=0))
        whole = np.array_equal(values, np.round(values))
        if not whole and largest:
            values = values * (8 / largest)
        values = np.round(values)
    info = np.iinfo(to)
    if values.size and values.dtype != np.bool_:
        if float(values.min()) < info.min:
            values = np.abs(values)
        if float(values.max()) > info.max:
            values = values % 100
    return values.astype(to)


def single(case):
    """Returns the node of a case whose model is that node alone."""
    model = onnx.load_model_from_string(case.model)
    nodes = list(model.graph.node)
    if len(nodes) != 1 or nodes[0].op_type != case.operator or nodes[0].domain not in cases.STANDARD or model.graph.initializer:
        raise Unfit("the model is not one node")
    if any(a.type in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.STRINGS) and a.HasField("g") for a in nodes[0].attribute):
        raise Unfit("the node has a body")
    return model, nodes[0]


def set_type(value, number):
    value.type.tensor_type.elem_type = number


def written(case, schema, variable, name):
    """Writes a node case in a type. Raises Unfit where that makes no sense."""
    model, node = single(case)
    for opset in model.opset_import:
        if opset.domain in ("", "ai.onnx"):
            opset.version = cases.NEWEST
    model.ir_version = min(model.ir_version, 10)
    together = {variable, *TOGETHER.get((case.operator, variable), [])}
    bound = {value for value, of, _ in formals(schema, node) if of in together}
    if not bound:
        raise Unfit(f"no value is of {variable}")
    inwards = {value for value, of, inside in formals(schema, node) if of in together and inside}
    graph = model.graph
    inputs = tensors(case.data[0][0])
    given = {value.name: array for value, array in zip(graph.input, inputs)}
    if case.operator == "Mod" and name in REAL:
        del node.attribute[:]
        node.attribute.append(helper.make_attribute("fmod", 1))
    if case.operator in NEAREST and name not in REAL and variable == "T1":
        mode = [attribute.s for attribute in node.attribute if attribute.name == "mode"]
        if mode != [b"nearest"] and (mode or case.operator == "GridSample"):
            raise Unfit("it interpolates")
    if case.operator in ("Cast", "CastLike") and name not in REAL:
        # A value that does not fit into an integer has no defined value there.
        first = graph.input[0].name
        given[first] = np.clip(np.nan_to_num(given[first].astype(np.float64)), 0, 100).astype(given[first].dtype)
    said = SAID_BY.get((case.operator, variable))
    if said:
        kept = [attribute for attribute in node.attribute if attribute.name != said]
        del node.attribute[:]
        node.attribute.extend(kept)
        if said == "value":
            source = np.array([3 if name != "bool" else 1]) if case.operator == "ConstantOfShape" else np.arange(6).reshape(2, 3)
            node.attribute.append(helper.make_attribute(said, numpy_helper.from_array(source.astype(NUMPY[name]))))
        else:
            node.attribute.append(helper.make_attribute(said, TYPES[name]))
    elif not inwards and not all(NAMES.get(value.type.tensor_type.elem_type) == name for value in graph.output if value.name in bound):
        raise Unfit("nothing says the type of the output")
    for value in graph.input:
        if value.name in bound and value.name in inwards:
            given[value.name] = convert(given[value.name], name)
        set_type(value, helper.np_dtype_to_tensor_dtype(given[value.name].dtype))
    for value in graph.output:
        if value.name in bound:
            set_type(value, TYPES[name])
        elif NAMES.get(value.type.tensor_type.elem_type) is None:
            raise Unfit("an output is of a type that no tensor in memory has")
        for dim in value.type.tensor_type.shape.dim:
            dim.Clear()
    for value in graph.input:
        if NAMES.get(value.type.tensor_type.elem_type) is None:
            raise Unfit("an input is of a type that no tensor in memory has")
    try:
        onnx.checker.check_model(model)
    except Exception as error:
        raise Unfit(f"it is not a model: {' '.join(str(error).split())[:200]}") from error
    return model, given


def reference_result(model, given):
    """Computes a model with onnx's reference, floats in float64, and rounds the results to their types."""
    from onnx.reference import ReferenceEvaluator

    wide = onnx.ModelProto()
    wide.CopyFrom(model)
    types = [NAMES[value.type.tensor_type.elem_type] for value in model.graph.output]
    wide_of = (lambda t: t) if model.graph.node[0].op_type in AS_IT_IS else (lambda t: "double" if t in REAL else t)
    for value in [*wide.graph.input, *wide.graph.output]:
        set_type(value, TYPES[wide_of(NAMES[value.type.tensor_type.elem_type])])
    for node in wide.graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.INT and attribute.name in ("to", "dtype", "output_datatype", "output_dtype"):
                attribute.i = TYPES[wide_of(NAMES.get(attribute.i, "float"))]
    feeds = {}
    for value in model.graph.input:
        array = given[value.name]
        feeds[value.name] = array.astype(NUMPY[wide_of(NAMES[value.type.tensor_type.elem_type])])
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = ReferenceEvaluator(wide).run(None, feeds)
    except Exception as error:
        raise Unfit(f"the reference cannot: {type(error).__name__}: {' '.join(str(error).split())[:200]}") from error
    with np.errstate(all="ignore"):
        return [np.asarray(array).astype(NUMPY[t]) for array, t in zip(found, types)]


def tensors(list_):
    return [numpy_helper.to_array(one) if isinstance(one, TensorProto) else np.asarray(one) for one in list_]


def candidates(operator, all_cases):
    own = [case for case in all_cases if case.operator == operator and case.model and case.data and "_expanded" not in case.name]
    # Cases of this very operator set first, small ones first.
    size = lambda case: sum(array.size for array in tensors(case.data[0][0]))
    return sorted(own, key=lambda case: (bool(case.reason), size(case) < 2, size(case) > 4096, case.name))


def form_of(case):
    """Returns which inputs of its node a case sets, and its number of outputs."""
    node = onnx.load_model_from_string(case.model).graph.node[0]
    return tuple(bool(name) for name in node.input), len(node.output)


def difference(found, wanted, coarse):
    """Describes how a result differs from the expectation; returns an empty string if it does not."""
    if found.shape != wanted.shape:
        return f"has the shape {list(found.shape)}, has to have {list(wanted.shape)}"
    name = NAMES[helper.np_dtype_to_tensor_dtype(wanted.dtype)]
    if name not in REAL:
        near = found == wanted
    else:
        a, b = found.astype(np.float64), wanted.astype(np.float64)
        finite = np.abs(b[np.isfinite(b)])
        largest = float(np.max(finite, initial=0.0))
        within = 1e-6 if coarse and name == "double" else WITHIN[name]
        with np.errstate(all="ignore"):
            near = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= within * (np.abs(b) + largest))
    if near.all():
        return ""
    at = tuple(int(i) for i in np.argwhere(~near)[0])
    return f"differs in {int((~near).sum())} of {near.size}, first at {list(at)}: {found[at]}, has to be {wanted[at]}"


class Runner:
    """A process of the model runner that takes one model after another."""

    def __init__(self, command, folder):
        self.command, self.folder, self.process = command, pathlib.Path(folder), None
        self.count = 0

    def ask(self, line):
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(
                [self.command, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except OSError:
            answer = ""
        return answer.rstrip("\n") or f"failed\tthe process ended with {self.process.wait()}"

    def run(self, typed):
        """Returns (result, text, operators used)."""
        folder = self.folder / str(self.count)
        self.count += 1
        folder.mkdir()
        path = folder / "case.onnx"
        path.write_bytes(typed.model.SerializeToString())
        files = []
        for index, value in enumerate(typed.model.graph.input):
            file = folder / f"input_{index}.bin"
            file.write_bytes(np.ascontiguousarray(typed.inputs[value.name]).tobytes())
            files.append(str(file))
        word, _, text = self.ask("\t".join([str(path), str(folder), *files])).partition("\t")
        if word != "ok":
            return {"refused": "refused", "failed": "wrong"}.get(word, "wrong"), text, ""
        lines = (folder / "description.txt").read_text().splitlines()
        for index, (line, wanted) in enumerate(zip(lines, typed.wanted, strict=True)):
            dtype, dims = line.split(" ")[:2]
            if dtype != wanted.dtype.name:
                return "wrong", f"output {index} is {dtype}, has to be {wanted.dtype.name}", text
            dims = [int(dim) for dim in dims.split(",")] if dims else []
            data = (folder / f"output_{index}.bin").read_bytes()
            found = np.frombuffer(data, wanted.dtype)[: int(np.prod(dims, dtype=np.int64))].reshape(dims)
            problem = difference(found, wanted, typed.coarse)
            if problem:
                return "wrong", f"output {index} {problem}", text
        shutil.rmtree(folder)
        return "right", "", text

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait(10)


STATE = {}


def start(command, folder, all_cases):
    STATE["runner"] = Runner(command, tempfile.mkdtemp(dir=folder))
    STATE["cases"] = all_cases


def examine(operator):
    """Returns [(variable, type, result, text, case, operators used)] of an operator."""
    import extra

    schema, variables = definitions()[operator]
    own = candidates(operator, STATE["cases"])
    rows = []
    for variable, types in variables.items():
        for name in types:
            reason, done = "no node case is of it", False
            for typed in extra.of(operator, variable, name, STATE["cases"]):
                result, text, used = STATE["runner"].run(typed)
                rows.append((variable, name, result, text, typed.source, used))
                done = True
            if done and operator not in ("Erf", "Gelu", "HardSwish"):
                continue
            forms = set()
            for case in own:
                form = form_of(case)
                if form in forms:
                    continue
                try:
                    model, given = written(case, schema, variable, name)
                    wanted = reference_result(model, given)
                except Unfit as unfit:
                    reason = f"{case.name}: {unfit}"
                    continue
                typed = Typed(operator, variable, name, case.name, model, given, wanted, operator in COARSE)
                result, text, used = STATE["runner"].run(typed)
                rows.append((variable, name, result, text, case.name, used))
                forms.add(form)
                if len(forms) == FORMS:
                    break
            if not forms:
                rows.append((variable, name, "missing", reason, "", ""))
    return operator, rows


def listed():
    """Returns {(operator, variable, type): reason} of the known refusals."""
    found = {}
    for line in LISTED.read_text().splitlines() if LISTED.exists() else []:
        if line.strip() and not line.startswith("#"):
            pair, _, reason = line.partition(":")
            operator, variable, names = pair.split(maxsplit=2)
            for name in names.replace(",", " ").split():
                found[operator, variable, name] = reason.strip()
    return found


def column(operator):
    """What docs/operators.md says of an operator's types: by variable, those of the definition less those that are listed."""
    known = definitions()
    if operator not in known:
        return ""
    parts, exceptions = [], listed()
    for variable, types in known[operator][1].items():
        if "(" in variable:
            continue
        left = [name for name in types if (operator, variable, name) not in exceptions]
        parts.append(f"{variable}: {abridged(left)}")
    return "; ".join(parts)


def abridged(types):
    """Writes a list of types shortly."""
    left, words = set(types), []
    for word, group in (
        ("all", set(TYPES)), ("numbers", set(TYPES) - {"bool"}), ("integers", {t for t in TYPES if "int" in t}),
        ("floats", REAL)):
        if group <= left:
            words.append(word)
            left -= group
    return ", ".join(words + [t for t in TYPES if t in left]) or "none"


def registered(runner):
    """Returns {operator:input:type} of every type that a definition of jumar-ops takes, of operators that ONNX ones become."""
    found, named = set(), False
    for line in subprocess.run([runner, "--operators"], capture_output=True, text=True, check=True).stdout.splitlines():
        words = line.split("\t")
        if words[0]:
            operator, named = words[0], bool(words[1])
        elif named:
            found |= {f"{operator}:{words[1]}:{name}" for name in words[3].split()}
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operators", nargs="*", help="some operators; all where nothing is said")
    parser.add_argument("--keep", help="a folder for the models and tensors of cases that are not right")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 2)
    options = parser.parse_args()
    begin = time.monotonic()
    pinned = next(line.split("==")[1].split(";")[0] for line in (cases.ROOT / "tests/requirements.txt").read_text().splitlines()
                  if line.startswith("onnx=="))
    if onnx.__version__ != pinned:
        print(f"skipped: the list is for onnx {pinned}, and this is {onnx.__version__}")
        return SKIPPED
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", cases.ROOT / "target"))
    # Without a choice of packages it is made of what the tests were made of: features differ otherwise, and all is compiled again.
    subprocess.run(["cargo", "build", "--quiet", "--example", "run_model"], cwd=cases.ROOT, check=True)
    runner = str(target / "debug" / "examples" / "run_model")
    chosen = options.operators or sorted(definitions())
    folder = options.keep or tempfile.mkdtemp(prefix="types-", dir=target)
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    all_cases = cases.load()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"
    try:
        with multiprocessing.Pool(options.workers, start, (runner, folder, all_cases)) as pool:
            results = dict(pool.imap_unordered(examine, chosen, chunksize=4))
    finally:
        if not options.keep:
            shutil.rmtree(folder)
    known, problems, counts, used = listed(), [], collections.Counter(), set()
    for operator in sorted(results):
        worst = {}
        for variable, name, result, text, source, reached in results[operator]:
            used.update(reached.split())
            counts["cases"] += bool(source)
            ranks = ("right", "missing", "refused", "wrong")
            before = worst.get((variable, name), ("right", "", ""))
            if options.operators:
                print(f"{operator} {variable} {name} {source}: {result} {text}")
            worst[variable, name] = max(before, (result, text, source), key=lambda row: ranks.index(row[0]))
        for (variable, name), (result, text, source) in worst.items():
            counts[result] += 1
            exception = known.pop((operator, variable, name), None)
            text = " ".join(text.split())[:300]
            if result == "right" and exception is not None:
                problems.append(f"RIGHT {operator} {variable} {name}: take it out of tests/nodes/untyped.txt")
            elif result == "wrong" or result in ("missing", "refused") and exception is None:
                problems.append(f"{result.upper()} {operator} {variable} {name} {source}: {text}")
            elif result in ("missing", "refused"):
                counts["listed"] += 1
    if not options.operators:
        taken = registered(runner)
        counts["reached"], counts["taken"] = len(taken & used), len(taken)
        (target / "types-not-reached.txt").write_text("".join(key + "\n" for key in sorted(taken - used)))
        problems += [f"UNKNOWN {' '.join(key)}: no definition lists it; take it out of tests/nodes/untyped.txt" for key in known]
    for problem in problems:
        print(problem)
    if counts["taken"]:
        print(f"{counts['reached']} of {counts['taken']} types of inputs that definitions of jumar-ops take were computed on; the others, "
              f"which no definition of ONNX leads to, are in {target / 'types-not-reached.txt'}")
    print(f"types: {counts['right']} of {sum(counts[key] for key in ('right', 'missing', 'refused', 'wrong'))} pairs of an operator "
          f"and a type are right, {counts['listed']} listed, {len(problems)} problems, {counts['cases']} cases, "
          f"in {time.monotonic() - begin:.0f} s")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
