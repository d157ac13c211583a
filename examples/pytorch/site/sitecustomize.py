"""Lets `import torch_npu` work beside the CUDA build of PyTorch. Python imports this file at its start, by PYTHONPATH.

`import torch` alone would load the adapter at once, before the names of CUDA's options can be removed, so that this is
switched off: write `import torch, torch_npu`.
"""

import ctypes
import importlib.abc
import os
import sys

os.environ.setdefault("TORCH_DEVICE_BACKEND_AUTOLOAD", "0")


class _BeforeTheAdapter(importlib.abc.MetaPathFinder):
    """Removes the names right before the adapter is imported for the first time. Finds no module itself."""

    def find_spec(self, name, path=None, target=None):
        if name == "torch_npu":
            sys.meta_path.remove(self)
            _remove_cuda_allocator_keys()
        return None


def _remove_cuda_allocator_keys():
    import torch

    if torch.version.cuda is None:
        return
    folder = os.path.dirname(os.path.abspath(__file__))
    library = os.path.join(folder, "liballocator_keys.so")
    if not os.path.exists(library):
        raise ImportError(f"{library} is not there: run `make` in {os.path.dirname(folder)}")
    remove = ctypes.CDLL(library).remove_cuda_allocator_keys
    remove.argtypes = [ctypes.c_char_p]
    libc10 = os.path.join(os.path.dirname(torch.__file__), "lib", "libc10.so")
    # Releases before 2.10 have no such set (-2), and no duplicate names.
    if remove(libc10.encode()) == -1:
        raise ImportError(f"{libc10} is not loaded: the names of CUDA's allocator options cannot be removed")


sys.meta_path.insert(0, _BeforeTheAdapter())
