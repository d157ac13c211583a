"""What the Graph Engine costs beside a compiled model: `cargo xtask bench graph` runs this.

ResNet-50 at 224 x 224, built operator by operator in C++ (benches/graph.cpp) and parsed from ONNX, run on a stream, in turn with the same
network through `atc` and aclmdlExecuteAsync. Prints a line of JSON for each figure, as jumar-bench does.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/ge"))

from build import PREFIX, compile_program, run, write_resnet50  # noqa: E402

SIDE = 224


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_resnet50(folder, SIDE)
        convert = [PREFIX / "bin/atc", "--framework=5", "--model=model.onnx", "--output=model", "--soc_version=Ascend910B1"]
        subprocess.run(list(map(str, convert)), cwd=folder, check=True, stdout=subprocess.DEVNULL)
        compile_program(ROOT / "benches/graph.cpp", folder / "graph", "-O2", "-lge_runner", "-lascendcl", abi=1)
        for workers in (1, 2):
            files = ["model.onnx", "weights.bin", "image.bin", SIDE, "model.om"]
            output = run(folder / "graph", folder, *files, env={"JUMAR_WORKERS": str(workers)}, limit=300)
            built, parsed, model = map(float, output.split()[-3:])
            threads = "1 worker" if workers == 1 else f"{workers} workers"
            for what, value in [("built by operators", built), ("parsed from ONNX", parsed)]:
                line = {"what": f"ResNet-50, {what}, RunGraphWithStreamAsync, {threads}", "value": value, "unit": "ms"}
                line |= {"limit": ["aclmdlExecuteAsync", model], "target": {"Ratio": 1.05}}
                print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
