"""dump_model.py model.om d.json input.bin...: executes a model twice while its operators are dumped, and prints its number."""

import pathlib
import sys

import acl

HOST_TO_DEVICE = 1


def good(ret):
    assert ret == 0, f"{ret}: {acl.get_recent_err_msg()}"


def value(result):
    found, ret = result
    good(ret)
    return found


good(acl.init())
good(acl.rt.set_device(0))
good(acl.mdl.init_dump())
good(acl.mdl.set_dump(sys.argv[2]))
model = value(acl.mdl.load_from_file(sys.argv[1]))
desc = acl.mdl.create_desc()
good(acl.mdl.get_desc(desc, model))
inputs, outputs = acl.mdl.create_dataset(), acl.mdl.create_dataset()
for index, file in enumerate(sys.argv[3:]):
    data = pathlib.Path(file).read_bytes()
    assert len(data) == acl.mdl.get_input_size_by_index(desc, index)
    address = value(acl.rt.malloc(len(data), 0))
    good(acl.rt.memcpy(address, len(data), acl.util.bytes_to_ptr(data), len(data), HOST_TO_DEVICE))
    acl.mdl.add_dataset_buffer(inputs, acl.create_data_buffer(address, len(data)))
for index in range(acl.mdl.get_num_outputs(desc)):
    size = acl.mdl.get_output_size_by_index(desc, index)
    acl.mdl.add_dataset_buffer(outputs, acl.create_data_buffer(value(acl.rt.malloc(size, 0)), size))
for _ in range(2):
    good(acl.mdl.execute(model, inputs, outputs))
good(acl.mdl.finalize_dump())
print(model)
good(acl.mdl.unload(model))
good(acl.rt.reset_device(0))
good(acl.finalize())
