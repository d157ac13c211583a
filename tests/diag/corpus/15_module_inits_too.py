"""A module initialises when it is imported, and the program does so again."""

import sys

import acl


def import_module():
    acl.init()


import_module()
if "clean" not in sys.argv:
    acl.init()  # FINDS JMR-INIT-001
acl.rt.set_device(0)
acl.rt.reset_device(0)
acl.finalize()
