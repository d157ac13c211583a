"""Ascend programs on machines without an Ascend card, in idiomatic Python.

Devices, contexts, streams and events are objects that clean up after themselves, host arrays speak NumPy's, DLPack's and the
buffer protocol, models are functions, and failures are exceptions that say what to do::

    import jumar

    model = jumar.load("resnet50.onnx")           # or an .om file
    outputs = model({"input": image})           # anything with an array interface, the buffer protocol, or lists
    probabilities = outputs["output"].numpy()

    with jumar.Stream() as stream:                # asynchronously, on a stream
        pending = model({"input": image}, stream=stream)
        outputs = pending.result()

Everything ends in the same calls that the module ``acl`` makes; both work side by side in one process, on one runtime.
"""

from ._array import Array, DeviceArray, array, empty, zeros
from ._errors import Error, InvalidValueError, NotSupportedError, OutOfMemoryError, WaitTimeoutError
from ._graph import Graph
from ._model import ConversionError, Model, Pending, TensorInfo, load
from ._runtime import Context, Device, Event, Stream, current_device, device_count, synchronize
from ._timeline import Timeline, trace
from ._tree import prefix

__version__ = "0.1.0"

__all__ = [
    "Array",
    "Context",
    "ConversionError",
    "Device",
    "DeviceArray",
    "Error",
    "Event",
    "Graph",
    "InvalidValueError",
    "Model",
    "NotSupportedError",
    "OutOfMemoryError",
    "Pending",
    "Stream",
    "TensorInfo",
    "Timeline",
    "WaitTimeoutError",
    "array",
    "current_device",
    "device_count",
    "empty",
    "load",
    "prefix",
    "synchronize",
    "trace",
    "zeros",
]
