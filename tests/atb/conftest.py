import client
import pytest


@pytest.fixture(scope="session")
def process():
    return client.Runtime()


@pytest.fixture
def runtime(process):
    yield process
    process.synchronize()
    process.free()
