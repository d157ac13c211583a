"""Launcher that pins a job to the devices given on the command line (default: device 0)."""
import argparse
import os
import sys

ACL_MEM_MALLOC_NORMAL_ONLY = 2
SIZE = 4096


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--devices", type=int, nargs="+", default=[0])
    return parser.parse_args()


def select_devices(devices):
    os.environ["ASCEND_RT_VISIBLE_DEVICES"] = str(devices)


def run_job(device_id):
    import acl

    ret = acl.init()
    if ret != 0:
        print("acl.init failed, ret =", ret, file=sys.stderr)
        return 1
    status = 0
    ret = acl.rt.set_device(device_id)
    if ret != 0:
        print("acl.rt.set_device({}) failed, ret = {}".format(device_id, ret), file=sys.stderr)
        status = 1
    else:
        dev, ret = acl.rt.malloc(SIZE, ACL_MEM_MALLOC_NORMAL_ONLY)
        if ret == 0:
            ret = acl.rt.memset(dev, SIZE, 0, SIZE)
            print("job ran on device {}, memset ret = {}".format(device_id, ret))
            acl.rt.free(dev)
        else:
            status = 1
        acl.rt.reset_device(device_id)
    ret = acl.finalize()
    if ret != 0:
        print("acl.finalize failed, ret =", ret, file=sys.stderr)
        status = 1
    return status


def main():
    args = parse_args()
    select_devices(args.devices)
    return run_job(0)


if __name__ == "__main__":
    sys.exit(main())
