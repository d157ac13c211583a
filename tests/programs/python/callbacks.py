"""The asynchronous flow of the pyACL guide: a report thread, callbacks in order, with the very object passed."""

import threading

import acl
from check import ACL_MEM_MALLOC_HUGE_FIRST, ACL_MEMCPY_DEVICE_TO_HOST, ok

ROUNDS = 10
REPORT_TIMEOUT_MS = 100

ok(acl.init())
ok(acl.rt.set_device(0))
context = ok(acl.rt.create_context(0))
stream = ok(acl.rt.create_stream())
device = ok(acl.rt.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST))
host = ok(acl.rt.malloc_host(64))

finished = False
idents = []
arrived = []


def report(args_list):
    idents.append(threading.get_ident())
    assert args_list == [context, "anything"], args_list
    ok(acl.rt.set_context(context))
    while not finished:
        # Nothing arriving in time is part of polling.
        acl.rt.process_report(REPORT_TIMEOUT_MS)


def callback(user_data):
    arrived.append((user_data, threading.get_ident(), acl.util.ptr_to_bytes(host, 64)))


thread = ok(acl.util.start_thread(report, [context, "anything"]))
ok(acl.rt.subscribe_report(thread, stream))
objects = [[i] for i in range(ROUNDS)]
for i, user_data in enumerate(objects):
    ok(acl.rt.memset_async(device, 64, i + 1, 64, stream))
    ok(acl.rt.memcpy_async(host, 64, device, 64, ACL_MEMCPY_DEVICE_TO_HOST, stream))
    ok(acl.rt.launch_callback(callback, user_data, 1, stream))
# The callbacks run on another thread while this one waits: it must not hold the interpreter.
ok(acl.rt.synchronize_stream(stream))
assert len(arrived) == ROUNDS, arrived
for i, (user_data, ident, seen) in enumerate(arrived):
    assert user_data is objects[i]
    assert ident == thread == idents[0], (ident, thread, idents)
    assert seen == bytes([i + 1]) * 64, (i, seen)


def raises(_):
    raise ValueError("a callback's exception does not reach anybody")


ok(acl.rt.launch_callback(raises, None, 1, stream))
ok(acl.rt.launch_callback(callback, "after", 1, stream))
ok(acl.rt.synchronize_stream(stream))
assert arrived[-1][0] == "after"

ok(acl.rt.unsubscribe_report(thread, stream))
finished = True
ok(acl.util.stop_thread(thread))
ok(acl.rt.free_host(host))
ok(acl.rt.free(device))
ok(acl.rt.destroy_stream(stream))
ok(acl.rt.destroy_context(context))
ok(acl.rt.reset_device(0))
ok(acl.finalize())
print("ok")
