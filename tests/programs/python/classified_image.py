"""The classic program: an image is decoded (JPEGD), scaled (VPC), classified by a model, drawn on (VPC) and encoded (JPEGE).

python classified_image.py <model.om> <images> <labels>

Each handwritten digit is enlarged to 128x128 and encoded as a JPEG file first. What the model reads in the image must be what it reads in
the pixels of the digit, and the image that is written must have the bar that was drawn, and the digit beside it.
"""

import pathlib
import sys

import acl
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "examples/digits"))

from digits import Reader, check  # noqa: E402

SIDE, SMALL, BAR = 128, 32, 16
NV12 = 1
COUNT = 60


class Image:
    """An NV12 image in device memory, with its description. Width and stride are equal."""

    def __init__(self, side, pixels=None):
        self.bytes = side * side * 3 // 2
        self.data, ret = acl.media.dvpp_malloc(self.bytes)
        check("dvpp_malloc", ret)
        self.desc = acl.media.dvpp_create_pic_desc()
        fields = {"data": self.data, "size": self.bytes, "format": NV12}
        for name in ("width", "height", "width_stride", "height_stride"):
            fields[name] = side
        for name, value in fields.items():
            check(name, getattr(acl.media, f"dvpp_set_pic_desc_{name}")(self.desc, value))
        if pixels is not None:
            self.fill(pixels)

    def fill(self, pixels):
        check("memcpy", acl.rt.memcpy(self.data, self.bytes, pixels.ctypes.data, pixels.nbytes, 1))

    def luma(self, side):
        found = np.empty(self.bytes, np.uint8)
        check("memcpy", acl.rt.memcpy(found.ctypes.data, found.nbytes, self.data, self.bytes, 2))
        return found[: side * side].reshape(side, side)

    def free(self):
        check("dvpp_destroy_pic_desc", acl.media.dvpp_destroy_pic_desc(self.desc))
        check("dvpp_free", acl.media.dvpp_free(self.data))


class Work:
    """The channel, the stream and the images of the program."""

    def __init__(self, stream):
        self.stream = stream
        self.channel = acl.media.dvpp_create_channel_desc()
        check("dvpp_create_channel", acl.media.dvpp_create_channel(self.channel))
        self.resize_config = acl.media.dvpp_create_resize_config()
        self.jpeg_config = acl.media.dvpp_create_jpege_config()
        check("level", acl.media.dvpp_set_jpege_config_level(self.jpeg_config, 100))
        white = np.full(SIDE * SIDE * 3 // 2, 128, np.uint8)
        white[: SIDE * SIDE] = 255
        self.white, self.decoded, self.small = Image(SIDE, white), Image(SIDE), Image(SMALL)
        self.bar = acl.media.dvpp_create_roi_config(0, BAR - 1, 0, SIDE - 1)
        self.most, ret = acl.media.dvpp_jpeg_predict_enc_size(self.white.desc, self.jpeg_config)
        check("dvpp_jpeg_predict_enc_size", ret)
        self.file, ret = acl.media.dvpp_malloc(self.most)
        check("dvpp_malloc", ret)
        self.size = np.zeros(1, np.uint32)

    def wait(self):
        check("synchronize_stream", acl.rt.synchronize_stream(self.stream))

    def encode(self, image):
        self.size[0] = self.most
        call = acl.media.dvpp_jpeg_encode_async
        check("encode", call(self.channel, image.desc, self.file, self.size.ctypes.data, self.jpeg_config, self.stream))
        self.wait()

    def decode(self):
        call = acl.media.dvpp_jpeg_decode_async
        check("decode", call(self.channel, self.file, int(self.size[0]), self.decoded.desc, self.stream))

    def close(self):
        for image in (self.white, self.decoded, self.small):
            image.free()
        check("dvpp_free", acl.media.dvpp_free(self.file))
        check("roi", acl.media.dvpp_destroy_roi_config(self.bar))
        check("config", acl.media.dvpp_destroy_resize_config(self.resize_config))
        check("config", acl.media.dvpp_destroy_jpege_config(self.jpeg_config))
        check("dvpp_destroy_channel", acl.media.dvpp_destroy_channel(self.channel))
        check("desc", acl.media.dvpp_destroy_channel_desc(self.channel))


def class_of(scores):
    return scores.index(max(scores))


def classify(work, reader, digit):
    """Writes a digit as a JPEG file, and reads it from there. Returns what the model reads, in the file and in the digit."""
    enlarged = np.kron(digit.reshape(8, 8) * 15, np.ones((SIDE // 8, SIDE // 8), np.uint8)).astype(np.uint8)
    image = Image(SIDE, np.concatenate([enlarged.ravel(), np.full(SIDE * SIDE // 2, 128, np.uint8)]))
    work.encode(image)
    image.free()
    # Decoded and scaled without a wait between.
    work.decode()
    resize = acl.media.dvpp_vpc_resize_async
    check("resize", resize(work.channel, work.decoded.desc, work.small.desc, work.resize_config, work.stream))
    work.wait()
    step = SMALL // 8
    means = work.small.luma(SMALL).reshape(8, step, 8, step).mean((1, 3))
    found = class_of(reader.read(np.rint(means / 15).astype(np.uint8).tobytes()))
    # A bar on the left, then a file again.
    before = work.decoded.luma(SIDE).astype(int)
    paste = acl.media.dvpp_vpc_crop_and_paste_async
    check("paste", paste(work.channel, work.white.desc, work.decoded.desc, work.bar, work.bar, work.stream))
    work.encode(work.decoded)
    work.decode()
    work.wait()
    after = work.decoded.luma(SIDE).astype(int)
    assert after[:, :BAR].min() > 240, after[:, :BAR].min()
    assert np.abs(after[:, BAR:] - before[:, BAR:]).max() <= 6
    return found, class_of(reader.read(digit.tobytes()))


def main():
    images = np.fromfile(sys.argv[2], np.uint8).reshape(-1, 64)[:COUNT]
    labels = np.fromfile(sys.argv[3], np.uint8)[:COUNT]
    reader = Reader()
    reader.open(sys.argv[1])
    work = Work(reader.stream)
    read = [classify(work, reader, digit) for digit in images]
    assert all(in_file == in_pixels for in_file, in_pixels in read), read
    assert sum(in_file == label for (in_file, _), label in zip(read, labels)) > COUNT * 0.9
    work.close()
    reader.close()
    print("ok")


main()
