"""The outputs of a run."""

from __future__ import annotations

from typing import NoReturn

from ._array import Array


class Outputs(dict[str, Array]):
    """The outputs of a run by their names in the model."""

    __slots__ = ()

    def __missing__(self, name: object) -> NoReturn:
        names = ", ".join(map(repr, self)) or "none"
        raise KeyError(f"the model has no output {name!r}; its outputs are: {names}")
