"""The buffer protocol for a class written in Python: its slot, which is part of the stable interface from Python 3.11 on.

`__buffer__` of Python 3.12 can only give what `memoryview` can make, which has no half-precision numbers and no zero in a shape.
Below 3.11 there is :meth:`jumar.Array.memoryview`.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

_GET_BUFFER = 1  # Py_bf_getbuffer
_TYPE_FLAGS = (1 << 9) | (1 << 10)  # Py_TPFLAGS_HEAPTYPE, Py_TPFLAGS_BASETYPE
_FORMAT, _ND, _STRIDES = 0x4, 0x8, 0x18  # PyBUF_FORMAT, PyBUF_ND, PyBUF_STRIDES


class _Buffer(ctypes.Structure):
    """Py_buffer."""

    _fields_ = [
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.c_void_p),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_void_p),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("suboffsets", ctypes.c_void_p),
        ("internal", ctypes.c_void_p),
    ]


class _Slot(ctypes.Structure):
    _fields_ = [("slot", ctypes.c_int), ("pfunc", ctypes.c_void_p)]


class _Spec(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("basicsize", ctypes.c_int),
        ("itemsize", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.POINTER(_Slot)),
    ]


class Layout:
    """The layout of an array as consumers see it; valid as long as the array."""

    def __init__(self, shape: tuple[int, ...], size: int, form: str) -> None:
        strides: list[int] = []
        step = size
        for dim in reversed(shape):
            strides.insert(0, step)
            step *= dim
        self.size = size
        self.ndim = len(shape)
        self.bytes = step
        self.shape = (ctypes.c_ssize_t * max(1, len(shape)))(*shape)
        self.strides = (ctypes.c_ssize_t * max(1, len(shape)))(*strides)
        self.format = ctypes.create_string_buffer(form.encode())


_keep = ctypes.pythonapi.Py_IncRef
_keep.argtypes = [ctypes.py_object]
_keep.restype = None
_GetBuffer = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(_Buffer), ctypes.c_int)


def _get(exporter: Any, view: Any, flags: int) -> int:
    buffer = view.contents
    try:
        address, layout = exporter._exported()
    except ValueError:
        # An exception cannot leave a function that C called: the consumer raises a SystemError of its own.
        buffer.obj = None
        return -1
    buffer.buf, buffer.obj, buffer.len, buffer.itemsize = address, id(exporter), layout.bytes, layout.size
    buffer.readonly, buffer.ndim = 0, layout.ndim
    buffer.format = ctypes.addressof(layout.format) if flags & _FORMAT else None
    buffer.shape = ctypes.addressof(layout.shape) if flags & _ND and layout.ndim else None
    buffer.strides = ctypes.addressof(layout.strides) if flags & _STRIDES == _STRIDES and layout.ndim else None
    buffer.suboffsets = buffer.internal = None
    # The view owns its exporter.
    _keep(exporter)
    return 0


_entry = _GetBuffer(_get)
_slots = (_Slot * 2)(_Slot(_GET_BUFFER, ctypes.cast(_entry, ctypes.c_void_p)), _Slot(0, None))
_spec = _Spec(b"jumar._buffer.Exporter", object.__basicsize__, 0, _TYPE_FLAGS, _slots)


def _made() -> type:
    make = ctypes.pythonapi.PyType_FromSpec
    make.argtypes = [ctypes.c_void_p]
    make.restype = ctypes.py_object
    made: type = make(ctypes.addressof(_spec))
    return made


class _Plain:
    """A base without the slot."""


#: The base of classes that export their memory; their method ``_exported`` returns address and :class:`Layout`.
Exporter: Any = _made() if sys.version_info >= (3, 11) else _Plain
