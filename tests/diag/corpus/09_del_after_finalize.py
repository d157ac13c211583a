"""An object frees its memory when the interpreter collects it, which is after finalize."""

import sys

import acl


class Buffer:
    def __init__(self, size):
        self.address, _ = acl.rt.malloc(size, 0)

    def close(self):
        if self.address:
            acl.rt.free(self.address)  # FINDS JMR-ORDER-001
        self.address = 0

    __del__ = close


acl.init()
acl.rt.set_device(0)
buffer = Buffer(4096)
if "clean" in sys.argv:
    buffer.close()
acl.finalize()
del buffer
