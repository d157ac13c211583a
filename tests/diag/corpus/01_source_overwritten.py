"""The source of a copy is overwritten before the copy ran."""

import ctypes
import sys

import acl

HOST_TO_DEVICE = 1

acl.init()
acl.rt.set_device(0)
stream, _ = acl.rt.create_stream()
device, _ = acl.rt.malloc(256, 0)
host, _ = acl.rt.malloc_host(256)
ctypes.memset(host, 1, 256)
acl.rt.memcpy_async(device, 256, host, 256, HOST_TO_DEVICE, stream)  # FINDS JMR-SYNC-003
if "clean" in sys.argv:
    acl.rt.synchronize_stream(stream)
ctypes.memset(host, 2, 256)
acl.rt.synchronize_stream(stream)
acl.rt.free_host(host)
acl.rt.free(device)
acl.rt.destroy_stream(stream)
acl.rt.reset_device(0)
acl.finalize()
