"""The first call sets a device; init is missing."""

import sys

import acl

if "clean" in sys.argv:
    acl.init()
acl.rt.set_device(0)  # FINDS JMR-INIT-009
acl.rt.reset_device(0)
if "clean" in sys.argv:
    acl.finalize()
