"""Two Python processes share memory and a notify by their keys; the second is this program again."""

import subprocess
import sys

import acl
from check import ACL_MEM_MALLOC_HUGE_FIRST, ACL_MEMCPY_DEVICE_TO_HOST, ok

LENGTH = 1 << 20


def content(address):
    result = bytes(LENGTH)
    ok(acl.rt.memcpy(acl.util.bytes_to_ptr(result), LENGTH, address, LENGTH, ACL_MEMCPY_DEVICE_TO_HOST))
    return result


def start():
    ok(acl.init())
    ok(acl.rt.set_device(0))
    return ok(acl.rt.create_stream())


def second():
    stream = start()
    print("ready", flush=True)
    memory_key, there, back = sys.stdin.readline().split()
    memory = ok(acl.rt.ipc_mem_import_by_key(memory_key, 0))
    there, back = ok(acl.rt.notify_import_by_key(there, 0)), ok(acl.rt.notify_import_by_key(back, 0))
    ok(acl.rt.wait_and_reset_notify(there, stream, 0))
    ok(acl.rt.synchronize_stream(stream))
    assert content(memory) == b"\x05" * LENGTH
    ok(acl.rt.memset_async(memory, LENGTH, 6, LENGTH, stream))
    ok(acl.rt.record_notify(back, stream))
    ok(acl.rt.synchronize_stream(stream))
    sys.stdin.readline()
    ok(acl.rt.ipc_mem_close(memory_key))
    ok(acl.rt.reset_device(0))
    ok(acl.finalize())


def first():
    pipe = subprocess.PIPE
    other = subprocess.Popen([sys.executable, __file__, "second"], stdin=pipe, stdout=pipe, text=True)
    stream = start()
    assert other.stdout.readline() == "ready\n"
    memory = ok(acl.rt.malloc(LENGTH, ACL_MEM_MALLOC_HUGE_FIRST))
    memory_key = ok(acl.rt.ipc_mem_get_export_key(memory, LENGTH, 65, 0))
    ok(acl.rt.ipc_mem_set_import_pid(memory_key, [other.pid]))
    notifies, keys = [], []
    for _ in range(2):
        notifies.append(ok(acl.rt.create_notify(0)))
        keys.append(ok(acl.rt.notify_get_export_key(notifies[-1], 65, 0)))
        ok(acl.rt.notify_set_import_pid(notifies[-1], [other.pid]))
    ok(acl.rt.memset_async(memory, LENGTH, 5, LENGTH, stream))
    ok(acl.rt.record_notify(notifies[0], stream))
    ok(acl.rt.wait_and_reset_notify(notifies[1], stream, 0))
    print(memory_key, *keys, file=other.stdin, flush=True)
    ok(acl.rt.synchronize_stream(stream))
    assert content(memory) == b"\x06" * LENGTH
    print("done", file=other.stdin, flush=True)
    assert other.wait(20) == 0
    ok(acl.rt.ipc_mem_close(memory_key))
    ok(acl.rt.reset_device(0))
    ok(acl.finalize())
    print("ok")


second() if "second" in sys.argv else first()
