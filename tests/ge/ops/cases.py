"""What a line of the table is: an operator, its inputs, its attributes, and what NumPy says comes out.

    case("Add", "broadcasting", {"x1": f(2, 3), "x2": f(3)}, lambda x1, x2: x1 + x2, types=["float16", "int32"])

Inputs stand under the names of the operator's class. `f(2, 3)` is an input of the case's type (float32 unless `types` says
more: each of them is a case of its own), filled between -2 and 2; `i(..)` are integers, `v([..])` has the listed values, and a
list is a dynamic input. They are given when the graph runs; `const(..)` makes a constant of one, `var(..)` a variable. The
function receives the same numbers in float64 (integers as int64, text and absent inputs not at all) and returns the outputs
in their order; None for one that is not looked at. What it returns is compared with shape, type and a tolerance."""

import json
import math
import pathlib
import struct
import zlib

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROTOTYPES = {op["type"]: op for op in json.loads((ROOT / "api/ge/ops.json").read_text())}

# The names of the types here, their numbers in the Graph Engine, and what NumPy holds them in. bfloat16 is kept in uint16,
# complex32 in uint32.
TYPES = {
    "float32": (0, np.float32),
    "float16": (1, np.float16),
    "int8": (2, np.int8),
    "int32": (3, np.int32),
    "uint8": (4, np.uint8),
    "int16": (6, np.int16),
    "uint16": (7, np.uint16),
    "uint32": (8, np.uint32),
    "int64": (9, np.int64),
    "uint64": (10, np.uint64),
    "float64": (11, np.float64),
    "bool": (12, np.bool_),
    "bfloat16": (27, np.uint16),
    "complex64": (16, np.complex64),
    "complex128": (17, np.complex128),
    "complex32": (33, np.uint32),
}
NUMBERS = {number: name for name, (number, _) in TYPES.items()}
FORMATS = {"NCHW": 0, "NHWC": 1, "ND": 2, "HWCN": 16, "NDHWC": 27, "NCDHW": 30, "DHWCN": 31}
FLOATS = ("float32", "float16", "bfloat16", "float64")
COMPLEX = ("complex64", "complex128", "complex32")

# What a type allows: of one, and of each unit of a number. One rounding is 6e-8, 5e-4, 4e-3 and 1e-16; the lowerings of one
# operator make a few of them. A case with more says how many times as much, and why (`loose`); one whose reference is not in
# float64 names its type (`least`); a case whose small values must have their own significant digits is marked (`small`).
TOLERANCE = {"float32": 4e-6, "float16": 2e-3, "bfloat16": 1.6e-2, "float64": 1e-12}
TOLERANCE.update(complex64=4e-6, complex128=1e-12, complex32=2e-3)

DATA, CONST, VARIABLE, FILE = range(4)


def numpy_of(bits):
    """The float64 values of bfloat16 in its bits."""
    return (np.ascontiguousarray(bits).astype(np.uint32) << 16).view(np.float32).astype(np.float64).reshape(np.shape(bits))


def rounded(values, dtype):
    """Values as a type holds them."""
    if dtype == "bfloat16":
        bits = np.ascontiguousarray(values, np.float32).view(np.uint32).astype(np.uint64)
        return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16).reshape(np.shape(values))
    if dtype == "complex32":
        values = np.asarray(values, np.complex128)
        halves = np.stack([values.real, values.imag], -1).astype(np.float16)
        return np.ascontiguousarray(halves).view(np.uint32)[..., 0]
    with np.errstate(invalid="ignore"):
        return np.asarray(values).astype(TYPES[dtype][1])


def exact(array, dtype):
    """What the reference computes with."""
    if dtype == "bfloat16":
        return numpy_of(array)
    if dtype == "complex32":
        halves = np.ascontiguousarray(array)[..., None].view(np.float16).astype(np.float64)
        return halves[..., 0] + 1j * halves[..., 1]
    if dtype in COMPLEX:
        return array.astype(np.complex128)
    if dtype in FLOATS:
        return array.astype(np.float64)
    if dtype == "bool":
        return array
    return array.astype(np.uint64 if dtype == "uint64" else np.int64)


# The types that Jumar has no arithmetic for: the interface's numbers, and the bytes of an element there.
FOREIGN = {
    "string": (13, 16),
    "qint8": (18, 1),
    "qint16": (19, 2),
    "qint32": (20, 4),
    "quint8": (21, 1),
    "quint16": (22, 2),
    "resource": (23, 8),
    "variant": (26, 8),
    "int4": (29, 1),
    "uint1": (30, 1),
}


class Fill:
    """An input: how it is made, what type it has (None: the case's), how it reaches the operator."""

    def __init__(self, make, dtype=None, role=DATA, form="ND"):
        self.make, self.dtype, self.role, self.format = make, dtype, role, form

    def tensor(self, rng, dtype):
        own = self.dtype or dtype
        values = self.make(rng, own)
        if own in FOREIGN:
            return own, np.zeros(np.shape(values), f"V{FOREIGN[own][1]}")
        return own, rounded(values, own)


def f(*dims, lo=-2.0, hi=2.0, dtype=None, form="ND"):
    """Numbers between two bounds. If the case's type is an integer type: integers of the same sign up to 9."""

    def make(rng, own):
        if own in FLOATS:
            return rng.uniform(lo, hi, dims)
        if own in COMPLEX:
            return rng.uniform(lo, hi, dims) + 1j * rng.uniform(-1.0, 1.0, dims)
        least = -9 if lo < 0 else 1 if lo > 0 else 0
        if own.startswith("u"):
            least = max(least, 0)
        if own == "bool":
            return rng.integers(0, 2, dims)
        return rng.integers(least, 10, dims)

    return Fill(make, dtype, form=form)


def i(*dims, lo=0, hi=10, dtype="int32"):
    """Integers from `lo` to below `hi`."""
    return Fill(lambda rng, own: rng.integers(lo, hi, dims), dtype)


def b(*dims):
    return Fill(lambda rng, own: rng.integers(0, 2, dims), "bool")


def distinct(*dims, scale=0.37, dtype=None):
    """Numbers of which no two are equal, in no order."""

    def make(rng, own):
        count = math.prod(dims)
        values = rng.permutation(count).reshape(dims) - (0 if own.startswith("u") else count // 2)
        return values * (scale if own in FLOATS else scale * (1 - 0.5j) if own in COMPLEX else 1)

    return Fill(make, dtype)


def v(values, dtype=None):
    """These values."""
    return Fill(lambda rng, own: np.asarray(values), dtype)


def t(values, dtype="int32"):
    """Axes, sizes and other numbers of an operator: a constant."""
    return const(v(values, dtype))


def const(fill, form=None):
    return Fill(fill.make, fill.dtype, CONST, form or fill.format)


def var(fill):
    return Fill(fill.make, fill.dtype, VARIABLE, fill.format)


def filed(fill):
    return Fill(fill.make, fill.dtype, FILE, fill.format)


def form(name, fill):
    """An input with the name of a format."""
    return Fill(fill.make, fill.dtype, fill.role, name)


class Case:
    def __init__(self, op, name, inputs, want, attrs, types, dtype, rest):
        self.op, self.name, self.inputs, self.want, self.attrs = op, name, inputs, want, attrs or {}
        self.types, self.dtype = types, dtype
        # The line of the table that it comes from.
        self.origin = name
        self.outs = rest.pop("outs", 1)
        self.code = rest.pop("code", None)
        self.loose, self.least, self.small = rest.pop("loose", 1), rest.pop("least", None), rest.pop("small", False)
        self.why = rest.pop("why", None)
        self.out = rest.pop("out", None)
        self.judge = rest.pop("judge", None)
        self.runs, self.repeats = rest.pop("runs", 1), rest.pop("repeats", 1)
        self.form = rest.pop("form", None)
        # What the error says, where the graph has to be refused.
        self.refused = rest.pop("refused", None)
        self.open = False
        assert not rest, f"{op}: unknown arguments {sorted(rest)}"
        assert (self.loose == 1 and self.least is None) or self.why, f"{op} {name}: a tolerance of its own wants a reason"
        assert op in PROTOTYPES, f"{op} is not an operator"

    @property
    def id(self):
        return "-".join(part for part in (self.op, self.name.replace(" ", "_"), self.dtype, "open" if self.open else "") if part)

    def tensors(self):
        """The inputs as they are given, flat, each with its fill and type."""
        rng = np.random.default_rng(zlib.crc32(f"{self.op} {self.origin}".encode()))
        flat = []
        for fills in self.inputs.values():
            for fill in fills if isinstance(fills, list) else [fills]:
                flat.append((fill, *fill.tensor(rng, self.dtype)))
        return flat

    def wanted(self):
        """What the reference says, as a list."""
        flat = [exact(array, dtype) for fill, dtype, array in self.tensors()]
        arguments = []
        for fills in self.inputs.values():
            count = len(fills) if isinstance(fills, list) else None
            arguments.append(flat.pop(0) if count is None else [flat.pop(0) for _ in range(count)])
        with np.errstate(all="ignore"):
            want = self.want(*arguments)
        return list(want) if isinstance(want, (tuple, list)) else [want]


ALL = []


def case(op, name, inputs, want=None, attrs=None, types=(), dtype="float32", **rest):
    """Adds a line, and one more for each further type."""
    for one in [dtype, *types]:
        ALL.append(Case(op, name, inputs, want, attrs, types, one, dict(rest)))


def refused(op, name, inputs, text, attrs=None, dtype="float32", **rest):
    """Adds a line whose graph has to be refused when it is built, with an error that has the text in it."""
    case(op, f"refused, {name}", inputs, None, attrs, dtype=dtype, refused=text, **rest)


def unary(op, function, *dims, lo=-2.0, hi=2.0, types=("float16",), name="", inp="x", attrs=None, **rest):
    """An operator on each element of `x`."""
    case(op, name, {inp: f(*(dims or (3, 5)), lo=lo, hi=hi)}, function, attrs, types, **rest)


def binary(op, function, first=(2, 3), second=(3,), lo=-2.0, hi=2.0, types=("float16",), names=("x1", "x2"), **rest):
    """An operator on pairs of elements."""
    case(op, rest.pop("name", ""), {names[0]: f(*first, lo=lo, hi=hi), names[1]: f(*second, lo=lo, hi=hi)}, function, None, types, **rest)


# --- C++ ---------------------------------------------------------------------------------------------------------------


def number(value):
    value = float(value)
    if math.isinf(value):
        return ("-" if value < 0 else "") + "INFINITY"
    return repr(value) + "f"


def text(value):
    return json.dumps(value)


def value(kind, given):
    """An attribute's value in C++."""
    lists = {
        "ListInt": ("int64_t", lambda one: str(int(one))),
        "ListFloat": ("float", number),
        "ListBool": ("bool", lambda one: str(bool(one)).lower()),
        "ListString": ("ge::AscendString", text),
    }
    if kind in lists:
        ctype, one = lists[kind]
        return f"std::vector<{ctype}>{{{', '.join(map(one, given))}}}"
    if kind == "ListListInt":
        inner = ", ".join(value("ListInt", one) for one in given)
        return f"std::vector<std::vector<int64_t>>{{{inner}}}"
    return {
        "Int": lambda: f"static_cast<int64_t>({TYPES[given][0] if isinstance(given, str) else int(given)})",
        "Float": lambda: number(given),
        "Bool": lambda: str(bool(given)).lower(),
        "String": lambda: text(given),
        "Type": lambda: f"static_cast<ge::DataType>({TYPES[given][0]})",
    }[kind]()


def body(one):
    """The C++ that makes a case's operator."""
    if one.code:
        return one.code
    prototype = PROTOTYPES[one.op]
    lines = [f'ge::op::{one.op} op("op");']
    at = 0
    kinds = {name: occurs for name, occurs in prototype["inputs"]}
    for name, fills in one.inputs.items():
        assert name in kinds, f"{one.op} has no input {name}"
        if kinds[name] == "dynamic":
            lines.append(f"op.create_dynamic_input_{name}({len(fills)});")
            for index in range(len(fills)):
                lines.append(f"op.set_dynamic_input_{name}({index}, c.in({at}));")
                at += 1
        else:
            lines.append(f"op.set_input_{name}(c.in({at}));")
            at += 1
    for name, occurs in prototype["outputs"]:
        if occurs == "dynamic":
            lines.append(f"op.create_dynamic_output_{name}({one.outs});")
        if one.form:
            lines.append(
                f"op.update_output_desc_{name}(ge::TensorDesc(ge::Shape(), static_cast<ge::Format>({FORMATS[one.form]})));"
            )
    attrs = {name: kind for name, kind, *_ in prototype["attrs"]}
    for name, given in one.attrs.items():
        assert name in attrs, f"{one.op} has no attribute {name}"
        lines.append(f"op.set_attr_{name}({value(attrs[name], given)});")
    lines.append("c.out(op);")
    return "\n".join(lines)


def sources(cases, units):
    """C++ for the cases, in so many translation units: their texts, and which function each case has."""
    functions, makers = {}, []
    for one in cases:
        makers.append(functions.setdefault(body(one), len(functions)))
    texts = []
    bodies = list(functions)
    for unit in range(units):
        lines = ["// Generated from the table by cases.py.", '#include "harness.h"', "", "#include <cmath>", ""]
        for index in range(unit, len(bodies), units):
            lines += [f"void Make{index}(Case &c) {{", *("  " + line for line in bodies[index].splitlines()), "}", ""]
        if unit == 0:
            lines += [f"void Make{index}(Case &c);" for index in range(len(bodies))]
            lines += ["const Maker kMakers[] = {", *(f"    Make{index}," for index in range(len(bodies))), "};"]
            lines += [f"const uint32_t kMakerCount = {len(bodies)};"]
        texts.append("\n".join(lines) + "\n")
    return texts, makers


# --- the files ---------------------------------------------------------------------------------------------------------


def pack(cases, makers):
    """The file that the program reads."""
    out = [struct.pack("<I", len(cases))]
    for one, maker in zip(cases, makers):
        name = one.id.encode()
        tensors = one.tensors()
        out += [struct.pack("<I", len(name)), name]
        out.append(struct.pack("<IIIBI", maker, one.runs, one.repeats, one.open, len(tensors)))
        for fill, dtype, array in tensors:
            number = (TYPES.get(dtype) or FOREIGN[dtype])[0]
            out.append(struct.pack("<BiiI", fill.role, number, FORMATS[fill.format], array.ndim))
            out.append(struct.pack(f"<{array.ndim}q", *array.shape))
            content = array.tobytes()
            out += [struct.pack("<Q", len(content)), content]
    return b"".join(out)


def unpack(content):
    """What the program wrote: for each name an error, or tensors with the names of their types."""
    at = 0

    def read(code):
        nonlocal at
        size = struct.calcsize("<" + code)
        values = struct.unpack_from("<" + code, content, at)
        at += size
        return values if len(values) > 1 else values[0]

    def string():
        nonlocal at
        size = read("I")
        at += size
        return content[at - size : at].decode()

    results, last = {}, None
    try:
        while at < len(content):
            last = string()
            error = string()
            tensors = []
            for _ in range(read("I")):
                number, rank = read("i"), read("I")
                dims = [read("q") for _ in range(rank)]
                size = read("Q")
                dtype = NUMBERS.get(number, str(number))
                array = np.frombuffer(content, TYPES[dtype][1], size // np.dtype(TYPES[dtype][1]).itemsize, at)
                at += size
                tensors.append((dtype, array.reshape(dims)))
            results[last] = (error, tensors)
    except struct.error:
        results[last] = ("the program ended while it ran this case", [])
    return results


def compare(one, tensors):
    """Returns the errors in a case's outputs as sentences; the list is empty if there are none."""
    if one.judge:
        return one.judge([exact(array, dtype) for dtype, array in tensors]) or []
    want = one.wanted()
    if len(want) != len(tensors):
        return [f"{len(tensors)} outputs came, {len(want)} were wanted"]
    wrong = []
    for at, (expected, (dtype, array)) in enumerate(zip(want, tensors)):
        if expected is None:
            continue
        expected = np.asarray(expected)
        out = one.out[at] if isinstance(one.out, (list, tuple)) else one.out
        if out is None:
            if expected.dtype == np.bool_:
                out = "bool"
            elif one.dtype in (*FLOATS, *COMPLEX) and expected.dtype.kind in "iu":
                out = expected.dtype.name
            else:
                out = one.dtype
        if dtype != out:
            wrong.append(f"output {at} is {dtype}, not {out}")
            continue
        if array.shape != expected.shape:
            wrong.append(f"output {at} has the shape {list(array.shape)}, not {list(expected.shape)}")
            continue
        got = exact(array, dtype)
        if dtype in COMPLEX:
            with np.errstate(invalid="ignore"):
                far = np.abs(got - expected)
                good = far <= TOLERANCE[dtype] * one.loose * (np.abs(expected) + 1)
            good |= (got == expected) | (np.isnan(got) & np.isnan(expected))
        elif dtype not in FLOATS:
            good = array == expected.astype(array.dtype)
        else:
            tolerance = max(TOLERANCE[dtype], TOLERANCE.get(one.dtype if one.least == "own" else one.least, 0)) * one.loose
            limit = np.finfo(TYPES[dtype][1]).max if dtype != "bfloat16" else 3.39e38
            with np.errstate(invalid="ignore"):
                expected = expected.astype(np.float64)
                expected = np.where(np.abs(expected) > limit, np.sign(expected) * np.inf, expected)
                # Of what is infinite, nothing is near.
                good = np.isfinite(expected) & (np.abs(got - expected) <= tolerance * (np.abs(expected) + (not one.small)))
            good |= (got == expected) | (np.isnan(got) & np.isnan(expected))
        if not good.all():
            index = tuple(int(axis) for axis in np.argwhere(~np.atleast_1d(good))[0]) if good.ndim else ()
            wrong.append(
                f"output {at} at {list(index)} is {got[index]}, NumPy says {expected[index]};"
                f" {np.count_nonzero(~good)} of {good.size} differ"
            )
    return wrong
