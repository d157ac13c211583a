"""An asynchronous copy from an ordinary array of Python."""

import array
import ctypes
import sys

import acl

HOST_TO_DEVICE = 1
numbers = array.array("b", bytes(1024))
address, size = numbers.buffer_info()

acl.init()
acl.rt.set_device(0)
stream, _ = acl.rt.create_stream()
device, _ = acl.rt.malloc(size, 0)
pinned, _ = acl.rt.malloc_host(size)
ctypes.memmove(pinned, address, size)
source = pinned if "clean" in sys.argv else address
acl.rt.memcpy_async(device, size, source, size, HOST_TO_DEVICE, stream)  # FINDS JMR-PERF-001
acl.rt.synchronize_stream(stream)
acl.rt.free_host(pinned)
acl.rt.free(device)
acl.rt.destroy_stream(stream)
acl.rt.reset_device(0)
acl.finalize()
