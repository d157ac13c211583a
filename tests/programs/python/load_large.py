"""load_large.py WAY model.om input.bin output.bin [DAMAGE [WEIGHTS]]: loads a model one way, executes it, and prints as JSON what that took.

WAY: file, bundle (its last model), memory, memory_with_folder, file_with_memory, memory_with_memory. DAMAGE happens to the file
between load and execution. WEIGHTS is the file whose mapping is reported, if it is not the model's.
"""

import json
import os
import pathlib
import sys

import acl

HBM = 1
HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2


def good(ret):
    assert ret == 0, f"{ret}: {acl.get_recent_err_msg()}"


def value(result):
    found, ret = result
    good(ret)
    return found


def status(name):
    for line in open("/proc/self/status"):
        if line.startswith(name):
            return int(line.split()[1]) * 1024


def mapping(path):
    """What smaps says of the file's mappings, in bytes."""
    sums, ours = {}, False
    for line in open("/proc/self/smaps"):
        fields = line.split()
        if not fields[0].endswith(":"):
            ours = fields[-1] == str(path)
        elif ours and fields[-1] == "kB":
            sums[fields[0][:-1]] = sums.get(fields[0][:-1], 0) + int(fields[1]) * 1024
    return sums


def free():
    left, _, ret = acl.rt.get_mem_info(HBM)
    good(ret)
    return left


way, path, source, target = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), sys.argv[3], sys.argv[4]
damage = sys.argv[5] if len(sys.argv) > 5 else ""
mapped = pathlib.Path(sys.argv[6]).resolve() if len(sys.argv) > 6 else path
LOAD_TYPE, MEMORY_ADDRESS, MEMORY_SIZE, WEIGHT_PATH = 1, 3, 4, 14
bundle = 0
good(acl.init())
good(acl.rt.set_device(0))
report = {}
work, weights = 0, 0
buffers = []
if way.endswith("with_memory"):
    work, weights = acl.mdl.query_size(str(path))[:2]
    report["sizes"] = [work, weights]
    buffers = [value(acl.rt.malloc(max(size, 1), 0)) for size in (work, weights)]
data = path.read_bytes() if way.startswith("memory") else b""
if damage == "full":
    # All but 8 MiB of the device is in use.
    value(acl.rt.malloc(free() - (8 << 20), 0))
before, anonymous = free(), status("RssAnon")
if way == "file":
    model, ret = acl.mdl.load_from_file(str(path))
elif way == "bundle":
    bundle, ret = acl.mdl.bundle_load_from_file(str(path))
    if ret == 0:
        model = value(acl.mdl.bundle_get_model_id(bundle, value(acl.mdl.bundle_get_model_num(bundle)) - 1))
elif way == "memory_with_folder":
    config = acl.mdl.create_config_handle()
    good(acl.mdl.set_config_opt(config, LOAD_TYPE, 3))
    good(acl.mdl.set_config_opt(config, MEMORY_ADDRESS, acl.util.bytes_to_ptr(data)))
    good(acl.mdl.set_config_opt(config, MEMORY_SIZE, len(data)))
    good(acl.mdl.set_config_opt(config, WEIGHT_PATH, str(mapped.parent)))
    model, ret = acl.mdl.load_with_config(config)
elif way == "memory":
    model, ret = acl.mdl.load_from_mem(acl.util.bytes_to_ptr(data), len(data))
elif way == "file_with_memory":
    model, ret = acl.mdl.load_from_file_with_mem(str(path), buffers[0], work, buffers[1], weights)
else:
    pointer = acl.util.bytes_to_ptr(data)
    model, ret = acl.mdl.load_from_mem_with_mem(pointer, len(data), buffers[0], work, buffers[1], weights)
report["load"] = ret
if ret:
    report["text"] = acl.get_recent_err_msg()
    print(json.dumps(report))
    sys.exit(0)
report["loaded_anonymous"] = status("RssAnon") - anonymous
report["taken"] = before - free()
del data

if damage == "cut":
    os.truncate(path, path.stat().st_size // 2)
elif damage == "changed":
    with open(path, "r+b") as file:
        file.seek(-5, os.SEEK_END)
        file.write(b"\x55")

size = pathlib.Path(source).stat().st_size
before = free()
device = [value(acl.rt.malloc(size, 0)) for _ in range(2)]
own = before - free()
pointer = acl.util.bytes_to_ptr(pathlib.Path(source).read_bytes())
good(acl.rt.memcpy(device[0], size, pointer, size, HOST_TO_DEVICE))
datasets = []
for address in device:
    datasets.append(acl.mdl.create_dataset())
    acl.mdl.add_dataset_buffer(datasets[-1], acl.create_data_buffer(address, size))
for name in ("first", "second"):
    report[name] = acl.mdl.execute(model, *datasets)
    if report[name]:
        report["text"] = acl.get_recent_err_msg()
report["executed_anonymous"] = status("RssAnon") - anonymous
report["taken_to_execute"] = before - free() - own
report["mapping"] = mapping(mapped)
host = value(acl.rt.malloc_host(size))
good(acl.rt.memcpy(host, size, device[1], size, DEVICE_TO_HOST))
pathlib.Path(target).write_bytes(acl.util.ptr_to_bytes(host, size))
good(acl.rt.free_host(host))
report["unload"] = acl.mdl.bundle_unload(bundle) if bundle else acl.mdl.unload(model)
report["left_mapped"] = mapping(mapped).get("Size", 0)
for address in device + buffers:
    good(acl.rt.free(address))
print(json.dumps(report))
good(acl.rt.reset_device(0))
good(acl.finalize())
