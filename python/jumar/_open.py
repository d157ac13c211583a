"""Runs of models whose shapes are chosen, or found, at each run: at once, with memory for that run alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import acl

from . import _dtype
from ._array import Array
from ._errors import check
from ._outputs import Outputs

if TYPE_CHECKING:
    from ._model import TensorInfo

_ND = 2
_DEVICE_TO_HOST = 2


class _Bindings:
    """Datasets and what is in them."""

    def __init__(self) -> None:
        self.descriptions: list[int] = []
        self.buffers: list[int] = []
        self.datasets: list[int] = []
        #: Buffers whose memory the runtime allocates.
        self.outputs: list[int] = []

    def dataset(self) -> int:
        self.datasets.append(acl.mdl.create_dataset())
        return self.datasets[-1]

    def add(self, dataset: int, address: int, size: int) -> int:
        self.buffers.append(acl.create_data_buffer(address, size))
        _, code = acl.mdl.add_dataset_buffer(dataset, self.buffers[-1])
        check("acl.mdl.add_dataset_buffer", code)
        return self.buffers[-1]

    def describe(self, dataset: int, index: int, array: Array) -> None:
        code = _dtype.of(array.dtype).code
        self.descriptions.append(acl.create_tensor_desc(code, list(array.shape), _ND))
        _, code = acl.mdl.set_dataset_tensor_desc(dataset, self.descriptions[-1], index)
        check("acl.mdl.set_dataset_tensor_desc", code)

    def release(self) -> None:
        for buffer in self.outputs:
            if address := acl.get_data_buffer_addr(buffer):
                acl.rt.free(address)
        for dataset in self.datasets:
            acl.mdl.destroy_dataset(dataset)
        for buffer in self.buffers:
            acl.destroy_data_buffer(buffer)
        for description in self.descriptions:
            acl.destroy_tensor_desc(description)


def run(model_id: int, arrays: Sequence[Array], infos: Sequence[TensorInfo]) -> dict[str, Array]:
    """Runs a model and returns its outputs by name, with the shapes that they came to have.

    Raises:
        Error: the run failed.
    """
    sources = [array.to_device() for array in arrays]
    bindings = _Bindings()
    try:
        inputs, outputs = bindings.dataset(), bindings.dataset()
        for index, (array, source) in enumerate(zip(arrays, sources)):
            bindings.add(inputs, source.handle, source.nbytes)
            bindings.describe(inputs, index, array)
        for _ in infos:
            # The runtime allocates an output that has no memory, once it knows how large it is.
            bindings.outputs.append(bindings.add(outputs, 0, 0))
        check("acl.mdl.execute", acl.mdl.execute(model_id, inputs, outputs))
        return Outputs((info.name, _taken(info, index, outputs, bindings.outputs[index])) for index, info in enumerate(infos))
    finally:
        bindings.release()


def _taken(info: TensorInfo, index: int, outputs: int, buffer: int) -> Array:
    description = acl.mdl.get_dataset_tensor_desc(outputs, index)
    shape = []
    for at in range(acl.get_tensor_desc_num_dims(description)):
        dim, code = acl.get_tensor_desc_dim_v2(description, at)
        check("acl.get_tensor_desc_dim_v2", code)
        shape.append(dim)
    host = Array(shape, info.dtype)
    if size := host.nbytes:
        code = acl.rt.memcpy(host.handle, size, acl.get_data_buffer_addr(buffer), size, _DEVICE_TO_HOST)
        check("acl.rt.memcpy", code)
    return host
