"""A stream waits a second for a notify that is never recorded; the synchronise reports it."""

import sys

import acl

acl.init()
acl.rt.set_device(0)
stream, _ = acl.rt.create_stream()
notify, _ = acl.rt.create_notify(0)
if "clean" in sys.argv:
    acl.rt.record_notify(notify, stream)
acl.rt.wait_and_reset_notify(notify, stream, 1)
acl.rt.synchronize_stream(stream)  # FINDS JMR-SYNC-012
acl.rt.destroy_notify(notify)
acl.rt.destroy_stream(stream)
acl.rt.reset_device(0)
acl.finalize()
