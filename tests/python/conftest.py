"""The tests of the Python module.

The tests in with_fake/ need a module that is bound to the fake library, and a process has one library: they run in a
process of their own, which test_with_fake.py starts.
"""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

collect_ignore = [] if os.environ.get("JUMAR_TEST_FAKE") else ["with_fake"]
