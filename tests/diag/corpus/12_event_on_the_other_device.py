"""An event is recorded on a stream of device 0 after the thread turned to device 1.

DEVICES 2
"""

import sys

import acl

acl.init()
acl.rt.set_device(0)
stream, _ = acl.rt.create_stream()
event, _ = acl.rt.create_event()
if "clean" not in sys.argv:
    acl.rt.set_device(1)
acl.rt.record_event(event, stream)  # FINDS JMR-EVENT-012
acl.rt.set_device(0)
acl.rt.synchronize_stream(stream)
acl.rt.destroy_event(event)
acl.rt.destroy_stream(stream)
if "clean" not in sys.argv:
    acl.rt.reset_device(1)
acl.rt.reset_device(0)
acl.finalize()
