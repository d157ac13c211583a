"""WITH protect: the line of the script that reads the target too early is found."""

import ctypes
import sys

import acl

DEVICE_TO_HOST = 2


def first(values):
    return values[0]  # FINDS JMR-SYNC-004


acl.init()
acl.rt.set_device(0)
stream, _ = acl.rt.create_stream()
device, _ = acl.rt.malloc(256, 0)
host, _ = acl.rt.malloc_host(256)
acl.rt.memset(device, 256, 7, 256)
values = (ctypes.c_ubyte * 256).from_address(host)
acl.rt.memcpy_async(host, 256, device, 256, DEVICE_TO_HOST, stream)
if "clean" in sys.argv:
    acl.rt.synchronize_stream(stream)
first(values)
acl.rt.synchronize_stream(stream)
assert values[255] == 7
acl.rt.free_host(host)
acl.rt.free(device)
acl.rt.destroy_stream(stream)
acl.rt.reset_device(0)
acl.finalize()
