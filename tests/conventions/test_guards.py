"""Copies of a header that several packages carry exclude each other by their include guards: a program may include both."""

import subprocess

import pytest

from install import PREFIX, ROOT

try:
    import tomllib
except ImportError:  # Python before 3.11
    tomllib = None

GRAPH_ENGINE = {
    "ge/ge_api.h": "INC_EXTERNAL_GE_GE_API_H_",
    "ge/ge_api_types.h": "INC_EXTERNAL_GE_COMMON_GE_API_TYPES_H_",
    "graph/graph.h": "INC_EXTERNAL_GRAPH_GRAPH_H_",
    "graph/operator.h": "INC_EXTERNAL_GRAPH_OPERATOR_H_",
    "graph/tensor.h": "INC_EXTERNAL_GRAPH_TENSOR_H_",
    "graph/types.h": "INC_EXTERNAL_GRAPH_TYPES_H_",
}


def guards():
    text = (ROOT / "api/types/headers.toml").read_text()
    for path, header in tomllib.loads(text).items():
        if "guard" in header:
            yield (path if path.startswith(("driver/", "hccl/", "mspti/", "toolchain/")) else f"acl/{path}"), header["guard"]
    yield from GRAPH_ENGINE.items()


def preprocess(source):
    words = ["c++", "-std=c++17", "-E", "-P", "-x", "c++", "-I", PREFIX / "include", "-"]
    return subprocess.run(words, input=source, capture_output=True, text=True, check=True).stdout


@pytest.mark.skipif(tomllib is None, reason="this Python has no tomllib")
def test_a_copy_of_a_header_that_was_included_before_is_not_declared_again():
    headers = dict(guards())
    assert len(headers) >= 25
    blank = "".join(f"#define {guard}\n#include <{header}>\n" for header, guard in headers.items())
    assert preprocess(blank).strip() == ""
    for header, guard in headers.items():
        defined = preprocess(f"#include <{header}>\n#ifdef {guard}\nint guard_is_defined;\n#endif\n")
        assert "int guard_is_defined;" in defined, header
