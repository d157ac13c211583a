"""Fills memory of a device on a stream and copies it back, as a first program does."""

import sys

import acl

BYTES = 4096


def require(code, what):
    if code != 0:
        sys.exit(f"{what}: {code}\n{acl.get_recent_err_msg()}")


def main():
    require(acl.init(), "acl.init")
    require(acl.rt.set_device(0), "acl.rt.set_device")
    stream, code = acl.rt.create_stream()
    require(code, "acl.rt.create_stream")
    device, code = acl.rt.malloc(BYTES, 0)
    require(code, "acl.rt.malloc")
    host, code = acl.rt.malloc_host(BYTES)
    require(code, "acl.rt.malloc_host")

    require(acl.rt.memset_async(device, BYTES, 7, BYTES, stream), "acl.rt.memset_async")
    require(acl.rt.memcpy_async(host, BYTES, device, BYTES, 2, stream), "acl.rt.memcpy_async")
    require(acl.rt.synchronize_stream(stream), "acl.rt.synchronize_stream")
    same = acl.util.ptr_to_bytes(host, BYTES) == bytes([7]) * BYTES

    require(acl.rt.free_host(host), "acl.rt.free_host")
    require(acl.rt.free(device), "acl.rt.free")
    require(acl.rt.destroy_stream(stream), "acl.rt.destroy_stream")
    require(acl.rt.reset_device(0), "acl.rt.reset_device")
    require(acl.finalize(), "acl.finalize")
    print("equal" if same else "different")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
