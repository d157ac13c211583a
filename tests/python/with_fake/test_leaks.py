"""Functions that programs call in loops leave nothing behind."""

import gc
import sys

import pytest

import acl

CALLS = {
    "memcpy": lambda: acl.rt.memcpy(acl.util.bytes_to_ptr(SOURCE), 8, acl.util.bytes_to_ptr(SOURCE), 0, 1),
    "execute": lambda: acl.mdl.execute(1, 2, 3),
    "malloc_free": lambda: acl.rt.free(acl.rt.malloc(64, 0)[0]),
    "create_data_buffer": lambda: acl.create_data_buffer(1, 2),
    "add_dataset_buffer": lambda: acl.mdl.add_dataset_buffer(1, 2),
    "get_output_dims": lambda: acl.mdl.get_output_dims(1, 4),
    "get_dynamic_hw": lambda: acl.mdl.get_dynamic_hw(1, 0),
    "get_input_name": lambda: acl.mdl.get_input_name_by_index(1, 0),
    "set_model_dir": lambda: acl.op.set_model_dir("folder"),
    "execute_v2": lambda: acl.op.execute_v2("Add", LIST, LIST, LIST, LIST, 7, 8),
    "wrong": lambda: pytest.raises(TypeError, acl.rt.memcpy, SOURCE, 1, 2, 3, 4),
    "wrong_count": lambda: pytest.raises(TypeError, acl.rt.memcpy),
    "wrong_index": lambda: pytest.raises(TypeError, acl.rt.set_device, 2**40),
    "refused": lambda: acl.op.execute_v2("Add", LIST, [1], LIST, LIST, 7, 8),
    "ptr_to_bytes": lambda: acl.util.ptr_to_bytes(acl.util.bytes_to_ptr(SOURCE), 8),
    "thread": lambda: acl.util.stop_thread(acl.util.start_thread(len, LIST)[0]),
    "app_log": lambda: acl.app_log(1, "text"),
}
SOURCE = bytes(8)
LIST = [1, 2, 3]


def watched():
    return [sys.getrefcount(thing) for thing in (None, True, SOURCE, LIST, "Add", acl.rt.memcpy, acl.rt, TypeError)]


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_nothing_is_left_behind(fake, call):
    rounds = 60
    # Until the interpreter's own caches are filled.
    for _ in range(4 * rounds):
        call()
    gc.collect()
    # A reference a round shows each time; the interpreter's own caches come and go.
    assert min(growth(call, rounds) for _ in range(3)) < rounds // 2


def growth(call, rounds):
    """The most by which calls changed the number of references to an object that is watched, or of allocated blocks."""
    before, blocks = watched(), sys.getallocatedblocks()
    for _ in range(rounds):
        call()
    gc.collect()
    after, blocks_after = watched(), sys.getallocatedblocks()
    return max(blocks_after - blocks, *(abs(a - b) for a, b in zip(before, after)))
