"""What Python adds: a pyACL call beside the C call, `jumar.load(...)(x)` beside aclmdlExecute; `cargo xtask bench python` runs this.

Prints a line of JSON for each figure, as jumar-bench does. C and Python are measured in turn, each figure is the median of the rounds.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 7
CALLS = 100_000
ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "models"))
os.environ["JUMAR_WORKERS"] = "1"

import acl  # noqa: E402
import nets  # noqa: E402
import numpy as np  # noqa: E402

import jumar  # noqa: E402

# A call that only looks, one that takes a handle, one that does something, one that queues.
C = r"""
#include <stdio.h>
#include <time.h>
#include "acl/acl.h"
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1e9 + t.tv_nsec; }
#define CALL(name, call) { double a = now(); for (int i = 0; i < CALLS; i++) { call; } printf("%s %f\n", name, (now() - a) / CALLS); }
int main(void) {
    int32_t device; aclrtStream stream; aclrtStreamStatus status; aclrtEvent event; void *host, *memory;
    if (aclInit(NULL) || aclrtSetDevice(0) || aclrtCreateStream(&stream) || aclrtMallocHost(&host, 64)) return 1;
    if (aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST) || aclrtCreateEvent(&event)) return 1;
    CALL("get_device", aclrtGetDevice(&device))
    CALL("stream_query", aclrtStreamQuery(stream, &status))
    CALL("memcpy", aclrtMemcpy(memory, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE))
    CALL("record_event", aclrtRecordEvent(event, stream))
    return 0;
}
"""


def good(ret):
    assert ret == 0, f"{ret}: {acl.get_recent_err_msg()}"


def build_c(folder):
    tree = jumar.prefix()
    source, program = folder / "calls.c", folder / "calls"
    source.write_text(C)
    command = ["cc", "-O2", f"-DCALLS={CALLS}", source, "-I", tree / "include", "-L", tree / "lib64", "-lascendcl"]
    subprocess.run([*map(str, command), "-o", str(program)], check=True)
    return program


def calls_from_c(program):
    done = subprocess.run([program], check=True, capture_output=True, text=True)
    return {name: float(ns) for name, ns in (line.split() for line in done.stdout.splitlines())}


def each(call, *arguments):
    """Nanoseconds of a call, without what an empty loop takes."""
    start = time.perf_counter_ns()
    for _ in range(CALLS):
        pass
    empty = time.perf_counter_ns() - start
    start = time.perf_counter_ns()
    for _ in range(CALLS):
        call(*arguments)
    return (time.perf_counter_ns() - start - empty) / CALLS


def calls_from_python():
    stream, ret = acl.rt.create_stream()
    good(ret)
    host, ret = acl.rt.malloc_host(64)
    good(ret)
    memory, ret = acl.rt.malloc(64, 0)
    good(ret)
    event, ret = acl.rt.create_event()
    good(ret)
    times = {
        "get_device": each(acl.rt.get_device),
        "stream_query": each(acl.rt.stream_query, stream),
        "memcpy": each(acl.rt.memcpy, memory, 64, host, 64, 1),
        "record_event": each(acl.rt.record_event, event, stream),
    }
    good(acl.rt.synchronize_stream(stream))
    good(acl.rt.destroy_stream(stream))
    return times


class Plain:
    """The same run as a program of pyACL writes it."""

    def __init__(self, path, x):
        self.x = x
        self.model, ret = acl.mdl.load_from_file(str(path))
        good(ret)
        self.desc = acl.mdl.create_desc()
        good(acl.mdl.get_desc(self.desc, self.model))
        self.size = acl.mdl.get_output_size_by_index(self.desc, 0)
        self.address_in, self.inputs = self.dataset(x.nbytes)
        self.address_out, self.outputs = self.dataset(self.size)
        self.host, ret = acl.rt.malloc_host(self.size)
        good(ret)

    @staticmethod
    def dataset(size):
        address, ret = acl.rt.malloc(size, 0)
        good(ret)
        dataset = acl.mdl.create_dataset()
        _, ret = acl.mdl.add_dataset_buffer(dataset, acl.create_data_buffer(address, size))
        good(ret)
        return address, dataset

    def __call__(self):
        good(acl.rt.memcpy(self.address_in, self.x.nbytes, self.x.handle, self.x.nbytes, 1))
        good(acl.mdl.execute(self.model, self.inputs, self.outputs))
        good(acl.rt.memcpy(self.host, self.size, self.address_out, self.size, 2))


def milliseconds(work, repeat):
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def main():
    lines = []
    jumar.Device(0).use()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = build_c(folder)
        rounds = [(calls_from_c(program), calls_from_python()) for _ in range(ROUNDS)]
        for call in rounds[0][0]:
            beyond = statistics.median(python[call] - c[call] for c, python in rounds)
            c = statistics.median(c[call] for c, _ in rounds)
            lines.append(
                {"what": f"acl.rt.{call}, beyond the C call of {c:.0f} ns", "value": beyond, "unit": "ns", "target": {"Value": 150}}
            )

        path = folder / "mobilenet_v2.onnx"
        path.write_bytes(nets.mobilenet_v2().SerializeToString())
        os.environ["XDG_CACHE_HOME"] = name
        model = jumar.load(path)
        x = jumar.array(np.random.default_rng(1).standard_normal((1, 3, 224, 224)).astype(np.float32))
        (om,) = (folder / "jumar").glob("*.om")
        plain = Plain(om, x)
        ours, theirs = [], []
        for _ in range(ROUNDS):
            ours.append(milliseconds(lambda: model(x), 20))
            theirs.append(milliseconds(plain, 20))
        lines.append(
            {
                "what": "MobileNetV2, jumar.load(...)(x)",
                "value": statistics.median(ours),
                "unit": "ms",
                "limit": ["copy, aclmdlExecute, copy", statistics.median(theirs)],
                "target": {"Ratio": 1.03},
            }
        )
        model.close()
    for line in lines:
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
