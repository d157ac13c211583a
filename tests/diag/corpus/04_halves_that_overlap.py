"""Two streams fill one buffer, the first and the second half; the halves share 256 bytes."""

import sys

import acl

acl.init()
acl.rt.set_device(0)
one, _ = acl.rt.create_stream()
two, _ = acl.rt.create_stream()
buffer, _ = acl.rt.malloc(4096, 0)
first = 2048 if "clean" in sys.argv else 2048 + 256
acl.rt.memset_async(buffer, first, 1, first, one)
acl.rt.memset_async(buffer + 2048, 2048, 2, 2048, two)  # FINDS JMR-SYNC-001
acl.rt.synchronize_device()
acl.rt.free(buffer)
acl.rt.destroy_stream(two)
acl.rt.destroy_stream(one)
acl.rt.reset_device(0)
acl.finalize()
