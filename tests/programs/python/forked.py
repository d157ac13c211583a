"""A child that was forked off a process with a device is refused with a sentence, and ends at once."""

import multiprocessing
import os
import signal
import time

import acl


def in_child():
    signal.alarm(20)
    _, ret = acl.rt.malloc(64, 0)
    assert ret == 507033, ret
    assert "fork" in acl.get_recent_err_msg()
    assert acl.rt.set_device(0) == 507033
    _, ret = acl.rt.create_stream()
    assert ret == 507033, ret
    major, minor, patch, ret = acl.get_version()
    assert ret == 0 and major >= 1


def main():
    assert acl.init() == 0
    assert acl.rt.set_device(0) == 0
    stream, ret = acl.rt.create_stream()
    assert ret == 0
    assert acl.rt.synchronize_stream(stream) == 0
    start = time.monotonic()

    child = os.fork()
    if child == 0:
        in_child()
        os._exit(3)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 3

    # The interpreter of this child ends in the ordinary way, with everything that modules do at exit.
    child = os.fork()
    if child == 0:
        in_child()
        raise SystemExit(4)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 4

    worker = multiprocessing.get_context("fork").Process(target=in_child)
    worker.start()
    worker.join(20)
    assert worker.exitcode == 0, worker.exitcode
    assert time.monotonic() - start < 20

    assert acl.rt.destroy_stream(stream) == 0
    assert acl.rt.reset_device(0) == 0
    assert acl.finalize() == 0
    print("ok")


main()
