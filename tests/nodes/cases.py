"""The node cases that the onnx package generates: one small model each, with inputs and expected outputs.

They are generated once with a fixed seed and kept in target/, because that takes ten seconds. Which of them are in scope is
decided by rules on the model, never by a list of names.
"""

import pathlib
import pickle
import re
import warnings

import numpy as np
import onnx
from onnx import TensorProto

ROOT = pathlib.Path(__file__).resolve().parents[2]
NEWEST = 28  # The newest operator set that atc understands.
LATER = "operator sets after"  # Their models are kept: written for an older set, they show operators in more types.
RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
STANDARD = {"", "ai.onnx", "ai.onnx.preview", "ai.onnx.preview.training"}


# Why cases are out of scope, by the start of the reason.
WHY = {
    "random draws": "a loaded model has no state, and would draw the same numbers in each run",
    "sequences": "inputs and outputs of a model are tensors, one for each buffer of a dataset, and their number is fixed",
    "strings": "ACL has no layout for tensors of text",
    "an input that is left out": "every input of a model has a buffer in ACL",
    "operators of ai.onnx.ml": "operators on tables and texts, which run in the program before or after the network",
    LATER: "newer than the newest set that is known here",
}


def why(reason):
    return next((text for start, text in WHY.items() if reason.startswith(start)), "")


class Case:
    """One case. `reason` says why it is out of scope; it is empty for a case that has to run."""

    def __init__(self, name, operator, reason, model, data, rtol, atol):
        self.name, self.operator, self.reason = name, operator, reason
        self.model, self.data, self.rtol, self.atol = model, data, rtol, atol


def nodes_of(graph):
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from nodes_of(attribute.g)


def out_of_scope(model, data):
    """Returns the reason why a model is out of scope, or an empty string."""
    versions = {opset.domain or "ai.onnx": opset.version for opset in model.opset_import}
    nodes = list(nodes_of(model.graph))
    domains = {node.domain for node in nodes} - STANDARD
    if domains:
        return f"operators of {', '.join(sorted(domains))}"
    if versions.get("ai.onnx", 0) > NEWEST:
        return f"{LATER} {NEWEST}"
    for value in [*model.graph.input, *model.graph.output]:
        type_ = value.type
        for kind in ("optional_type", "sequence_type"):
            if type_.WhichOneof("value") == kind:
                type_ = getattr(type_, kind).elem_type
        if type_.WhichOneof("value") != "tensor_type":
            return type_.WhichOneof("value")
        if type_.tensor_type.elem_type == TensorProto.STRING:
            return "strings"
    lists = [array for inputs, _ in data for array in inputs if isinstance(array, list)]
    if any(not array or any(np.ndim(one) == 0 for one in array) for array in lists):
        return "sequences without elements"
    split = [node for node in nodes if node.op_type == "SplitToSequence" and len(node.input) > 1]
    if any(node.input[1] in [value.name for value in model.graph.input] for node in split):
        return "sequences whose length is an input"
    if any(node.op_type == "If" for node in nodes) and model.graph.output[0].type.WhichOneof("value") != "tensor_type":
        return "sequences that depend on an input"
    if any(array is None for inputs, _ in data for array in inputs):
        return "an input that is left out"
    for node in nodes:
        if node.op_type in RANDOM:
            return "random draws"
        # What training forgets is drawn at random, unless it forgets nothing.
        if node.op_type == "Dropout" and training_draws(model, data, node):
            return "random draws"
        for attribute in node.attribute:
            if attribute.type in (onnx.AttributeProto.STRINGS,) and node.op_type == "Constant":
                return "strings"
    return ""


def tensors(list_):
    """Returns arrays; cases have the types of few bits as messages. A sequence of tensors is returned as its tensors."""
    arrays = []
    for one in list_:
        if isinstance(one, TensorProto):
            arrays.append(onnx.numpy_helper.to_array(one))
        elif isinstance(one, list):
            arrays += tensors(one)
        else:
            arrays.append(np.asarray(one))
    return arrays


def shapes(case):
    """The option that says how many tensors the sequences of a case have."""
    parts = []
    if not any(isinstance(array, list) for array in case.data[0][0]):
        return ""
    for value, array in zip(onnx.load_model_from_string(case.model).graph.input, case.data[0][0]):
        if not isinstance(array, list):
            parts += [f"{value.name}:{','.join(map(str, np.shape(array)))}"] if np.ndim(array) else []
        else:
            parts += [f"{value.name}_{index}:{','.join(map(str, np.shape(one)))}" for index, one in enumerate(array)]
    return ";".join(parts)


def training_draws(model, data, node):
    names = [value.name for value in model.graph.input]
    given = dict(zip(names, data[0][0])) if data else {}
    for node_ in model.graph.node:
        if node_.op_type == "Constant":
            given[node_.output[0]] = onnx.numpy_helper.to_array(node_.attribute[0].t)
    for tensor in model.graph.initializer:
        given[tensor.name] = onnx.numpy_helper.to_array(tensor)
    value = lambda index, default: given.get(node.input[index], default) if len(node.input) > index and node.input[index] else default
    return bool(np.all(value(2, False))) and float(np.max(value(1, 0.5))) > 0


def operator_of(case, models):
    """The operator that a case is about. A case whose model spells an operator out belongs to that operator."""
    base = re.sub(r"_expanded(_ver\d+)?$", "", case.name)
    model = models.get(base, case.model)
    nodes = [node for node in model.graph.node if node.op_type != "Constant"] or list(model.graph.node)
    # Cases of several nodes cast or prepare first: the one that the name speaks of counts, or the last.
    named = [n.op_type for n in nodes if n.op_type.lower() in case.name.replace("_", "")]
    return named[0] if named else nodes[-1].op_type


def generate():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.random.seed(0)
        from onnx.backend.test.case.node import collect_testcases

        found = collect_testcases(None)
    models = {case.name: case.model for case in found}
    cases = []
    for case in found:
        data = [([*inputs], [*outputs]) for inputs, outputs in case.data_sets]
        reason = out_of_scope(case.model, data)
        operator = operator_of(case, models)
        kept = (None, None) if reason and not reason.startswith(LATER) else (case.model.SerializeToString(), data)
        cases.append(Case(case.name, operator, reason, *kept, case.rtol, case.atol))
    names = [case.name for case in cases]
    assert len(set(names)) == len(names), "two cases of one name"
    return sorted(cases, key=lambda case: case.name)


def load():
    """Returns all cases, sorted by name."""
    rules = pathlib.Path(__file__).stat().st_mtime_ns
    file = ROOT / "target" / "nodes" / f"cases-{onnx.__version__}-{np.__version__}-{rules}.pickle"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        for old in file.parent.glob("cases-*.pickle"):
            old.unlink(missing_ok=True)
        part = file.with_suffix(".part")
        part.write_bytes(pickle.dumps(generate()))
        part.rename(file)
    return pickle.loads(file.read_bytes())
