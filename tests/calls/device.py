"""Calls of single operators through the C functions of the installed library.

A call is a list of arguments, one for each parameter of the prototype. Its tensors lie in one arena: it is filled on the host, copied to the device at
once, and copied back after the call. What belongs to no element of an output has to be as it was before.
"""

import ctypes
import json
import os
import pathlib

import ml_dtypes
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
PREFIX = pathlib.Path(os.environ.get("JUMAR_PREFIX") or ROOT / "target/jumar").resolve()

NUMPY = {name: np.dtype(name) for name in "float32 float64 float16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool complex64 complex128".split()}
NUMPY["bfloat16"] = np.dtype(ml_dtypes.bfloat16)
#: Types of 8 and of 4 bits whose elements are exchanged as codes; of the latter two are in a byte, the first in its lower half.
CODES = ("hifloat8", "float8_e5m2", "float8_e4m3fn", "float8_e8m0")
PACKED = ("float4_e2m1", "float4_e1m2", "int4")
NUMPY.update({name: np.dtype(np.uint8) for name in (*CODES, *PACKED)})
#: aclDataType, as acl_base_rt.h numbers it.
ACL = {
    "float32": 0, "float16": 1, "int8": 2, "int32": 3, "uint8": 4, "int16": 6, "uint16": 7, "uint32": 8, "int64": 9, "uint64": 10, "float64": 11, "bool": 12,
    "complex64": 16, "complex128": 17, "bfloat16": 27, "int4": 29, "hifloat8": 34, "float8_e5m2": 35, "float8_e4m3fn": 36, "float8_e8m0": 37,
    "float4_e2m1": 40, "float4_e1m2": 41,
}
ND = 2
#: Bytes of the arena, of one for large tensors, of the workspace behind it, and what lies between elements.
ARENA, LARGE_ARENA, WORKSPACE, GAP = 48 << 20, 160 << 20, 64 << 20, 0xA5
#: Where a tensor of the arena begins is a multiple of this.
ALIGNMENT = 64


def prototypes():
    """Returns the parameters of each operator: type, name, whether it is written, whether it is read and written, whether it may be null."""
    found = {}
    for entry in json.loads((ROOT / "api/aclnn/operators.json").read_text()):
        params = []
        for text in entry["params"]:
            kind, _, notes = text.partition(":")
            kind = kind.replace("const ", "").strip()
            name = kind.split()[-1].lstrip("*")
            kind = kind[: len(kind) - len(name)].replace(" ", "")
            notes = {note.strip() for note in notes.split(",")}
            params.append((kind, name, "out" in notes, "inout" in notes, "optional" in notes))
        found[entry["name"]] = params
    return found


def computed():
    """Returns the names of the operators that are computed, from the generated reference page."""
    rows = (ROOT / "docs/reference/aclnn-operators.md").read_text().splitlines()
    cells = (row.split("|") for row in rows if row.startswith("| acl"))
    return [cell[1].strip() for cell in cells if cell[2].strip() == "yes"]


def documented_types():
    """Returns the element types that each operator accepts, by parameter, from the interface data; an operator without a list is not there."""
    path, found = ROOT / "api/aclnn/types.json", {}
    for entry in json.loads(path.read_text()) if path.exists() else []:
        own = found.setdefault(entry["name"], {})
        for lists in (entry.get("types", {}), entry.get("beyond", {})):
            for names, types in lists.items():
                for name in names.split(", "):
                    own.setdefault(name, set()).update(types.split(", "))
    return found


class Array:
    """A tensor: its elements, and how they lie in memory. `strides` and `offset` count elements."""

    def __init__(self, dtype, values, strides=None, offset=0, capacity=None, fmt=ND):
        self.dtype, self.values, self.offset, self.format = dtype, values, offset, fmt
        self.strides = dense(values.shape) if strides is None else strides
        self.plain = strides is None and offset == 0
        self.capacity = max(capacity or 0, offset + 1 + sum((dim - 1) * stride for dim, stride in zip(values.shape, self.strides))) if values.size else max(capacity or 0, offset)
        self.alias = None


class Scalar:
    def __init__(self, dtype, value):
        self.dtype, self.value = dtype, value


class Written:
    """An output: what it has to hold, and how far from that it may be. `before` is what it holds if it is read as well."""

    def __init__(self, array, wanted, check, alias=None, reads=False):
        self.array, self.wanted, self.check, self.alias, self.reads = array, wanted, check, alias, reads


class List:
    """A list of tensors or scalars."""

    def __init__(self, members):
        self.members = members


class Plain:
    """An argument that is passed by value, or an array of the host: `kind` is one of those in `Device.pass_plain`."""

    def __init__(self, value):
        self.value = value


def dense(shape):
    strides, step = [0] * len(shape), 1
    for axis in range(len(shape) - 1, -1, -1):
        strides[axis] = step
        step *= max(shape[axis], 1)
    return tuple(strides)


INT_ARRAYS = [ctypes.c_int64 * n for n in range(1025)]
NUMBERS = {
    "int64_t": ctypes.c_int64, "uint64_t": ctypes.c_uint64, "int32_t": ctypes.c_int32, "int": ctypes.c_int, "int8_t": ctypes.c_int8, "double": ctypes.c_double,
    "float": ctypes.c_float, "bool": ctypes.c_bool, "aclDataType": ctypes.c_int,
}
ARRAYS = {"aclIntArray*": ("aclCreateIntArray", ctypes.c_int64), "aclFloatArray*": ("aclCreateFloatArray", ctypes.c_float),
          "aclBoolArray*": ("aclCreateBoolArray", ctypes.c_bool)}


def ints(values):
    return INT_ARRAYS[len(values)](*values)


class Device:
    """The library, a stream, the arena, and the objects of the call that runs."""

    def __init__(self, arena=ARENA):
        self.arena = arena
        self.library = ctypes.CDLL(str(PREFIX / "lib64/libascendcl.so"))
        self.library.aclGetRecentErrMsg.restype = ctypes.c_char_p
        for name in ("aclCreateTensor", "aclCreateScalar", "aclCreateTensorList", "aclCreateScalarList", "aclCreateIntArray", "aclCreateFloatArray", "aclCreateBoolArray"):
            getattr(self.library, name).restype = ctypes.c_void_p
        self.call("aclInit", None)
        self.call("aclrtSetDevice", 0)
        self.stream, memory = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("aclrtCreateStream", ctypes.byref(self.stream))
        self.call("aclrtMalloc", ctypes.byref(memory), ctypes.c_size_t(arena + WORKSPACE), 0)
        self.memory, self.used = memory.value, 0
        self.host, self.back = np.full(arena, GAP, np.uint8), np.empty(arena, np.uint8)
        self.functions, self.prototypes, self.types = {}, prototypes(), documented_types()
        # Changes an element of each result before it is compared: shows that a wrong result is found.
        self.spoil = False
        # The first phase alone is called: elements are not stored.
        self.probing = False
        self.communicator, self.group_name = None, None
        self.objects, self.outputs, self.kept, self.addresses = [], [], [], {}
        self.copy, self.sync = self.library.aclrtMemcpy, self.library.aclrtSynchronizeStream
        self.copy.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        self.library.aclCreateTensor.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int, ctypes.c_void_p,
                                                 ctypes.c_uint64, ctypes.c_void_p]

    def group(self):
        """Returns the name of a communicator with this process alone."""
        if self.communicator is None:
            self.communicator, devices, name = ctypes.c_void_p(), ctypes.c_int32(0), ctypes.create_string_buffer(128)
            self.call("HcclCommInitAll", ctypes.c_uint32(1), ctypes.byref(devices), ctypes.byref(self.communicator))
            self.call("HcclGetCommName", self.communicator, name)
            self.group_name = name.value.decode()
        return self.group_name

    def call(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        assert code == 0, (name, code, self.message())

    def message(self):
        return (self.library.aclGetRecentErrMsg() or b"").decode(errors="replace")

    def close(self):
        if self.communicator is not None:
            self.call("HcclCommDestroy", self.communicator)
        self.call("aclrtFree", ctypes.c_void_p(self.memory))
        self.call("aclrtDestroyStream", self.stream)
        self.call("aclrtResetDevice", 0)
        self.call("aclFinalize")

    def own(self, destroy, handle):
        assert handle, (destroy, self.message())
        self.objects.append((destroy, handle))
        return handle

    def view(self, memory, at, array):
        size = NUMPY[array.dtype].itemsize
        return np.ndarray(array.values.shape, NUMPY[array.dtype], memory, at + array.offset * size, [stride * size for stride in array.strides])

    def tensor(self, array, written=None, listed=False):
        """Stores a tensor in the arena and creates it. An output that shares memory with an input has the input's address."""
        size = NUMPY[array.dtype].itemsize
        alias = written.alias if written else None
        if alias is not None:
            at = self.addresses[id(alias)]
        else:
            at, bytes_ = self.used, array.capacity * size
            self.used += -(-bytes_ // ALIGNMENT) * ALIGNMENT + ALIGNMENT
            if self.used > self.arena:
                raise MemoryError("the call does not fit the arena")
            if array.values.size and (written is None or written.reads) and not self.probing:
                self.view(self.host, at, array)[...] = array.values
        self.addresses[id(array)] = at
        if written is not None:
            self.outputs.append((at, array, written))
        dims, strides = array.values.shape, array.strides
        if array.dtype in PACKED and dims:
            assert array.plain, "elements of 4 bits lie side by side"
            dims = (*dims[:-1], 2 * dims[-1])
            strides = dense(dims)
        shape, rank = ints(dims), len(dims)
        strides, stored = ints(strides), shape if array.plain else INT_ARRAYS[1](array.capacity)
        handle = self.library.aclCreateTensor(shape, rank, ACL[array.dtype], strides, array.offset, array.format, stored, rank if array.plain else 1, self.memory + at)
        assert handle, self.message()
        if not listed:
            self.objects.append(("aclDestroyTensor", handle))
        return handle

    def scalar(self, scalar, listed=False):
        value = np.array(scalar.value).astype(NUMPY[scalar.dtype])
        handle = self.library.aclCreateScalar(ctypes.c_void_p(value.ctypes.data), ACL[scalar.dtype])
        return handle if listed else self.own("aclDestroyScalar", handle)

    def argument(self, kind, value):
        if value is None:
            return NUMBERS[kind](0) if kind in NUMBERS else ctypes.c_void_p(None)
        if isinstance(value, Array):
            return ctypes.c_void_p(self.tensor(value))
        if isinstance(value, Written):
            return ctypes.c_void_p(self.tensor(value.array, value))
        if isinstance(value, Scalar):
            return ctypes.c_void_p(self.scalar(value))
        if isinstance(value, List):
            if kind == "aclScalarList*":
                handles = [self.scalar(member, listed=True) for member in value.members]
            else:
                handles = [None if member is None else self.tensor(member, listed=True) if isinstance(member, Array) else self.tensor(member.array, member, listed=True)
                           for member in value.members]
            create = self.library.aclCreateScalarList if kind == "aclScalarList*" else self.library.aclCreateTensorList
            made = create((ctypes.c_void_p * max(len(handles), 1))(*handles), ctypes.c_uint64(len(handles)))
            return ctypes.c_void_p(self.own("aclDestroyScalarList" if kind == "aclScalarList*" else "aclDestroyTensorList", made))
        value = value.value
        if kind in ARRAYS:
            name, of = ARRAYS[kind]
            made = getattr(self.library, name)((of * max(len(value), 1))(*value), ctypes.c_uint64(len(value)))
            return ctypes.c_void_p(self.own(name.replace("Create", "Destroy"), made))
        if kind == "char*":
            return ctypes.c_char_p(value.encode())
        if kind == "aclDataType":
            return ctypes.c_int(ACL[value] if isinstance(value, str) else value)
        if kind == "uint64_t":
            return ctypes.c_uint64(value)
        return NUMBERS[kind](value)

    def arguments(self, name, given):
        """Creates what a call is given. An output that shares memory with an input is stored after it, whatever their order."""
        self.used, self.outputs, self.addresses = 0, [], {}
        kinds = self.prototypes[name]
        arguments = [None] * len(kinds)
        for late in (False, True):
            for index, (kind, own, *_) in enumerate(kinds):
                value = given.get(own)
                if (isinstance(value, Written) and value.alias is not None) == late:
                    arguments[index] = self.argument(kind, value)
        return arguments

    def functions_of(self, name):
        if name not in self.functions:
            self.functions[name] = (getattr(self.library, f"{name}GetWorkspaceSize"), getattr(self.library, name))
        return self.functions[name]

    def first(self, name, given):
        """Calls the first phase alone, and returns its status."""
        size, executor = ctypes.c_uint64(), ctypes.c_void_p()
        self.probing = True
        try:
            code = self.functions_of(name)[0](*self.arguments(name, given), ctypes.byref(size), ctypes.byref(executor))
            if code == 0:
                self.library.aclDestroyAclOpExecutor(executor)
        finally:
            self.probing = False
            self.release()
        return code

    def release(self):
        for destroy, handle in self.objects:
            getattr(self.library, destroy)(ctypes.c_void_p(handle))
        self.objects.clear()

    def run(self, name, given, expected=0):
        """Runs a call. Returns `None` if all is as it should be, or what is wrong: a kind and a sentence. `expected` is the status of the first phase."""
        library, problem, functions = self.library, None, self.functions_of(name)
        try:
            arguments = self.arguments(name, given)
            used = self.used
            if used:
                self.copy(self.memory, used, self.host.ctypes.data, used, 1)
            size, executor = ctypes.c_uint64(), ctypes.c_void_p()
            code = functions[0](*arguments, ctypes.byref(size), ctypes.byref(executor))
            if code == expected and expected:
                pass
            elif expected:
                problem = ("accepted", f"the first phase returned {code}; arguments that do not fit have to be refused with {expected}")
                if code == 0:
                    library.aclDestroyAclOpExecutor(executor)
            elif code:
                problem = ("refused", f"the first phase returned {code}: {self.message().strip()}")
            else:
                problem = self.second(functions[1], size, executor) or (self.compare(used) if used else None)
        except MemoryError as error:
            problem = ("too large", str(error))
        finally:
            self.release()
            self.host[: self.used] = GAP
        return problem

    def second(self, function, size, executor):
        workspace, own = ctypes.c_void_p(self.memory + self.arena if size.value else None), None
        if size.value > WORKSPACE:
            own = workspace = ctypes.c_void_p()
            self.call("aclrtMalloc", ctypes.byref(own), ctypes.c_size_t(size.value), 0)
        code = function(workspace, size, executor, self.stream)
        if code:
            return ("second phase", f"the second phase returned {code}: {self.message().strip()}")
        code = self.sync(self.stream)
        if own is not None:
            self.call("aclrtFree", own)
        return ("failed", f"the stream returned {code}: {self.message().strip()}") if code else None

    def compare(self, used):
        self.copy(self.back.ctypes.data, used, self.memory, used, 2)
        problem = None
        for at, array, written in self.outputs:
            if not array.values.size:
                continue
            found = self.view(self.back, at, array)
            if self.spoil and written.wanted is not None:
                spoiled(found)
            if written.wanted is not None and problem is None:
                wrong = written.check(found, written.wanted)
                if wrong:
                    problem = ("values", wrong)
            self.view(self.host, at, array)[...] = found
        if problem is None and not np.array_equal(self.host[:used], self.back[:used]):
            where = int((self.host[:used] != self.back[:used]).argmax())
            problem = ("stray", f"byte {where} of the arena was written, which belongs to no output")
        return problem


def spoiled(found):
    """Changes one element of a result."""
    at = np.unravel_index(found.size // 2, found.shape)
    with np.errstate(all="ignore"):
        value = found[at]
        found[at] = not value if found.dtype.kind == "b" else value + 1 if found.dtype.kind in "iu" else 1 if value != value else 0 if not np.isfinite(value) else value * 2 + 1
