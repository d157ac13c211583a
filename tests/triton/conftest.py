"""Kernels are compiled for a chip without a driver, and PyTorch's adapter is not loaded: the runtime's functions launch them."""

import os
import sys

os.environ.setdefault("TORCH_DEVICE_BACKEND_AUTOLOAD", "0")
os.environ.setdefault("TRITON_ASCEND_ARCH", "Ascend910B1")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
