"""Captured graphs: work that is queued once and replayed many times."""

from __future__ import annotations

import ctypes
from contextlib import suppress
from types import TracebackType
from typing import Optional, Protocol

from ._errors import check
from ._runtime import Stream, _Object, entered, is_running, release_after

_GLOBAL = 0
_THREAD_LOCAL = 1
_RELAXED = 2
_MODES = {"global": _GLOBAL, "thread_local": _THREAD_LOCAL, "relaxed": _RELAXED}


class CapturedRun(Protocol):
    """Something that a capture keeps: the memory of a model's run."""

    def release(self) -> None:
        """Frees the memory."""

    def refuse_closed(self) -> None:
        """Raises where the model is closed."""


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

    Arrays that the captured work uses have to live as long as the graph is launched. A model that is called with the stream is
    captured with its inputs: each launch reads the arrays that it was called with, as they are then, and writes the arrays of its
    :class:`Pending` anew::

        image = jumar.zeros(shape)
        with jumar.Graph.capture(stream) as graph:
            run = model({"image": image}, stream=stream)
        image.numpy()[:] = photo
        graph.launch()
        scores = run.result()["scores"]
    """

    def __init__(self, stream: Stream, mode: str = "thread_local") -> None:
        if mode not in _MODES:
            raise ValueError(f"{mode!r} is not a capture mode; known modes are {', '.join(_MODES)}")
        self._stream = stream
        self._mode = _MODES[mode]
        #: Runs of models that were captured, with the memory that each launch uses.
        self._runs: list[CapturedRun] = []
        #: Streams that the graph was launched on, the last launch last.
        self._launched: list[Stream] = []

    @classmethod
    def capture(cls, stream: Stream, mode: str = "thread_local") -> Graph:
        """Captures what the ``with`` block queues on the stream instead of running it.

        Args:
            stream: what is captured; streams that wait for its events join in.
            mode: which calls of the program a capture forbids: ``thread_local``, ``global`` or ``relaxed``.
        """
        return cls(stream, mode)

    def _release(self, handle: int) -> int:
        runs, self._runs = self._runs, []
        # A launch that is under way still uses the memory of the runs.

        def release() -> None:
            if is_running():
                for run in runs:
                    run.release()

        release_after(self._launched, release)
        return int(_library().aclmdlRIDestroy(ctypes.c_void_p(handle)))

    def __enter__(self) -> Graph:
        if self._stream._capture is not None:
            raise ValueError("the stream is being captured already")
        begin = _library().aclmdlRICaptureBegin
        with entered(self._stream.context):
            check("aclmdlRICaptureBegin", begin(ctypes.c_void_p(self._stream.handle), self._mode))
        self._stream._capture = self
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self._stream._capture = None
        if kind is None:
            self._end()
            return
        # Half a capture is of no use to anybody; the exception of the block is what counts.
        with suppress(Exception):
            self._end()
        self._discard()

    def _end(self) -> None:
        made = ctypes.c_void_p()
        end = _library().aclmdlRICaptureEnd
        try:
            with entered(self._stream.context):
                code = end(ctypes.c_void_p(self._stream.handle), ctypes.byref(made))
            self._handle = made.value or 0
            check("aclmdlRICaptureEnd", code)
        except BaseException:
            self._discard()
            raise

    def _discard(self) -> None:
        runs, self._runs = self._runs, []
        with suppress(Exception):
            self.close()
        for run in runs:
            with suppress(Exception):
                run.release()

    def launch(self, stream: Optional[Stream] = None) -> None:
        """Queues the captured work, on the stream that it was captured from without an argument.

        Raises:
            ValueError: nothing was captured, or a model in it is closed.
        """
        stream = stream or self._stream
        for captured in self._runs:
            captured.refuse_closed()
        run = _library().aclmdlRIExecuteAsync
        with entered(stream.context):
            code = run(ctypes.c_void_p(self.handle), ctypes.c_void_p(stream.handle))
            check("aclmdlRIExecuteAsync", code)
        self._launched = [*(one for one in self._launched if one is not stream and one._is_busy()), stream]

    @property
    def _last_stream(self) -> Optional[Stream]:
        return self._launched[-1] if self._launched else None

    def __repr__(self) -> str:
        return f"<jumar.Graph {self._handle:#x}>" if self._handle else "<jumar.Graph, nothing captured>"
