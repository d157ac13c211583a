"""The tests of the Python module.

The tests in with_fake/ need a module that is bound to the fake library, and a process has one library: they run in a
process of their own, which test_with_fake.py starts.
"""

import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

collect_ignore = [] if os.environ.get("JUMAR_TEST_FAKE") else ["with_fake"]


@pytest.fixture(scope="session")
def device():
    """Device 0 of the real library, for the tests that share this process."""
    import acl

    assert acl.init() == 0
    assert acl.rt.set_device(0) == 0
    yield 0
    assert acl.rt.reset_device(0) == 0
    assert acl.finalize() == 0
