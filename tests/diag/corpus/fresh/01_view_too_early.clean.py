"""Fills a device buffer and shows a histogram of what came back."""
import struct
import sys

import acl

ACL_MEM_MALLOC_HUGE_FIRST = 0
ACL_MEMCPY_DEVICE_TO_HOST = 2
SIZE = 512 * 1024


def check_ret(message, ret):
    if ret != 0:
        raise Exception("{} failed ret={}".format(message, ret))


class Sample:
    def __init__(self, device_id):
        self.device_id = device_id
        ret = acl.init()
        check_ret("acl.init", ret)
        ret = acl.rt.set_device(self.device_id)
        check_ret("acl.rt.set_device", ret)
        self.stream, ret = acl.rt.create_stream()
        check_ret("acl.rt.create_stream", ret)
        self.dev, ret = acl.rt.malloc(SIZE, ACL_MEM_MALLOC_HUGE_FIRST)
        check_ret("acl.rt.malloc", ret)
        self.host, ret = acl.rt.malloc_host(SIZE)
        check_ret("acl.rt.malloc_host", ret)

    def forward(self, value):
        ret = acl.rt.memset_async(self.dev, SIZE, value, SIZE, self.stream)
        check_ret("acl.rt.memset_async", ret)
        ret = acl.rt.memcpy_async(self.host, SIZE, self.dev, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, self.stream)
        check_ret("acl.rt.memcpy_async", ret)

    def wait(self):
        ret = acl.rt.synchronize_stream(self.stream)
        check_ret("acl.rt.synchronize_stream", ret)

    def result(self):
        data = acl.util.ptr_to_bytes(self.host, SIZE)
        words = struct.unpack("<{}I".format(SIZE // 4), data)
        return sorted(set(words))

    def release(self):
        self.wait()
        check_ret("acl.rt.free_host", acl.rt.free_host(self.host))
        check_ret("acl.rt.free", acl.rt.free(self.dev))
        check_ret("acl.rt.destroy_stream", acl.rt.destroy_stream(self.stream))
        check_ret("acl.rt.reset_device", acl.rt.reset_device(self.device_id))
        check_ret("acl.finalize", acl.finalize())


def main():
    sample = Sample(0)
    sample.forward(7)
    sample.wait()
    values = sample.result()
    print("distinct words:", ["0x%08x" % v for v in values])
    sample.release()
    return 0


if __name__ == "__main__":
    sys.exit(main())
