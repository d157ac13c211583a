"""Clients that were compiled against other headers than Jumar's: the names, sizes and calls that they rely on."""

import os
import subprocess

import pytest

from build import HERE, LIB64, PREFIX, compile_text, run

# What programs allocate that were compiled with the toolkit's headers on x86-64.
SIZES = {
    "ge::AscendString": 16, "ge::Graph": 16, "ge::Tensor": 16, "ge::AttrValue": 16, "ge::TensorDesc": 16, "ge::Shape": 16,
    "ge::GNode": 16, "ge::Operator": 24, "ge::ModelBufferData": 24, "ge::Session": 8, "ge::GeSession": 16, "gert::Tensor": 752,
}


def exported():
    done = subprocess.run(["nm", "-D", "--defined-only", LIB64 / "libjumar_ge.so"], capture_output=True, text=True, check=True)
    return {line.split()[-1].split("@")[0] for line in done.stdout.splitlines()}


def test_every_symbol_that_prebuilt_clients_want_is_there():
    wanted = set((HERE / "prebuilt_symbols.txt").read_text().split())
    assert len(wanted) >= 77
    assert wanted - exported() == set()


def test_objects_have_the_sizes_that_prebuilt_clients_allocate(tmp_path):
    lines = [f'static_assert(sizeof({name}) == {size}, "{name}");' for name, size in SIZES.items()]
    text = '#include "ge/ge_api_v2.h"\n' + "\n".join(lines) + "\nint main() { return 0; }\n"
    for std in ["c++11", "c++20"]:
        compile_text(tmp_path, text, "-fsyntax-only", std=std)


def test_functions_with_strings_exist_for_both_layouts_of_the_string():
    names = exported()
    older = [name for name in names if "RKSs" in name]
    newer = [name for name in names if "RKNSt7__cxx11" in name]
    assert len(older) > 80 and len(newer) > 80
    assert {"_ZN2ge5GraphC1ERKSs", "_ZN2ge5GraphC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"} <= names
    # A function that returns the newer string has a mark behind its name.
    assert {"_ZNK2ge8Operator7GetNameEv", "_ZNK2ge8Operator7GetNameB5cxx11Ev"} <= names


def test_statuses_shape_functions_and_tensors_of_a_client_with_older_strings(tmp_path):
    command = ["g++", "-std=c++17", "-D_GLIBCXX_USE_CXX11_ABI=0", "-Wall", "-Wextra", "-Werror", HERE / "older_strings.cpp"]
    command += ["-o", tmp_path / "client", "-L", LIB64, "-lge_runner", "-lgraph", "-lascendcl"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[:4000]
    assert "older strings: ok" in run(tmp_path / "client", tmp_path)


@pytest.mark.parametrize("abi", [0, 1])
@pytest.mark.parametrize("library", ["fmk_onnx_parser", "ge_compiler"])
def test_the_calls_of_onnx_runtimes_provider_without_jumars_headers(tmp_path, library, abi):
    numpy = pytest.importorskip("numpy")
    onnx = pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    random = numpy.random.default_rng(3)
    nodes = [
        onnx.helper.make_node("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1]),
        onnx.helper.make_node("Relu", ["a"], ["b"]),
        onnx.helper.make_node("GlobalAveragePool", ["b"], ["y"]),
    ]
    weights = onnx.numpy_helper.from_array(random.standard_normal((4, 3, 3, 3)).astype(numpy.float32), "w")
    value = lambda name, dims: onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, dims)
    graph = onnx.helper.make_graph(nodes, "g", [value("x", [2, 3, 8, 8])], [value("y", [2, 4, 1, 1])], [weights])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    given = random.standard_normal((2, 3, 8, 8)).astype(numpy.float32)
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    given.tofile(tmp_path / "input.bin")
    program = tmp_path / "prebuilt"
    command = ["g++", "-std=c++17", f"-D_GLIBCXX_USE_CXX11_ABI={abi}", "-Wall", "-Wextra", "-Werror", HERE / "prebuilt.cpp"]
    command += ["-o", program, "-L", PREFIX / "compiler/lib64/stub", f"-l{library}", "-lascendcl"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300, env=dict(os.environ))
    assert done.returncode == 0, done.stderr[:4000]
    assert "prebuilt: ok" in run(program, tmp_path, "model.onnx", "input.bin", "output.bin")
    found = numpy.fromfile(tmp_path / "output.bin", numpy.float32).reshape(2, 4, 1, 1)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    numpy.testing.assert_allclose(found, session.run(None, {"x": given})[0], rtol=1e-5, atol=1e-6)
