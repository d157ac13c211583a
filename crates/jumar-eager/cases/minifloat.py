"""Floating-point types of 4 and 8 bits for the scripts that write cases: `tests/calls/lowfloat.py` has the numbers."""

import pathlib
import sys

import numpy as np
import torch
from cases import Coded

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tests/calls"))

from lowfloat import *  # noqa: E402, F403


def coded(name, codes):
    return Coded(name, torch.from_numpy(np.ascontiguousarray(np.asarray(codes, np.int64))))
