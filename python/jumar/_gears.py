"""Models that were built for several sizes, of which each run has one."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Optional, TypeVar

import acl

from ._errors import check

if TYPE_CHECKING:
    from ._model import TensorInfo

#: The input that names the size of a run.
_NAME = "ascend_mbatch_shape_data"

T = TypeVar("T")


class Gears:
    """The sizes of a model: batch sizes, heights and widths of images, or sets of dimensions."""

    def __init__(self, description: int, model: Any, index: int, others: Sequence[TensorInfo]) -> None:
        self._description = description
        self._model = model
        self._index = index
        # The runtime keeps the size that was chosen last with the model: choosing and asking for the outputs belong together.
        self._lock = threading.Lock()
        batch, code = acl.mdl.get_dynamic_batch(description)
        check("acl.mdl.get_dynamic_batch", code)
        image, code = acl.mdl.get_dynamic_hw(description, -1)
        check("acl.mdl.get_dynamic_hw", code)
        count, code = acl.mdl.get_input_dynamic_gear_count(description, -1)
        check("acl.mdl.get_input_dynamic_gear_count", code)
        #: Inputs that are images with three rows of bytes for two lines.
        self._tall = [position for position, info in enumerate(others) if image["hwCount"] and _is_yuv420(model, position, info)]
        self._sets: list[tuple[int, ...]]
        if batch["batchCount"]:
            self._kind, self._sets = "batch sizes", [(size,) for size in batch["batch"]]
        elif image["hwCount"]:
            self._kind, self._sets = "image sizes", [tuple(size) for size in image["hw"]]
        else:
            sets, code = acl.mdl.get_input_dynamic_dims(description, -1, count)
            check("acl.mdl.get_input_dynamic_dims", code)
            self._kind, self._sets = "dimensions", [tuple(one["dims"]) for one in sets]

    @staticmethod
    def of(description: int, model: Any, inputs: Sequence[TensorInfo]) -> Optional[Gears]:
        """Returns the sizes of a model, if it was built for several."""
        names = [info.name for info in inputs]
        if _NAME not in names:
            return None
        index = names.index(_NAME)
        return Gears(description, model, index, [info for info in inputs if info.name != _NAME])

    def others(self, list_of_inputs: Sequence[T]) -> list[T]:
        """Leaves out what belongs to the input that names the size."""
        return [one for index, one in enumerate(list_of_inputs) if index != self._index]

    def choice(self, name: str, infos: Sequence[TensorInfo], shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        """Returns the size that inputs of these shapes have.

        Raises:
            ValueError: the model was not built for it.
        """
        every = tuple(dim for shape in shapes for dim in shape)
        free = []
        for position, (info, shape) in enumerate(zip(infos, shapes)):
            dims = [dim for dim, wanted in zip(shape, info.shape) if wanted < 0]
            if dims and position in self._tall:
                dims[0] = dims[0] // 3 * 2 if dims[0] % 3 == 0 else -1
            free.append(dims)
        found = every if self._kind == "dimensions" else tuple(next((dims for dims in free if dims), ()))
        alike = self._kind == "dimensions" or all(tuple(dims) == found for dims in free if dims)
        if found not in self._sets or not alike:
            built = ", ".join(str(one if len(one) > 1 else one[0]) for one in self._sets)
            raise ValueError(f"{name} was built for the {self._kind} {built}; the inputs have the shapes {list(shapes)}")
        return found

    def choose(self, dataset: int, size: tuple[int, ...], outputs: int) -> list[tuple[int, ...]]:
        """Chooses the size of a dataset's next run and returns the shapes of the outputs in it."""
        with self._lock:
            if self._kind == "batch sizes":
                code = acl.mdl.set_dynamic_batch_size(self._model, dataset, self._index, size[0])
                check("acl.mdl.set_dynamic_batch_size", code)
            elif self._kind == "image sizes":
                code = acl.mdl.set_dynamic_hw_size(self._model, dataset, self._index, *size)
                check("acl.mdl.set_dynamic_hw_size", code)
            else:
                dims = {"name": "", "dimCount": len(size), "dims": list(size)}
                code = acl.mdl.set_input_dynamic_dims(self._model, dataset, self._index, dims)
                check("acl.mdl.set_input_dynamic_dims", code)
            shapes = []
            for index in range(outputs):
                found, code = acl.mdl.get_cur_output_dims(self._description, index)
                check("acl.mdl.get_cur_output_dims", code)
                shapes.append(tuple(found["dims"]))
            return shapes


def _is_yuv420(model: Any, index: int, info: TensorInfo) -> bool:
    if info.dtype != "uint8":
        return False
    found, code = acl.mdl.get_first_aipp_info(model, index)
    if code or found is None:
        # It is not an image; the text of this refusal must not reach the next failure.
        acl.get_recent_err_msg()
        return False
    return bool(found["inputFormat"] == 1)
