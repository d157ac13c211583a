"""Arrays in pinned host memory, which speak everybody's protocols, and arrays in device memory."""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Iterator, Sequence
from typing import Any, Optional, Union

import acl

from . import _buffer, _dlpack, _dtype, _runtime
from ._errors import check
from ._runtime import Stream, _Object, ensure_context, entered, is_running, release_after

_HOST_TO_DEVICE = 1
_DEVICE_TO_HOST = 2
_HUGE_FIRST = 0

Shape = Union[int, Sequence[int]]


def void(_: object) -> None:
    """Drops a return code where no caller could receive it."""


def _shape(shape: Shape) -> tuple[int, ...]:
    dims = (shape,) if isinstance(shape, int) else tuple(int(dim) for dim in shape)
    if any(dim < 0 for dim in dims):
        raise ValueError(f"a dimension of {dims} is negative")
    return dims


class _Sized(_Object):
    """What host and device arrays have in common."""

    #: Shape and type of the elements.
    _type: tuple[tuple[int, ...], _dtype.DType]
    #: Streams with work that uses the memory.
    _users: Sequence[Stream] = ()

    def __init__(self, shape: Shape, dtype: object) -> None:
        self._describe(_shape(shape), _dtype.of(dtype))

    def _describe(self, shape: tuple[int, ...], dtype: _dtype.DType) -> None:
        self._type = shape, dtype

    @property
    def _shape(self) -> tuple[int, ...]:
        return self._type[0]

    @property
    def _dtype(self) -> _dtype.DType:
        return self._type[1]

    def _free(self, handle: int) -> int:
        raise NotImplementedError

    def _release(self, handle: int) -> int:
        if not self._users:
            return self._free(handle)
        # Queued work still uses the memory: it is released after that work.
        release_after(self._users, lambda: None if not is_running() else void(self._free(handle)))
        return 0

    def _used_by(self, stream: Stream) -> None:
        if stream not in self._users:
            self._users = [*(user for user in self._users if user._is_busy()), stream]
        if stream._deferred and not stream._is_busy():
            stream._give_back()

    @property
    def shape(self) -> tuple[int, ...]:
        """The dimensions, outermost first; the elements lie without gaps, the last dimension closest."""
        return self._shape

    @property
    def dtype(self) -> str:
        """The name of the type of elements, for example ``float32``."""
        return self._dtype.name

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self._shape)

    @property
    def nbytes(self) -> int:
        """The number of bytes."""
        return math.prod(self._shape) * self._dtype.size

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("an array without dimensions has no length")
        return self._shape[0]


class Array(_buffer.Exporter, _Sized):  # type: ignore[misc]
    """An array in pinned host memory: copies to and from devices use it directly and asynchronously.

    It speaks ``__array_interface__``, DLPack (``__dlpack__``, as memory of the CPU) and, from Python 3.11 on, the buffer
    protocol; below, :meth:`memoryview` returns the view. None of them copies, and each keeps the array alive.

    Args:
        shape: the dimensions.
        dtype: a name or a NumPy type.

    Raises:
        OutOfMemoryError: no memory.
    """

    _layout: Optional[_buffer.Layout] = None

    # The module `acl` makes arrays and frees their memory, too: an array is its _handle and _type.
    def __init__(self, shape: Shape, dtype: object = "float32") -> None:
        ensure_context()
        self._adopt(_shape(shape), _dtype.of(dtype))

    def _adopt(self, shape: tuple[int, ...], dtype: _dtype.DType) -> None:
        """Allocates the memory of an array."""
        self._describe(shape, dtype)
        # The interface has no allocation of nothing.
        self._handle, code = acl.rt.malloc_host(max(1, self.nbytes))
        check("acl.rt.malloc_host", code)

    def _free(self, handle: int) -> int:
        return int(acl.rt.free_host(handle))

    def __reduce__(self) -> tuple[object, ...]:
        # The elements travel, not the address: it means something else in another process.
        return of_bytes, (self._shape, self._dtype.name, bytes(self._bytes()))

    def _bytes(self) -> memoryview:
        raw = (ctypes.c_char * self.nbytes).from_address(self.handle)
        raw.owner = self  # type: ignore[attr-defined]
        return memoryview(raw).cast("B")

    @property
    def address(self) -> int:
        """The address of the first element."""
        return self.handle

    def memoryview(self) -> memoryview:
        """Returns a writable view. If ``struct`` has no name for the type, it is a view of bytes with one more dimension."""
        # The view keeps its exporter alive, and the exporter the memory.
        view = self._bytes()
        if 0 in self._shape:
            # The language has no view with a zero in its shape.
            return view
        try:
            cast: Any = view.cast
            typed: memoryview = cast(self._dtype.format or "x", self._shape)
            return typed
        except (ValueError, TypeError, NotImplementedError):
            return view.cast("B", (*self._shape, self._dtype.size))

    def _exported(self) -> tuple[int, _buffer.Layout]:
        if self._layout is None:
            # bfloat16 is exported as its bits.
            self._layout = _buffer.Layout(self._shape, self._dtype.size, self._dtype.format or "H")
        return self.handle, self._layout

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {
            "version": 3,
            "shape": self._shape,
            "typestr": self._dtype.typestr,
            "data": (self.handle, False),
            "strides": None,
        }

    def __dlpack__(self, *, stream: Any = None, max_version: Optional[tuple[int, int]] = None, **_: Any) -> Any:
        versioned = max_version is not None and max_version[0] >= 1
        return _dlpack.export(self, self.handle, self._shape, self._dtype, versioned)

    def __dlpack_device__(self) -> tuple[int, int]:
        return _dlpack.CPU, 0

    def numpy(self) -> Any:
        """Returns a NumPy array over the same memory, which keeps this one alive. Needs NumPy.

        bfloat16 needs the package ``ml_dtypes`` to be numbers; without it the elements are opaque.
        """
        import numpy

        view = numpy.asarray(_Interface(self))
        if self._dtype.name == "bfloat16":
            try:
                import ml_dtypes
            except ImportError:
                return view
            return view.view(ml_dtypes.bfloat16)
        return view

    def tolist(self) -> Any:
        """Returns nested lists of Python numbers.

        Raises:
            TypeError: Python has no numbers of this type (bfloat16).
        """
        if not self._dtype.format:
            raise TypeError(f"{self.dtype} has no numbers in Python; view it through numpy()")
        flat = struct.unpack(f"<{self.size}{self._dtype.format}", bytes(self.memoryview()))

        def nested(dims: tuple[int, ...], at: int) -> Any:
            if not dims:
                return flat[at]
            step = math.prod(dims[1:])
            return [nested(dims[1:], at + index * step) for index in range(dims[0])]

        return nested(self._shape, 0)

    def item(self) -> Any:
        """Returns the only element.

        Raises:
            ValueError: there are more, or none.
        """
        if self.size != 1:
            raise ValueError(f"an array of {self.size} elements is not one number")
        value = self.tolist()
        while isinstance(value, list):
            value = value[0]
        return value

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def to_device(self, stream: Optional[Stream] = None) -> DeviceArray:
        """Copies the array into new device memory of the current device.

        With a stream the copy is queued there: this array must not be changed before the stream has come that far. It may be
        forgotten: memory that queued work uses is given back after it.
        """
        on_device = DeviceArray(self._shape, self._dtype)
        on_device.copy_from(self, stream)
        return on_device

    def __repr__(self) -> str:
        if not self._handle:
            return "<jumar.Array, closed>"
        text = f"<jumar.Array {self.dtype} {self._shape}"
        if 0 < self.size <= 8 and self._dtype.format:
            text += f" {self.tolist()}"
        return text + ">"

    def _repr_html_(self) -> str:
        dims = " &times; ".join(map(str, self._shape)) or "one number"
        return f"<b>Array</b> {self.dtype}, {dims}, {self.nbytes:,} bytes of pinned host memory"


# A small model takes little longer than a finalizer in Python. Absent from another library's `acl`.
if hasattr(acl, "_array_finalizer"):
    setattr(Array, "__del__", acl._array_finalizer(Array))
    # That of the base class asks whether the runtime still is there.
    _runtime.at_finish.append(lambda: delattr(Array, "__del__"))


def uninitialized(shape: tuple[int, ...], dtype: _dtype.DType) -> Array:
    """Makes an array of a known shape and type, on a thread that has a current context."""
    made = Array.__new__(Array)
    made._adopt(shape, dtype)
    return made


def of_bytes(shape: Shape, dtype: object, elements: Union[bytes, memoryview]) -> Array:
    """Makes an array of as many bytes as it has."""
    made = Array(shape, dtype)
    if made.nbytes:
        made._bytes()[:] = memoryview(elements).cast("B")
    return made


class _Interface:
    """An array as NumPy alone sees it: with a type where the buffer protocol has bits."""

    def __init__(self, array: Array) -> None:
        self.__array_interface__ = array.__array_interface__
        self._array = array


class DeviceArray(_Sized):
    """An array in device memory of the current device.

    Args:
        shape: the dimensions.
        dtype: a name or a NumPy type.

    Raises:
        OutOfMemoryError: the device has no memory left.
    """

    def __init__(self, shape: Shape, dtype: object = "float32") -> None:
        super().__init__(shape, dtype)
        self._context = ensure_context()
        self._handle, code = acl.rt.malloc(max(1, self.nbytes), _HUGE_FIRST)
        check("acl.rt.malloc", code)

    _instead = "; copy it with to_host() first"

    def _free(self, handle: int) -> int:
        with entered(self._context):
            return int(acl.rt.free(handle))

    @property
    def address(self) -> int:
        """The device address of the first element."""
        return self.handle

    def copy_from(self, source: Any, stream: Optional[Stream] = None) -> None:
        """Copies from the host: an :class:`Array`, or anything that :func:`array` takes.

        With a stream the copy is queued, and the source, which has to be an :class:`Array`, must stay as it is until the
        stream has come that far.

        Raises:
            ValueError: shape or type differ.
        """
        if not isinstance(source, Array):
            if stream is not None:
                raise TypeError("a queued copy needs a jumar.Array, whose memory is pinned; make one with jumar.array")
            source = array(source, self._dtype)
        if (source.shape, source.dtype) != (self.shape, self.dtype):
            raise ValueError(f"{source.dtype} {source.shape} does not fit into {self.dtype} {self.shape}")
        self._copy(self.handle, source.handle, _HOST_TO_DEVICE, stream, source)

    def to_host(self, stream: Optional[Stream] = None) -> Array:
        """Copies into a new host array; with a stream it holds the values once the stream has come that far."""
        host = Array(self._shape, self._dtype)
        self._copy(host.handle, self.handle, _DEVICE_TO_HOST, stream, host)
        return host

    def _copy(self, to: int, source: int, kind: int, stream: Optional[Stream], host: Array) -> None:
        size = self.nbytes
        with entered(self._context):
            if size == 0:
                return
            if stream is None:
                check("acl.rt.memcpy", acl.rt.memcpy(to, size, source, size, kind))
            else:
                self._used_by(stream)
                host._used_by(stream)
                check("acl.rt.memcpy_async", acl.rt.memcpy_async(to, size, source, size, kind, stream.handle))

    def numpy(self) -> Any:
        """Copies to the host and returns a NumPy array. Needs NumPy."""
        return self.to_host().numpy()

    def tolist(self) -> Any:
        """Copies to the host and returns nested lists of Python numbers."""
        return self.to_host().tolist()

    def __repr__(self) -> str:
        if not self._handle:
            return "<jumar.DeviceArray, closed>"
        return f"<jumar.DeviceArray {self.dtype} {self._shape} at {self._handle:#x}>"


def empty(shape: Shape, dtype: object = "float32") -> Array:
    """Makes a host array whose elements hold anything."""
    return Array(shape, dtype)


def zeros(shape: Shape, dtype: object = "float32") -> Array:
    """Makes a host array of zeros."""
    made = Array(shape, dtype)
    ctypes.memset(made.handle, 0, made.nbytes)
    return made


def array(source: Any, dtype: Optional[object] = None) -> Array:
    """Makes a host array with the elements of something else.

    Args:
        source: an array with ``__array_interface__`` (NumPy), the buffer protocol, or DLPack (PyTorch); nested lists of
            numbers; a number.
        dtype: the type of elements of the result. Arrays of another type are refused rather than converted; lists become
            ``float32``, ``int64`` or ``bool`` without it.

    Raises:
        TypeError: not an array, or of another type than wanted.
        ValueError: lists of different lengths, or an array whose elements do not lie together.
    """
    wanted = None if dtype is None else _dtype.of(dtype)
    interface = getattr(source, "__array_interface__", None)
    if interface is not None:
        return _from_interface(source, interface, wanted)
    if hasattr(source, "__dlpack__"):
        contiguous = getattr(source, "contiguous", None)
        # Of a tensor whose elements do not lie together PyTorch makes a copy; of any other, none.
        source = contiguous() if callable(contiguous) else source
        taken: Array = _dlpack.take(source, lambda shape, kind: Array(shape, _wanted(kind, wanted)))
        return taken
    try:
        view = memoryview(source)
    except TypeError:
        return _from_lists(source, wanted)
    return _from_buffer(view, wanted)


def _wanted(found: Optional[_dtype.DType], wanted: Optional[_dtype.DType]) -> _dtype.DType:
    if found is None:
        raise TypeError("the elements are of a type that devices do not have")
    # Opaque two-byte elements are taken for what the caller says that they are.
    if wanted is None or found == wanted or (wanted.name == "bfloat16" and found.name == "uint16"):
        return wanted or found
    raise TypeError(f"the array holds {found.name}, not {wanted.name}; convert it first")


def _from_interface(source: Any, interface: dict[str, Any], wanted: Optional[_dtype.DType]) -> Array:
    found = _wanted(_dtype.BY_TYPESTR.get(interface["typestr"]), wanted)
    shape = tuple(interface["shape"])
    strides = interface.get("strides")
    if strides is not None and not _dense(shape, strides, found.size):
        contiguous = getattr(source, "copy", None)
        if contiguous is None:
            raise ValueError("the elements do not lie together; make a contiguous copy first")
        copied = contiguous()
        again = copied.__array_interface__
        if again.get("strides") is not None:
            raise ValueError("the elements do not lie together; make a contiguous copy first")
        return _from_interface(copied, again, wanted)
    made = Array(shape, found)
    ctypes.memmove(made.handle, interface["data"][0], made.nbytes)
    return made


def _dense(shape: tuple[int, ...], strides: Sequence[int], size: int) -> bool:
    for dim, stride in zip(reversed(shape), reversed(tuple(strides))):
        if dim != 1 and stride != size:
            return False
        size *= dim
    return True


def _from_buffer(view: memoryview, wanted: Optional[_dtype.DType]) -> Array:
    form = view.format.lstrip("@=<")
    found = _wanted(_dtype.BY_FORMAT.get("B" if form == "c" else form), wanted)
    made = Array(view.shape or (), found)
    if made.nbytes:
        flat = view if view.contiguous and view.c_contiguous else memoryview(view.tobytes())
        raw = memoryview((ctypes.c_char * made.nbytes).from_address(made.handle)).cast("B")
        raw[:] = flat.cast("B") if flat.ndim else memoryview(flat.tobytes())
    return made


def _from_lists(source: Any, wanted: Optional[_dtype.DType]) -> Array:
    shape: list[int] = []
    level = source
    while isinstance(level, (list, tuple)):
        shape.append(len(level))
        if not level:
            break
        level = level[0]
    flat: list[Any] = []

    def walk(item: Any, depth: int) -> None:
        if depth == len(shape):
            if not isinstance(item, (bool, int, float)):
                raise TypeError(f"{type(item).__name__} is not an array, a list or a number")
            flat.append(item)
            return
        if not isinstance(item, (list, tuple)) or len(item) != shape[depth]:
            raise ValueError("lists of different lengths are no array")
        for inner in item:
            walk(inner, depth + 1)

    walk(source, 0)
    if wanted is None:
        kinds = {type(item) for item in flat}
        wanted = _dtype.of("bool" if kinds == {bool} else "int64" if kinds and kinds <= {int, bool} else "float32")
    if not wanted.format:
        raise TypeError(f"lists cannot become {wanted.name}; use an array of that type")
    made = Array(tuple(shape), wanted)
    try:
        packed = struct.pack(f"<{len(flat)}{wanted.format}", *flat)
    except struct.error as reason:
        raise ValueError(f"a number does not fit into {wanted.name}: {reason}") from None
    ctypes.memmove(made.handle, packed, len(packed))
    return made
