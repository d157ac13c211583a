"""Compiles kernels as Triton does, and launches them by the runtime's functions: without PyTorch's adapter, and without a C++ compiler
for each signature. `examples/triton/softmax.py` is a script as it is."""

import ctypes
import inspect
import os
import struct

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, compile

TYPES = {
    torch.float32: "fp32", torch.float16: "fp16", torch.bfloat16: "bf16", torch.float64: "fp64", torch.int8: "i8", torch.int16: "i16",
    torch.int32: "i32", torch.int64: "i64", torch.uint8: "u8", torch.bool: "i1",
}
MAGIC = 0x41415246
ALIGNED_TO_8 = ("i64", "u64", "fp64")


def signature_of(value):
    if isinstance(value, torch.Tensor):
        return "*" + TYPES[value.dtype]
    if isinstance(value, bool):
        return "i1"
    if isinstance(value, int):
        return "i32" if -(2**31) <= value < 2**31 else "i64"
    return "fp32"


def compiled(kernel, arguments, constants):
    """Returns the compiled kernel, from Triton's cache if it is there, and the values that its launch passes."""
    names = list(inspect.signature(kernel.fn).parameters)
    values = dict(zip(names, arguments))
    signature = {name: signature_of(value) for name, value in values.items()}
    source = ASTSource(kernel, signature, constants)
    target = GPUTarget("npu", os.environ.get("TRITON_ASCEND_ARCH", "Ascend910B1"), 0)
    # Triton's own launch reads the variable; without it assertions are left out.
    made = compile(source, target=target, options={"debug": os.environ.get("TRITON_DEBUG") == "1"})
    return made, signature, values


class Library:
    """The runtime's functions by which a launcher loads and starts kernels."""

    def __init__(self):
        self.acl = ctypes.CDLL("libascendcl.so")
        self.acl.aclGetRecentErrMsg.restype = ctypes.c_char_p
        self.check(self.acl.aclInit(None))
        self.check(self.acl.rtSetDevice(0))
        self.stream = ctypes.c_void_p()
        self.check(self.acl.rtStreamCreate(ctypes.byref(self.stream), 0))
        self.functions = {}

    def check(self, code):
        if code != 0:
            raise RuntimeError(f"{code}: {(self.acl.aclGetRecentErrMsg() or b'').decode()}")

    def function(self, binary, name):
        """Returns the address that stands for a kernel."""
        key = (hash(binary), name)
        if key not in self.functions:
            description = (ctypes.c_char * 24)()
            held = ctypes.create_string_buffer(binary, len(binary))
            struct.pack_into("IIQQ", description, 0, MAGIC, 0, ctypes.addressof(held), len(binary))
            handle = ctypes.c_void_p()
            self.check(self.acl.rtDevBinaryRegister(description, ctypes.byref(handle)))
            stub = ctypes.create_string_buffer(1)
            text = name.encode()
            self.check(self.acl.rtFunctionRegister(handle, stub, text, text, 0))
            self.functions[key] = stub
        return self.functions[key]

    def to_device(self, tensor):
        address = ctypes.c_void_p()
        bytes = max(tensor.numel() * tensor.element_size(), 1)
        self.check(self.acl.rtMalloc(ctypes.byref(address), ctypes.c_uint64(bytes), 2, 0))
        self.check(self.acl.rtMemcpy(address, ctypes.c_uint64(bytes), ctypes.c_void_p(tensor.data_ptr()), ctypes.c_uint64(bytes), 1))
        return address

    def from_device(self, address, tensor):
        bytes = max(tensor.numel() * tensor.element_size(), 1)
        self.check(self.acl.rtMemcpy(ctypes.c_void_p(tensor.data_ptr()), ctypes.c_uint64(bytes), address, ctypes.c_uint64(bytes), 2))

    def synchronize(self):
        self.check(self.acl.rtStreamSynchronize(self.stream))


_library = None


def library():
    global _library
    if _library is None:
        _library = Library()
    return _library


def pack(values, signature, grid):
    """Returns the block of arguments, as Triton's launcher lays it out."""
    block = bytearray()

    def put(format, value):
        bytes = struct.calcsize(format)
        block.extend(b"\0" * (-len(block) % bytes))
        block.extend(struct.pack(format, value))

    for _ in range(3):
        put("Q", 0)
    for name, value in values.items():
        kind = signature[name]
        if kind.startswith("*"):
            put("Q", value.value)
        elif kind == "fp32":
            put("f", value)
        else:
            put("q" if kind == "i64" else "i", int(value))
    for extent in grid:
        put("i", extent)
    return bytes(block)


def launch(kernel, grid, *arguments, blocks=None, **constants):
    """Runs a kernel on copies of tensors, which take what it writes. `blocks`: fewer blocks than programs."""
    grid = (tuple(grid) + (1, 1))[:3]
    made, signature, values = compiled(kernel, arguments, constants)
    device = library()
    function = device.function(made.kernel, made.metadata.kernel_name)
    addresses = {name: device.to_device(value) for name, value in values.items() if isinstance(value, torch.Tensor)}
    block = pack({name: addresses.get(name, value) for name, value in values.items()}, signature, grid)
    try:
        held = ctypes.create_string_buffer(block, len(block))
        count = blocks or grid[0] * grid[1] * grid[2]
        device.check(device.acl.rtKernelLaunch(function, count, held, len(block), None, device.stream))
        device.synchronize()
        for name, address in addresses.items():
            device.from_device(address, values[name])
    finally:
        for address in addresses.values():
            device.check(device.acl.rtFree(address))
