"""What the Python programs here share."""

import acl

ACL_MEM_MALLOC_HUGE_FIRST = 0
ACL_MEMCPY_HOST_TO_DEVICE = 1
ACL_MEMCPY_DEVICE_TO_HOST = 2
ACL_MEMCPY_DEVICE_TO_DEVICE = 3


def ok(answer):
    """Removes the return code from a result, asserts that it is 0, and returns the rest."""
    ret = answer[-1] if isinstance(answer, tuple) else answer
    if ret != 0:
        raise RuntimeError(f"{ret}: {acl.get_recent_err_msg()}")
    if not isinstance(answer, tuple):
        return None
    return answer[0] if len(answer) == 2 else answer[:-1]
