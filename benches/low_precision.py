"""Low precision: bfloat16 where a precision mode allows it, and int8, compared with ONNX Runtime and OpenVINO in one process.

`cargo xtask bench low-precision` runs it where `models.py` runs (`atc` and the module `acl` of the install tree, the engines of `target/venv-bench`).
Prints a line of JSON for each figure; each says what computed it (`amx`, `avx512_bf16`, `avx512_vnni`, `avx512`, `avx2`, `plain`).

Usage: low_precision.py [--quick]
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "models"))

MODE = "--precision_mode=allow_fp32_to_bf16"
ORT = "ONNX Runtime"
LIMITS = {"ceiling": "dot products alone", ORT: "ONNX Runtime, float32"}
NETWORKS = {"ResNet-50": "resnet50", "BERT-base, sequence 128": "bert"}
CEILING = r"""
#include <immintrin.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
#define MEASURE(what, type, zero, dot, numbers) { \
    type s[14]; double best = 1e9; \
    for (int i = 0; i < 14; i++) s[i] = zero; \
    for (int round = 0; round < 100; round++) { \
        double start = now(); \
        for (int n = 0; n < 20000; n++) \
            for (int i = 0; i < 14; i++) s[i] = dot; \
        double took = now() - start; if (took < best) best = took; \
    } \
    unsigned char sum = 0, *bytes = (unsigned char *)s; \
    for (unsigned long i = 0; i < sizeof s; i++) sum ^= bytes[i]; \
    printf("%s %f %d\n", what, 20000.0 * 14 * numbers * 2 / best * 1e-9, sum); }
int main(int argc, char **argv) {
    __m512i x; memset(&x, argc + 60, sizeof x);
    MEASURE("bfloat16", __m512, _mm512_setzero_ps(), _mm512_dpbf16_ps(s[i], (__m512bh)x, (__m512bh)x), 32)
    MEASURE("bytes", __m512i, _mm512_setzero_si512(), _mm512_dpbusd_epi32(s[i], x, x), 64)
}
"""
KERNELS = {
    "product 128 x 3072 x 768": ("MatMul", (128, 768), (768, 3072), {}, 128 * 3072 * 768),
    "product 1024 x 1024 x 1024": ("MatMul", (1024, 1024), (1024, 1024), {}, 1024**3),
    "convolution 3 x 3, 64 to 64 channels, 56 x 56": (
        "Conv", (1, 64, 56, 56), (64, 64, 3, 3), {"kernel_shape": [3, 3], "pads": [1] * 4}, 64 * 64 * 9 * 56 * 56),
    "convolution 1 x 1, 256 to 64 channels, 56 x 56": (
        "Conv", (1, 256, 56, 56), (64, 256, 1, 1), {"kernel_shape": [1, 1]}, 256 * 64 * 56 * 56),
}


def engines():
    """What computes products of bfloat16 and of bytes here, as `jumar info` says."""
    text = subprocess.run(["jumar", "info"], check=True, capture_output=True, text=True).stdout
    return dict(re.findall(r"(bfloat16|bytes) by (\w+)", text))


def convert(source, target, *more):
    atc = ["atc", f"--model={source}", "--framework=5", f"--output={target}", "--soc_version=Ascend910B1", *more]
    done = subprocess.run(atc, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"atc: {done.stdout}{done.stderr}")


def of_bytes(op, x, w, attrs):
    """The same in int8: unsigned activations, signed weights."""
    from onnx import TensorProto

    import nets

    net, rng = nets.Net(1), np.random.default_rng(4)
    weight = net.weight(rng.integers(-127, 128, w).astype(np.int8))
    zero = net.weight(np.uint8(120))
    y = net.node({"MatMul": "MatMulInteger", "Conv": "ConvInteger"}[op], ["x", weight, zero], **attrs)
    return net.model({"x": (TensorProto.UINT8, list(x))}, [y])


def prepare(folder):
    """Models of one operator, in float32 (compiled for bfloat16) and in int8, and the program that measures the ceilings."""
    from onnx import TensorProto

    import nets

    rng = np.random.default_rng(3)
    for index, (op, x, w, attrs, _) in enumerate(KERNELS.values()):
        net = nets.Net(1)
        y = net.node(op, ["x", net.weight(rng.standard_normal(w).astype(np.float32) / 8)], **attrs)
        whole = of_bytes(op, x, w, attrs)
        for kind, model, data, more in [
            ("narrow", net.model({"x": (TensorProto.FLOAT, list(x))}, [y]), rng.standard_normal(x).astype(np.float32), [MODE]),
            ("whole", whole, rng.integers(0, 256, x).astype(np.uint8), []),
        ]:
            path = folder / f"{kind}{index}.onnx"
            path.write_bytes(model.SerializeToString())
            np.savez(path.with_suffix(".npz"), x=data)
            convert(path, path.with_suffix(""), *more)
    source = folder / "narrow.c"
    source.write_text(CEILING)
    flags = ["-O3", "-funroll-loops", "-mavx512f", "-mavx512bf16", "-mavx512vnni"]
    done = subprocess.run(["cc", *flags, str(source), "-o", str(folder / "narrow")], capture_output=True, text=True)
    if done.returncode:
        print(f"the ceilings cannot be measured: {done.stderr}", file=sys.stderr)


def ceilings(folder):
    """GFLOP/s of dot products alone; nothing where the processor has no instruction."""
    done = subprocess.run([folder / "narrow"], capture_output=True, text=True)
    return {line.split()[0]: float(line.split()[1]) for line in done.stdout.splitlines()}


def kernels(folder):
    """GFLOP/s of each kernel in bfloat16 and int8, of ONNX Runtime's (float32 and int8), and the ceilings."""
    from models import ORT, Jumar, Ort, good, in_turn

    found = {}
    for index, (name, (*_, count)) in enumerate(KERNELS.items()):
        for kind, what in [("narrow", "bfloat16"), ("whole", "bytes")]:
            path = folder / f"{kind}{index}.onnx"
            feed = dict(np.load(path.with_suffix(".npz")))
            ort, jumar = Ort(path, feed, 1), Jumar(path, feed)
            jumar.fill()
            execute = lambda: good(jumar.acl.mdl.execute(jumar.model, jumar.inputs, jumar.outputs))  # noqa: B023, E731
            times = in_turn({"Jumar": execute, ORT: ort.run})
            row = {engine: 2 * count / ms * 1e-6 for engine, ms in times.items()}
            if what in (limits := ceilings(folder)):
                row["ceiling"] = limits[what]
            found[f"{name}, {what}"] = row
            jumar.close()
    return found


def networks(folder, threads, batch=1):
    """Latencies in bfloat16 beside ONNX Runtime in float32 and OpenVINO as it is installed, and the distance from float32."""
    from models import INSTALLED, ORT, Jumar, OpenVino, Ort, distance, in_turn, inputs_of

    import nets

    found = {}
    for name, maker in NETWORKS.items():
        model = getattr(nets, maker)(batch=batch)
        path = folder / f"low_{maker}.onnx"
        path.write_bytes(model.SerializeToString())
        convert(path, path.with_suffix(""), MODE)
        feed = inputs_of(model)
        jumar, ort = Jumar(path, feed), Ort(path, feed, threads)
        off = distance(jumar.run(), ort.run())
        works = {"Jumar": jumar.run, ORT: ort.run}
        try:
            installed = OpenVino(path, feed, threads, False)
            installed.run()
            works[INSTALLED] = installed.run
        except Exception as error:  # an engine that cannot run a model is omitted and reported
            print(f"{name}: OpenVINO: {error}", file=sys.stderr)
        found[name] = {"times": in_turn(works), "distance": off}
        jumar.close()
    return found


def measure(folder, threads):
    """Everything, in a process whose module `acl` has so many workers."""
    from models import begin, end

    acl = begin()
    found = {"networks": networks(folder, threads)}
    if threads == 1:
        found["kernels"] = kernels(folder)
    end(acl)
    return found


def main():
    if "--measure" in sys.argv:
        folder, threads = sys.argv[sys.argv.index("--measure") + 1 :][:2]
        print(json.dumps(measure(pathlib.Path(folder), int(threads))))
        return
    with tempfile.TemporaryDirectory() as folder:
        prepare(pathlib.Path(folder))
        by = engines()
        for threads in (1,) if "--quick" in sys.argv else (1, 2):
            environment = dict(os.environ, JUMAR_WORKERS=str(threads))
            command = [sys.executable, "-B", __file__, "--measure", folder, str(threads)]
            text = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
            found = json.loads(text.splitlines()[-1])
            for name, row in found["networks"].items():
                what = f"{name}, batch 1, {threads} thread{'s' * (threads > 1)}, bfloat16 by {by['bfloat16']} (distance from float32: {row['distance']:.1e})"
                show(what, row["times"], "ms", ORT, {"Ratio": 0.4})
            for name, row in found.get("kernels", {}).items():
                name = f"{name} by {by[name.rpartition(', ')[2]]}"
                show(name, row, "GFLOP/s", "ceiling" if "ceiling" in row else ORT)


def show(what, row, unit, limit, target=None):
    """Prints a figure as jumar-bench does, beside its limit and the other engines' figures."""
    others = [[engine, value] for engine, value in row.items() if engine not in ("Jumar", limit)]
    line = {"what": what, "value": row["Jumar"], "unit": unit, "limit": [LIMITS.get(limit, limit), row[limit]], "also": others}
    print(json.dumps(line | ({"target": target} if target else {})), flush=True)


if __name__ == "__main__":
    main()
