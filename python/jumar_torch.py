"""Lets `import torch_npu`, PyTorch's prebuilt Ascend adapter, find Jumar, also beside PyTorch's build for CUDA; and `import mindspore`.

Python imports this module when it starts: the wheel has a file `jumar_torch.pth` for that, and `jumar torch --setup` writes one
into another environment. It does nothing before the adapter or MindSpore is imported for the first time, and nothing where the
environment points at another toolkit.
"""

import os
import sys

# PyTorch's function that returns the names of allocator options, since release 2.10.
_KEYS = "_ZN3c1016CachingAllocator26AcceleratorAllocatorConfig14getMutableKeysB5cxx11Ev"


class _BeforeAFramework:
    """Prepares the process right before a framework's module is imported. Finds no module itself."""

    def __init__(self, module, prepare):
        self.module, self.prepare = module, prepare

    def find_spec(self, name, path=None, target=None):
        if name == self.module:
            sys.meta_path.remove(self)
            tree = _selected_tree()
            if tree is not None:
                self.prepare(tree)
        return None


def _selected_tree():
    """Returns Jumar's folder if the adapter will use it. Selects that of a wheel where the environment selects nothing."""
    here = os.path.dirname(os.path.abspath(__file__))
    wheel = os.path.join(here, "jumar", "cann")
    is_wheel = os.path.exists(wheel)
    tree = wheel if is_wheel else os.path.dirname(os.path.dirname(here))
    selected = os.environ.get("ASCEND_HOME_PATH") or os.environ.get("ASCEND_TOOLKIT_HOME")
    if selected:
        return tree if os.path.realpath(selected) == os.path.realpath(tree) else None
    folders = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    if any(folder and os.path.exists(os.path.join(folder, "libascendcl.so")) for folder in folders):
        return None
    # The libraries of an install tree are links, which the loader finds by LD_LIBRARY_PATH alone.
    if not is_wheel:
        return None
    _select_wheel(tree)
    return tree


def _select_wheel(tree):
    """Does for this process and its children what `jumar run` does for a program."""
    import ctypes

    library = os.path.join(tree, "lib64")
    os.environ["ASCEND_HOME_PATH"] = os.environ["ASCEND_TOOLKIT_HOME"] = tree
    os.environ["ASCEND_OPP_PATH"] = os.path.join(tree, "opp")
    tools = [os.path.join(tree, "bin"), os.path.join(tree, "tools", "profiler", "bin")]
    for name, first in (("LD_LIBRARY_PATH", [library]), ("PATH", tools)):
        os.environ[name] = os.pathsep.join([*first, *filter(None, [os.environ.get(name)])])
    # The loader of this process has read LD_LIBRARY_PATH already. A library that is loaded is found by its name.
    for name in sorted(os.listdir(library)):
        if name.endswith(".so"):
            ctypes.CDLL(os.path.join(library, name))


def _remove_cuda_allocator_keys(tree):
    """Removes the names that PyTorch's build for CUDA and the adapter both register, which would end the process."""
    import ctypes

    import torch

    if torch.version.cuda is None:
        return
    keys = getattr(ctypes.CDLL(os.path.join(os.path.dirname(torch.__file__), "lib", "libc10.so")), _KEYS, None)
    if keys is not None:
        own = ctypes.CDLL(os.path.join(tree, "tools", "torch", "liballocator_keys.so"))
        own.jumar_remove_cuda_allocator_keys(ctypes.cast(keys, ctypes.c_void_p))


def _name_operators(tree):
    """Adds the folder that MindSpore looks for in PYTHONPATH."""
    folders = [os.path.join(tree, "opp", "built-in", "op_impl", "ai_core", "tbe"), os.environ.get("PYTHONPATH")]
    if "ai_core/tbe" not in (folders[1] or ""):
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, folders))


sys.meta_path.insert(0, _BeforeAFramework("torch_npu", _remove_cuda_allocator_keys))
sys.meta_path.insert(0, _BeforeAFramework("mindspore", _name_operators))
