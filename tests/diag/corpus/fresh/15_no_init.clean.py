"""Round trip of a few bytes through device memory."""
import sys

import acl

ACL_MEM_MALLOC_HUGE_FIRST = 0
ACL_MEMCPY_HOST_TO_DEVICE = 1
ACL_MEMCPY_DEVICE_TO_HOST = 2


def check_ret(message, ret):
    if ret != 0:
        raise Exception("{} failed ret={}".format(message, ret))


class Device(object):
    def __init__(self, device_id=0):
        self.device_id = device_id

    def __enter__(self):
        check_ret("acl.init", acl.init())
        ret = acl.rt.set_device(self.device_id)
        check_ret("acl.rt.set_device", ret)
        return self

    def __exit__(self, *exc):
        check_ret("acl.rt.reset_device", acl.rt.reset_device(self.device_id))
        check_ret("acl.finalize", acl.finalize())
        return False

    def put(self, data):
        size = len(data)
        dev, ret = acl.rt.malloc(size, ACL_MEM_MALLOC_HUGE_FIRST)
        check_ret("acl.rt.malloc", ret)
        ret = acl.rt.memcpy(dev, size, acl.util.bytes_to_ptr(data), size, ACL_MEMCPY_HOST_TO_DEVICE)
        check_ret("acl.rt.memcpy", ret)
        return dev

    def get(self, dev, size):
        host, ret = acl.rt.malloc_host(size)
        check_ret("acl.rt.malloc_host", ret)
        ret = acl.rt.memcpy(host, size, dev, size, ACL_MEMCPY_DEVICE_TO_HOST)
        check_ret("acl.rt.memcpy", ret)
        data = acl.util.ptr_to_bytes(host, size)
        check_ret("acl.rt.free_host", acl.rt.free_host(host))
        return data

    def free(self, dev):
        check_ret("acl.rt.free", acl.rt.free(dev))


def main():
    message = b"ascend" * 64
    with Device(0) as device:
        dev = device.put(message)
        back = device.get(dev, len(message))
        device.free(dev)
    print("round trip", "ok" if back == message else "bad")
    return 0 if back == message else 1


if __name__ == "__main__":
    sys.exit(main())
