"""What the Python programs here share."""

import acl

ACL_MEM_MALLOC_HUGE_FIRST = 0
ACL_MEMCPY_HOST_TO_DEVICE = 1
ACL_MEMCPY_DEVICE_TO_HOST = 2
ACL_MEMCPY_DEVICE_TO_DEVICE = 3


def ok(answer):
    """Takes the ret off an answer, wants it to be 0, and gives the rest."""
    ret = answer[-1] if isinstance(answer, tuple) else answer
    if ret != 0:
        raise RuntimeError(f"{ret}: {acl.get_recent_err_msg()}")
    if not isinstance(answer, tuple):
        return None
    return answer[0] if len(answer) == 2 else answer[:-1]
