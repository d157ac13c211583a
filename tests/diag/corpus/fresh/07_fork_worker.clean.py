"""Hands a fill job to a child process and waits for its answer."""
import multiprocessing
import sys

import acl

ACL_MEM_MALLOC_NORMAL_ONLY = 2
DEVICE_ID = 0
SIZE = 64 * 1024


def check_ret(message, ret):
    if ret != 0:
        raise RuntimeError("{} failed ret={}".format(message, ret))


def worker(value):
    check_ret("acl.init", acl.init())
    check_ret("acl.rt.set_device", acl.rt.set_device(DEVICE_ID))
    dev, ret = acl.rt.malloc(SIZE, ACL_MEM_MALLOC_NORMAL_ONLY)
    check_ret("acl.rt.malloc", ret)
    check_ret("acl.rt.memset", acl.rt.memset(dev, SIZE, value, SIZE))
    check_ret("acl.rt.free", acl.rt.free(dev))
    check_ret("acl.rt.reset_device", acl.rt.reset_device(DEVICE_ID))
    check_ret("acl.finalize", acl.finalize())
    print("child filled {} bytes with {}".format(SIZE, value))


def run_child(value):
    mp = multiprocessing.get_context("spawn")
    child = mp.Process(target=worker, args=(value,))
    child.start()
    child.join(timeout=20)
    if child.is_alive():
        print("child hangs", file=sys.stderr)
        child.kill()
        child.join()
    return child.exitcode


def main():
    check_ret("acl.init", acl.init())
    check_ret("acl.rt.set_device", acl.rt.set_device(DEVICE_ID))
    code = run_child(9)
    print("child exit code:", code)
    check_ret("acl.rt.reset_device", acl.rt.reset_device(DEVICE_ID))
    check_ret("acl.finalize", acl.finalize())
    return 0 if code == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
