"""A captured model in Python: the tasks come from pyACL, which has no calls for models of its own, so those are C's."""

import ctypes
import json
import os
import tempfile

import acl
from check import (
    ACL_MEM_MALLOC_HUGE_FIRST,
    ACL_MEMCPY_DEVICE_TO_DEVICE,
    ACL_MEMCPY_DEVICE_TO_HOST,
    ACL_MEMCPY_HOST_TO_DEVICE,
    ok,
)

GLOBAL, RELAXED = 0, 2
STREAM_CAPTURED = 107027
BYTES = 64

c = ctypes.CDLL("libascendcl.so")


def call(name, *arguments):
    ok(getattr(c, name)(*arguments))


ok(acl.init())
ok(acl.rt.set_device(0))
stream = ok(acl.rt.create_stream())
device = ok(acl.rt.malloc(2 * BYTES, ACL_MEM_MALLOC_HUGE_FIRST))
pinned = ok(acl.rt.malloc_host(2 * BYTES))
host = (ctypes.c_uint8 * (2 * BYTES)).from_address(pinned)
handle = ctypes.c_void_p(stream)

call("aclmdlRICaptureBegin", handle, GLOBAL)
ok(acl.rt.memcpy_async(device, BYTES, pinned, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, stream))
ok(acl.rt.memcpy_async(device + BYTES, BYTES, device, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, stream))
ok(acl.rt.memcpy_async(pinned + BYTES, BYTES, device + BYTES, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, stream))
assert acl.rt.synchronize_stream(stream) == STREAM_CAPTURED
model = ctypes.c_void_p()
call("aclmdlRICaptureEnd", handle, ctypes.byref(model))
assert model.value

for value in range(100):
    host[0] = value
    call("aclmdlRIExecuteAsync", model, handle)
    ok(acl.rt.synchronize_stream(stream))
    assert host[BYTES] == value, (host[BYTES], value)

# The thread lets itself copy at once while a stream is captured.
mode = ctypes.c_uint32(RELAXED)
call("aclmdlRICaptureThreadExchangeMode", ctypes.byref(mode))
assert mode.value == GLOBAL

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "model.json")
    call("aclmdlRIDebugJsonPrint", model, path.encode(), 1)
    with open(path, encoding="utf-8") as file:
        tasks = json.load(file)
assert [task["name"] for task in tasks] == ["host to device", "device to device", "device to host"], tasks
assert {task["args"]["call"] for task in tasks} == {"aclrtMemcpyAsync"}

call("aclmdlRIDestroy", model)
ok(acl.rt.free(device))
ok(acl.rt.free_host(pinned))
ok(acl.rt.destroy_stream(stream))
ok(acl.rt.reset_device(0))
ok(acl.finalize())
print("ok")
