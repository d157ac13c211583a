"""multiprocessing forks where nothing else was asked for; the worker loads data onto the device."""

import multiprocessing
import sys

import acl


def load(_):
    acl.rt.set_device(0)  # FINDS JMR-FORK-001
    return 0


if __name__ == "__main__":
    clean = "clean" in sys.argv
    if not clean:
        acl.init()
        acl.rt.set_device(0)
        context = multiprocessing.get_context("fork")
        worker = context.Process(target=load, args=(0,))
        worker.start()
        worker.join()
        acl.rt.reset_device(0)
        acl.finalize()
    else:
        context = multiprocessing.get_context("spawn")
        worker = context.Process(target=abs, args=(0,))
        acl.init()
        acl.rt.set_device(0)
        worker.start()
        worker.join()
        acl.rt.reset_device(0)
        acl.finalize()
