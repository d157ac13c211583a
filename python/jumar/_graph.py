"""Captured graphs: work that is queued once and replayed many times."""

from __future__ import annotations

import ctypes
from types import TracebackType
from typing import Optional

from ._errors import check
from ._runtime import Stream, _Object, entered

_GLOBAL = 0
_THREAD_LOCAL = 1
_RELAXED = 2
_MODES = {"global": _GLOBAL, "thread_local": _THREAD_LOCAL, "relaxed": _RELAXED}


def _library() -> ctypes.CDLL:
    # pyACL has no such calls. The library is loaded, so that its name finds the one that `acl` uses.
    return ctypes.CDLL("libascendcl.so")


class Graph(_Object):
    """Work captured from a stream.

    ::

        with jumar.Graph.capture(stream) as graph:
            device_array.copy_from(host_array, stream)
        graph.launch(stream)
        stream.synchronize()

    Arrays that the captured work uses have to live as long as the graph is launched.
    """

    def __init__(self, stream: Stream, mode: str = "thread_local") -> None:
        if mode not in _MODES:
            raise ValueError(f"{mode!r} is no mode of capture; there are {', '.join(_MODES)}")
        self._stream = stream
        self._mode = _MODES[mode]

    @classmethod
    def capture(cls, stream: Stream, mode: str = "thread_local") -> Graph:
        """Captures what the ``with`` block queues on the stream instead of running it.

        Args:
            stream: what is captured; streams that wait for its events join in.
            mode: which calls of the program a capture forbids: ``thread_local``, ``global`` or ``relaxed``.
        """
        return cls(stream, mode)

    def _release(self, handle: int) -> int:
        return int(_library().aclmdlRIDestroy(ctypes.c_void_p(handle)))

    def __enter__(self) -> Graph:
        begin = _library().aclmdlRICaptureBegin
        with entered(self._stream.context):
            check("aclmdlRICaptureBegin", begin(ctypes.c_void_p(self._stream.handle), self._mode))
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        made = ctypes.c_void_p()
        end = _library().aclmdlRICaptureEnd
        with entered(self._stream.context):
            code = end(ctypes.c_void_p(self._stream.handle), ctypes.byref(made))
        self._handle = made.value or 0
        if kind is None:
            check("aclmdlRICaptureEnd", code)
        else:
            # Half a capture is of no use to anybody; the exception is what counts.
            self.close()

    def launch(self, stream: Optional[Stream] = None) -> None:
        """Queues the captured work, on the stream that it was captured from without an argument.

        Raises:
            ValueError: nothing was captured.
        """
        stream = stream or self._stream
        run = _library().aclmdlRIExecuteAsync
        with entered(stream.context):
            code = run(ctypes.c_void_p(self.handle), ctypes.c_void_p(stream.handle))
            check("aclmdlRIExecuteAsync", code)

    def __repr__(self) -> str:
        return f"<jumar.Graph {self._handle:#x}>" if self._handle else "<jumar.Graph, nothing captured>"
