"""Python threads with one context: each makes it current, and other threads run while one waits for a stream."""

import threading

import acl
from check import ACL_MEM_MALLOC_HUGE_FIRST, ACL_MEMCPY_DEVICE_TO_HOST, ACL_MEMCPY_HOST_TO_DEVICE, ok

THREADS = 4
ROUNDS = 50
SIZE = 1024

ok(acl.init())
context = ok(acl.rt.create_context(0))
failures = []


def work(me):
    try:
        assert acl.rt.get_context()[1] == 107002
        ok(acl.rt.set_context(context))
        assert ok(acl.rt.get_context()) == context
        stream = ok(acl.rt.create_stream())
        device = ok(acl.rt.malloc(SIZE, ACL_MEM_MALLOC_HUGE_FIRST))
        up, down = ok(acl.rt.malloc_host(SIZE)), ok(acl.rt.malloc_host(SIZE))
        for i in range(ROUNDS):
            data = bytes([(me * ROUNDS + i + j) % 256 for j in range(SIZE)])
            # Host to host is a plain copy: the source is this bytes object itself.
            ok(acl.rt.memcpy(up, SIZE, acl.util.bytes_to_ptr(data), SIZE, 0))
            ok(acl.rt.memcpy_async(device, SIZE, up, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream))
            ok(acl.rt.memcpy_async(down, SIZE, device, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, stream))
            ok(acl.rt.synchronize_stream(stream))
            assert acl.util.ptr_to_bytes(down, SIZE) == data, (me, i)
        ok(acl.rt.free_host(up))
        ok(acl.rt.free_host(down))
        ok(acl.rt.free(device))
        ok(acl.rt.destroy_stream(stream))
    except BaseException as error:
        failures.append((me, repr(error)))
        raise


threads = [threading.Thread(target=work, args=(i,)) for i in range(THREADS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not failures, failures
ok(acl.rt.destroy_context(context))
ok(acl.finalize())
print("ok")
