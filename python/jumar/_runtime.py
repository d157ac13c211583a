"""Devices, contexts, streams and events as objects."""

from __future__ import annotations

import atexit
import ctypes
import threading
from collections import deque
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Optional

import acl

from ._errors import check, error

if TYPE_CHECKING:
    from ._graph import Graph

_ALREADY = 100002
_NO_CONTEXT = 107002
#: Flags of an event that can be waited for and timed.
_EVENT_FLAGS = 0x1 | 0x8  # ACL_EVENT_SYNC, ACL_EVENT_TIME_LINE

_lock = threading.Lock()
_started = False
#: What is called before the runtime ends.
at_finish: list[Callable[[], None]] = []


def start() -> None:
    """Initialises the runtime once in a process; a program that called ``acl.init`` itself keeps its own."""
    global _started
    if _started:
        return
    with _lock:
        if _started:
            return
        code = acl.init()
        if code not in (0, _ALREADY):
            raise error("acl.init", code)
        if code == 0:
            atexit.register(_finish)
        _started = True


def _finish() -> None:
    global _started
    _started = False
    for function in at_finish:
        function()
    # Objects that still exist are freed with the process; no caller could receive an error here.
    acl.finalize()


def is_running() -> bool:
    """Returns whether objects can still be released one by one."""
    return _started


def ensure_context() -> int:
    """Returns this thread's current context; makes device 0 current if the thread has none.

    Raises:
        Error: there is no device.
    """
    start()
    context, code = acl.rt.get_context()
    if code == _NO_CONTEXT:
        check("acl.rt.set_device", acl.rt.set_device(0))
        context, code = acl.rt.get_context()
    check("acl.rt.get_context", code)
    return int(context)


class entered:
    """Makes a context current for the time of a ``with`` block, and the one before it again afterwards."""

    __slots__ = ("_before", "_wanted")

    def __init__(self, wanted: int) -> None:
        self._wanted = wanted
        self._before = 0

    def __enter__(self) -> None:
        before, code = acl.rt.get_context()
        self._before = 0 if code else before
        if self._before != self._wanted:
            check("acl.rt.set_context", acl.rt.set_context(self._wanted))

    def __exit__(self, *_: object) -> None:
        if self._before and self._before != self._wanted:
            acl.rt.set_context(self._before)


def _exchange_mode() -> Any:
    # pyACL has no such call. The library is loaded, so that its name finds the one that `acl` uses.
    return ctypes.CDLL("libascendcl.so").aclmdlRICaptureThreadExchangeMode


class relaxed_capture:
    """Lets this thread allocate, copy and free for the time of a ``with`` block, while a stream is captured."""

    __slots__ = ("_before",)
    _call: Any = None

    def __init__(self) -> None:
        self._before = ctypes.c_int(2)  # ACL_MODEL_RI_CAPTURE_MODE_RELAXED

    def _exchange(self) -> None:
        if relaxed_capture._call is None:
            relaxed_capture._call = _exchange_mode()
        check("aclmdlRICaptureThreadExchangeMode", relaxed_capture._call(ctypes.byref(self._before)))

    def __enter__(self) -> None:
        self._exchange()

    def __exit__(self, kind: Optional[type[BaseException]], *_: object) -> None:
        try:
            self._exchange()
        except Exception:
            # An exception of the block is what counts.
            if kind is None:
                raise


def device_count() -> int:
    """Counts the devices that this process sees."""
    start()
    count, code = acl.rt.get_device_count()
    check("acl.rt.get_device_count", code)
    return int(count)


def current_device() -> Device:
    """Returns the device of this thread's current context; device 0 if the thread has none."""
    ensure_context()
    number, code = acl.rt.get_device()
    check("acl.rt.get_device", code)
    return Device(number)


def synchronize() -> None:
    """Waits until everything submitted to the current device is done.

    Raises:
        Error: what a task failed with.
    """
    ensure_context()
    check("acl.rt.synchronize_device", acl.rt.synchronize_device())


class Device:
    """A device. ``with device:`` makes it this thread's current one, and the one before it again afterwards.

    Args:
        number: 0 to :func:`device_count` - 1.
    """

    def __init__(self, number: int = 0) -> None:
        start()
        count = device_count()
        if not 0 <= number < count:
            raise IndexError(f"device {number} does not exist: there {'is' if count == 1 else 'are'} {count}")
        self._number = number
        self._outer: list[int] = []

    @property
    def number(self) -> int:
        """The device's number."""
        return self._number

    @property
    def name(self) -> str:
        """The name of the chip that the device stands for, for example ``Ascend910B1``."""
        with self:
            return str(acl.get_soc_name())

    def memory(self) -> tuple[int, int]:
        """Returns free and total memory.

        Units:
            Bytes.
        """
        with self:
            free, total, code = acl.rt.get_mem_info(1)
            check("acl.rt.get_mem_info", code)
            return int(free), int(total)

    def use(self) -> Device:
        """Makes the device this thread's current one, for good."""
        check("acl.rt.set_device", acl.rt.set_device(self._number))
        return self

    def synchronize(self) -> None:
        """Waits until everything submitted to the device is done.

        Raises:
            Error: what a task failed with.
        """
        with self:
            check("acl.rt.synchronize_device", acl.rt.synchronize_device())

    def __enter__(self) -> Device:
        before, code = acl.rt.get_context()
        self._outer.append(0 if code else before)
        return self.use()

    def __exit__(self, *_: object) -> None:
        before = self._outer.pop()
        acl.rt.reset_device(self._number) if not before else acl.rt.set_context(before)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other._number == self._number

    def __hash__(self) -> int:
        return hash(self._number)

    def __repr__(self) -> str:
        return f"<jumar.Device {self._number}: {self.name}>"

    def _repr_html_(self) -> str:
        free, total = self.memory()
        used = total - free
        return (
            f"<b>Device {self._number}</b> {self.name}, a software device of Jumar<br>"
            f"<progress max='{total}' value='{used}'></progress> {used / 2**30:.2f} of {total / 2**30:.1f} GiB in use"
        )


class _Object:
    """Something that the runtime made: released by ``close``, by the end of a ``with`` block, or when it is forgotten."""

    _handle: int = 0

    def _release(self, handle: int) -> int:
        raise NotImplementedError

    @property
    def handle(self) -> int:
        """The number by which ``acl`` knows the object.

        Raises:
            ValueError: the object is closed.
        """
        if not self._handle:
            raise ValueError(f"this {type(self).__name__} is closed")
        return self._handle

    @property
    def closed(self) -> bool:
        """Whether the object was released."""
        return not self._handle

    def close(self) -> None:
        """Releases the object; again does nothing.

        Raises:
            Error: the runtime refused it.
        """
        handle, self._handle = self._handle, 0
        if handle and is_running():
            check(f"releasing a {type(self).__name__}", self._release(handle))

    def __enter__(self):  # type: ignore[no-untyped-def]
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        try:
            self.close()
        except Exception:
            # An exception of the block is what counts.
            if kind is None:
                raise

    def _forget(self, handle: int) -> None:
        self._release(handle)

    def __reduce__(self) -> tuple[object, ...]:
        # Its handle means nothing, or something else, in another process and after this object is closed.
        raise TypeError(f"a {type(self).__name__} belongs to this process and cannot be pickled or copied{self._instead}")

    #: What to do instead of pickling, for the error.
    _instead = ""

    def _finalize(self) -> None:
        handle, self._handle = self._handle, 0
        if handle and is_running():
            # A destructor cannot report an error.
            self._forget(handle)

    def __del__(self) -> None:
        self._finalize()


class Context(_Object):
    """An explicit context on a device: a set of streams, events and memory that goes with it.

    ``with context:`` makes it current; leaving the block makes the one before it current again and keeps this one. It is
    released by :meth:`close`.
    """

    def __init__(self, device: int = 0) -> None:
        start()
        before, code = acl.rt.get_context()
        self._handle, made = acl.rt.create_context(device)
        check("acl.rt.create_context", made)
        if not code:
            # Making a context makes it current; that is what `with` is for here.
            acl.rt.set_context(before)
        self._outer: list[int] = []

    def _release(self, handle: int) -> int:
        return int(acl.rt.destroy_context(handle))

    def __enter__(self) -> Context:
        before, code = acl.rt.get_context()
        self._outer.append(0 if code else before)
        check("acl.rt.set_context", acl.rt.set_context(self.handle))
        return self

    def __exit__(self, *_: object) -> None:
        before = self._outer.pop()
        if before:
            acl.rt.set_context(before)

    def __repr__(self) -> str:
        return f"<jumar.Context {self._handle:#x}>" if self._handle else "<jumar.Context, closed>"


class Stream(_Object):
    """A queue of tasks that run in order. Made in the current context; usable from any thread.

    Args:
        priority: 0 is served first, 7 last.
    """

    def __init__(self, priority: int = 0) -> None:
        self._context = ensure_context()
        #: Functions that release memory that work of the stream may still use.
        self._deferred: deque[Callable[[], None]] = deque()
        #: The graph that the stream is captured into.
        self._capture: Optional[Graph] = None
        self._handle, code = acl.rt.create_stream_with_config(priority, 0)
        check("acl.rt.create_stream_with_config", code)

    def close(self) -> None:
        """Releases the stream; again does nothing.

        Raises:
            Error: the runtime refused it.
            ValueError: the stream is being captured.
        """
        if self._capture is not None:
            # The runtime would refuse it, and the capture could not be ended without the handle.
            raise ValueError("the stream is being captured; close it after the block of jumar.Graph.capture")
        super().close()

    def _release(self, handle: int) -> int:
        with entered(self._context):
            code = int(acl.rt.destroy_stream(handle))
        self._give_back()
        return code

    def _forget(self, handle: int) -> None:
        # A forgotten stream may wait for something that will never come; its work gets a second to end.
        with entered(self._context):
            acl.rt.synchronize_stream_with_timeout(handle, 1000)
            acl.rt.destroy_stream_force(handle)
        self._give_back()

    def _is_busy(self) -> bool:
        if not self._handle:
            return False
        status, code = acl.rt.stream_query(self._handle)
        return bool(code == 0 and status)

    def _give_back(self) -> None:
        while True:
            try:
                release = self._deferred.popleft()
            except IndexError:
                return
            release()

    @property
    def context(self) -> int:
        """The handle of the context that the stream was made in."""
        return self._context

    def synchronize(self, timeout: Optional[float] = None) -> None:
        """Waits until everything submitted so far is done; other threads run in the meantime.

        Args:
            timeout: seconds; ``None`` waits for as long as it takes.

        Raises:
            WaitTimeoutError: it took longer.
            Error: what a task failed with, with the call that submitted it.
        """
        if timeout is None:
            check("acl.rt.synchronize_stream", acl.rt.synchronize_stream(self.handle))
        else:
            limit = max(1, round(timeout * 1000))
            code = acl.rt.synchronize_stream_with_timeout(self.handle, limit)
            check("acl.rt.synchronize_stream_with_timeout", code)
        self._give_back()

    def record(self, event: Optional[Event] = None) -> Event:
        """Records an event and returns it; without an argument, a new one."""
        event = event or Event()
        with entered(self._context):
            check("acl.rt.record_event", acl.rt.record_event(event.handle, self.handle))
        return event

    def wait(self, event: Event) -> None:
        """Holds what is submitted from now on until the event is complete."""
        with entered(self._context):
            check("acl.rt.stream_wait_event", acl.rt.stream_wait_event(self.handle, event.handle))

    def __repr__(self) -> str:
        return f"<jumar.Stream {self._handle:#x}>" if self._handle else "<jumar.Stream, closed>"


def release_after(streams: Sequence[Stream], release: Callable[[], None]) -> None:
    """Releases memory once the work that was queued on its streams is done."""
    for stream in streams:
        if stream._is_busy():
            stream._deferred.append(lambda: release_after(streams, release))
            return
    release()


class Event(_Object):
    """A point in a stream that streams and the host can wait for."""

    def __init__(self) -> None:
        ensure_context()
        # An event of the other family stays set from its first record on, so that a later wait does not wait for a new record.
        self._handle, code = acl.rt.create_event_ex_with_flag(_EVENT_FLAGS)
        check("acl.rt.create_event_ex_with_flag", code)

    def _release(self, handle: int) -> int:
        return int(acl.rt.destroy_event(handle))

    @property
    def done(self) -> bool:
        """Whether everything before the last record is done."""
        status, code = acl.rt.query_event_status(self.handle)
        check("acl.rt.query_event_status", code)
        return bool(status)

    def synchronize(self, timeout: Optional[float] = None) -> None:
        """Waits until everything before the last record is done.

        Args:
            timeout: seconds; ``None`` waits for as long as it takes.

        Raises:
            WaitTimeoutError: it took longer.
        """
        if timeout is None:
            check("acl.rt.synchronize_event", acl.rt.synchronize_event(self.handle))
        else:
            limit = max(1, round(timeout * 1000))
            code = acl.rt.synchronize_event_with_timeout(self.handle, limit)
            check("acl.rt.synchronize_event_with_timeout", code)

    def elapsed(self, earlier: Event) -> float:
        """Returns the time from an earlier event's record to this one's.

        Units:
            Seconds.
        """
        milliseconds, code = acl.rt.event_elapsed_time(earlier.handle, self.handle)
        check("acl.rt.event_elapsed_time", code)
        return float(milliseconds) / 1000

    def __repr__(self) -> str:
        return f"<jumar.Event {self._handle:#x}>" if self._handle else "<jumar.Event, closed>"
