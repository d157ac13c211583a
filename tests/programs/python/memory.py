"""Addresses are ints: interior pointers, bytes that are written through their address, the two kinds of host memory."""

import ctypes

import acl
from check import (
    ACL_MEM_MALLOC_HUGE_FIRST,
    ACL_MEMCPY_DEVICE_TO_DEVICE,
    ACL_MEMCPY_DEVICE_TO_HOST,
    ACL_MEMCPY_HOST_TO_DEVICE,
    ok,
)

ok(acl.init())
ok(acl.rt.set_device(0))
device = ok(acl.rt.malloc(1000, ACL_MEM_MALLOC_HUGE_FIRST))
assert isinstance(device, int) and device % 64 == 0

# Two halves of one allocation, reached by arithmetic.
first, second = bytes(range(200)), bytes(range(50, 250))
ok(acl.rt.memcpy(device + 100, 900, acl.util.bytes_to_ptr(first), 200, ACL_MEMCPY_HOST_TO_DEVICE))
ok(acl.rt.memcpy(device + 300, 700, acl.util.bytes_to_ptr(second), 200, ACL_MEMCPY_HOST_TO_DEVICE))
ok(acl.rt.memcpy(device + 500, 500, device + 200, 200, ACL_MEMCPY_DEVICE_TO_DEVICE))

# Programs read results into a bytes object that they made for it.
result = bytes(400)
ok(acl.rt.memcpy(acl.util.bytes_to_ptr(result), 400, device + 100, 400, ACL_MEMCPY_DEVICE_TO_HOST))
assert result == first + second
array = (ctypes.c_uint8 * 200)()
ok(acl.rt.memcpy(ctypes.addressof(array), 200, device + 500, 200, ACL_MEMCPY_DEVICE_TO_HOST))
assert bytes(array) == (first + second)[100:300]

# More bytes than the destination size of the call.
_, ret = 0, acl.rt.memcpy(device, 100, acl.util.bytes_to_ptr(first), 200, ACL_MEMCPY_HOST_TO_DEVICE)
assert ret == 107000, ret
assert acl.get_recent_err_msg()

# A copy out of ordinary memory is done when the asynchronous call returns: the bytes object may go at once.
stream = ok(acl.rt.create_stream())
pinned = ok(acl.rt.malloc_host(1000))
for i in range(50):
    gone = bytes([i]) * 1000
    ok(acl.rt.memcpy_async(device, 1000, acl.util.bytes_to_ptr(gone), 1000, ACL_MEMCPY_HOST_TO_DEVICE, stream))
    del gone
    ok(acl.rt.memcpy_async(pinned, 1000, device, 1000, ACL_MEMCPY_DEVICE_TO_HOST, stream))
    ok(acl.rt.synchronize_stream(stream))
    assert acl.util.ptr_to_bytes(pinned, 1000) == bytes([i]) * 1000

ok(acl.rt.destroy_stream(stream))
ok(acl.rt.free_host(pinned))
ok(acl.rt.free(device))
ok(acl.rt.reset_device(0))
ok(acl.finalize())
print("ok")
