"""Which shared library the module binds to."""

import os
import shutil
import subprocess
import sys

import pytest

from fake import build


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tree")
    build.build(folder, build.module_file())
    return folder


def run(code, packages, **variables):
    environment = {k: v for k, v in os.environ.items() if k not in ("LD_LIBRARY_PATH", "LD_PRELOAD", "PYTHONPATH")}
    environment.update(variables, PYTHONPATH=str(packages), PYTHONDONTWRITEBYTECODE="1")
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)


NOTED = """
import ctypes
def noted(path):
    library = ctypes.CDLL(path)
    library.fake_name.restype = ctypes.c_char_p
    return library.fake_name().decode()
"""


def test_without_a_library_the_import_says_what_was_tried(tmp_path):
    packages = tmp_path / "python" / "site-packages"
    packages.mkdir(parents=True)
    shutil.copy(build.module_file(), packages / "acl.so")
    result = run("import acl", packages)
    assert result.returncode == 1
    message = result.stderr.strip().splitlines()[-1]
    assert message.startswith("ImportError: acl needs the shared library libascendcl.so")
    assert "was not loaded yet" in message
    assert "lib64/libascendcl.so" in message
    assert "set_env.sh" in message and "jumar run" in message


def test_the_library_of_the_same_tree(tree):
    library = tree / "lib64" / "libascendcl.so"
    code = NOTED + f"import acl\nassert acl.rt.set_device(0) == 0\nprint(noted({str(library)!r}))"
    result = run(code, tree / "python" / "site-packages")
    assert (result.stdout, result.stderr) == ("aclrtSetDevice\n", "")


def test_the_tree_may_be_reached_through_a_link(tree, tmp_path):
    (tmp_path / "acl.so").symlink_to(tree / "python" / "site-packages" / "acl.so")
    result = run("import acl\nprint(acl.rt.set_device(0))", tmp_path)
    assert (result.stdout, result.stderr) == ("0\n", "")


def test_a_library_that_the_process_has_already_is_taken_before_any_other(tree, tmp_path):
    other = tmp_path / "libascendcl.so"
    shutil.copy(tree / "lib64" / "libascendcl.so", other)
    own = tree / "lib64" / "libascendcl.so"
    code = NOTED + (
        f"ctypes.CDLL({str(other)!r})\nimport acl\nacl.rt.set_device(0)\n"
        f"print(noted({str(other)!r}), '|', noted({str(own)!r}))")
    result = run(code, tree / "python" / "site-packages")
    assert (result.stdout, result.stderr) == ("aclrtSetDevice | \n", "")


def test_the_search_path_of_the_loader_comes_last(tree, tmp_path):
    shutil.copy(build.module_file(), tmp_path / "acl.so")
    result = run("import acl\nprint(acl.rt.set_device(0))", tmp_path, LD_LIBRARY_PATH=str(tree / "lib64"))
    assert (result.stdout, result.stderr) == ("0\n", "")


def test_functions_that_a_library_lacks_answer_not_supported(tmp_path):
    packages, libraries = tmp_path / "python" / "site-packages", tmp_path / "lib64"
    packages.mkdir(parents=True)
    libraries.mkdir()
    shutil.copy(build.module_file(), packages / "acl.so")
    source = tmp_path / "one.c"
    source.write_text("int aclrtSetDevice(int id) { return id; }\n", encoding="utf-8")
    subprocess.run(
        [os.environ.get("CC", "cc"), "-shared", "-fPIC", str(source), "-o", str(libraries / "libascendcl.so")], check=True)
    result = run(
        "import acl\n"
        "print(acl.rt.set_device(7), acl.rt.get_device(), acl.get_recent_err_msg())\n"
        "print(acl.mdl.create_desc(), acl.get_soc_name(), acl.destroy_tensor_desc(0), acl.float16_to_float(0))\n",
        packages)
    assert result.stderr == ""
    first, second = result.stdout.splitlines()
    assert first.startswith("7 (0, 200001) aclrtGetDevice is not supported")
    assert second == "0 None None 0.0"
