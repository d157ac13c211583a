"""run_model.py model.om inputs... : as run_model.c, through pyACL: two copies of the model at the same time on two streams."""

import pathlib
import sys

import acl

HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2
# An output whose size is known only after the run gets this much.
DYNAMIC_BYTES = 1 << 20


def good(ret):
    assert ret == 0, f"{ret}: {acl.get_recent_err_msg()}"


def value(result):
    found, ret = result
    good(ret)
    return found


class Run:
    def __init__(self, model, files):
        self.model = value(acl.mdl.load_from_file(model))
        self.desc = acl.mdl.create_desc()
        good(acl.mdl.get_desc(self.desc, self.model))
        self.stream = value(acl.rt.create_stream())
        self.sources = [pathlib.Path(file).read_bytes() for file in files]
        sizes = [acl.mdl.get_input_size_by_index(self.desc, i) for i in range(acl.mdl.get_num_inputs(self.desc))]
        assert sizes == [len(source) for source in self.sources]
        self.inputs, self.device_in = self.dataset(sizes)
        self.output_sizes = [acl.mdl.get_output_size_by_index(self.desc, i) for i in range(acl.mdl.get_num_outputs(self.desc))]
        self.sizes = [size or DYNAMIC_BYTES for size in self.output_sizes]
        self.outputs, self.device_out = self.dataset(self.sizes)
        self.host_out = [value(acl.rt.malloc_host(size)) for size in self.sizes]

    def dataset(self, sizes):
        dataset, addresses = acl.mdl.create_dataset(), []
        for size in sizes:
            addresses.append(value(acl.rt.malloc(size, 0)))
            _, ret = acl.mdl.add_dataset_buffer(dataset, acl.create_data_buffer(addresses[-1], size))
            good(ret)
        return dataset, addresses

    def submit(self):
        for address, source in zip(self.device_in, self.sources):
            pointer = acl.util.bytes_to_ptr(source)
            good(acl.rt.memcpy_async(address, len(source), pointer, len(source), HOST_TO_DEVICE, self.stream))
        good(acl.mdl.execute_async(self.model, self.inputs, self.outputs, self.stream))
        for host, address, size in zip(self.host_out, self.device_out, self.sizes):
            good(acl.rt.memcpy_async(host, size, address, size, DEVICE_TO_HOST, self.stream))

    def finish(self, copy):
        good(acl.rt.synchronize_stream(self.stream))
        for index, (host, size) in enumerate(zip(self.host_out, self.output_sizes)):
            if size == 0:
                size = acl.get_tensor_desc_size(acl.mdl.get_dataset_tensor_desc(self.outputs, index))
            pathlib.Path(f"output_{copy}_{index}").write_bytes(acl.util.ptr_to_bytes(host, size))
            good(acl.rt.free_host(host))
        for address in self.device_in + self.device_out:
            good(acl.rt.free(address))
        for dataset in (self.inputs, self.outputs):
            for index in range(acl.mdl.get_dataset_num_buffers(dataset)):
                good(acl.destroy_data_buffer(acl.mdl.get_dataset_buffer(dataset, index)))
            good(acl.mdl.destroy_dataset(dataset))
        good(acl.mdl.destroy_desc(self.desc))
        good(acl.rt.destroy_stream(self.stream))
        good(acl.mdl.unload(self.model))


good(acl.init())
good(acl.rt.set_device(0))
runs = [Run(sys.argv[1], sys.argv[2:]) for _ in range(2)]
for run in runs:
    run.submit()
for copy, run in enumerate(runs):
    run.finish(copy)
good(acl.rt.reset_device(0))
good(acl.finalize())
