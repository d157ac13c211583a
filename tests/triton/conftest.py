"""Kernels are compiled for a chip that no driver is asked for, and the runtime's functions launch them."""

import os
import sys

os.environ.setdefault("TRITON_ASCEND_ARCH", "Ascend910B1")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
