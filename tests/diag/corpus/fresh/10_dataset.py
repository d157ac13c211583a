"""Builds the input data set of a model for every request (the model itself is left out)."""
import sys

import acl

ACL_MEM_MALLOC_HUGE_FIRST = 0
REQUESTS = 120


def check_ret(message, ret):
    if ret != 0:
        raise Exception("{} failed ret={}".format(message, ret))


class Net(object):
    def __init__(self, device_id, sizes):
        self.device_id = device_id
        check_ret("acl.init", acl.init())
        check_ret("acl.rt.set_device", acl.rt.set_device(device_id))
        self.inputs = []
        for size in sizes:
            dev, ret = acl.rt.malloc(size, ACL_MEM_MALLOC_HUGE_FIRST)
            check_ret("acl.rt.malloc", ret)
            check_ret("acl.rt.memset", acl.rt.memset(dev, size, 0, size))
            self.inputs.append((dev, size))

    def _gen_dataset(self):
        dataset = acl.mdl.create_dataset()
        for dev, size in self.inputs:
            data = acl.create_data_buffer(dev, size)
            if data == 0:
                raise Exception("can't create data buffer")
            _, ret = acl.mdl.add_dataset_buffer(dataset, data)
            check_ret("acl.mdl.add_dataset_buffer", ret)
        return dataset

    def _destroy_dataset(self, dataset):
        check_ret("acl.mdl.destroy_dataset", acl.mdl.destroy_dataset(dataset))

    def request(self):
        dataset = self._gen_dataset()
        total = 0
        for i in range(acl.mdl.get_dataset_num_buffers(dataset)):
            data = acl.mdl.get_dataset_buffer(dataset, i)
            total += acl.get_data_buffer_size(data)
        self._destroy_dataset(dataset)
        return total

    def release(self):
        for dev, _ in self.inputs:
            check_ret("acl.rt.free", acl.rt.free(dev))
        check_ret("acl.rt.reset_device", acl.rt.reset_device(self.device_id))
        check_ret("acl.finalize", acl.finalize())


def main():
    net = Net(0, [4096, 1024])
    total = sum(net.request() for _ in range(REQUESTS))
    print("{} requests, {} bytes described".format(REQUESTS, total))
    net.release()


if __name__ == "__main__":
    sys.exit(main())
