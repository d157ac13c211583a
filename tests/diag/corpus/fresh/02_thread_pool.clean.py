"""Copies a few images to the device from a pool of threads."""
import sys
from concurrent.futures import ThreadPoolExecutor

import acl

ACL_MEM_MALLOC_NORMAL_ONLY = 2
ACL_MEMCPY_HOST_TO_DEVICE = 1
DEVICE_ID = 0
IMAGE_BYTES = 64 * 64 * 3


def check_ret(message, ret):
    if ret != 0:
        raise RuntimeError("{} failed ret={}".format(message, ret))


class AclResource(object):
    def __init__(self, device_id=DEVICE_ID):
        self.device_id = device_id
        self.context = None

    def init(self):
        check_ret("acl.init", acl.init())
        check_ret("acl.rt.set_device", acl.rt.set_device(self.device_id))
        self.context, ret = acl.rt.create_context(self.device_id)
        check_ret("acl.rt.create_context", ret)

    def bind(self):
        check_ret("acl.rt.set_context", acl.rt.set_context(self.context))

    def release(self):
        check_ret("acl.rt.destroy_context", acl.rt.destroy_context(self.context))
        check_ret("acl.rt.reset_device", acl.rt.reset_device(self.device_id))
        check_ret("acl.finalize", acl.finalize())


def to_device(index):
    image = bytes([index & 0xFF]) * IMAGE_BYTES
    dev, ret = acl.rt.malloc(IMAGE_BYTES, ACL_MEM_MALLOC_NORMAL_ONLY)
    check_ret("acl.rt.malloc", ret)
    ret = acl.rt.memcpy(dev, IMAGE_BYTES, acl.util.bytes_to_ptr(image), IMAGE_BYTES, ACL_MEMCPY_HOST_TO_DEVICE)
    check_ret("acl.rt.memcpy", ret)
    return dev


def main():
    resource = AclResource()
    resource.init()
    buffers = []
    failed = 0
    with ThreadPoolExecutor(max_workers=1, initializer=resource.bind) as pool:
        for job in [pool.submit(to_device, i) for i in range(4)]:
            try:
                buffers.append(job.result())
            except RuntimeError as err:
                failed += 1
                print(err, file=sys.stderr)
    print("uploaded {} images, {} failed".format(len(buffers), failed))
    for dev in buffers:
        check_ret("acl.rt.free", acl.rt.free(dev))
    resource.release()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
