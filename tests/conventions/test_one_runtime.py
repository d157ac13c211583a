"""One runtime in a process, whichever name and whichever language reached it first."""

import shutil
import sys
import textwrap

import pytest
from install import CONTEXT_C, FOLDERS, GRAPH_ENGINE, GRAPH_ENGINE_NAMES, LIB64, NAMES, PREFIX, RUNTIME, RUNTIME_NAMES
from install import compile_c, dynamic, environment, run, write

# Each folder with one of the names, another one each time: that all are two files has a test of its own.
FOLDER_AND_NAME = [("lib64", name) for name in NAMES] + [
    (folder, NAMES[5 * i % len(NAMES)]) for i, folder in enumerate(FOLDERS) if folder != "lib64"
]


@pytest.fixture(scope="module")
def context_object(tmp_path_factory):
    folder = tmp_path_factory.mktemp("object")
    return compile_c(write(folder / "context.c", CONTEXT_C), folder / "context.o", "-c")


@pytest.mark.parametrize(("library", "names"), [(RUNTIME, RUNTIME_NAMES), (GRAPH_ENGINE, GRAPH_ENGINE_NAMES), (LIB64 / "libatb.so", ["atb"])])
def test_every_name_in_every_folder_is_its_file(library, names):
    assert library.is_file() and not library.is_symlink()
    for folder in FOLDERS:
        for name in names:
            path = PREFIX / folder / f"lib{name}.so"
            assert path.exists(), path
            assert path.samefile(library), path


def test_no_link_leaves_the_tree():
    for path in PREFIX.rglob("*"):
        if path.is_symlink():
            target = path.readlink()
            assert not target.is_absolute(), f"{path} -> {target}: the tree could not be moved"
            assert path.resolve().is_relative_to(PREFIX), f"{path} -> {target}"


@pytest.mark.parametrize(("folder", "name"), FOLDER_AND_NAME)
def test_a_program_linked_with_one_name_alone_runs_on_the_runtime(folder, name, context_object, tmp_path):
    program = tmp_path / "program"
    run("cc", "-o", program, context_object, "-L", PREFIX / folder, f"-l{name}", "-ldl")
    needed = [value for tag, value in dynamic(program) if tag == "NEEDED"]
    library = GRAPH_ENGINE if name in GRAPH_ENGINE_NAMES else RUNTIME
    assert [value for value in needed if not value.startswith(("libc.", "libdl."))] == [library.name]
    loaded = run(program).stdout.strip()
    assert loaded == str(RUNTIME), f"another library was loaded: {loaded}"


@pytest.mark.parametrize("folder", [f for f in FOLDERS if f.endswith("stub")])
def test_a_stub_named_by_its_full_path_links(folder, context_object, tmp_path):
    program = tmp_path / "program"
    run("cc", "-o", program, context_object, PREFIX / folder / "libge_runner.so", "-ldl")
    assert run(program).stdout.strip() == str(RUNTIME)


TWO_FOLDERS_C = r"""
#include <dlfcn.h>
#include <stdio.h>
#include "acl/acl.h"

typedef aclError (*Init)(const char *);
typedef aclError (*Create)(aclrtContext *, int32_t);
typedef aclError (*Current)(aclrtContext *);

int main(int argc, char **argv)
{
    void *first, *second;
    aclrtContext set = NULL, current = NULL;
    Init init;
    Create create;
    Current get;

    if (argc != 3) {
        return 2;
    }
    first = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    second = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
    if (first == NULL || second == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 3;
    }
    *(void **)&init = dlsym(second, "aclInit");
    *(void **)&create = dlsym(first, "aclrtCreateContext");
    *(void **)&get = dlsym(second, "aclrtGetCurrentContext");
    if (init(NULL) != ACL_SUCCESS || create(&set, 0) != ACL_SUCCESS || get(&current) != ACL_SUCCESS) {
        return 4;
    }
    printf("%s\n", set == current ? "one" : "two");
    return 0;
}
"""


def test_opened_by_absolute_path_from_two_folders_there_is_one_current_context(tmp_path):
    source = write(tmp_path / "two.c", TWO_FOLDERS_C)
    program = compile_c(source, tmp_path / "two", "-ldl", warnings=["-Wall", "-Wextra"])
    first, second = LIB64 / "libacl_rt.so", PREFIX / "runtime/lib64/stub/libge_runner.so"
    # Without LD_LIBRARY_PATH as well: the paths alone have to do.
    for env in (environment(), environment(LD_LIBRARY_PATH="unset")):
        assert run(program, first, second, env=env).stdout.strip() == "one"


EXTENSION_C = r"""
#include <stdint.h>
#include "acl/acl.h"

uint64_t current_context(void);

uint64_t current_context(void)
{
    aclrtContext context = NULL;
    return aclrtGetCurrentContext(&context) == ACL_SUCCESS ? (uint64_t)(uintptr_t)context : 0;
}
"""


@pytest.mark.parametrize("order", ["acl first", "extensions first"])
def test_python_and_two_extensions_see_the_same_current_context(order, tmp_path):
    source = write(tmp_path / "extension.c", EXTENSION_C)
    shared = ["-shared", "-fPIC", "-L", LIB64]
    compile_c(source, tmp_path / "first.so", *shared, "-lascendcl")
    compile_c(source, tmp_path / "second.so", *shared, "-lacl_rt")
    load_acl = "import acl"
    load_extensions = textwrap.dedent(
        f"""
        import ctypes
        extensions = [ctypes.CDLL(r"{tmp_path}/" + name) for name in ("first.so", "second.so")]
        for extension in extensions:
            extension.current_context.restype = ctypes.c_uint64
        """
    )
    loads = [load_acl, load_extensions] if order == "acl first" else [load_extensions, load_acl]
    use = textwrap.dedent(
        """
        assert acl.init() == 0
        context, ret = acl.rt.create_context(0)
        assert ret == 0 and context != 0, (context, ret)
        assert acl.rt.get_context() == (context, 0)
        for extension in extensions:
            assert extension.current_context() == context, (extension, extension.current_context(), context)
        assert acl.rt.destroy_context(context) == 0
        assert [extension.current_context() for extension in extensions] == [0, 0]
        print("same")
        """
    )
    script = write(tmp_path / "script.py", "\n".join([*loads, use]))
    assert run(sys.executable, script).stdout.strip() == "same"


COPY_C = r"""
#include <dlfcn.h>
#include <stdio.h>
#include "acl/acl.h"

typedef aclError (*SetDevice)(int32_t);
typedef const char *(*Message)(void);

int main(int argc, char **argv)
{
    void *first, *copy;
    SetDevice set;
    Message message;
    const char *text;

    if (argc != 3) {
        return 2;
    }
    first = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    copy = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
    if (first == NULL || copy == NULL || first == copy) {
        fprintf(stderr, "not two libraries\n");
        return 3;
    }
    *(void **)&set = dlsym(first, "aclrtSetDevice");
    if (set(0) != ACL_SUCCESS) {
        return 4;
    }
    *(void **)&set = dlsym(copy, "aclrtSetDevice");
    *(void **)&message = dlsym(copy, "aclGetRecentErrMsg");
    printf("%d\n", set(0));
    text = message();
    printf("%s\n", text != NULL ? text : "");
    return 0;
}
"""


def test_a_second_copy_says_so_instead_of_running_beside_the_first(tmp_path):
    copy = tmp_path / "copy" / "libascendcl.so"
    copy.parent.mkdir()
    shutil.copyfile(RUNTIME, copy)
    source = write(tmp_path / "copy.c", COPY_C)
    program = compile_c(source, tmp_path / "program", "-ldl", warnings=["-Wall", "-Wextra"])
    done = run(program, RUNTIME, copy)
    code, *text = done.stdout.splitlines()
    assert int(code) != 0, "the second copy ran"
    said = "\n".join(text) + done.stderr
    assert str(RUNTIME) in said and str(copy) in said, f"it does not name the two files: {said!r}"
