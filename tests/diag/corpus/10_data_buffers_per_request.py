"""A data set for each request: the set is destroyed, the buffers in it are not."""

import sys

import acl


def request(memory):
    dataset = acl.mdl.create_dataset()
    buffer = acl.create_data_buffer(memory, 64)  # FINDS JMR-LEAK-002
    acl.mdl.add_dataset_buffer(dataset, buffer)
    acl.mdl.destroy_dataset(dataset)
    if "clean" in sys.argv:
        acl.destroy_data_buffer(buffer)


acl.init()
acl.rt.set_device(0)
memory, _ = acl.rt.malloc(64, 0)
for _ in range(5):
    request(memory)
acl.rt.free(memory)
acl.rt.reset_device(0)
acl.finalize()
