"""Runs of models whose shapes are chosen, or found, at each run: at once, with memory for that run alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import acl

from . import _dtype
from ._array import Array, DeviceArray
from ._errors import check, error

if TYPE_CHECKING:
    from ._model import TensorInfo

_ND = 2
_DEVICE_TO_HOST = 2
#: What an output of unknown size gets first, and the most that is tried before the error is believed.
_FIRST, _MOST = 1 << 20, 1 << 30
#: How the runtime answers buffers that are too small.
_TOO_SMALL = (100000, 500002)


class _Bindings:
    """Datasets and what is in them."""

    def __init__(self) -> None:
        self.descriptions: list[int] = []
        self.buffers: list[int] = []
        self.datasets: list[int] = []

    def dataset(self) -> int:
        self.datasets.append(acl.mdl.create_dataset())
        return self.datasets[-1]

    def add(self, dataset: int, address: int, size: int) -> None:
        self.buffers.append(acl.create_data_buffer(address, size))
        _, code = acl.mdl.add_dataset_buffer(dataset, self.buffers[-1])
        check("acl.mdl.add_dataset_buffer", code)

    def describe(self, dataset: int, index: int, array: Array) -> None:
        code = _dtype.of(array.dtype).code
        self.descriptions.append(acl.create_tensor_desc(code, list(array.shape), _ND))
        _, code = acl.mdl.set_dataset_tensor_desc(dataset, self.descriptions[-1], index)
        check("acl.mdl.set_dataset_tensor_desc", code)

    def release(self) -> None:
        for dataset in self.datasets:
            acl.mdl.destroy_dataset(dataset)
        for buffer in self.buffers:
            acl.destroy_data_buffer(buffer)
        for description in self.descriptions:
            acl.destroy_tensor_desc(description)


def run(model_id: int, arrays: Sequence[Array], infos: Sequence[TensorInfo]) -> dict[str, Array]:
    """Runs a model and gives its outputs by name, with the shapes that they came to have.

    Raises:
        Error: the run failed, or an output is longer than a gigabyte.
    """
    sources = [array.to_device() for array in arrays]
    room = _FIRST
    while True:
        bindings = _Bindings()
        try:
            inputs, outputs = bindings.dataset(), bindings.dataset()
            for index, (array, source) in enumerate(zip(arrays, sources)):
                bindings.add(inputs, source.handle, source.nbytes)
                bindings.describe(inputs, index, array)
            targets = [DeviceArray(info.nbytes or room, "uint8") for info in infos]
            for target in targets:
                bindings.add(outputs, target.handle, target.nbytes)
            code = acl.mdl.execute(model_id, inputs, outputs)
            if code in _TOO_SMALL and room < _MOST and any(info.nbytes == 0 for info in infos):
                room *= 8
                continue
            if code:
                raise error("acl.mdl.execute", code)
            return {info.name: _taken(info, index, outputs, target) for index, (info, target) in enumerate(zip(infos, targets))}
        finally:
            bindings.release()


def _taken(info: TensorInfo, index: int, outputs: int, target: DeviceArray) -> Array:
    shape = info.shape
    if info.nbytes == 0 or any(dim < 0 for dim in shape):
        description = acl.mdl.get_dataset_tensor_desc(outputs, index)
        dims = [acl.get_tensor_desc_dim_v2(description, at) for at in range(acl.get_tensor_desc_num_dims(description))]
        shape = tuple(dim for dim, _ in dims)
    host = Array(shape, info.dtype)
    size = host.nbytes
    if size:
        check("acl.rt.memcpy", acl.rt.memcpy(host.handle, size, target.handle, size, _DEVICE_TO_HOST))
    return host
