"""Models: load, describe, run; at once, on a stream, or awaited."""

from __future__ import annotations

import asyncio
import hashlib
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Optional, Union

import acl

from . import _dtype, _open, _tree
from ._array import Array, array
from ._errors import check
from ._runtime import Event, Stream, _Object, ensure_context, entered

_HOST_TO_DEVICE = 1
_DEVICE_TO_HOST = 2
_HUGE_FIRST = 0
_FORMATS = {0: "NCHW", 1: "NHWC", 2: "ND", 3: "NC1HWC0", 4: "FRACTAL_Z", 29: "FRACTAL_NZ"}
#: The input by which a model with gears is told which of them is meant.
_GEAR = "ascend_mbatch_shape_data"

Inputs = Union[Mapping[str, Any], Sequence[Any], Any]


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
            user's cache folder until the file changes.
        input_shape: dimensions of inputs that the ``.onnx`` file leaves open; -1 leaves one open until each run.
        progress: whether a line on standard error tells that a conversion or a load goes on, once it has gone on for a
            second; by default where somebody watches.

    Raises:
        FileNotFoundError: there is no such file.
        Error: the file is damaged, or holds an operator that is not supported; the error names file, node and reason.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no model file {path}")
    built = path
    if path.suffix == ".onnx":
        built = _converted(path, input_shape or {}, progress)
    elif input_shape:
        raise ValueError("the shapes of an .om file were chosen when it was made; input_shape is for .onnx files")
    with _Progress(f"loading {path.name}", progress):
        return Model(built, path.stem)


class ConversionError(ValueError):
    """A model could not be converted; the text is what ``atc`` said."""


def _converted(path: Path, shapes: Mapping[str, Sequence[int]], progress: Optional[bool]) -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "jumar"
    digest = hashlib.sha256()
    library = (_tree.prefix() / "lib64" / "libascendcl.so").stat()
    digest.update(f"{library.st_size} {library.st_mtime_ns} {sorted((k, tuple(v)) for k, v in shapes.items())}".encode())
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    # Weights may lie in files beside the model.
    for beside in sorted(path.parent.iterdir()):
        if beside.is_file() and beside != path and beside.name.startswith(path.name):
            digest.update(f"{beside.name} {beside.stat().st_size} {beside.stat().st_mtime_ns}".encode())
    kept = cache / f"{path.stem}-{digest.hexdigest()[:24]}.om"
    if kept.exists():
        return kept
    cache.mkdir(parents=True, exist_ok=True)
    ensure_context()
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        made = Path(folder) / "model"
        command = [
            str(_tree.command("jumar")),
            "atc",
            f"--model={path}",
            "--framework=5",
            f"--output={made}",
            f"--soc_version={acl.get_soc_name()}",
        ]
        if shapes:
            text = ";".join(f"{name}:{','.join(map(str, dims))}" for name, dims in shapes.items())
            command.append(f"--input_shape={text}")
        with _Progress(f"converting {path.name}", progress):
            done = subprocess.run(command, capture_output=True, text=True, env=_tree.environment(), check=False)
        if done.returncode:
            raise ConversionError((done.stderr or done.stdout).strip() or f"atc ended with {done.returncode}")
        made.with_suffix(".om").replace(kept)
    return kept


class _Progress:
    """A line that tells that work goes on, once it has gone on for a second."""

    def __init__(self, what: str, wanted: Optional[bool]) -> None:
        self._what = what
        self._wanted = sys.stderr.isatty() if wanted is None else wanted
        self._done = threading.Event()
        self._shown = False

    def _show(self) -> None:
        start = time.monotonic()
        while not self._done.wait(1.0 if not self._shown else 0.25):
            self._shown = True
            print(f"\r{self._what} ... {time.monotonic() - start:.0f} s", end="", file=sys.stderr, flush=True)

    def __enter__(self) -> None:
        if self._wanted:
            self._thread = threading.Thread(target=self._show, daemon=True)
            self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._done.set()
        if self._wanted:
            self._thread.join()
            if self._shown:
                print(file=sys.stderr)


class _Slot:
    """Device memory and bindings of one run; runs at the same time have one each."""

    def __init__(self, inputs: Sequence[TensorInfo], outputs: Sequence[TensorInfo]) -> None:
        self.blocks: list[int] = []
        self.buffers: list[int] = []
        self.datasets: list[int] = []
        self.inputs = self._bind(inputs)
        self.outputs = self._bind(outputs)
        self.stream = Stream()

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
        self.stream.close()
        for dataset in self.datasets:
            acl.mdl.destroy_dataset(dataset)
        for buffer in self.buffers:
            acl.destroy_data_buffer(buffer)
        for block in self.blocks:
            acl.rt.free(block)


class Pending:
    """A run that was queued. ``await`` it, or ask for its :meth:`result`."""

    def __init__(
        self,
        model: Model,
        outputs: dict[str, Array],
        slot: Optional[_Slot] = None,
        stream: Optional[Stream] = None,
        held: object = None,
    ) -> None:
        self._model = model
        # Without a slot the run is over.
        self._slot = slot
        self._outputs = outputs
        # What the queued copies read.
        self._held = held
        if stream is not None:
            self._stream = stream
            self._event: Event = stream.record()

    @property
    def done(self) -> bool:
        """Whether the run has ended."""
        return self._slot is None or self._event.done

    def result(self, timeout: Optional[float] = None) -> dict[str, Array]:
        """Waits for the run and gives its outputs by name.

        Args:
            timeout: seconds; ``None`` waits for as long as it takes.

        Raises:
            WaitTimeoutError: it took longer; ask again later.
            Error: what the run failed with.
        """
        if self._slot is not None:
            with entered(self._model._context):
                self._event.synchronize(timeout)
                slot, self._slot = self._slot, None
                self._held = None
                try:
                    # The event tells when; the stream tells how it ended.
                    self._stream.synchronize()
                finally:
                    self._event.close()
                    self._model._give_back(slot)
        return self._outputs

    def __await__(self) -> Generator[Any, None, dict[str, Array]]:
        return asyncio.get_running_loop().run_in_executor(None, self.result).__await__()

    def __del__(self) -> None:
        # Device memory of a run that nobody asked about is used until the run has ended.
        if self._slot is not None and not self._model.closed:
            try:
                self.result()
            except Exception:  # noqa: BLE001 - a destructor has nobody to tell
                pass

    def __repr__(self) -> str:
        return f"<jumar.Pending of {self._model.name}, {'done' if self.done else 'running'}>"


class Model(_Object):
    """A loaded model; :func:`load` makes it. Call it with inputs; any number of threads may.

    ``model(inputs)`` gives a dict of host arrays. ``model(inputs, stream=s)`` queues the run and gives a :class:`Pending`.
    ``await model.submit(inputs)`` leaves the event loop running. A model with open shapes (-1) runs at once in each of them,
    after what its stream holds.
    """

    def __init__(self, path: Path, name: str) -> None:
        self._context = ensure_context()
        self._name = name
        # Set before anything can fail, since a half-made object is released too.
        self._id: Any = None
        self._slots: list[_Slot] = []
        self._id, code = acl.mdl.load_from_file(str(path))
        if code:
            self._id = None
        check("acl.mdl.load_from_file", code)
        # Model ids start at 0 or 1; an object's handle is never 0.
        self._handle = acl.mdl.create_desc()
        check("acl.mdl.get_desc", acl.mdl.get_desc(self._handle, self._id))
        self._inputs = tuple(
            info for index in range(acl.mdl.get_num_inputs(self._handle)) if (info := self._input(index)).name != _GEAR
        )
        self._outputs = tuple(self._output(index) for index in range(acl.mdl.get_num_outputs(self._handle)))

        infos = self._inputs + self._outputs
        self._is_open = any(info.nbytes == 0 or -1 in info.shape for info in infos)

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
        with entered(self._context):
            while self._slots:
                self._slots.pop().release()
            acl.mdl.destroy_desc(handle)
            code = 0 if self._id is None else int(acl.mdl.unload(self._id))
            self._id = None
            return code

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
        """What the model gives."""
        return self._outputs

    def _take_slot(self) -> _Slot:
        try:
            return self._slots.pop()
        except IndexError:
            return _Slot(self._inputs, self._outputs)

    def _give_back(self, slot: _Slot) -> None:
        if self.closed:
            slot.release()
        else:
            self._slots.append(slot)

    def _ordered(self, inputs: Inputs) -> list[Any]:
        names = [info.name for info in self._inputs]
        if isinstance(inputs, Mapping):
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
        pending = self.submit(inputs, stream)
        return pending if stream is not None else pending.result()

    def submit(self, inputs: Inputs, stream: Optional[Stream] = None) -> Pending:
        """Queues a run, on a stream of its own without an argument; see :meth:`__call__`. The result can be awaited."""
        arrays = [self._checked(info, value) for info, value in zip(self._inputs, self._ordered(inputs))]
        with entered(self._context):
            if self._is_open:
                if stream is not None:
                    stream.synchronize()
                return Pending(self, _open.run(self._id, arrays, self._outputs))
            slot = self._take_slot()
            try:
                own = stream or slot.stream
                for address, source in zip(slot.inputs, arrays):
                    size = source.nbytes
                    if size:
                        code = acl.rt.memcpy_async(address, size, source.handle, size, _HOST_TO_DEVICE, own.handle)
                        check("acl.rt.memcpy_async", code)
                code = acl.mdl.execute_async(self._id, slot.datasets[0], slot.datasets[1], own.handle)
                check("acl.mdl.execute_async", code)
                outputs = {}
                for address, info in zip(slot.outputs, self._outputs):
                    host = Array(info.shape, info.dtype)
                    outputs[info.name] = host
                    size = host.nbytes
                    if size:
                        code = acl.rt.memcpy_async(host.handle, size, address, size, _DEVICE_TO_HOST, own.handle)
                        check("acl.rt.memcpy_async", code)
                return Pending(self, outputs, slot, own, arrays)
            except BaseException:
                # What was queued before the failure may still use the memory.
                slot.stream.synchronize() if stream is None else stream.synchronize()
                self._give_back(slot)
                raise

    def _checked(self, info: TensorInfo, value: Any) -> Array:
        try:
            taken = value if isinstance(value, Array) else array(value, info.dtype)
        except TypeError as reason:
            raise TypeError(f"{self.name}, input {info.name!r}: {reason}") from None
        if taken.dtype != info.dtype:
            raise TypeError(f"{self.name}, input {info.name!r} takes {info.dtype}, not {taken.dtype}")
        fits = len(taken.shape) == len(info.shape) and all(
            wanted in (-1, found) for found, wanted in zip(taken.shape, info.shape)
        )
        if not fits:
            raise ValueError(f"{self.name}, input {info.name!r} takes {info.shape}, not {taken.shape}")
        return taken

    def __repr__(self) -> str:
        if self.closed:
            return f"<jumar.Model {self.name}, closed>"
        takes, gives = (
            ", ".join(f"{info.name}: {info.dtype}{list(info.shape)}" for info in infos)
            for infos in (self._inputs, self._outputs)
        )
        return f"<jumar.Model {self.name} ({takes}) -> ({gives})>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{side}</td><td>{info.name}</td><td>{info.dtype}</td><td>{list(info.shape)}</td><td>{info.nbytes:,}</td></tr>"
            for side, infos in (("input", self._inputs), ("output", self._outputs))
            for info in infos
        )
        head = "<tr><th></th><th>name</th><th>type</th><th>shape</th><th>bytes</th></tr>"
        return f"<b>Model</b> {self.name}<table>{head}{rows}</table>"


def _is_list_or_number(value: object) -> bool:
    return isinstance(value, (bool, int, float, list, tuple))
