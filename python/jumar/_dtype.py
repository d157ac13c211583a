"""Types of elements, by the names that NumPy and ONNX use."""

from __future__ import annotations

from typing import NamedTuple, Optional


class DType(NamedTuple):
    """A type of elements."""

    #: ``float32`` and so on.
    name: str
    #: The number in the interface (``aclDataType``).
    code: int
    #: Bytes of an element.
    size: int
    #: What ``__array_interface__`` calls it.
    typestr: str
    #: What ``struct`` calls it; empty where it has no name for it.
    format: str
    #: The type code and bits of DLPack.
    dlpack: tuple[int, int]


_ALL = (
    DType("float32", 0, 4, "<f4", "f", (2, 32)),
    DType("float16", 1, 2, "<f2", "e", (2, 16)),
    DType("int8", 2, 1, "|i1", "b", (0, 8)),
    DType("int32", 3, 4, "<i4", "i", (0, 32)),
    DType("uint8", 4, 1, "|u1", "B", (1, 8)),
    DType("int16", 6, 2, "<i2", "h", (0, 16)),
    DType("uint16", 7, 2, "<u2", "H", (1, 16)),
    DType("uint32", 8, 4, "<u4", "I", (1, 32)),
    DType("int64", 9, 8, "<i8", "q", (0, 64)),
    DType("uint64", 10, 8, "<u8", "Q", (1, 64)),
    DType("float64", 11, 8, "<f8", "d", (2, 64)),
    DType("bool", 12, 1, "|b1", "?", (6, 8)),
    # NumPy has no such type; its bytes travel as opaque elements.
    DType("bfloat16", 27, 2, "<V2", "", (4, 16)),
)

BY_NAME = {dtype.name: dtype for dtype in _ALL}
BY_CODE = {dtype.code: dtype for dtype in _ALL}
BY_TYPESTR = {dtype.typestr: dtype for dtype in _ALL}
BY_FORMAT = {dtype.format: dtype for dtype in _ALL if dtype.format} | {"l": BY_NAME["int64"], "L": BY_NAME["uint64"]}
BY_DLPACK = {dtype.dlpack: dtype for dtype in _ALL}


def of(what: object) -> DType:
    """Finds a type by its name, or by a NumPy type.

    Raises:
        TypeError: there is no such type.
    """
    if isinstance(what, DType):
        return what
    name: Optional[str] = what if isinstance(what, str) else getattr(what, "name", None)
    if name is None and isinstance(what, type):
        name = what.__name__
    found = BY_NAME.get(name or "")
    if found is None:
        raise TypeError(f"{what!r} is not an element type; known types are {', '.join(BY_NAME)}")
    return found
