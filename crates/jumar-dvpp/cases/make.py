"""Writes the expectations of the tests of this crate, from OpenCV, Pillow and FFmpeg.

    python -m venv venv && venv/bin/pip install av numpy opencv-python-headless pillow
    venv/bin/python crates/jumar-dvpp/cases/make.py

The written files are committed; the tests read them without Python. A case file has a line of JSON, then bytes.
"""

import io
import json
from pathlib import Path

import av
import cv2
import numpy as np
from PIL import Image

HERE = Path(__file__).parent
RANDOM = np.random.default_rng(20)


def write(name, header, *parts):
    parts = [bytes(part) for part in parts]
    header = dict(header, lengths=[len(part) for part in parts])
    data = json.dumps(header).encode() + b"\n" + b"".join(parts)
    (HERE / name).write_bytes(data)


def photo(width, height):
    """Gradients, edges and noise: what a photo has."""
    y, x = np.mgrid[0:height, 0:width]
    channels = [
        127 + 90 * np.sin(x / 7.0 + phase) * np.cos(y / 5.0 - phase) + 30 * ((x + y) // 9 % 2)
        for phase in (0.0, 1.3, 2.9)
    ]
    image = np.stack(channels, axis=2) + RANDOM.normal(0, 6, (height, width, 3))
    return np.clip(image, 0, 255).astype(np.uint8)


def resizes():
    """Each filter of OpenCV, at scales and sizes that leave every remainder."""
    sizes = [(24, 18, 11, 7), (11, 7, 24, 18), (33, 12, 33, 7), (32, 24, 16, 12), (1, 9, 12, 5),
             (20, 6, 130, 3), (129, 3, 11, 13), (21, 22, 20, 23), (13, 1, 29, 2)]
    cases, parts = [], []
    for width, height, new_width, new_height in sizes:
        for count in (1, 2, 3, 4):
            for name, number in (("INTER_LINEAR", 1), ("INTER_NEAREST", 2)):
                image = RANDOM.integers(0, 256, (height, width, count), dtype=np.uint8)
                result = cv2.resize(image, (new_width, new_height), interpolation=getattr(cv2, name))
                cases.append({"from": [width, height], "to": [new_width, new_height],
                              "count": count, "filter": number})
                parts += [image.tobytes(), result.tobytes()]
    write("resize.bin", {"cases": cases}, *parts)


def planes(data):
    """The planes of a JPEG image as FFmpeg decodes them."""
    with av.open(io.BytesIO(data), format="mjpeg") as container:
        frame = next(container.decode(video=0))
    result = []
    for plane in frame.planes:
        rows = np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size)
        result.append(rows[: plane.height, : plane.width].copy())
    return frame.format.name, result


def jpegs():
    cases, parts = [], []

    def add(name, data, decodes=True, **more):
        header = {"name": name, **more}
        if decodes:
            header["format"], found = planes(data)
            header["sizes"] = [[plane.shape[1], plane.shape[0]] for plane in found]
            parts.extend([data, b"".join(plane.tobytes() for plane in found)])
        else:
            header["format"] = None
            parts.extend([data, b""])
        cases.append(header)

    def encode(image, **options):
        out = io.BytesIO()
        image.save(out, "JPEG", **options)
        return out.getvalue()

    for width, height in ((48, 40), (61, 47), (33, 32)):
        image = Image.fromarray(photo(width, height))
        size = {"width": width, "height": height}
        for subsampling, name in ((0, "444"), (1, "422"), (2, "420")):
            add(f"{name} {width}x{height}", encode(image, quality=85, subsampling=subsampling), **size)
        add(f"gray {width}x{height}", encode(image.convert("L"), quality=85), **size)
    image = Image.fromarray(photo(61, 47))
    size = {"width": 61, "height": 47}
    add("restart markers", encode(image, quality=70, restart_marker_blocks=2), **size)
    add("optimized", encode(image, quality=95, optimize=True), **size)
    add("progressive", encode(image, progressive=True), decodes=False, **size)
    add("cmyk", encode(image.convert("CMYK")), decodes=False, **size)
    add("rgb", encode(image, keep_rgb=True), decodes=False, **size)
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        data = encode(Image.fromarray(photo(48, 34)), quality=90, subsampling=2, exif=exif)
        add(f"orientation {orientation}", data, width=48, height=34, orientation=orientation)
    write("jpeg.bin", {"cases": cases}, *parts)


def pngs():
    cases, parts = [], []

    def add(name, image, **options):
        out = io.BytesIO()
        image.save(out, "PNG", **options)
        data = out.getvalue()
        if image.mode == "I;16":
            gray = (np.asarray(image) >> 8).astype(np.uint8)
            pixels = np.stack([gray] * 3, axis=2)
        else:
            has_alpha = "A" in image.mode or "transparency" in image.info
            pixels = np.asarray(image.convert("RGBA" if has_alpha else "RGB"))
        cases.append({"name": name, "count": pixels.shape[2], "width": image.width, "height": image.height})
        parts.extend([data, pixels.tobytes()])

    image = Image.fromarray(photo(41, 33))
    add("rgb", image)
    add("gray", image.convert("L"))
    alpha = image.convert("RGBA")
    alpha.putalpha(Image.fromarray(photo(41, 33)[:, :, 0]))
    add("rgba", alpha)
    add("gray and alpha", alpha.convert("LA"))
    add("palette", image.convert("P", palette=Image.Palette.ADAPTIVE))
    add("bits", image.convert("1"))
    add("gray of 16 bits", Image.fromarray(RANDOM.integers(0, 65536, (32, 32), dtype=np.uint16)))
    write("png.bin", {"cases": cases}, *parts)


def transparent_pngs():
    """Images whose transparency is a chunk (tRNS) beside the samples."""
    cases, parts = [], []
    random = np.random.default_rng(21)
    size = (35, 33)

    def add(name, image, transparency, pixels=None):
        out = io.BytesIO()
        image.save(out, "PNG", transparency=transparency)
        data = out.getvalue()
        if pixels is None:
            pixels = np.asarray(Image.open(io.BytesIO(data)).convert("RGBA"))
        cases.append({"name": name, "gray": image.mode not in ("P", "RGB"), "width": size[0], "height": size[1]})
        parts.extend([data, pixels.tobytes()])

    few = random.integers(0, 4, size[::-1], dtype=np.uint8)
    palette = Image.fromarray(few, "P")
    palette.putpalette(list(range(0, 240, 20)))
    add("palette, alpha of each entry", palette, bytes([0, 100, 255, 7]))
    add("palette, alpha of the first entries", palette, bytes([9, 0]))
    add("gray", Image.fromarray(few * 60), 120)
    add("gray of one bit", Image.fromarray(few > 1).convert("1"), 0)
    colors = random.integers(0, 2, (*size[::-1], 3), dtype=np.uint8) * 200
    add("rgb", Image.fromarray(colors), (200, 0, 200))
    # Samples that differ in the lower eight bits alone: all sixteen count.
    deep = (few.astype(np.uint16) // 2 * 0x4100) + few % 2
    pixels = np.stack([(deep >> 8).astype(np.uint8)] * 3 + [np.where(deep == 0x4101, 0, 255).astype(np.uint8)], axis=2)
    add("gray of 16 bits", Image.fromarray(deep), 0x4101, pixels)
    write("png_transparency.bin", {"cases": cases}, *parts)


def borders():
    cases, parts = [], []
    kinds = [("BORDER_CONSTANT", 0), ("BORDER_REPLICATE", 1), ("BORDER_REFLECT", 2), ("BORDER_REFLECT_101", 3)]
    for name, number in kinds:
        image = photo(19, 14)
        result = cv2.copyMakeBorder(image, 3, 5, 2, 7, getattr(cv2, name), value=(10, 20, 30))
        cases.append({"kind": number, "from": [19, 14], "top": 3, "bottom": 5, "left": 2, "right": 7})
        parts += [image.tobytes(), result.tobytes()]
    write("border.bin", {"cases": cases}, *parts)


def pyramids():
    cases, parts = [], []
    for width, height in ((20, 12), (31, 25), (64, 34)):
        image = np.ascontiguousarray(photo(width, height)[:, :, 0])
        # OpenCV rounds sizes up, the interface down.
        result = np.ascontiguousarray(cv2.pyrDown(image)[: height // 2, : width // 2])
        cases.append({"from": [width, height], "to": [width // 2, height // 2]})
        parts += [image.tobytes(), result.tobytes()]
    write("pyramid.bin", {"cases": cases}, *parts)


if __name__ == "__main__":
    resizes()
    jpegs()
    pngs()
    borders()
    pyramids()
    transparent_pngs()
