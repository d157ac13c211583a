"""What the module looks like."""

import importlib
import inspect
import sys

import pytest

import acl
from fake import build

SUBMODULES = ["rt", "mdl", "media", "op", "blas", "util", "prof", "himpi", "fv"]


def test_the_submodules_can_be_imported_by_their_names():
    from acl.rt import memcpy
    import acl.mdl

    assert memcpy is acl.rt.memcpy
    for name in SUBMODULES:
        module = importlib.import_module(f"acl.{name}")
        assert module is getattr(acl, name) is sys.modules[f"acl.{name}"]
        assert module.__name__ == f"acl.{name}"


@pytest.mark.parametrize("name", ["", *SUBMODULES])
def test_a_module_holds_functions_and_nothing_else(name):
    module = getattr(acl, name) if name else acl
    prefix = f"acl.{name}" if name else "acl"
    expected = {full.rsplit(".", 1)[1] for full in build.stubs() if full.rsplit(".", 1)[0] == prefix}
    found = {attribute for attribute in dir(module) if not attribute.startswith("_")}
    assert found == expected | (set() if name else set(SUBMODULES))
    for attribute in expected:
        function = getattr(module, attribute)
        assert inspect.isbuiltin(function)
        assert function.__name__ == attribute
        assert function.__module__ == prefix


def test_util_holds_exactly_seven_functions():
    # Programs take `"bytes_to_ptr" in dir(acl.util)` for the newer interface.
    assert [name for name in dir(acl.util) if not name.startswith("__")] == [
        "bytes_to_ptr", "numpy_contiguous_to_ptr", "numpy_to_ptr", "ptr_to_bytes", "ptr_to_numpy", "start_thread",
        "stop_thread",
    ]


@pytest.mark.parametrize("name", [
    "ACL_SUCCESS", "ACL_MEMCPY_HOST_TO_DEVICE", "rt.MEMCPY_HOST_TO_DEVICE", "util.vector_to_ptr", "tdt", "const",
    "mdl.add_dataset_tensor",
])
def test_names_that_only_generated_code_uses_do_not_exist(name):
    found = acl
    *path, last = name.split(".")
    for part in path:
        found = getattr(found, part)
    assert not hasattr(found, last)


def test_the_file_is_known():
    assert acl.__file__.endswith("acl.so")


def test_each_function_says_what_it_calls():
    for name in build.stubs():
        function = acl
        for part in name.split(".")[1:]:
            function = getattr(function, part)
        assert function.__doc__, name
        assert "Returns " in function.__doc__, name
