"""Compiling programs against the install tree as programs are, and running them in its environment."""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PREFIX = pathlib.Path(os.environ.get("JUMAR_PREFIX") or ROOT / "target/jumar").resolve()
HERE = pathlib.Path(__file__).resolve().parent
LIB64 = PREFIX / "lib64"
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
PROTOTYPES = ["opp/op_proto/built-in/inc", "opp/built-in/op_proto/inc", "opp/built-in/op_graph/inc"]


def compile_program(source, out, *more, std="c++11", abi=0, protos=PROTOTYPES[1], libs=LIB64, headers=PREFIX / "include", check=True, limit=600):
    command = ["g++", f"-std={std}", f"-D_GLIBCXX_USE_CXX11_ABI={abi}", *WARNINGS, "-pthread"]
    command += ["-I", headers, "-I", PREFIX / protos, source, "-o", out, "-L", libs, *more]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=limit)
    assert not check or done.returncode == 0, done.stderr[:8000]
    return done


def compile_text(folder, text, *more, **how):
    source = folder / "program.cpp"
    source.write_text(text)
    return compile_program(source, folder / "program", *more, **how)


def run(program, cwd, *args, limit=120, env=None):
    env = dict(os.environ, LD_LIBRARY_PATH=str(LIB64), **(env or {}))
    command = [str(program), *map(str, args)]
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=limit)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def write_resnet50(folder, side):
    """Writes model.onnx, weights.bin (in the order of its nodes) and image.bin for the programs that build ResNet-50."""
    import numpy
    import onnx

    sys.path.insert(0, str(ROOT / "tests/models"))
    import nets

    model = nets.resnet50(batch=1, size=side)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    weights = {one.name: onnx.numpy_helper.to_array(one) for one in model.graph.initializer}
    order = [weights[name] for node in model.graph.node for name in node.input if name in weights]
    (folder / "weights.bin").write_bytes(b"".join(one.astype(numpy.float32).tobytes() for one in order))
    image = numpy.random.default_rng(1).standard_normal((1, 3, side, side)).astype(numpy.float32)
    image.tofile(folder / "image.bin")
    return model, image
