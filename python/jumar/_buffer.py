"""The buffer protocol below Python 3.12, where a class cannot say `__buffer__`: the slot, filled in from here.

The slot is part of the stable interface from Python 3.11 on; below, :meth:`jumar.Array.memoryview` gives the view.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

_GET_BUFFER = 1  # Py_bf_getbuffer
_FLAGS = (1 << 9) | (1 << 10)  # Py_TPFLAGS_HEAPTYPE, Py_TPFLAGS_BASETYPE

_GetBuffer = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p, ctypes.c_int)


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


_fill = ctypes.PyDLL(None).PyObject_GetBuffer
_fill.argtypes = [ctypes.py_object, ctypes.c_void_p, ctypes.c_int]
_fill.restype = ctypes.c_int

def _get(exporter: Any, view: int, flags: int) -> int:
    try:
        # The view that is made is the exporter that the consumer sees and releases; it keeps the array alive.
        return int(_fill(exporter.memoryview(), view, flags))
    except Exception:  # noqa: BLE001 - an exception cannot leave a function that C called: the consumer raises SystemError
        ctypes.c_void_p.from_address(view + ctypes.sizeof(ctypes.c_void_p)).value = None
        return -1


_entry = _GetBuffer(_get)
_slots = (_Slot * 2)(_Slot(_GET_BUFFER, ctypes.cast(_entry, ctypes.c_void_p)), _Slot(0, None))
_spec = _Spec(b"jumar._buffer.Exporter", object.__basicsize__, 0, _FLAGS, _slots)


def _made() -> type:
    make = ctypes.pythonapi.PyType_FromSpec
    make.argtypes = [ctypes.c_void_p]
    make.restype = ctypes.py_object
    made: type = make(ctypes.addressof(_spec))
    return made


class _Plain:
    """A base without the slot."""


#: What a class that has a method ``memoryview`` derives from to be an exporter of it.
Exporter: Any = _made() if (3, 11) <= sys.version_info < (3, 12) else _Plain
