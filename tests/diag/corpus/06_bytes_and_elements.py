"""A count of elements where a count of bytes is wanted: the target holds a quarter of the floats."""

import array
import sys

import acl

HOST_TO_DEVICE = 1
numbers = array.array("f", range(256))
address, count = numbers.buffer_info()
capacity = count * 4 if "clean" in sys.argv else count

acl.init()
acl.rt.set_device(0)
device, _ = acl.rt.malloc(1024, 0)
acl.rt.memcpy(device, capacity, address, count * 4, HOST_TO_DEVICE)  # FINDS JMR-COPY-002
acl.rt.free(device)
acl.rt.reset_device(0)
acl.finalize()
