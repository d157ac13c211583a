"""Where the libraries, headers and commands of this installation lie."""

from __future__ import annotations

import os
from pathlib import Path


def prefix() -> Path:
    """Returns the root of the install tree, which contains ``lib64``, ``include`` and ``bin``.

    In a wheel the tree is a folder of this package; elsewhere this package lies in the tree's ``python/site-packages``.

    Raises:
        FileNotFoundError: the package was copied away from its tree.
    """
    here = Path(__file__).resolve().parent
    for root in (here / "cann", here.parents[2]):
        if (root / "lib64" / "libascendcl.so").exists():
            return root
    raise FileNotFoundError(
        f"no lib64/libascendcl.so belongs to {here}; install the wheel, or source set_env.sh of an install tree"
    )


def command(name: str) -> Path:
    """Returns the path of a command of the tree, ``jumar`` or ``atc``."""
    return prefix() / "bin" / name


def environment() -> dict[str, str]:
    """Returns the environment in which a command of the tree finds the tree's own library first."""
    held = os.environ.get("LD_LIBRARY_PATH", "")
    ours = str(prefix() / "lib64")
    return {**os.environ, "LD_LIBRARY_PATH": f"{ours}:{held}" if held else ours}
