"""DLPack over ctypes: zero-copy out, one copy in."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from typing import Any, Optional

from ._dtype import BY_DLPACK, DType

#: Memory of the host.
CPU = 1


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("vector_width", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):
    pass


_Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Managed))
_Managed._fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _Deleter)]

class _Versioned(ctypes.Structure):
    pass


_VersionedDeleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Versioned))
_Versioned._fields_ = [
    ("major", ctypes.c_uint32),
    ("minor", ctypes.c_uint32),
    ("context", ctypes.c_void_p),
    ("deleter", _VersionedDeleter),
    ("flags", ctypes.c_uint64),
    ("tensor", _Tensor),
]

_NAME = b"dltensor"
_USED = b"used_dltensor"
# Without a version a consumer has to take the memory for read-only.
_VERSIONED_NAME = b"dltensor_versioned"

_api = ctypes.pythonapi
_new = _api.PyCapsule_New
_new.restype = ctypes.py_object
_Destructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, _Destructor]
_is_valid = _api.PyCapsule_IsValid
_is_valid.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
_pointer = _api.PyCapsule_GetPointer
_pointer.restype = ctypes.c_void_p
_pointer.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
_rename = _api.PyCapsule_SetName
_rename.argtypes = [ctypes.c_void_p, ctypes.c_char_p]

#: What was given out and not yet given back: the structure and what it points to, by the structure's address.
_out: dict[int, tuple[Any, ...]] = {}


def _delete(managed: Any) -> None:
    _out.pop(ctypes.addressof(managed.contents), None)


def _forget_capsule(capsule: int) -> None:
    # A capsule that was not consumed still owns its tensor.
    for name in (_NAME, _VERSIONED_NAME):
        if _is_valid(capsule, name):
            _out.pop(_pointer(capsule, name), None)


# They live as long as the process: a consumer may call them at any time.
_delete_plain = _Deleter(_delete)
_delete_versioned = _VersionedDeleter(_delete)
_forget = _Destructor(_forget_capsule)


def export(owner: object, address: int, shape: tuple[int, ...], dtype: DType, versioned: bool) -> Any:
    """Makes a capsule over memory that ``owner`` keeps alive."""
    dims = (ctypes.c_int64 * max(1, len(shape)))(*shape)
    # Some consumers want strides where the elements lie together, too.
    steps = [math.prod(shape[index + 1 :]) for index in range(len(shape))]
    strides = (ctypes.c_int64 * max(1, len(shape)))(*steps)
    tensor = _Tensor(address, CPU, 0, len(shape), *dtype.dlpack, 1, dims, strides, 0)
    managed: Any
    if versioned:
        managed = _Versioned(1, 0, None, _delete_versioned, 0, tensor)
    else:
        managed = _Managed(tensor, None, _delete_plain)
    at = ctypes.addressof(managed)
    _out[at] = (managed, dims, strides, owner)
    return _new(at, _VERSIONED_NAME if versioned else _NAME, _forget)


def take(source: Any, make: Callable[[tuple[int, ...], Optional[DType]], Any]) -> Any:
    """Copies what an object exports into the array that ``make`` returns.

    Raises:
        ValueError: it is not memory of the host, or its elements do not lie together.
    """
    kind = source.__dlpack_device__()[0]
    if kind != CPU:
        raise ValueError(f"the array lies on a device of another kind (DLPack device type {kind}); copy it to the host first")
    capsule = source.__dlpack__()
    at = _pointer(id(capsule), _NAME)
    managed = _Managed.from_address(at)
    tensor = managed.tensor
    try:
        shape = tuple(tensor.shape[index] for index in range(tensor.ndim))
        step = 1
        for index in reversed(range(tensor.ndim if tensor.strides else 0)):
            if shape[index] != 1 and tensor.strides[index] != step:
                raise ValueError("the elements do not lie together; make a contiguous copy first")
            step *= shape[index]
        dtype = BY_DLPACK.get((tensor.code, tensor.bits)) if tensor.vector_width == 1 else None
        made = make(shape, dtype)
        if math.prod(shape):
            ctypes.memmove(made.address, tensor.data + tensor.byte_offset, made.nbytes)
        return made
    finally:
        _rename(id(capsule), _USED)
        if managed.deleter:
            managed.deleter(ctypes.byref(managed))
