"""The network as it came from training is handed to the runtime, which takes converted models alone.

NEEDS model
"""

import os
import sys

import acl

acl.init()
acl.rt.set_device(0)
path = os.environ["CORPUS_MODEL" if "clean" in sys.argv else "CORPUS_ONNX"]
model, code = acl.mdl.load_from_file(path)  # FINDS JMR-MODEL-003
if code == 0:
    acl.mdl.unload(model)
acl.rt.reset_device(0)
acl.finalize()
