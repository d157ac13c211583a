"""What an ``.onnx`` file refers to: the files beside it that hold its weights.

Only the framing of Protocol Buffers is read, with the few field numbers of onnx.proto that lead to external data; the weights inside
the file are skipped, so that a large file takes no longer than a small one.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path

#: Wire types of Protocol Buffers.
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
#: The fields that lead to tensors, of each message on the way.
_WAYS: dict[str, dict[int, str]] = {
    "model": {7: "graph", 20: "training", 25: "function"},
    "training": {1: "graph", 2: "graph"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "function": {7: "node", 11: "attribute"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
    "tensor": {13: "entry"},
}
#: How deeply messages may be nested; deeper files are damaged.
_DEEPEST = 64


class Damaged(ValueError):
    """The bytes are not Protocol Buffers."""


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while shift < 70:
        if at >= len(data):
            raise Damaged("a number is cut off")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise Damaged("a number is too long")


def _fields(data: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Yields the number and the contents of each field that holds bytes."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            _, at = _varint(data, at)
        elif kind == _FIXED64:
            at += 8
        elif kind == _FIXED32:
            at += 4
        elif kind == _BYTES:
            length, at = _varint(data, at)
            if length > len(data) - at:
                raise Damaged("a field is cut off")
            yield number, data[at : at + length]
            at += length
        else:
            raise Damaged(f"there is no field of kind {kind}")


def _locations(data: memoryview, message: str, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        raise Damaged("messages are nested too deeply")
    ways = _WAYS[message]
    for number, contents in _fields(data):
        inner = ways.get(number)
        if inner == "entry":
            entry = {number: bytes(text) for number, text in _fields(contents)}
            if entry.get(1) == b"location":
                yield entry.get(2, b"").decode("utf-8", "replace")
        elif inner is not None:
            yield from _locations(contents, inner, depth + 1)


def external_files(path: Path) -> list[Path]:
    """Returns the files beside a model that its tensors refer to, sorted, each once.

    A damaged model has none: its conversion reports what is wrong with it.
    """
    with path.open("rb") as file:
        if path.stat().st_size == 0:
            return []
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            data = memoryview(mapped)
            try:
                names = sorted(set(_locations(data, "model", 0)))
            except Damaged:
                return []
            finally:
                _release(data)
    return [path.parent / name for name in names if name]


def _release(data: memoryview) -> None:
    try:
        data.release()
    except BufferError:  # pragma: no cover - slices that an exception's traceback still holds
        pass
