"""The helpers are those of the programs' tests."""

import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "conventions"), str(TESTS / "programs")]
