"""A job of a pool of threads makes a stream; only the main thread set a device."""

import sys
from concurrent.futures import ThreadPoolExecutor

import acl


def job():
    if "clean" in sys.argv:
        acl.rt.set_device(0)
    stream, code = acl.rt.create_stream()  # FINDS JMR-CTX-001
    if code == 0:
        acl.rt.destroy_stream(stream)
        acl.rt.reset_device(0)


acl.init()
acl.rt.set_device(0)
with ThreadPoolExecutor(1) as pool:
    pool.submit(job).result()
acl.rt.reset_device(0)
acl.finalize()
