"""The helpers for compiling and running against the install tree are those of the conventions' tests."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "conventions"))
