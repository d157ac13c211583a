import pytest

import runner


@pytest.fixture(scope="session", autouse=True)
def built():
    runner.build()
