"""Models: load, describe, run; at once, on a stream, or awaited."""

from __future__ import annotations

import asyncio
import math
import os
import re
import struct
import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Optional, Union

import acl

from . import _array, _dtype, _open
from ._array import Array, array
from ._convert import ConversionError as ConversionError
from ._convert import Progress, converted
from ._errors import check
from ._gears import Gears
from ._graph import Graph
from ._outputs import Outputs
from ._runtime import Event, Stream, _Object, ensure_context, entered, relaxed_capture

_HOST_TO_DEVICE = 1
_DEVICE_TO_HOST = 2
_HUGE_FIRST = 0
_FORMATS = {0: "NCHW", 1: "NHWC", 2: "ND", 3: "NC1HWC0", 4: "FRACTAL_Z", 29: "FRACTAL_NZ"}
#: What the runtime calls an output: the node that makes it, which of the node's outputs it is, and the tensor.
_OUTPUT = re.compile(r"(?P<node>.*?):(?P<index>\d+):(?P<tensor>.+)", re.DOTALL)

Inputs = Union[Mapping[str, Any], Sequence[Any], Any]

#: Makes what the runs of a model have in common; absent from another library's ``acl``.
_direct_runs = getattr(acl, "_direct_runs", None)


class TensorInfo(NamedTuple):
    """What a model says of an input or an output."""

    #: The name in the model.
    name: str
    #: The dimensions; -1 where it is chosen at each run.
    shape: tuple[int, ...]
    #: The name of the type of elements.
    dtype: str
    #: The order of dimensions, ``NCHW`` or ``ND`` and so on.
    format: str
    #: Bytes of the buffer, at most.
    nbytes: int


def load(
    path: Union[str, os.PathLike[str]],
    *,
    input_shape: Optional[Mapping[str, Sequence[int]]] = None,
    progress: Optional[bool] = None,
) -> Model:
    """Loads a model onto this thread's current device.

    Args:
        path: an ``.om`` file, or an ``.onnx`` file, which is converted first (as ``atc`` does) and kept converted in the
            user's cache folder until the file, or a file of weights beside it, changes.
        input_shape: dimensions of inputs that the ``.onnx`` file leaves open, by the input's name. Those that are not given, and
            those that are -1, stay open until each run.
        progress: whether a line on standard error reports a conversion or a load that takes longer than a second; by default where
            standard error is a terminal.

    Raises:
        FileNotFoundError: there is no such file.
        ConversionError: the ``.onnx`` file is damaged, or holds an operator that is not supported; the error names file, node and
            reason.
        Error: the ``.om`` file is damaged.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no model file {path}")
    if path.suffix.lower() == ".onnx":
        with converted(path, input_shape or {}, progress) as built, Progress(f"loading {path.name}", progress):
            return Model(built, path.stem)
    if input_shape:
        raise ValueError("the shapes of an .om file were chosen when it was made; input_shape is for .onnx files")
    with Progress(f"loading {path.name}", progress):
        return Model(path, path.stem)


class _Slot:
    """Device memory and bindings of one run; runs at the same time have one each."""

    def __init__(self, inputs: Sequence[TensorInfo], outputs: Sequence[TensorInfo]) -> None:
        self.blocks: list[int] = []
        self.buffers: list[int] = []
        self.datasets: list[int] = []
        self._stream: Optional[Stream] = None
        try:
            self.inputs = self._bind(inputs)
            self.outputs = self._bind(outputs)
            #: What `acl._model_call` reads.
            words = (*self.inputs, *self.outputs, *self.datasets)
            self.numbers = struct.pack(f"{len(words)}Q", *words)
        except BaseException:
            self.release()
            raise

    @property
    def stream(self) -> Stream:
        """The stream of runs that name none."""
        if self._stream is None:
            self._stream = Stream()
        return self._stream

    def _bind(self, infos: Sequence[TensorInfo]) -> list[int]:
        dataset = acl.mdl.create_dataset()
        self.datasets.append(dataset)
        addresses = []
        for info in infos:
            address, code = acl.rt.malloc(max(1, info.nbytes), _HUGE_FIRST)
            check("acl.rt.malloc", code)
            self.blocks.append(address)
            addresses.append(address)
            buffer = acl.create_data_buffer(address, info.nbytes)
            self.buffers.append(buffer)
            _, code = acl.mdl.add_dataset_buffer(dataset, buffer)
            check("acl.mdl.add_dataset_buffer", code)
        return addresses

    def release(self) -> None:
        if self._stream is not None:
            self._stream.close()
        for dataset in self.datasets:
            acl.mdl.destroy_dataset(dataset)
        for buffer in self.buffers:
            acl.destroy_data_buffer(buffer)
        for block in self.blocks:
            acl.rt.free(block)


class _Source(NamedTuple):
    """The elements of an input."""

    address: int
    nbytes: int
    shape: tuple[int, ...]
    #: What keeps the memory.
    owner: object


class _Captured:
    """The memory of a run that a graph captured: each launch uses it."""

    def __init__(self, model: Model, slot: _Slot, arrays: Sequence[Array]) -> None:
        self._model = model
        self._slot = slot
        # What the launches read.
        self._arrays = arrays

    def release(self) -> None:
        with entered(self._model._context):
            self._slot.release()

    def refuse_closed(self) -> None:
        if self._model.closed:
            raise ValueError(f"the model {self._model.name} that was captured is closed")


class Pending:
    """A run that was queued. ``await`` it, or ask for its :meth:`result`.

    A run that a :class:`Graph` captured has not run yet: each launch of the graph runs it, and :meth:`result` waits for the last one.
    """

    def __init__(
        self,
        model: Model,
        outputs: dict[str, Array],
        slot: Optional[_Slot] = None,
        stream: Optional[Stream] = None,
        held: object = None,
        graph: Optional[Graph] = None,
    ) -> None:
        self._model = model
        # Without a slot the run has ended.
        self._slot = slot
        self._outputs = outputs
        # What the queued copies read.
        self._held = held
        self._graph = graph
        if stream is not None:
            self._stream = stream
            self._event: Event = stream.record()

    @property
    def done(self) -> bool:
        """Whether the run has ended."""
        if self._graph is not None:
            launched = self._graph._last_stream
            return launched is not None and not launched._is_busy()
        return self._slot is None or self._event.done

    def result(self, timeout: Optional[float] = None) -> dict[str, Array]:
        """Waits for the run and returns its outputs by name.

        Args:
            timeout: seconds; ``None`` waits for as long as it takes.

        Raises:
            WaitTimeoutError: it took longer; ask again later.
            RuntimeError: the run was captured, and the graph was never launched.
            Error: what the run failed with.
        """
        if self._graph is not None:
            launched = self._graph._last_stream
            if launched is None:
                raise RuntimeError(f"this run of {self._model.name} was captured and has not run yet; launch the graph first")
            launched.synchronize(timeout)
        elif self._slot is not None:
            with entered(self._model._context):
                self._event.synchronize(timeout)
                slot, self._slot = self._slot, None
                self._held = None
                try:
                    # The event reports when the run ended; the stream reports its result.
                    self._stream.synchronize()
                finally:
                    try:
                        self._event.close()
                    finally:
                        self._model._give_back(slot)
        return self._outputs

    def __await__(self) -> Generator[Any, None, dict[str, Array]]:
        return asyncio.get_running_loop().run_in_executor(None, self.result).__await__()

    def __del__(self) -> None:
        # Device memory of a run without a reader is in use until the run has ended.
        if self._slot is not None and not self._model.closed:
            try:
                self.result()
            except Exception:  # noqa: BLE001 - a destructor cannot report
                pass

    def __repr__(self) -> str:
        state = "captured" if self._graph is not None else "done" if self.done else "running"
        return f"<jumar.Pending of {self._model.name}, {state}>"


class Model(_Object):
    """A loaded model; :func:`load` makes it. Call it with inputs; any number of threads may.

    ``model(inputs)`` returns a dict of host arrays. ``model(inputs, stream=s)`` queues the run and returns a :class:`Pending`.
    ``await model.submit(inputs)`` leaves the event loop running. A model with dynamic shapes (-1) accepts each of them without compilation,
    after what its stream holds. A model that was built for several sizes runs in the one that its inputs have.
    """

    def __init__(self, path: Path, name: str) -> None:
        self._context = ensure_context()
        self._name = name
        # Set before anything can fail, since a half-made object is released too.
        self._id: Any = None
        self._slots: list[_Slot] = []
        self._file: Optional[int] = None
        self._queued_id: Any = None
        self._lock = threading.Lock()
        self._id, code = acl.mdl.load_from_file(str(path))
        if code:
            self._id = None
        check("acl.mdl.load_from_file", code)
        # Model ids start at 0 or 1; an object's handle is never 0.
        self._handle = acl.mdl.create_desc()
        check("acl.mdl.get_desc", acl.mdl.get_desc(self._handle, self._id))
        every = [self._input(index) for index in range(acl.mdl.get_num_inputs(self._handle))]
        self._outputs = _short(self._output(index) for index in range(acl.mdl.get_num_outputs(self._handle)))
        self._gears = Gears.of(self._handle, self._id, every)
        self._inputs = tuple(every if self._gears is None else self._gears.others(every))
        #: Every input that a run binds, the one that chooses the gear included.
        self._bound = tuple(every)

        self._names = [info.name for info in self._inputs]
        self._output_types = [_dtype.of(info.dtype) for info in self._outputs]
        self._types = [(_dtype.of(info.dtype), info.shape) for info in self._inputs]
        infos = self._inputs + self._outputs
        self._is_open = self._gears is None and any(min(info.shape, default=0) < 0 for info in infos)
        #: Whether calls run on the calling thread; None before the first execution. Models of several sizes, and of sizes that each run
        #: chooses, have one instance: the runtime keeps a run's sizes with it.
        self._direct: Optional[bool] = None
        #: What runs in one call need; None before the first run on the calling thread.
        self._runs: Any = None
        if self._gears is not None or self._is_open:
            self._direct = False
        else:
            self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def _input(self, index: int) -> TensorInfo:
        dims, code = acl.mdl.get_input_dims(self._handle, index)
        check("acl.mdl.get_input_dims", code)
        return self._info(
            acl.mdl.get_input_name_by_index(self._handle, index),
            dims,
            acl.mdl.get_input_data_type(self._handle, index),
            acl.mdl.get_input_format(self._handle, index),
            acl.mdl.get_input_size_by_index(self._handle, index),
        )

    def _output(self, index: int) -> TensorInfo:
        dims, code = acl.mdl.get_output_dims(self._handle, index)
        check("acl.mdl.get_output_dims", code)
        return self._info(
            acl.mdl.get_output_name_by_index(self._handle, index),
            dims,
            acl.mdl.get_output_data_type(self._handle, index),
            acl.mdl.get_output_format(self._handle, index),
            acl.mdl.get_output_size_by_index(self._handle, index),
        )

    @staticmethod
    def _info(name: Optional[str], dims: dict[str, Any], dtype: int, form: int, nbytes: int) -> TensorInfo:
        kind = _dtype.BY_CODE[dtype].name
        return TensorInfo(name or "", tuple(dims["dims"]), kind, _FORMATS.get(form, str(form)), nbytes)

    def _release(self, handle: int) -> int:
        with self._lock:
            # From here on no thread makes others.
            runs, self._runs = self._runs, None
        if runs is not None:
            runs.close()
        with entered(self._context):
            self._release_slots()
            acl.mdl.destroy_desc(handle)
            if self._file is not None:
                os.close(self._file)
                self._file = None
            codes = [int(acl.mdl.unload(one)) for one in (self._queued_id, self._id) if one is not None]
            self._id = self._queued_id = None
            return next((code for code in codes if code), 0)

    @property
    def name(self) -> str:
        """The name of the file that was loaded, without its ending."""
        return self._name

    @property
    def inputs(self) -> tuple[TensorInfo, ...]:
        """What the model takes."""
        return self._inputs

    @property
    def outputs(self) -> tuple[TensorInfo, ...]:
        """The outputs of the model."""
        return self._outputs

    def _release_slots(self) -> None:
        while self._slots:
            self._slots.pop().release()

    def _take_slot(self) -> _Slot:
        try:
            return self._slots.pop()
        except IndexError:
            return _Slot(self._bound, self._outputs)

    def _give_back(self, slot: _Slot) -> None:
        if self.closed:
            slot.release()
        else:
            self._slots.append(slot)

    def _ordered(self, inputs: Inputs) -> list[Any]:
        names = self._names
        if isinstance(inputs, (dict, Mapping)):
            unknown = [name for name in inputs if name not in names]
            missing = [name for name in names if name not in inputs]
            if unknown or missing:
                said = [f"there is no input {', '.join(map(repr, unknown))}"] if unknown else []
                said += [f"input {', '.join(map(repr, missing))} is missing"] if missing else []
                raise ValueError(f"{self.name}: {'; '.join(said)}. The inputs are {', '.join(map(repr, names))}")
            return [inputs[name] for name in names]
        # Nested lists of numbers are one array; a list of arrays is a list of inputs.
        several = isinstance(inputs, (list, tuple)) and any(not _is_list_or_number(item) for item in inputs)
        if len(names) == 1 and not several:
            return [inputs]
        if isinstance(inputs, (list, tuple)) and len(inputs) == len(names):
            return list(inputs)
        raise ValueError(f"{self.name} takes {len(names)} inputs: {', '.join(map(repr, names))}")

    def __call__(self, inputs: Inputs, stream: Optional[Stream] = None) -> Any:
        """Runs the model.

        Args:
            inputs: a dict from names to arrays; a list of arrays in the model's order; the array itself where there is one
                input. Arrays are anything that :func:`jumar.array` takes.
            stream: where the run is queued; without it the call waits for the outputs.

        Returns:
            Without a stream a dict from names to :class:`Array`; with one a :class:`Pending`.

        Raises:
            ValueError: an input is missing, unknown, or of another shape.
            TypeError: an input is of another type of elements.
            Error: the run failed.
        """
        if stream is not None:
            return self.submit(inputs, stream)
        self._refuse_closed()
        return self._run(inputs) if self._runs_directly() else self.submit(inputs).result()

    def _runs_directly(self) -> bool:
        """Returns whether a call runs the model on the calling thread.

        The runtime binds a model to aclmdlExecute or to aclmdlExecuteAsync at its first execution, so that calls of a model that was
        queued first are queued, too.
        """
        if self._direct is None:
            with self._lock:
                if self._direct is None:
                    self._direct = True
        return self._direct

    def _queued_model(self) -> Any:
        """Returns the model's identifier for executions that are queued. Loads the file again if the first execution was not queued."""
        with self._lock:
            if not self._direct:
                if self._direct is None:
                    self._direct = False
                return self._id
            if self._queued_id is None:
                # The descriptor refers to the file of the first load, even if another one has its name by now.
                made, code = acl.mdl.load_from_file(f"/proc/self/fd/{self._file}")
                check("acl.mdl.load_from_file", code)
                self._queued_id = made
            return self._queued_id

    def _run(self, inputs: Inputs) -> dict[str, Array]:
        """Runs the model on the calling thread. Nothing is queued, so that inputs may be in any memory."""
        sources = [self._source(index, value) for index, value in enumerate(self._ordered(inputs))]
        with entered(self._context), relaxed_capture():
            slot = self._take_slot()
            try:
                for address, source in zip(slot.inputs, sources):
                    size = source.nbytes
                    if size:
                        check("acl.rt.memcpy", acl.rt.memcpy(address, size, source.address, size, _HOST_TO_DEVICE))
                check("acl.mdl.execute", acl.mdl.execute(self._id, slot.datasets[0], slot.datasets[1]))
                outputs = Outputs()
                for address, info, dtype in zip(slot.outputs, self._outputs, self._output_types):
                    host = _array.uninitialized(info.shape, dtype)
                    outputs[info.name] = host
                    size = host.nbytes
                    if size:
                        check("acl.rt.memcpy", acl.rt.memcpy(host.handle, size, address, size, _DEVICE_TO_HOST))
            finally:
                self._give_back(slot)
        if self._runs is None and _direct_runs is not None:
            with self._lock:
                if self._runs is None and not self.closed:
                    ports = (
                        [(info.name, _dtype.of(info.dtype), info.shape) for info in infos]
                        for infos in (self._inputs, self._outputs)
                    )
                    self._runs = _direct_runs(self._context, self._id, *ports, Array, self._slots, Outputs)
        return outputs

    def _bind_gear(
        self, slot: _Slot, gear: Optional[tuple[int, ...]]
    ) -> tuple[Sequence[int], Sequence[tuple[int, ...]]]:
        """Chooses the sizes of a run. Returns the addresses of the inputs and the shapes of the outputs."""
        shapes = [info.shape for info in self._outputs]
        if self._gears is None or gear is None:
            return slot.inputs, shapes
        return self._gears.others(slot.inputs), self._gears.choose(slot.datasets[0], gear, len(shapes))

    def _source(self, index: int, value: Any) -> _Source:
        """Finds the elements of an input: where they are if they lie together in memory, otherwise in an array that is made of them."""
        if not isinstance(value, Array):
            interface = getattr(value, "__array_interface__", None)
            if interface is not None and interface.get("strides") is None:
                dtype, wanted = self._types[index]
                shape = tuple(interface["shape"])
                if _dtype.BY_TYPESTR.get(interface["typestr"]) == dtype and _fits(shape, wanted):
                    return _Source(interface["data"][0], math.prod(shape) * dtype.size, shape, interface)
        array = self._checked(self._inputs[index], value)
        return _Source(array.handle, array.nbytes, array.shape, array)

    def submit(self, inputs: Inputs, stream: Optional[Stream] = None) -> Pending:
        """Queues a run, on a stream of its own without an argument; see :meth:`__call__`. The result can be awaited."""
        self._refuse_closed()
        arrays = [self._checked(info, value) for info, value in zip(self._inputs, self._ordered(inputs))]
        gear = None if self._gears is None else self._gears.choice(self.name, self._inputs, [one.shape for one in arrays])
        graph = None if stream is None else stream._capture
        with entered(self._context):
            if graph is not None:
                return self._captured(graph, arrays, gear)
            if self._is_open:
                if stream is not None:
                    stream.synchronize()
                return Pending(self, _open.run(self._id, arrays, self._outputs))
            slot = self._take_slot()
            own = stream or slot.stream
            try:
                outputs = self._queue(slot, own, [(one.handle, one.nbytes) for one in arrays], gear)
                return Pending(self, outputs, slot, own, arrays)
            except BaseException:
                # What was queued before the failure may still use the memory. The first failure is the one to report.
                acl.rt.synchronize_stream(own.handle)
                self._give_back(slot)
                raise

    def _captured(self, graph: Graph, arrays: list[Array], gear: Optional[tuple[int, ...]]) -> Pending:
        if self._is_open:
            raise ValueError(
                f"{self.name} has dynamic shapes, so it runs synchronously and cannot be captured; load it with input_shape"
            )
        with relaxed_capture():
            slot = _Slot(self._bound, self._outputs)
            # The graph frees it, whatever happens: what was captured so far refers to the memory.
            graph._runs.append(_Captured(self, slot, arrays))
            outputs = self._queue(slot, graph._stream, [(one.handle, one.nbytes) for one in arrays], gear)
        return Pending(self, outputs, held=arrays, graph=graph)

    def _queue(
        self, slot: _Slot, stream: Stream, sources: Sequence[tuple[int, int]], gear: Optional[tuple[int, ...]]
    ) -> dict[str, Array]:
        """Queues the copies and the run; returns the arrays that the outputs are copied to.

        Args:
            sources: address and bytes of each input, in pinned memory.
        """
        addresses, shapes = self._bind_gear(slot, gear)
        queue = stream.handle
        for address, (source, size) in zip(addresses, sources):
            if size:
                code = acl.rt.memcpy_async(address, size, source, size, _HOST_TO_DEVICE, queue)
                check("acl.rt.memcpy_async", code)
        model = self._id if self._gears is not None else self._queued_model()
        code = acl.mdl.execute_async(model, slot.datasets[0], slot.datasets[1], queue)
        check("acl.mdl.execute_async", code)
        outputs = Outputs()
        for address, info, dtype, shape in zip(slot.outputs, self._outputs, self._output_types, shapes):
            host = _array.uninitialized(shape, dtype)
            outputs[info.name] = host
            size = host.nbytes
            if size:
                code = acl.rt.memcpy_async(host.handle, size, address, size, _DEVICE_TO_HOST, queue)
                check("acl.rt.memcpy_async", code)
        return outputs

    def _failed(self, function: str, code: int) -> None:
        """Raises what a run in one call failed with."""
        check(function, code)

    def _refuse_closed(self) -> None:
        if self.closed:
            raise ValueError(f"the model {self.name} is closed")

    def _checked(self, info: TensorInfo, value: Any) -> Array:
        try:
            taken = value if isinstance(value, Array) else _shaped(value, info)
        except TypeError as reason:
            raise TypeError(f"{self.name}, input {info.name!r}: {reason}") from None
        if taken.dtype != info.dtype:
            raise TypeError(f"{self.name}, input {info.name!r} takes {info.dtype}, not {taken.dtype}")
        if not _fits(taken.shape, info.shape):
            raise ValueError(f"{self.name}, input {info.name!r} takes {info.shape}, not {taken.shape}")
        return taken

    def __repr__(self) -> str:
        if self.closed:
            return f"<jumar.Model {self.name}, closed>"
        takes, returns = (
            ", ".join(f"{info.name}: {info.dtype}{list(info.shape)}" for info in infos)
            for infos in (self._inputs, self._outputs)
        )
        return f"<jumar.Model {self.name} ({takes}) -> ({returns})>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{side}</td><td>{info.name}</td><td>{info.dtype}</td><td>{list(info.shape)}</td><td>{info.nbytes:,}</td></tr>"
            for side, infos in (("input", self._inputs), ("output", self._outputs))
            for info in infos
        )
        head = "<tr><th></th><th>name</th><th>type</th><th>shape</th><th>bytes</th></tr>"
        return f"<b>Model</b> {self.name}<table>{head}{rows}</table>"


# A small model takes little longer than a call of a function in Python. Absent from another library's `acl`.
if hasattr(acl, "_model_call"):
    setattr(Model, "_step_by_step", Model.__call__)
    setattr(Model, "__call__", acl._model_call(Model, Model.__call__.__doc__))


#: The shape of an input that may have any number of dimensions.
_ANY_RANK = (-2,)


def _fits(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Returns whether an array of a shape is an input of another, which may have dimensions of any size."""
    if shape == wanted or wanted == _ANY_RANK:
        return True
    return len(shape) == len(wanted) and all(dim in (-1, found) for found, dim in zip(shape, wanted))


def _shaped(value: Any, info: TensorInfo) -> Array:
    """Makes an array for an input. Bytes and flat buffers take the input's type and shape, where it is fixed."""
    dtype = _dtype.of(info.dtype)
    if not isinstance(value, (bytes, bytearray, memoryview)):
        return array(value, dtype)
    view = memoryview(value)
    size = dtype.size
    for dim in info.shape:
        size *= dim
    is_raw = view.format in ("B", "b", "c") and size == view.nbytes
    same = view.c_contiguous and view.ndim == 1 and view.nbytes == size and min(info.shape, default=0) >= 0
    if same and (is_raw or _dtype.BY_FORMAT.get(view.format.lstrip("@=<")) == dtype):
        return _array.of_bytes(info.shape, dtype, view)
    return array(value, dtype)


def _short(infos: Iterable[TensorInfo]) -> tuple[TensorInfo, ...]:
    """Returns the outputs with the names that they have in the model, where those are unique."""
    long = list(infos)
    names = [match["tensor"] if (match := _OUTPUT.fullmatch(info.name)) else info.name for info in long]
    if len(set(names)) < len(names):
        return tuple(long)
    return tuple(info._replace(name=name) for info, name in zip(long, names))


def _is_list_or_number(value: object) -> bool:
    return isinstance(value, (bool, int, float, list, tuple))
