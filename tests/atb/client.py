"""A client of libatb.so that has its own description of the interface: names, structures and virtual tables as compiled programs use them.

Nothing is taken from Jumar's headers, so that a wrong layout there is a failure here.
"""

import ctypes
import os
import pathlib
import struct

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
PREFIX = pathlib.Path(os.environ.get("JUMAR_PREFIX") or ROOT / "target/jumar").resolve()
LIB64 = PREFIX / "lib64"

acl = ctypes.CDLL(str(LIB64 / "libascendcl.so"), mode=ctypes.RTLD_GLOBAL)
atb = ctypes.CDLL(str(LIB64 / "libatb.so"))
acl.aclGetRecentErrMsg.restype = ctypes.c_char_p

# aclDataType and aclFormat.
FLOAT, FLOAT16, INT8, INT32, UINT32, INT64, UINT64, BOOL, BF16 = 0, 1, 2, 3, 8, 9, 10, 12, 27
ND, NZ = 2, 29
NUMBERS = {"f4": FLOAT, "f2": FLOAT16, "i1": INT8, "i4": INT32, "u4": UINT32, "i8": INT64, "u8": UINT64, "b1": BOOL}


class TensorDesc(ctypes.Structure):
    _fields_ = [("dtype", ctypes.c_int32), ("format", ctypes.c_int32), ("dims", ctypes.c_int64 * 8), ("dim_num", ctypes.c_uint64)]


class Tensor(ctypes.Structure):
    _fields_ = [("desc", TensorDesc), ("device", ctypes.c_void_p), ("host", ctypes.c_void_p), ("size", ctypes.c_uint64)]


def svector(of):
    class SVector(ctypes.Structure):
        _fields_ = [("capacity", ctypes.c_uint64), ("size", ctypes.c_uint64), ("storage", of * 65), ("heap", ctypes.c_void_p)]
    return SVector


Tensors, Descs = svector(Tensor), svector(TensorDesc)


class VariantPack(ctypes.Structure):
    _fields_ = [("ins", Tensors), ("outs", Tensors)]


assert (ctypes.sizeof(Tensor), ctypes.sizeof(Tensors), ctypes.sizeof(Descs), ctypes.sizeof(VariantPack)) == (104, 6784, 5224, 13568)

# Size, and offset and form of each field.
PARAMS = {
    "Linear": (32, {"transposeA": (0, "?"), "transposeB": (1, "?"), "hasBias": (2, "?"), "outDataType": (4, "i"), "enAccum": (8, "?"),
                    "matmulType": (9, "B"), "quantMode": (10, "B"), "rsv": (11, "B")},
               {"transposeB": True, "hasBias": True, "outDataType": -1}),
    "Elewise": (64, {"elewiseType": (0, "i"), "inputScale": (4, "f"), "asymmetric": (8, "?"), "inputOffset": (12, "i"), "varAttr": (36, "f"),
                     "outTensorType": (52, "i")}, {"inputScale": 1.0, "outTensorType": -1}),
    "RmsNorm": (144, {"layerType": (0, "i"), "quantType": (8, "i"), "epsilon": (12, "f"), "rstd": (24, "?"), "precisionMode": (28, "i"),
                      "modelType": (32, "i"), "dynamicQuantType": (36, "i"), "pre.quantType": (72, "i"), "pre.epsilon": (76, "f"), "pre.hasBias": (80, "?"),
                      "post.quantType": (104, "i"), "post.epsilon": (108, "f"), "post.hasBias": (112, "?")},
                {"epsilon": 1e-5, "pre.epsilon": 1e-5, "post.epsilon": 1e-5}),
    "GroupTopk": (24, {"groupNum": (0, "i"), "k": (4, "i"), "groupMultiFlag": (8, "H"), "n": (10, "H")}, {"groupNum": 1, "n": 1}),
    "PagedAttention": (120, {"headNum": (0, "i"), "qkScale": (4, "f"), "kvHeadNum": (8, "i"), "maskType": (12, "i"), "batchRunStatusEnable": (16, "?"),
                             "quantType": (20, "i"), "outDataType": (24, "i"), "hasQuantOffset": (28, "?"), "compressType": (32, "i"), "calcType": (36, "i"),
                             "scaleType": (40, "i"), "inputLayout": (44, "i"), "mlaVHeadSize": (48, "I")}, {"qkScale": 1.0, "outDataType": -1}),
    "ReshapeAndCache": (24, {"compressType": (0, "i"), "kvCacheCfg": (4, "i")}, {}),
    "Rope": (16, {"rotaryCoeff": (0, "i"), "cosFormat": (4, "i")}, {"rotaryCoeff": 4}),
    "SelfAttention": (144, {"quantType": (0, "i"), "outDataType": (4, "i"), "headNum": (8, "i"), "kvHeadNum": (12, "i"), "qScale": (16, "f"),
                            "qkScale": (20, "f"), "isTriuMask": (28, "I"), "calcType": (32, "i"), "kernelType": (36, "i"), "clampType": (40, "i"),
                            "clampMin": (44, "f"), "clampMax": (48, "f"), "maskType": (52, "i")},
                      {"outDataType": -1, "qScale": 1.0, "qkScale": 1.0}),
    "GroupedMatmulInplaceAdd": (24, {"transposeA": (0, "?"), "transposeB": (1, "?")}, {}),
}


def parameters(name, **values):
    size, fields, defaults = PARAMS[name]
    memory = bytearray(size)
    for key, value in {**defaults, **values}.items():
        offset, form = fields[key]
        struct.pack_into("<" + form, memory, offset, value)
    return (ctypes.c_char * size).from_buffer(memory)


def message():
    return (acl.aclGetRecentErrMsg() or b"").decode()


class Refused(Exception):
    """A call returned a status other than 0."""

    def __init__(self, status):
        self.status, self.text = status, message()
        super().__init__(f"{status}: {self.text}")


def check(status):
    if status != 0:
        raise Refused(status)


def method(thing, slot, result, *types):
    table = ctypes.cast(ctypes.cast(thing, ctypes.POINTER(ctypes.c_void_p))[0], ctypes.POINTER(ctypes.c_void_p))
    return ctypes.CFUNCTYPE(result, ctypes.c_void_p, *types)(table[slot])


def bfloat16(values):
    """The bits of values rounded to bfloat16."""
    bits = numpy.ascontiguousarray(values, dtype=numpy.float32).view(numpy.uint32).astype(numpy.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(numpy.uint16)


def rounded(values, dtype):
    """Values as a tensor of the type holds them, in double precision."""
    if dtype == BF16:
        return (bfloat16(values).astype(numpy.uint32) << 16).view(numpy.float32).astype(numpy.float64)
    return numpy.asarray(values).astype({FLOAT16: numpy.float16, FLOAT: numpy.float32}[dtype]).astype(numpy.float64)


class Runtime:
    """A device, a stream, a context, and the memory of a test."""

    def __init__(self):
        check(acl.aclInit(None) % 100002)
        check(acl.aclrtSetDevice(0))
        self.stream, self.context = ctypes.c_void_p(), ctypes.c_void_p()
        check(acl.aclrtCreateStream(ctypes.byref(self.stream)))
        check(atb._ZN3atb13CreateContextEPPNS_7ContextE(ctypes.byref(self.context)))
        self.set_stream(self.stream)
        self.blocks = []

    def set_stream(self, stream):
        check(method(self.context, 2, ctypes.c_int, ctypes.c_void_p)(self.context, stream))

    def memory(self, size):
        address = ctypes.c_void_p()
        check(acl.aclrtMalloc(ctypes.byref(address), ctypes.c_size_t(max(size, 32)), 0))
        self.blocks.append(address)
        return address.value

    def free(self):
        for block in self.blocks:
            check(acl.aclrtFree(block))
        self.blocks = []

    def synchronize(self):
        check(acl.aclrtSynchronizeStream(self.stream))

    def device(self, values, dtype=None, format=ND, dims=None):
        """A tensor in device memory. Numbers of bfloat16 are passed as values."""
        values = numpy.asarray(values)
        if dtype == BF16:
            values = bfloat16(values)
        elif dtype in (FLOAT16, FLOAT):
            values = values.astype({FLOAT16: numpy.float16, FLOAT: numpy.float32}[dtype])
        if dtype is None:
            dtype = NUMBERS[values.dtype.str[1:]]
        values = numpy.ascontiguousarray(values)
        address = self.memory(values.nbytes)
        check(acl.aclrtMemcpy(ctypes.c_void_p(address), values.nbytes, ctypes.c_void_p(values.ctypes.data), values.nbytes, 1))
        tensor = describe(dtype, values.shape if dims is None else dims, format)
        tensor.device = address
        return tensor

    def empty(self, dtype, dims, format=ND):
        tensor = describe(dtype, dims, format)
        tensor.device = self.memory(tensor.size)
        return tensor

    def read(self, tensor):
        """The contents of a tensor; floating-point types in double precision."""
        dims = [tensor.desc.dims[axis] for axis in range(tensor.desc.dim_num)]
        kinds = {FLOAT: "f4", FLOAT16: "f2", INT8: "i1", INT32: "i4", INT64: "i8", BF16: "u2", BOOL: "u1", UINT32: "u4"}
        values = numpy.zeros(dims, kinds[tensor.desc.dtype])
        check(acl.aclrtMemcpy(ctypes.c_void_p(values.ctypes.data), values.nbytes, ctypes.c_void_p(tensor.device), values.nbytes, 2))
        if tensor.desc.dtype == BF16:
            return (values.astype(numpy.uint32) << 16).view(numpy.float32).astype(numpy.float64)
        return values.astype(numpy.float64) if tensor.desc.dtype in (FLOAT, FLOAT16) else values


def describe(dtype, dims, format=ND):
    tensor = Tensor()
    tensor.desc.dtype, tensor.desc.format, tensor.desc.dim_num = dtype, format, len(dims)
    for axis, dim in enumerate(dims):
        tensor.desc.dims[axis] = dim
    # Dimensions behind the last have no meaning.
    for axis in range(len(dims), 8):
        tensor.desc.dims[axis] = -77
    width = {FLOAT: 4, FLOAT16: 2, INT8: 1, INT32: 4, UINT32: 4, INT64: 8, UINT64: 8, BOOL: 1, BF16: 2}.get(dtype, 0)
    tensor.size = int(numpy.prod(dims, dtype=numpy.int64)) * width if len(dims) else 0
    return tensor


def host(values, dtype=numpy.int32):
    """A tensor in host memory. The caller keeps it until a call has returned."""
    values = numpy.ascontiguousarray(values, dtype=dtype)
    tensor = describe(NUMBERS[values.dtype.str[1:]], values.shape)
    tensor.host = values.ctypes.data
    tensor.kept = values
    return tensor


def absent():
    tensor = Tensor()
    tensor.desc.dtype, tensor.desc.format = -1, -1
    return tensor


def pack(ins, outs):
    made = VariantPack()
    for vector, tensors in ((made.ins, ins), (made.outs, outs)):
        vector.size = len(tensors)
        for index, tensor in enumerate(tensors):
            vector.storage[index] = tensor
    return made


def mangled(name):
    param = f"{name}Param"
    return f"_ZN3atb15CreateOperationINS_5infer{len(param)}{param}EEEiRKT_PPNS_9OperationE"


class Operation:
    def __init__(self, name, **values):
        self.pointer = ctypes.c_void_p(0xDEAD)
        check(getattr(atb, mangled(name))(parameters(name, **values), ctypes.byref(self.pointer)))

    def setup(self, runtime, ins, outs):
        size = ctypes.c_uint64(0)
        call = method(self.pointer, 6, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
        check(call(self.pointer, ctypes.byref(pack(ins, outs)), ctypes.byref(size), runtime.context))
        return size.value

    def execute(self, runtime, ins, outs, workspace, size):
        call = method(self.pointer, 7, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p)
        check(call(self.pointer, ctypes.byref(pack(ins, outs)), workspace, size, runtime.context))

    def infer(self, ins):
        given, found = Descs(), Descs()
        given.size = len(ins)
        for index, tensor in enumerate(ins):
            given.storage[index] = tensor.desc
        call = method(self.pointer, 3, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
        check(call(self.pointer, ctypes.byref(given), ctypes.byref(found)))
        return [found.storage[index] for index in range(found.size)]

    def run(self, runtime, ins, outs):
        """Infers, sets up and executes, as clients do; the operation is destroyed before its task has to be done."""
        for desc, out in zip(self.infer(ins), outs, strict=True):
            assert desc.dtype == out.desc.dtype
            assert numpy.prod(desc.dims[: desc.dim_num]) == numpy.prod(out.desc.dims[: out.desc.dim_num])
        size = self.setup(runtime, ins, outs)
        workspace = runtime.memory(size) if size else None
        self.execute(runtime, ins, outs, workspace, size)
        self.destroy()
        runtime.synchronize()
        return [runtime.read(out) for out in outs]

    def destroy(self):
        check(atb._ZN3atb16DestroyOperationEPNS_9OperationE(self.pointer))


def acl_tensor(tensor):
    """A tensor of single operators for the same memory."""
    count = tensor.desc.dim_num
    dims = (ctypes.c_int64 * 8)(*tensor.desc.dims)
    strides = (ctypes.c_int64 * 8)()
    step = 1
    for axis in reversed(range(count)):
        strides[axis] = step
        step *= tensor.desc.dims[axis]
    storage = (ctypes.c_int64 * 1)(step)
    acl.aclCreateTensor.restype = ctypes.c_void_p
    made = acl.aclCreateTensor(
        dims, ctypes.c_uint64(count), tensor.desc.dtype, strides, ctypes.c_int64(0), tensor.desc.format, storage, ctypes.c_uint64(1),
        ctypes.c_void_p(tensor.device or tensor.host),
    )
    assert made
    return ctypes.c_void_p(made)


class Function:
    """A function in two parts. `call` takes tensors, numbers of ctypes, and None for tensors that are not given."""

    def __init__(self, name):
        self.first, self.second = getattr(atb, f"{name}GetWorkspaceSize"), getattr(atb, name)
        self.operation = ctypes.c_void_p()

    def prepare(self, runtime, *arguments):
        made = [acl_tensor(one) if isinstance(one, Tensor) else one for one in arguments]
        size = ctypes.c_uint64(0)
        check(self.first(*made, ctypes.byref(size), ctypes.byref(self.operation), runtime.context))
        for one, given in zip(made, arguments):
            if isinstance(given, Tensor):
                check(acl.aclDestroyTensor(one))
        return size.value

    def execute(self, runtime, size):
        workspace = runtime.memory(size) if size else None
        check(self.second(ctypes.c_void_p(workspace), ctypes.c_uint64(size), self.operation, runtime.context))

    def __call__(self, runtime, *arguments):
        self.execute(runtime, self.prepare(runtime, *arguments))
        runtime.synchronize()

    def destroy(self):
        check(atb._ZN3atb16DestroyOperationEPNS_9OperationE(self.operation))
