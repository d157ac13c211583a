"""Reads handwritten digits with ONNX Runtime, on the CPU and on the CANN provider, and compares the two.

    jumar run -- python examples/onnxruntime/digits.py
"""

import os
import pathlib
import sys
import tempfile

import numpy as np
import onnxruntime

DIGITS = pathlib.Path(__file__).resolve().parents[1] / "digits"
CANN = {"device_id": 0, "enable_cann_graph": True}


def scores(provider, options, images):
    session = onnxruntime.InferenceSession(str(DIGITS / "digits.onnx"), providers=[(provider, options)])
    if session.get_providers()[0] != provider:
        sys.exit(f"{provider} is not there; `jumar doctor` says why")
    return np.concatenate([session.run(None, {"image": image})[0] for image in images])


def main():
    images = np.fromfile(DIGITS / "images.u8", np.uint8).reshape(-1, 1, 1, 8, 8).astype(np.float32)
    labels = np.fromfile(DIGITS / "labels.u8", np.uint8)
    host = scores("CPUExecutionProvider", {}, images)
    # The provider writes files of its own to the current folder.
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        device = scores("CANNExecutionProvider", CANN, images)
        os.chdir("/")
    print(f"accuracy: {100 * np.mean(device.argmax(1) == labels):.1f} % ({len(labels)} images)")
    print(f"largest difference from the CPU: {np.abs(device - host).max():.1e}")
    return 0 if np.allclose(device, host, rtol=1e-5, atol=1e-5) else 1


if __name__ == "__main__":
    sys.exit(main())
