"""A result is fetched twice: the second time from where it already is."""

import sys

import acl

DEVICE_TO_HOST = 2

acl.init()
acl.rt.set_device(0)
device, _ = acl.rt.malloc(256, 0)
acl.rt.memset(device, 256, 3, 256)
host, _ = acl.rt.malloc_host(256)
again, _ = acl.rt.malloc_host(256)
acl.rt.memcpy(host, 256, device, 256, DEVICE_TO_HOST)
source = device if "clean" in sys.argv else host
acl.rt.memcpy(again, 256, source, 256, DEVICE_TO_HOST)  # FINDS JMR-COPY-001
acl.rt.free_host(again)
acl.rt.free_host(host)
acl.rt.free(device)
acl.rt.reset_device(0)
acl.finalize()
