"""Reads handwritten digits on a device.

python3 digits.py <model.om> <images> <labels>
"""

import array
import sys

import acl

DEVICE_ID = 0
SIDE = 8
PIXELS = SIDE * SIDE
DIGITS = 10
INK = 16

ACL_SUCCESS = 0
ACL_HOST = 1
ACL_MEM_MALLOC_HUGE_FIRST = 0
ACL_MEMCPY_HOST_TO_DEVICE = 1
ACL_MEMCPY_DEVICE_TO_HOST = 2
ACL_MEMCPY_DEVICE_TO_DEVICE = 3


def check(call, ret):
    if ret != ACL_SUCCESS:
        raise RuntimeError(f"{call} failed with {ret}\n{acl.get_recent_err_msg() or ''}")


class Reader:
    """One model on one device. What `__init__` and `open` set up, `close` releases in the opposite order."""

    def __init__(self):
        self.releases = []

    def open(self, model_path):
        check("acl.init", acl.init())
        self.on_close("acl.finalize", acl.finalize)
        check("acl.rt.set_device", acl.rt.set_device(DEVICE_ID))
        self.on_close("acl.rt.reset_device", acl.rt.reset_device, DEVICE_ID)
        self.context, ret = acl.rt.create_context(DEVICE_ID)
        check("acl.rt.create_context", ret)
        self.on_close("acl.rt.destroy_context", acl.rt.destroy_context, self.context)
        self.stream, ret = acl.rt.create_stream()
        check("acl.rt.create_stream", ret)
        self.on_close("acl.rt.destroy_stream", acl.rt.destroy_stream, self.stream)
        run_mode, ret = acl.rt.get_run_mode()
        check("acl.rt.get_run_mode", ret)
        on_host = run_mode == ACL_HOST
        self.up = ACL_MEMCPY_HOST_TO_DEVICE if on_host else ACL_MEMCPY_DEVICE_TO_DEVICE
        self.down = ACL_MEMCPY_DEVICE_TO_HOST if on_host else ACL_MEMCPY_DEVICE_TO_DEVICE

        self.model_id, ret = acl.mdl.load_from_file(model_path)
        check("acl.mdl.load_from_file", ret)
        self.on_close("acl.mdl.unload", acl.mdl.unload, self.model_id)
        desc = acl.mdl.create_desc()
        self.on_close("acl.mdl.destroy_desc", acl.mdl.destroy_desc, desc)
        check("acl.mdl.get_desc", acl.mdl.get_desc(desc, self.model_id))
        if acl.mdl.get_num_inputs(desc) != 1 or acl.mdl.get_num_outputs(desc) != 1:
            raise RuntimeError("the model should have one input and one output")
        self.input_size = acl.mdl.get_input_size_by_index(desc, 0)
        self.output_size = acl.mdl.get_output_size_by_index(desc, 0)
        if (self.input_size, self.output_size) != (4 * PIXELS, 4 * DIGITS):
            raise RuntimeError(f"the model takes {self.input_size} bytes and returns {self.output_size}")

        self.input, self.device_input = self.dataset(self.input_size)
        self.output, self.device_output = self.dataset(self.output_size)
        self.host_output, ret = acl.rt.malloc_host(self.output_size)
        check("acl.rt.malloc_host", ret)
        self.on_close("acl.rt.free_host", acl.rt.free_host, self.host_output)

    def dataset(self, size):
        memory, ret = acl.rt.malloc(size, ACL_MEM_MALLOC_HUGE_FIRST)
        check("acl.rt.malloc", ret)
        self.on_close("acl.rt.free", acl.rt.free, memory)
        buffer = acl.create_data_buffer(memory, size)
        self.on_close("acl.destroy_data_buffer", acl.destroy_data_buffer, buffer)
        dataset = acl.mdl.create_dataset()
        self.on_close("acl.mdl.destroy_dataset", acl.mdl.destroy_dataset, dataset)
        _, ret = acl.mdl.add_dataset_buffer(dataset, buffer)
        check("acl.mdl.add_dataset_buffer", ret)
        return dataset, memory

    def read(self, pixels):
        """Returns the ten scores for one image of 64 bytes."""
        floats = array.array("f", list(pixels)).tobytes()
        pointer = acl.util.bytes_to_ptr(floats)
        check(
            "acl.rt.memcpy",
            acl.rt.memcpy(self.device_input, self.input_size, pointer, len(floats), self.up),
        )
        check("acl.mdl.execute", acl.mdl.execute(self.model_id, self.input, self.output))
        check(
            "acl.rt.memcpy",
            acl.rt.memcpy(self.host_output, self.output_size, self.device_output, self.output_size, self.down),
        )
        return array.array("f", acl.util.ptr_to_bytes(self.host_output, self.output_size))

    def on_close(self, name, release, *arguments):
        self.releases.append((name, release, arguments))

    def close(self):
        """Releases everything, the last first; one failure does not stop the rest."""
        while self.releases:
            name, release, arguments = self.releases.pop()
            ret = release(*arguments)
            if ret != ACL_SUCCESS:
                print(f"{name} failed with {ret}", file=sys.stderr)


def draw(images):
    """Draws images beside each other; each is (pixels, meant, read)."""
    ramp = " .:-=+*#%@"
    for row in range(SIDE):
        for pixels, _, _ in images:
            line = pixels[row * SIDE : (row + 1) * SIDE]
            print("  " + "".join(2 * ramp[ink * (len(ramp) - 1) // INK] for ink in line), end="")
        print()
    for _, meant, read in images:
        text = f"read as {read}" if read == meant else f"{meant} read as {read}"
        print(f"  {text:<16}", end="")
    print("\n")


def main():
    if len(sys.argv) != 4:
        sys.exit(f"usage: {sys.argv[0]} <model.om> <images> <labels>")
    with open(sys.argv[2], "rb") as file:
        images = file.read()
    with open(sys.argv[3], "rb") as file:
        labels = file.read()
    if not labels or len(images) != PIXELS * len(labels):
        sys.exit(f"{sys.argv[2]} does not hold one image of {PIXELS} bytes for each byte of {sys.argv[3]}")

    results = []
    reader = Reader()
    try:
        reader.open(sys.argv[1])
        for i, meant in enumerate(labels):
            pixels = images[i * PIXELS : (i + 1) * PIXELS]
            scores = reader.read(pixels)
            results.append((pixels, meant, scores.index(max(scores))))
    except RuntimeError as error:
        sys.exit(str(error))
    finally:
        reader.close()

    print("the first images:\n")
    draw(results[:4])
    misread = [result for result in results if result[1] != result[2]]
    if misread:
        print("misread:\n")
        draw(misread[:4])
    right = len(results) - len(misread)
    print(f"accuracy: {100 * right / len(results):.1f} % ({len(results)} images)")


if __name__ == "__main__":
    main()
