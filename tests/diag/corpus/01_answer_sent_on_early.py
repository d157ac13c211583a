"""What one stream brings to the host is sent on by another one before it has arrived."""

import sys

import acl

HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2
SIZE = 2048

acl.init()
acl.rt.set_device(0)
down, _ = acl.rt.create_stream()
up, _ = acl.rt.create_stream()
first, _ = acl.rt.malloc(SIZE, 0)
second, _ = acl.rt.malloc(SIZE, 0)
host, _ = acl.rt.malloc_host(SIZE)
acl.rt.memset(first, SIZE, 9, SIZE)
acl.rt.memcpy_async(host, SIZE, first, SIZE, DEVICE_TO_HOST, down)
if "clean" in sys.argv:
    acl.rt.synchronize_stream(down)
acl.rt.memcpy_async(second, SIZE, host, SIZE, HOST_TO_DEVICE, up)  # FINDS JMR-SYNC-002
acl.rt.synchronize_stream(down)
acl.rt.synchronize_stream(up)
acl.rt.free_host(host)
acl.rt.free(second)
acl.rt.free(first)
acl.rt.destroy_stream(up)
acl.rt.destroy_stream(down)
acl.rt.reset_device(0)
acl.finalize()
