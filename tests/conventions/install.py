"""Helpers: where the install tree is, compiling against it, running in its environment.

The tree is JUMAR_PREFIX, or what ASCEND_HOME_PATH names (`jumar run` sets it), or target/jumar of this repository.
"""

import ctypes
import os
import pathlib
import platform
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PREFIX = pathlib.Path(
    os.environ.get("JUMAR_PREFIX") or os.environ.get("ASCEND_HOME_PATH") or ROOT / "target/jumar"
).resolve()
LIB64 = PREFIX / "lib64"
RUNTIME = LIB64 / "libascendcl.so"
# The folder in LD_LIBRARY_PATH: a link, whose path contains the word for which programs look.
LOADED = PREFIX / "cann/lib64"
ARCH = platform.machine()



def loadable(names):
    """The first of some libraries that the loader finds, or None."""
    for name in names:
        try:
            ctypes.CDLL(name)
        except OSError:
            continue
        return name
    return None


# FFmpeg's library that decodes video with JUMAR_FFMPEG=1, where it is installed.
LIBAVCODEC = loadable(f"libavcodec.so.{version}" for version in (61, 60, 59, 58))

# The C++ classes of the Graph Engine. They need libstdc++, which the runtime does not.
GRAPH_ENGINE = LIB64 / "libjumar_ge.so"
GRAPH_ENGINE_NAMES = """jumar_ge graph graph_base ge_runner ge_runner_v2 ge_compiler fmk_parser fmk_onnx_parser opsproto
    exe_graph register ge_common ge_common_base ge_executor lowering eager_style_graph_builder_base es_math""".split()
RUNTIME_NAMES = """ascendcl acl_rt acl_rt_impl acl_rtc acl_mdl acl_op_compiler acl_op_executor acl_cblas acl_dvpp nnopbase opapi
    opapi_nn opapi_math opapi_cv opapi_transformer runtime acl_dvpp_mpi error_manager c_sec""".split()
NAMES = RUNTIME_NAMES + GRAPH_ENGINE_NAMES
FOLDERS = [
    "lib64",
    "devlib",
    "runtime/lib64/stub",
    "compiler/lib64/stub",
    "acllib/lib64/stub",
    f"{ARCH}-linux/lib64",
    f"opp/built-in/op_proto/lib/linux/{ARCH}",
]
INCLUDES = ["include", "runtime/include", "acllib/include"]
WARNINGS = ["-Wall", "-Wextra", "-Werror"]

# Sets device 0, looks at the current context, and prints the file from which the library was loaded.
CONTEXT_C = r"""
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdio.h>
#include "acl/acl.h"

int main(void)
{
    aclrtContext set = NULL, current = NULL;
    Dl_info info;
    void *address;

    if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) {
        fprintf(stderr, "no device: %s\n", aclGetRecentErrMsg());
        return 1;
    }
    if (aclrtCreateContext(&set, 0) != ACL_SUCCESS || aclrtGetCurrentContext(&current) != ACL_SUCCESS) {
        fprintf(stderr, "no context: %s\n", aclGetRecentErrMsg());
        return 2;
    }
    if (set == NULL || set != current) {
        fprintf(stderr, "created %p, but %p is current\n", set, current);
        return 3;
    }
    address = dlsym(RTLD_DEFAULT, "aclrtGetCurrentContext");
    if (address == NULL || dladdr(address, &info) == 0) {
        return 4;
    }
    printf("%s\n", info.dli_fname);
    if (aclrtDestroyContext(set) != ACL_SUCCESS || aclrtResetDevice(0) != ACL_SUCCESS || aclFinalize() != ACL_SUCCESS) {
        fprintf(stderr, "teardown: %s\n", aclGetRecentErrMsg());
        return 5;
    }
    return 0;
}
"""


def environment(**more):
    """The caller's environment, pointing at the tree and nothing else of its kind."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("ASCEND_", "JUMAR_"))}
    clean.update(
        ASCEND_HOME_PATH=str(PREFIX),
        LD_LIBRARY_PATH=str(LIB64),
        PYTHONPATH=str(PREFIX / "python/site-packages"),
        PYTHONDONTWRITEBYTECODE="1",
    )
    clean.update({k: str(v) for k, v in more.items()})
    return {k: v for k, v in clean.items() if v != "unset"}


def run(*command, env=None, check=True, timeout=60, cwd=None, text=True):
    """Runs a command to its end; its output is in the failure."""
    words = [str(word) for word in command]
    done = subprocess.run(
        words,
        env=environment() if env is None else env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=text,
        timeout=timeout,
        cwd=cwd,
    )
    if check and done.returncode != 0:
        raise AssertionError(f"{' '.join(words)}: status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


def write(path, text):
    path.write_text(text)
    return path


def compile_c(source, output, *more, compiler="cc", standard="c11", include="include", warnings=WARNINGS):
    """Compiles and links `source` against the tree: flags that begin with -l, -L, -c and the rest go behind it."""
    run(
        compiler,
        f"-std={standard}",
        "-O1",
        *warnings,
        "-I",
        PREFIX / include,
        "-o",
        output,
        source,
        *more,
    )
    return output


def dynamic(path):
    """The dynamic section: a list of (tag, value) such as ("NEEDED", "libc.so.6")."""
    entries = []
    for line in run("readelf", "-dW", path).stdout.splitlines():
        words = line.split()
        if len(words) > 2 and words[0].startswith("0x"):
            value = line[line.index("[") + 1 : line.rindex("]")] if "[" in line else " ".join(words[2:])
            entries.append((words[1].strip("()"), value))
    return entries
