"""Device memory is freed while queued work uses it."""

import sys

import acl

acl.init()
acl.rt.set_device(0)
stream, _ = acl.rt.create_stream()
device, _ = acl.rt.malloc(4096, 0)
acl.rt.memset_async(device, 4096, 1, 4096, stream)
if "clean" in sys.argv:
    acl.rt.synchronize_stream(stream)
acl.rt.free(device)  # FINDS JMR-SYNC-007
acl.rt.synchronize_stream(stream)
acl.rt.destroy_stream(stream)
acl.rt.reset_device(0)
acl.finalize()
