"""The stored calls of single operators, with results of PyTorch, through the C functions of the installed library.

`crates/jumar-eager/cases` says what the files contain; the tests of that crate run them without the C interface. Here each call creates its
objects, runs both phases on a stream, and compares memory of the device: with dense tensors, and with tensors that lie transposed, with gaps.
"""

import ctypes
import json
import math

import ml_dtypes
import numpy as np
import pytest

from install import LIB64, ROOT

CASES = ROOT / "crates/jumar-eager/cases"
NUMPY = {name: np.dtype(name) for name in "float32 float64 float16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool complex64 complex128".split()}
NUMPY |= {"bfloat16": np.dtype(ml_dtypes.bfloat16), "complex32": np.dtype((np.void, 4))}
# aclDataType, as acl_base_rt.h numbers it.
ACL = {
    "float32": 0, "float16": 1, "int8": 2, "int32": 3, "uint8": 4, "int16": 6, "uint16": 7, "uint32": 8, "int64": 9, "uint64": 10, "float64": 11, "bool": 12,
    "complex64": 16, "complex128": 17, "bfloat16": 27, "int4": 29, "complex32": 33, "hifloat8": 34, "float8_e5m2": 35, "float8_e4m3fn": 36, "float8_e8m0": 37,
    "float4_e2m1": 40, "float4_e1m2": 41,
}
# How far a result may be from PyTorch's, relative to the larger of 1 and the value, unless the case says it.
WITHIN = {"float64": 1e-12, "complex128": 1e-12, "float32": 3e-6, "complex64": 3e-6, "float16": 2e-3, "complex32": 2e-3, "bfloat16": 1.6e-2}
GAP = 0xA5
ND = 2
MEMORY = 64 << 20
PLAIN = {
    "int64_t": ctypes.c_int64, "uint64_t": ctypes.c_uint64, "int32_t": ctypes.c_int32, "int": ctypes.c_int, "int8_t": ctypes.c_int8, "double": ctypes.c_double,
    "float": ctypes.c_float, "bool": ctypes.c_bool, "aclDataType": ctypes.c_int, "char *": ctypes.c_char_p,
}


def parse(path):
    """Yields (line, name, arguments, outputs, further lines) for each case of a file."""
    case = None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        keyword, _, rest = line.partition(" ")
        if keyword == "case":
            if case:
                yield case
            case = (number, rest, {}, {}, [])
        elif keyword in ("in", "out"):
            name, _, words = rest.partition(" ")
            case[2 if keyword == "in" else 3][name] = words.split()
        elif keyword and keyword != "#":
            case[4].append((keyword, rest))
    yield case


def elements(dtype, words):
    """The elements that a case lists, as bytes side by side in an array of one row for each."""
    if dtype == "complex32":
        pairs = [word.split(",") for word in words]
        return np.array([[float(part) for part in pair] for pair in pairs], np.float16).view(np.uint8).reshape(len(words), 4)
    if dtype not in NUMPY:
        return np.array([int(word) for word in words], np.uint8).reshape(len(words), 1)
    of = NUMPY[dtype]
    if of.kind == "c":
        values = np.array([complex(*map(float, word.split(","))) for word in words], of)
    elif of.kind in "iub":
        values = np.array([int(word) for word in words], object).astype(of)
    else:
        values = np.array([float(word) for word in words], np.float64).astype(of)
    return values.view(np.uint8).reshape(len(words), of.itemsize)


def numbers(dtype, data):
    """The values of elements in double precision, or in integers, which are compared exactly."""
    if dtype == "complex32":
        parts = data.copy().view(np.float16).astype(np.float64).reshape(-1, 2)
        return parts[:, 0] + 1j * parts[:, 1]
    if dtype not in NUMPY:
        return data.reshape(-1)
    values = data.copy().view(NUMPY[dtype]).reshape(-1)
    wide = {"c": np.complex128, "f": np.float64, "V": np.float64}.get(NUMPY[dtype].kind)
    return values.astype(wide) if wide else values


class Tensor:
    """A tensor of a case in a part of the device's memory."""

    def __init__(self, device, words, strided, written, form):
        self.dtype, shape, self.words = words[0], words[1], words[2:]
        self.dims = [int(dim) for dim in shape.split("x") if dim]
        self.packed = self.dtype.startswith("float4") or self.dtype == "int4"
        count, rank = math.prod(self.dims), len(self.dims)
        self.size = 1 if self.packed or self.dtype not in NUMPY else NUMPY[self.dtype].itemsize
        strided = strided and not self.packed
        strides, step = [0] * rank, 1
        for axis in range(rank) if strided else reversed(range(rank)):
            strides[axis] = step * (2 if strided else 1)
            step *= max(self.dims[axis], 1)
        offset, storage = (3, 3 + 2 * step) if strided else (0, step)
        if self.packed:
            data = np.full(-(-count // 2), GAP, np.uint8)
            for index, word in enumerate([] if written else self.words):
                shift = index % 2 * 4
                data[index // 2] = int(data[index // 2]) & ~(15 << shift) | int(word) << shift
            self.positions = None
        else:
            data = np.full((storage, self.size), GAP, np.uint8)
            at = sum((np.arange(dim) * stride).reshape([-1] + [1] * (rank - axis - 1)) for axis, (dim, stride) in enumerate(zip(self.dims, strides)))
            self.positions = (np.zeros(self.dims, np.int64) + at + offset).reshape(-1)
            if self.words and not written:
                data[self.positions] = elements(self.dtype, self.words)
        self.before, self.device = data, device
        self.address = device.write(data)
        stored = self.dims if form is not None else [storage]
        ints = lambda values: (ctypes.c_int64 * max(len(values), 1))(*values)  # noqa: E731
        self.handle = device.create("aclCreateTensor", ints(self.dims), ctypes.c_uint64(rank), ACL[self.dtype], ints(strides), ctypes.c_int64(offset),
                                    ND if form is None else form, ints(stored), ctypes.c_uint64(len(stored)), ctypes.c_void_p(self.address))

    def check(self, words, within):
        """Compares the memory with what a case wants of it; `None` if it is not written."""
        now = self.device.read(self.address, self.before)
        if words is None:
            assert (now == self.before).all(), "an input was changed"
            return
        if self.packed:
            for index, word in enumerate(words[2:]):
                assert int(now[index // 2]) >> (index % 2 * 4) & 15 == int(word), f"element {index}"
            return
        gaps = np.ones(len(now), bool)
        gaps[self.positions] = False
        assert (now[gaps] == self.before[gaps]).all(), "what lies between the elements was changed"
        if not words[2:]:
            return
        found, wanted = numbers(self.dtype, now[self.positions]), numbers(self.dtype, elements(self.dtype, words[2:]))
        if self.dtype not in WITHIN:
            wrong = found != wanted
        else:
            bound = WITHIN[self.dtype] if within is None else within
            with np.errstate(all="ignore"):
                wrong = np.zeros(len(wanted), bool)
                for part in (np.real, np.imag):
                    one, other = part(found), part(wanted)
                    near = (one == other) | np.isnan(one) & np.isnan(other) | (np.abs(one - other) <= bound * np.maximum(np.abs(other), 1))
                    wrong |= ~near
        assert not wrong.any(), f"element {wrong.argmax()} is {found[wrong.argmax()]}, not {wanted[wrong.argmax()]}"


class Device:
    """The library, a stream, and memory that each call uses from its start."""

    def __init__(self):
        self.library = ctypes.CDLL(str(LIB64 / "libascendcl.so"))
        self.library.aclGetRecentErrMsg.restype = ctypes.c_char_p
        self.call("aclInit", None)
        self.call("aclrtSetDevice", 0)
        self.stream, memory = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("aclrtCreateStream", ctypes.byref(self.stream))
        self.call("aclrtMalloc", ctypes.byref(memory), ctypes.c_size_t(MEMORY), 0)
        self.memory, self.used = memory.value, 0

    def call(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        assert code == 0, (name, code, self.message())

    def create(self, name, *arguments):
        function = getattr(self.library, name)
        function.restype = ctypes.c_void_p
        made = function(*arguments)
        assert made, (name, self.message())
        return made

    def message(self):
        return (self.library.aclGetRecentErrMsg() or b"").decode()

    def take(self, size):
        address = self.memory + self.used
        self.used += -(-max(size, 1) // 64) * 64
        assert self.used <= MEMORY
        return address

    def write(self, data):
        address = self.take(data.nbytes)
        if data.nbytes:
            self.call("aclrtMemcpy", ctypes.c_void_p(address), ctypes.c_size_t(data.nbytes), data.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(data.nbytes), 1)
        return address

    def read(self, address, like):
        data = np.empty_like(like)
        if data.nbytes:
            self.call("aclrtMemcpy", data.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(data.nbytes), ctypes.c_void_p(address), ctypes.c_size_t(data.nbytes), 2)
        return data

    def scalar(self, dtype, word):
        return self.create("aclCreateScalar", elements(dtype, [word]).ctypes.data_as(ctypes.c_void_p), ACL[dtype])

    def close(self):
        self.call("aclrtFree", ctypes.c_void_p(self.memory))
        self.call("aclrtDestroyStream", self.stream)
        self.call("aclrtResetDevice", 0)
        self.call("aclFinalize")


def shape_of(device, tensor):
    dims, count = ctypes.POINTER(ctypes.c_int64)(), ctypes.c_uint64()
    device.call("aclGetViewShape", ctypes.c_void_p(tensor.handle), ctypes.byref(dims), ctypes.byref(count))
    return [dims[index] for index in range(count.value)]


ARRAYS = {"aclIntArray": ("aclCreateIntArray", ctypes.c_int64, int), "aclFloatArray": ("aclCreateFloatArray", ctypes.c_float, float),
          "aclBoolArray": ("aclCreateBoolArray", ctypes.c_bool, lambda word: word == "1")}


def run(device, signature, case, strided):
    """Runs a call, and checks its status, its sentence or its results."""
    _, name, given, wanted, further = case
    options = dict(further)
    forms = dict(rest.split() for keyword, rest in further if keyword == "format")
    device.used = 0
    tensors, arguments, owned = {}, [], []
    known = {param.split(":")[0].split()[-1].lstrip("*") for param in signature}
    assert {own.split("[")[0] for own in [*given, *wanted]} <= known, f"a parameter is not in the signature {signature}"

    def tensor(own, words):
        written = own in wanted and own not in given
        tensors[own] = Tensor(device, words, strided, written, int(forms[own]) if own in forms else None)
        return tensors[own].handle

    for param in signature:
        param = param.split(":")[0].replace("const ", "").strip()
        kind, own = param[:param.rindex(" ") + 1].strip() or param, param[param.rindex(" ") + 1:].lstrip("*")
        kind = kind if not param.split(" ")[-1].startswith("*") else f"{kind} *"
        words = given.get(own)
        if words == ["null"]:
            arguments.append(PLAIN.get(kind, ctypes.c_void_p)() if kind != "char *" else ctypes.c_char_p(None))
        elif kind == "aclTensor *":
            words = words or wanted.get(own)
            made = tensor(own, words) if words else None
            owned.append(("aclDestroyTensor", made))
            arguments.append(ctypes.c_void_p(made))
        elif kind == "aclTensorList *":
            members = []
            while (words := given.get(f"{own}[{len(members)}]") or wanted.get(f"{own}[{len(members)}]")) is not None:
                members.append(None if words == ["null"] else tensor(f"{own}[{len(members)}]", words))
            made = device.create("aclCreateTensorList", (ctypes.c_void_p * len(members))(*members), ctypes.c_uint64(len(members))) if members else None
            owned.append(("aclDestroyTensorList", made))
            arguments.append(ctypes.c_void_p(made))
        elif words is None:
            arguments.append(PLAIN[kind]() if kind in PLAIN and kind != "char *" else ctypes.c_void_p())
        elif kind == "aclScalar *":
            made = device.scalar(words[0], words[1])
            owned.append(("aclDestroyScalar", made))
            arguments.append(ctypes.c_void_p(made))
        elif kind == "aclScalarList *":
            members = [device.scalar(words[0], word) for word in words[1:]]
            made = device.create("aclCreateScalarList", (ctypes.c_void_p * len(members))(*members), ctypes.c_uint64(len(members)))
            owned.append(("aclDestroyScalarList", made))
            arguments.append(ctypes.c_void_p(made))
        elif kind.rstrip(" *") in ARRAYS:
            create, of, convert = ARRAYS[kind.rstrip(" *")]
            made = device.create(create, (of * max(len(words), 1))(*map(convert, words)), ctypes.c_uint64(len(words)))
            owned.append((create.replace("Create", "Destroy"), made))
            arguments.append(ctypes.c_void_p(made))
        elif kind == "char *":
            arguments.append(ctypes.c_char_p(" ".join(words).encode()))
        elif kind == "aclDataType":
            arguments.append(ctypes.c_int(ACL[words[0]]))
        elif kind in ("double", "float"):
            arguments.append(PLAIN[kind](float(words[0])))
        elif kind == "bool":
            arguments.append(ctypes.c_bool(words[0] == "1"))
        else:
            arguments.append(PLAIN[kind](int(words[0])))
    try:
        size, executor = ctypes.c_uint64(), ctypes.c_void_p()
        code = getattr(device.library, f"{name}GetWorkspaceSize")(*arguments, ctypes.byref(size), ctypes.byref(executor))
        if "refuse" in options:
            status, _, text = options["refuse"].partition(" ")
            assert code == int(status), f"the status is {code}, not {status}"
            assert text in (message := device.message()), message
            return
        assert code == 0, device.message()
        workspace = device.take(size.value) if size.value else None
        device.call(name, ctypes.c_void_p(workspace), size, executor, device.stream)
        device.call("aclrtSynchronizeStream", device.stream)
        for rest in (rest for keyword, rest in further if keyword == "shape"):
            own, *dims = rest.split()
            assert shape_of(device, tensors[own]) == [int(dim) for dim in dims], own
        within = float(options["within"]) if "within" in options else None
        for own, made in tensors.items():
            try:
                made.check(wanted.get(own), within)
            except AssertionError as error:
                raise AssertionError(f"{own}: {error}") from None
    finally:
        for destroy, made in owned:
            if made:
                device.call(destroy, ctypes.c_void_p(made))


@pytest.fixture(scope="module")
def device():
    device = Device()
    yield device
    device.close()


def needs_ranks(case):
    """Operators that are joined with collectives run in `tests/aclnn/joined.cpp`, on ranks that exist."""
    return any(name.startswith("group") and len(words) == 3 and not words[0].isdigit() and words[0] not in ACL for name, words in case[2].items())


@pytest.mark.parametrize("family", sorted(path.stem for path in CASES.glob("*.txt")))
def test_stored_results_of_pytorch_through_the_c_functions(device, family):
    signatures = {one["name"]: one["params"] for one in json.loads((ROOT / "api/aclnn/operators.json").read_text())}
    failures, runs, left_out = [], 0, 0
    for case in parse(CASES / f"{family}.txt"):
        if needs_ranks(case):
            left_out += 1
            continue
        dense = any(keyword == "dense" for keyword, _ in case[4])
        for strided in [False] if dense else [False, True]:
            runs += 1
            try:
                run(device, signatures[case[1]], case, strided)
            except AssertionError as error:
                failures.append(f"{family}.txt:{case[0]}: {case[1]} {'strided' if strided else 'dense'}: {error}")
    assert not failures, f"{len(failures)} of {runs} calls failed\n" + "\n".join(failures[:30])
    assert runs > 0 and (left_out == 0 or family == "joined")
