"""Results of calls that fail: one is dropped, of one the code is kept in a variable that nothing reads, of one another element is taken."""

import sys

import acl

CLEAN = sys.argv[1:] == ["clean"]
NEITHER = 77


def dropped():
    acl.rt.set_device_sat_mode(NEITHER)  # FINDS JMR-CALL-001


def code_kept():
    free, total, ret = acl.rt.get_mem_info(NEITHER)  # FINDS JMR-CALL-001
    return free, total


def element_taken():
    return acl.rt.get_mem_info(NEITHER + 1)[0]  # FINDS JMR-CALL-001


def all_compared():
    ret = acl.rt.set_device_sat_mode(NEITHER)
    assert ret != 0
    _, _, ret = acl.rt.get_mem_info(NEITHER)
    assert ret != 0
    assert acl.rt.get_mem_info(NEITHER + 1)[-1] != 0
    # Asked for later.
    acl.rt.set_device_sat_mode(NEITHER)
    assert acl.get_recent_err_msg()


acl.init()
acl.rt.set_device(0)
stream, _ = acl.rt.create_stream()
if CLEAN:
    all_compared()
else:
    dropped()
    code_kept()
    element_taken()
acl.rt.destroy_stream(stream)
acl.rt.reset_device(0)
acl.finalize()
