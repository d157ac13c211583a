"""A child that was forked after init still uses the runtime."""

import os
import sys

import acl

acl.init()
acl.rt.set_device(0)
child = os.fork()
if child == 0:
    if "clean" not in sys.argv:
        acl.rt.malloc(4096, 0)  # FINDS JMR-FORK-001
    os._exit(0)
os.waitpid(child, 0)
acl.rt.reset_device(0)
acl.finalize()
