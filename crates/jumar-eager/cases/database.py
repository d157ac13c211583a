"""An extract of PyTorch's operator database (OpInfo): its sample inputs as calls of single operators, with PyTorch's results.

    python cases/database.py        needs torch and expecttest

An operator is a line that turns a sample into the arguments of a call. `tests/pytorch/opinfo.py` runs the whole database through PyTorch's adapter.
"""

import itertools

import torch
from torch.testing._internal.common_methods_invocations import op_db

from cases import Cases, InOut, Null, Out, Scalar

f32, f16, bf16, i32, i64, u8 = torch.float32, torch.float16, torch.bfloat16, torch.int32, torch.int64, torch.uint8
FLOATS = [f32, f16, bf16]
ALL = [f32, f16, bf16, i64, i32, u8, torch.bool]
NUMBERS = [f32, f16, bf16, i64, i32, u8]
INTEGERS = [i64, i32, u8]
# Samples of an operator in one type, and elements of all their tensors.
SAMPLES, ELEMENTS = 6, 600
PRECISE = 0
# Sums of products nearly cancel out: what must come out is computed in float64 and rounded once, and may be off by what sums in float32 lose.
PRODUCTS = {"matmul", "mm", "bmm", "addmm", "baddbmm"}
LOST_IN_SUMS = 2e-5
cases = Cases("database")


def scalar_like(tensor, value):
    """A scalar as the adapter passes it: of the type of a number of Python."""
    return Scalar(value, torch.bool if isinstance(value, bool) else f32 if isinstance(value, float) else i64)


def dims_of(tensor, dim):
    if dim is None:
        return list(range(tensor.dim()))
    return [dim] if isinstance(dim, int) else list(dim)


def unary(name="self", out="out"):
    return lambda x, result: {name: x, out: Out(result)}


def binary(left="self", right="other"):
    def call(x, y, result):
        if isinstance(y, torch.Tensor):
            return {left: x, right: y, "out": Out(result)}
        return None

    return call


def with_alpha(x, y, result, alpha=1):
    if not isinstance(y, torch.Tensor) or isinstance(alpha, complex):
        return None
    return {"self": x, "other": y, "alpha": scalar_like(x, alpha), "out": Out(result)}


def reduction(dims="dim", keep="keepDim", typed=False):
    def call(x, result, dim=None, keepdim=False, dtype=None):
        if dtype is not None or dim == () or dim == []:
            return None
        arguments = {"self": x, dims: dims_of(x, dim), keep: keepdim}
        if typed:
            arguments["dtype"] = result.dtype
        return arguments | {"out": Out(result)}

    return call


def position(x, result, dim=None, keepdim=False):
    if dim is None:
        return None
    return {"self": x, "dim": dim, "keepdim": keepdim, "out": Out(result)}


def product(x, y, result):
    return {"self": x, "mat2": y, "out": Out(result), "cubeMathType": PRECISE}


def added_product(names):
    def call(x, one, two, result, beta=1, alpha=1):
        if isinstance(beta, complex) or isinstance(alpha, complex):
            return None
        first, second = names
        return {"self": x, first: one, second: two, "beta": scalar_like(x, beta), "alpha": scalar_like(x, alpha), "out": Out(result), "cubeMathType": PRECISE}

    return call


def along(x, dim, result, dtype=None):
    return None if dtype is not None else {"self": x, "dim": dim, "out": Out(result)}


def cumulative(x, dim, result, dtype=None):
    return None if dtype is not None else {"self": x, "dim": dim, "dtype": result.dtype, "out": Out(result)}


def loss(x, target, result, reduction="mean"):
    return {"self": x, "target": target, "reduction": ["none", "mean", "sum"].index(reduction), "out": Out(result)}


def weighted(x, one, two, result, value=1):
    if isinstance(value, complex):
        return None
    return {"self": x, "tensor1": one, "tensor2": two, "value": scalar_like(x, value), "out": Out(result)}


def diagonal(x, *rest):
    *offset, result = rest
    return {"self": x, "diagonal": offset[0] if offset else 0, "out": Out(result)}


def top(x, k, *rest):
    *options, (values, indices) = rest
    dim, largest, ordered = [*options, *[-1, True, True][len(options):]]
    # Equal elements may come in any order.
    if not ordered or x.dim() == 0 or len(x.unique()) != x.numel():
        return None
    return {"self": x, "k": k, "dim": dim, "largest": largest, "sorted": ordered, "valuesOut": Out(values), "indicesOut": Out(indices)}


def ordered(x, *rest, **options):
    *given, (values, indices) = rest
    dim = given[0] if given else options.get("dim", -1)
    descending = given[1] if len(given) > 1 else options.get("descending", False)
    if not options.get("stable", False) and len(x.unique()) != x.numel():
        return None
    return {"self": x, "stable": options.get("stable", False), "dim": dim, "descending": descending, "valuesOut": Out(values), "indicesOut": Out(indices)}


def extreme(x, *rest, **options):
    *given, result = rest
    if not isinstance(result, tuple):
        return None
    dim = given[0] if given else options["dim"]
    keep = given[1] if len(given) > 1 else options.get("keepdim", False)
    return {"self": x, "dim": dim, "keepdim": keep, "out": Out(result[0]), "indices": Out(result[1].to(i64))}


def rolled(x, shifts, *rest):
    *dims, result = rest
    if not dims or dims[0] is None:
        return None
    both = [[each] if isinstance(each, int) else list(each) for each in (shifts, dims[0])]
    return {"x": x, "shifts": both[0], "dims": both[1], "out": Out(result)}


def filled(x, mask, value, result):
    if not isinstance(value, torch.Tensor) or result.shape != x.shape:
        return None
    return {"selfRef": InOut(x, result), "mask": mask, "value": value}


def normalized(x, shape, weight=None, bias=None, eps=1e-5, *, result):
    arguments = {"input": x, "normalizedShape": list(shape), "weightOptional": Null if weight is None else weight, "biasOptional": Null if bias is None else bias}
    return arguments | {"eps": eps, "out": Out(result), "meanOutOptional": Null, "rstdOutOptional": Null}


# The name in the database, the call, its arguments, the types.
OPERATORS = [
    *[(name, call, unary(), FLOATS) for name, call in [
        ("exp", "aclnnExp"), ("sqrt", "aclnnSqrt"), ("rsqrt", "aclnnRsqrt"), ("sin", "aclnnSin"), ("tanh", "aclnnTanh"), ("sigmoid", "aclnnSigmoid"),
        ("erf", "aclnnErf"), ("log", "aclnnLog"), ("floor", "aclnnFloor"), ("ceil", "aclnnCeil"), ("trunc", "aclnnTrunc"), ("expm1", "aclnnExpm1"), ("log1p", "aclnnLog1p"),
        ("reciprocal", "aclnnReciprocal"), ("nn.functional.silu", "aclnnSilu"), ("nn.functional.mish", "aclnnMish"), ("nn.functional.hardswish", "aclnnHardswish"),
    ]],
    ("abs", "aclnnAbs", unary(), NUMBERS), ("neg", "aclnnNeg", unary(), [f32, f16, bf16, i64, i32]), ("nn.functional.relu", "aclnnRelu", unary(), NUMBERS),
    ("sign", "aclnnSign", unary(out="result"), [f32, f16, bf16, i64, i32]), ("atan", "aclnnAtan", unary("input"), FLOATS), ("cos", "aclnnCos", unary("input"), FLOATS),
    ("logical_not", "aclnnLogicalNot", unary(), ALL), ("bitwise_not", "aclnnBitwiseNot", unary(), [i64, i32, u8, torch.bool]),
    ("add", "aclnnAdd", with_alpha, NUMBERS), ("sub", "aclnnSub", with_alpha, NUMBERS), ("mul", "aclnnMul", binary(), ALL), ("div", "aclnnDiv", lambda x, y, result, rounding_mode=None: None if rounding_mode else binary()(x, y, result), FLOATS),
    ("maximum", "aclnnMaximum", binary(), NUMBERS), ("minimum", "aclnnMinimum", binary(), NUMBERS), ("pow", "aclnnPowTensorTensor", binary(right="exponent"), FLOATS),
    ("atan2", "aclnnAtan2", binary(), FLOATS), ("fmod", "aclnnFmodTensor", binary(), FLOATS), ("remainder", "aclnnRemainderTensorTensor", binary(), FLOATS),
    *[(name, f"aclnn{call}Tensor", binary(), ALL) for name, call in [("eq", "Eq"), ("ne", "Ne"), ("lt", "Lt"), ("le", "Le"), ("gt", "Gt"), ("ge", "Ge")]],
    *[(f"logical_{name.lower()}", f"aclnnLogical{name}", binary(), ALL) for name in ["And", "Or", "Xor"]],
    *[(f"bitwise_{name.lower()}", f"aclnnBitwise{name}Tensor", binary(), [i64, i32, u8, torch.bool]) for name in ["And", "Or", "Xor"]],
    ("sum", "aclnnReduceSum", reduction("dims", "keepDims", True), FLOATS), ("mean", "aclnnMean", reduction(typed=True), FLOATS), ("amax", "aclnnAmax", reduction(), NUMBERS), ("amin", "aclnnAmin", reduction(), NUMBERS),
    ("all", "aclnnAll", reduction(keep="keepdim"), [f32, i64, torch.bool]), ("any", "aclnnAny", reduction(keep="keepdim"), [f32, i64, torch.bool]), ("logsumexp", "aclnnLogSumExp", lambda x, dim, *rest: reduction()(x, rest[-1], dim, *rest[:-1]), FLOATS),
    ("argmax", "aclnnArgMax", position, [f32, i64]), ("argmin", "aclnnArgMin", position, [f32, i64]), ("cumsum", "aclnnCumsum", cumulative, [f32, i64, i32]),
    ("max", "aclnnMaxDim", extreme, [f32, f16, bf16, i64]), ("min", "aclnnMinDim", extreme, [f32, f16, bf16, i64]), ("topk", "aclnnTopk", top, [f32]), ("sort", "aclnnSort", ordered, [f32, i64]),
    ("matmul", "aclnnMatmul", product, FLOATS), ("mm", "aclnnMm", product, FLOATS), ("bmm", "aclnnBatchMatMul", product, FLOATS),
    ("addmm", "aclnnAddmm", added_product(("mat1", "mat2")), FLOATS), ("baddbmm", "aclnnBaddbmm", added_product(("batch1", "batch2")), FLOATS), ("addcmul", "aclnnAddcmul", weighted, FLOATS), ("addcdiv", "aclnnAddcdiv", weighted, FLOATS),
    ("softmax", "aclnnSoftmax", along, FLOATS), ("log_softmax", "aclnnLogSoftmax", along, FLOATS), ("nn.functional.layer_norm", "aclnnLayerNorm", lambda *all, **options: normalized(*all[:-1], **options, result=all[-1]), FLOATS),
    ("where", "aclnnSWhere", lambda x, mask, y, result: {"condition": mask, "self": x, "other": y, "out": Out(result)}, ALL),
    ("gather", "aclnnGather", lambda x, dim, index, result: {"self": x, "dim": dim, "index": index, "out": Out(result)}, ALL),
    ("index_select", "aclnnIndexSelect", lambda x, dim, index, result: {"self": x, "dim": dim, "index": index, "out": Out(result)}, ALL),
    ("cat", "aclnnCat", lambda all, *rest, dim=0: {"tensors": list(all), "dim": rest[0] if len(rest) > 1 else dim, "out": Out(rest[-1])}, [f32, f16, i64, torch.bool]),
    ("permute", "aclnnPermute", lambda x, dims, result: {"self": x, "dims": list(dims), "out": Out(result)}, ALL),
    ("tril", "aclnnTril", diagonal, ALL), ("triu", "aclnnTriu", diagonal, ALL), ("flip", "aclnnFlip", lambda x, result, dims: {"self": x, "dims": dims_of(x, dims), "out": Out(result)}, ALL),
    ("roll", "aclnnRoll", rolled, [f32, f16, bf16, i64, torch.bool]), ("repeat", "aclnnRepeat", lambda x, repeats, result: {"self": x, "repeats": list(repeats), "out": Out(result)}, [f32, i64, torch.bool]),
    ("masked_fill", "aclnnInplaceMaskedFillTensor", filled, [f32, f16, bf16, i64, torch.bool]), ("nn.functional.mse_loss", "aclnnMseLoss", loss, FLOATS), ("nn.functional.l1_loss", "aclnnL1Loss", loss, FLOATS),
]


def tensors_of(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [one for each in value for one in tensors_of(each)] if isinstance(value, (list, tuple)) else []


def add_samples(name, operator, arguments, dtype):
    infos = [info for info in op_db if info.name == name and dtype in info.supported_dtypes("cpu")]
    samples = [(info, sample) for info in infos for sample in itertools.islice(info.sample_inputs("cpu", dtype, requires_grad=False), 60)]
    taken = elements = 0
    for info, sample in samples:
        inputs = tensors_of([sample.input, *sample.args, *sample.kwargs.values()])
        if taken == SAMPLES or (size := sum(one.numel() for one in inputs)) > ELEMENTS - elements:
            continue
        if name in PRODUCTS:
            exact = [one.double() if isinstance(one, torch.Tensor) else one for one in [sample.input, *sample.args]]
            result = info.op(*exact, **sample.kwargs).to(dtype)
        else:
            result = info.op(sample.input, *sample.args, **sample.kwargs)
        result = tuple(result) if isinstance(result, tuple) else result
        try:
            call = arguments(sample.input, *sample.args, result, **sample.kwargs)
        except TypeError:
            # A form of the call that this operator does not have.
            continue
        if call is not None:
            cases.add(operator, within=LOST_IN_SUMS if name in PRODUCTS and dtype == f32 else None, **call)
            taken, elements = taken + 1, elements + size
    if not taken:
        unused.append((name, dtype))


torch.manual_seed(2611)
unused = []
for name, operator, arguments, dtypes in OPERATORS:
    for dtype in dtypes:
        add_samples(name, operator, arguments, dtype)
assert not unused, f"no sample fits: {unused}"
cases.write()
