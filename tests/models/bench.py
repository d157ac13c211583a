"""Times Jumar and ONNX Runtime alternately, one thread each: medians, and the least on a machine that others use, too.

Usage: python bench.py [resnet50|digits] [batch] [rounds]
"""

import re
import statistics
import sys
import tempfile
import time

import numpy as np

import nets
import runner


def main(name="resnet50", batch="1", rounds="5"):
    batch, rounds = int(batch), int(rounds)
    make, dims, repeat = {
        "resnet50": (nets.resnet50, (batch, 3, 224, 224), 3),
        "digits": (nets.digits, (batch, 1, 8, 8), 200),
    }[name]
    runner.build()
    x = np.random.default_rng(0).standard_normal(dims).astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        path = runner.save(make(batch=batch), folder)
        run = runner.session(path)
        feed = {run.get_inputs()[0].name: x}
        run.run(None, feed)
        ours, theirs, least = [], [], [float("inf")] * 2
        for _ in range(rounds):
            _, text = runner.jumar(path, [x], folder, extra=["--repeat", str(repeat)])
            ours.append(float(re.search(r"median_ms ([\d.]+)", text).group(1)))
            least[0] = min(least[0], float(re.search(r"min_ms ([\d.]+)", text).group(1)))
            times = []
            for _ in range(repeat):
                start = time.perf_counter()
                run.run(None, feed)
                times.append((time.perf_counter() - start) * 1e3)
            theirs.append(statistics.median(times))
            least[1] = min(least[1], *times)
    a, b = statistics.median(ours), statistics.median(theirs)
    print(f"{name} batch {batch}: Jumar {a:.3f} ms, ONNX Runtime {b:.3f} ms, ratio {a / b:.2f}; "
          f"least {least[0]:.3f} and {least[1]:.3f} ms, ratio {least[0] / least[1]:.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
