"""The types that the operators' signatures list (api/ge/ops.json), and the cases that they ask for beside the table's lines.

The table says by its lines what an operator does. A signature says for which types it does it: for each type of an input that no
line has, `spread` adds the first line that can be had in it, with that type; so that a new operator, or a new type in a
signature, has its cases without a word. What cannot be had stands in `EXEMPT`, each with its reason, and a test fails for
every pair of an operator's input and a type that has neither."""

import copy

import cases as suite

WORDS = {
    "bool": "bool",
    **{f"f{bits}": f"float{bits}" for bits in (16, 32, 64)},
    "bf16": "bfloat16",
    **{f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
    "c32": "complex32",
    "c64": "complex64",
    "c128": "complex128",
    **{f"qi{bits}": f"qint{bits}" for bits in (8, 16, 32)},
    **{f"qu{bits}": f"quint{bits}" for bits in (8, 16)},
    "i4": "int4",
    "u1": "uint1",
    "string": "string",
    "resource": "resource",
    "variant": "variant",
}
_INTEGER = "i8 i16 i32 i64 u8 u16 u32 u64"
_COMPLEX = "c64 c128"
_QUANTISED = "qi8 qi16 qi32 qu8 qu16"
# The sets that signatures name.
SETS = {
    "@IndexNumberType": "i32 i64",
    "@FloatingDataType": "f16 f32 f64",
    "@UnaryDataType": f"f16 bf16 f32 f64 {_COMPLEX}",
    "@IntegerDataType": _INTEGER,
    "@RealNumberType": f"f16 bf16 f32 f64 {_INTEGER}",
    "@NumberType": f"f16 bf16 f32 f64 {_INTEGER} {_COMPLEX} qi8 qi32 qu8",
    "@BasicType": f"f16 bf16 f32 f64 {_INTEGER} {_COMPLEX} {_QUANTISED}",
    "@ALL": f"f16 bf16 f32 f64 {_INTEGER} bool {_COMPLEX} {_QUANTISED} string",
    "@FLOAT": "f16 bf16 f32",
    "@OrdinaryType": f"f16 bf16 f32 f64 {_INTEGER} bool",
}


def types_of(text):
    """The types that a signature writes, in the order of the numbers."""
    words = [word for part in text.split() for word in SETS.get(part, part).split()]
    names = {WORDS[word] for word in words}
    order = [*suite.TYPES, *suite.FOREIGN]
    return sorted(names, key=order.index)


def listed(op):
    """For each input of an operator (of one without inputs, each output): the types that its signature lists."""
    prototype = suite.PROTOTYPES[op]
    slots = [name for name, _ in prototype["inputs"]] or [name for name, _ in prototype["outputs"]]
    return {name: types_of(prototype["types"][name]) for name in slots if name in prototype["types"]}


def fills(one, name):
    """Returns what a case passes to an input: none, one, or several."""
    given = one.inputs.get(name, [])
    return given if isinstance(given, list) else [given]


def had(cases, op):
    """For each input of an operator: the types that the cases give it. Where a case is written out in C++, its inputs have names
    of their own, and their types count for every input."""
    types = {}
    for one in cases:
        if one.op != op or one.refused:
            continue
        for name in listed(op):
            own = one.inputs if one.code or name not in one.inputs else [name]
            for given in own:
                types.setdefault(name, set()).update(fill.dtype or one.dtype for fill in fills(one, given))
        if not suite.PROTOTYPES[op]["inputs"]:
            types.setdefault(next(iter(listed(op)), ""), set()).add(one.dtype)
    return types


def variant(one, name, dtype):
    """A case once more with another type of an input, or with another type altogether where that is the input's."""
    other = copy.copy(one)
    other.origin = one.name
    if all(fill.dtype is None for fill in fills(one, name)):
        other.dtype = dtype
        return other
    changed = [suite.Fill(fill.make, dtype, fill.role, fill.format) for fill in fills(one, name)]
    other.inputs = {**one.inputs, name: changed if isinstance(one.inputs[name], list) else changed[0]}
    other.name = f"{one.name} with {name} of {dtype}".strip()
    return other


def may(one, name, dtype):
    """Whether a case can have an input in a type: all inputs that have the case's own type change with it."""
    if any(fill.dtype is not None for fill in fills(one, name)):
        return True
    types = listed(one.op)
    along = [other for other in one.inputs if all(fill.dtype is None for fill in fills(one, other))]
    return all(dtype in types.get(other, [dtype]) for other in along)


def spread():
    """The cases that signatures ask for and no line of the table has."""
    more = []
    for op in dict.fromkeys(one.op for one in suite.ALL):
        own = [one for one in suite.ALL if one.op == op]
        for name, types in listed(op).items():
            for dtype in types:
                known = [*own, *(one for one in more if one.op == op)]
                if dtype not in suite.TYPES or dtype in had(known, op).get(name, ()) or exempt(op, name, dtype):
                    continue
                able = [one for one in own if name in one.inputs and not (one.code or one.judge or one.refused) and may(one, name, dtype)]
                # The case's own type is what the line is about.
                able.sort(key=lambda one: any(fill.dtype is not None for fill in fills(one, name)))
                if able:
                    more.append(variant(able[0], name, dtype))
    return more


# --- what there is no case for ------------------------------------------------------------------------------------------

OFFSET = "offset_w is refused when the graph is built: the documents have it as reserved"
DROPOUT = "the mask of a dropout is refused when the graph is built"
ATTENTION = "quantised attention is refused when the graph is built"
SCALES = ["deq_scale1", "deq_scale2", "dequant_scale1", "dequant_scale2", "quant_scale1", "quant_scale2", "quant_offset2", "antiquant_scale", "antiquant_offset"]
KEYS = ["key_antiquant_scale", "key_antiquant_offset", "value_antiquant_scale", "value_antiquant_offset", "key_rope_antiquant_scale"]
PARTS = ["query_padding_size", "kv_padding_size", "key_shared_prefix", "value_shared_prefix", "actual_shared_prefix_len"]
# What compares elements.
UNORDERED = [(op, "x") for op in ("ArgMaxV2", "ArgMin", "ReduceMax", "ReduceMin", "ClipByValue")]
UNORDERED += [("ClipByValue", f"clip_value_{end}") for end in ("min", "max")]
UNORDERED += [(f"ScatterNd{end}", name) for end in ("Max", "Min") for name in ("var", "updates")]
EXEMPT = {
    ("ROIAlignGrad", "rois_n", "*"): "refused when the graph is built: the documents have it as reserved",
    ("BatchMultiClassNonMaxSuppression", "clip_window", "*"): "refused when the graph is built: the order of its numbers is not documented",
    **{
        (op, name, "*"): ATTENTION
        for op in ("PromptFlashAttention", "IncreFlashAttention", "FusedInferAttentionScore")
        for name in [*SCALES, *KEYS]
    },
    **{
        (op, name, "*"): "refused when the graph is built: the positions of what is padded or shared are not documented"
        for op in ("IncreFlashAttention", "FusedInferAttentionScore")
        for name in PARTS
    },
    **{
        (op, name, "int8"): ATTENTION
        for op in ("PromptFlashAttention", "IncreFlashAttention", "FusedInferAttentionScore")
        for name in ("query", "key", "value", "query_rope", "key_rope")
    },
    **{
        ("FlashAttentionScore", name, "*"): "refused when the graph is built: what it does is not documented"
        for name in ("padding_mask", "prefix", "q_start_idx", "kv_start_idx")
    },
    **{
        ("WeightQuantBatchMatmulV2", name, "*"): "refused when the graph is built: results of int8 are not computed"
        for name in ("quant_scale", "quant_offset")
    },
    ("WeightQuantBatchMatmulV2", "weight", "int32"): "refused when the graph is built: eight weights of 4 bits in one number",
    **{
        ("WeightQuantBatchMatmulV2", "antiquant_scale", dtype): "refused when the graph is built: scales as bits of a number"
        for dtype in ("int64", "uint64")
    },
    ("WeightQuantBatchMatmulV2", "antiquant_offset", "int32"): "refused when the graph is built: offsets of weights of 4 bits",
    **{
        ("SpatialTransformer", "x", dtype): "refused when the graph is built: how values between pixels become integers is not documented"
        for dtype in suite.TYPES
        if "int" in dtype
    },
    **{(op, "offset_w", "*"): OFFSET for op in suite.PROTOTYPES},
    **{(op, name, dtype): "refused when the graph is built: complex numbers have no order" for op, name in UNORDERED for dtype in suite.COMPLEX},
    ("DynamicGRUV2", "seq_length", "*"): "refused when the graph is built: what a sequence holds behind its end is not documented",
    **{("DynamicGRUV2Grad", name, "*"): "refused when the graph is built: what a sequence holds behind its end is not documented" for name in ("seq_length", "mask")},
    **{("LSTM", "bias", dtype): "refused when the graph is built: what integers stand for is not documented" for dtype in ("int16", "int32")},
    **{(op, "mask", "*"): DROPOUT for op in ("BasicLSTMCell", "DynamicRNN", "DynamicRNNGrad", "DynamicRNNV2", "DynamicRNNV2Grad")},
    **{(op, "images", "uint8"): "refused when the graph is built: how colours of integers are rounded is not documented" for op in ("AdjustHue", "AdjustSaturation")},
    ("DropOutV3", "noise_shape", "*"): "refused when the graph is built: the documents have it as reserved",
    ("QuantConv2D", "bias", "int32"): "refused when the graph is built: whether it is scaled is not documented",
    ("MoeInitRoutingV3", "scale", "*"): "refused when the graph is built: how it enters the result is not documented",
    ("MoeInitRoutingV3", "offset", "*"): "refused when the graph is built: how it enters the result is not documented",
    **{
        ("ApplyAdam", name, dtype): "refused when the graph is built: a step of this kind is always a fraction"
        for name, _ in suite.PROTOTYPES["ApplyAdam"]["inputs"]
        for dtype in suite.TYPES
        if "int" in dtype
    },
}


def exempt(op, name, dtype):
    """Why there is no case of an operator's input in a type; None where there has to be one."""
    for key in [(op, name, dtype), (op, name, "*"), (op, "*", dtype), ("*", "*", dtype)]:
        if key in EXEMPT:
            return EXEMPT[key]
    return None


def without_case(cases):
    """The pairs of an operator's input and a type that have neither a case nor a reason."""
    missing = []
    for op in dict.fromkeys(one.op for one in cases):
        types = had(cases, op)
        for name, wanted in listed(op).items():
            for dtype in wanted:
                if dtype in suite.TYPES and dtype not in types.get(name, ()) and not exempt(op, name, dtype):
                    missing.append((op, name, dtype))
    return missing


# --- what is refused -----------------------------------------------------------------------------------------------------


def refusals():
    """Graphs that have to be refused when they are built, each with what the refusal names: every operator's input in every type
    of its signature that Jumar has no arithmetic for, and every pair that is exempt from having a case."""
    more = []
    for op in dict.fromkeys(one.op for one in suite.ALL):
        own = [one for one in suite.ALL if one.op == op and one.inputs and not one.refused]
        for name, types in listed(op).items():
            able = [one for one in own if name in one.inputs] or own
            for dtype in types:
                if not able or (dtype in suite.TYPES and not exempt(op, name, dtype)):
                    continue
                one = able[0]
                if dtype in suite.TYPES and name not in one.inputs:
                    one = copy.copy(one)
                    one.inputs = {**one.inputs, name: suite.f(1, dtype=dtype)}
                    named = [f"({op})", name]
                else:
                    # Where a case is written out in C++, another operator may be the one that reads.
                    one = variant(one, name if name in one.inputs else next(iter(one.inputs)), dtype)
                    named = [dtype] if one.code else [f"({op})", dtype]
                one.name = f"{one.name} refused, {name} of {dtype}".strip()
                one.runs, one.repeats = 1, 0
                if dtype in suite.FOREIGN:
                    one.inputs = {key: plain(given) for key, given in one.inputs.items()}
                more.append((one, named))
    return more


def plain(given):
    """Returns the argument as data instead of a variable, which could not be assigned."""
    if isinstance(given, list):
        return [plain(one) for one in given]
    return suite.Fill(given.make, given.dtype, suite.DATA, given.format) if given.role == suite.VARIABLE else given


# --- constants that are given when the graph runs ----------------------------------------------------------------------------


def constants(one):
    """The inputs that a case passes as constants."""
    return [name for name in one.inputs if any(fill.role == suite.CONST for fill in fills(one, name))]


def given(one, name):
    """A case once more with an input that is given when the graph runs, instead of as a constant."""
    other = copy.copy(one)
    late = [suite.Fill(fill.make, fill.dtype, suite.DATA, fill.format) for fill in fills(one, name)]
    other.inputs = {**one.inputs, name: late if isinstance(one.inputs[name], list) else late[0]}
    other.origin = one.origin
    other.name = f"{one.name} with {name} when it runs".strip()
    return other


def computed():
    """For each line of the table and each of its constants: the same with the constant given when the graph runs."""
    more, seen = [], set()
    for one in suite.ALL:
        if one.refused or one.op in ("Const", "Constant"):
            continue
        for name in constants(one):
            if (one.op, one.origin, name) not in seen and (one.op, name) not in FIXED:
                seen.add((one.op, one.origin, name))
                more.append(given(one, name))
    return more


def fixed():
    """Graphs that have to be refused when they are built, because an input has to be a constant."""
    more, seen = [], set()
    for one in suite.ALL:
        for name in constants(one):
            if (one.op, name) in FIXED and (one.op, name) not in seen and not one.refused:
                seen.add((one.op, name))
                late = given(one, name)
                late.runs, late.repeats = 1, 0
                more.append((late, [name, "constant"]))
    return more


SEQUENCE = "a sequence is a list of values that the build knows"
# The inputs that have to be constants, each with its reason.
FIXED = {
    ("SliceWrite", "begin"): "the operator changes a variable",
    ("StridedSliceAssign", "begin"): "the operator changes a variable",
    ("StridedSliceAssign", "end"): "the operator changes a variable",
    ("StridedSliceAssign", "strides"): "the operator changes a variable",
    ("Multinomial", "num_samples"): "the session counts what was drawn",
    ("StatelessRandomChoiceWithMask", "count"): "the session counts what was drawn",
    ("SequenceAt", "index"): SEQUENCE,
    ("SequenceErase", "index"): SEQUENCE,
    ("SequenceInsert", "index"): SEQUENCE,
    ("SplitToSequence", "split"): SEQUENCE,
    ("AscendWeightQuant", "offset"): "its formula is not documented, and 0 is the only offset of weights that tools write",
}


# --- inputs that are not checked ------------------------------------------------------------------------------------------------

#: Outputs that no case compares, each with its reason.
UNSEEN = {
    ("CTCLossV2", "log_alpha"): "how many states it has is not documented; a case passes it to CTCLossV2Grad",
}


def unseen(cases, priority):
    """The outputs of operators that no case compares."""
    missing = []
    for op, prototype in suite.PROTOTYPES.items():
        own = [one for one in cases if one.op == op and not (one.code or one.judge or one.refused)]
        names = [name for name, occurs in prototype["outputs"] if occurs != "dynamic"]
        if prototype["priority"] != priority or not own or len(names) < len(prototype["outputs"]):
            continue
        for at, name in enumerate(names):
            looked = any(at < len(want) and want[at] is not None for want in (one.wanted() for one in own))
            if not looked and (op, name) not in UNSEEN:
                missing.append((op, name))
    return missing
