"""The commands ``jumar`` and ``atc`` of a wheel: they become the programs in the tree."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from ._tree import command


def jumar() -> NoReturn:
    """Becomes the command ``jumar``."""
    path = str(command("jumar"))
    os.execv(path, [path, *sys.argv[1:]])


def atc() -> NoReturn:
    """Becomes the command ``atc``."""
    path = str(command("jumar"))
    os.execv(path, [path, "atc", *sys.argv[1:]])
