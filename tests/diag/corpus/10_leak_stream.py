"""A stream is made and never destroyed."""

import sys

import acl


def work():
    stream, _ = acl.rt.create_stream()  # FINDS JMR-STREAM-023
    if "clean" in sys.argv:
        acl.rt.destroy_stream(stream)


acl.init()
acl.rt.set_device(0)
work()
acl.finalize()
