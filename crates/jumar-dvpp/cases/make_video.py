"""Writes clips for the tests of video decoding, with what FFmpeg decodes them to.

    python -m venv venv && venv/bin/pip install av==15.1.0 numpy     # and the program ffmpeg
    venv/bin/python crates/jumar-dvpp/cases/make_video.py

The written files are committed; the tests read them without Python. A case file has a line of JSON, then the packets. For each
frame in the order of display the JSON states the packet that it was coded in, its size, and a digest (FNV-1a) of its planes with
eight bits a sample.
"""

import io
import json
import subprocess
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

import fields

HERE = Path(__file__).parent


def scene(width, height, index, bits):
    """A moving pattern with edges, a moving block and some noise: something for each kind of prediction."""
    random = np.random.default_rng(index)
    y, x = np.mgrid[0:height, 0:width]
    luma = 120 + 70 * np.sin((x + 3 * index) / 9.0) * np.cos((y - 2 * index) / 7.0) + 25 * ((x + y + index) // 16 % 2)
    left, top = (7 * index) % (width - 40), (5 * index) % (height - 40)
    luma[top:top + 32, left:left + 32] = 30 + 4 * index
    luma += random.normal(0, 2, luma.shape)
    y, x = np.mgrid[0:height // 2, 0:width // 2]
    u = 128 + 60 * np.sin((x - index) / 11.0)
    v = 128 + 60 * np.cos((y + index) / 13.0)
    top = (1 << bits) - 1
    return [np.clip(plane * (top / 255), 0, top).astype(np.uint16) for plane in (luma, u, v)]


def draw(width, height, index, bits):
    planes = scene(width, height, index, bits)
    result = av.VideoFrame(width, height, "yuv420p" if bits == 8 else "yuv420p10le")
    for plane, samples in zip(result.planes, planes):
        data = samples.astype(np.uint8) if bits == 8 else samples
        rows = np.zeros((samples.shape[0], plane.line_size), np.uint8)
        packed = data.view(np.uint8).reshape(samples.shape[0], -1)
        rows[:, :packed.shape[1]] = packed
        plane.update(rows.tobytes())
    return result


def encode(codec, width, height, count, options, bits=8, first=0):
    """The packets of a clip, with the time of display of each."""
    context = av.CodecContext.create(codec, "w")
    context.width, context.height = width, height
    context.pix_fmt = "yuv420p" if bits == 8 else "yuv420p10le"
    context.framerate, context.time_base = 25, Fraction(1, 25)
    context.thread_count = 1
    interlaced = options.pop("interlaced", False)
    if interlaced:
        context.flags |= 0x00040000 | 0x20000000
    context.options = {"preset": "medium", "crf": "32", **options}
    packets = []
    for index in range(count):
        frame = draw(width, height, first + index, bits)
        frame.pts = first + index
        packets += context.encode(frame)
    packets += context.encode(None)
    return [(bytes(packet), packet.pts) for packet in packets]


def crop(codec, packets, left, top, right, bottom):
    """The packets of a clip whose parameters leave out pixels at each edge: encoders leave them out on the right and below alone."""
    edges = f"crop_left={left}:crop_top={top}:crop_right={right}:crop_bottom={bottom}"
    command = ["ffmpeg", "-v", "error", "-f", codec, "-i", "-", "-c", "copy", "-bsf:v", f"{codec}_metadata={edges}", "-f", codec, "-"]
    done = subprocess.run(command, input=b"".join(data for data, _ in packets), stdout=subprocess.PIPE, check=True)
    with av.open(io.BytesIO(done.stdout), format=codec) as clip:
        cropped = [bytes(packet) for packet in clip.demux(video=0) if packet.size]
    assert len(cropped) == len(packets)
    return [(data, time) for data, (_, time) in zip(cropped, packets)]


def digest(planes):
    value = 0xCBF29CE484222325
    for plane in planes:
        for byte in plane:
            value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def eight_bits(frame):
    """The samples of each plane without gaps between rows; ten bits are rounded."""
    deep = frame.format.name.endswith("10le")
    result = []
    for index, plane in enumerate(frame.planes):
        width = frame.width if index == 0 else (frame.width + 1) // 2
        height = frame.height if index == 0 else (frame.height + 1) // 2
        rows = np.frombuffer(bytes(plane), np.uint8).reshape(-1, plane.line_size)[:height]
        if deep:
            samples = rows[:, :2 * width].copy().view(np.uint16).astype(np.uint32)
            result.append(np.minimum((samples + 2) >> 2, 255).astype(np.uint8).tobytes())
        else:
            result.append(rows[:, :width].tobytes())
    return result


def decode(codec, packets):
    context = av.CodecContext.create(codec, "r")
    context.thread_count = 1
    # AV_CODEC_FLAG_UNALIGNED: columns on the left are left out as the stream states, and not rounded to vectors.
    context.flags |= 1
    frames = []
    for data, time in packets:
        packet = av.Packet(data)
        packet.pts = time
        frames += context.decode(packet)
    return frames + context.decode(None)


def case(name, codec, packets):
    frames = decode(codec, packets)
    # A frame that two packets code, a field each, belongs to the first of them.
    packet_of = {time: index for index, (_, time) in reversed(list(enumerate(packets)))}
    assert [frame.pts for frame in frames] == sorted(packet_of), (name, [frame.pts for frame in frames])
    header = {
        "name": name,
        "codec": codec,
        "packets": [len(data) for data, _ in packets],
        "frames": [
            {"packet": packet_of[frame.pts], "width": frame.width, "height": frame.height,
             "digest": digest(eight_bits(frame))}
            for frame in frames
        ],
    }
    return header, b"".join(data for data, _ in packets)


def main():
    h264 = lambda options, size=(128, 128), count=10, bits=8, first=0: encode(
        "libx264", *size, count, dict(options), bits, first)
    h265 = lambda options, size=(128, 128), count=10, bits=8, first=0: encode(
        "libx265", *size, count, {"x265-params": "log-level=error:" + options}, bits, first)
    pairs = fields.packets(lambda index: scene(128, 128, index, 8), 128, 128, [0, 2, 1, 4, 3])
    others = fields.packets(lambda index: scene(128, 160, index, 8), 128, 160, [0, 1, 2, 3], bottom_first=True, slices=2)
    joined = [(first + second, time) for (first, time), (second, _) in zip(pairs[::2], pairs[1::2])]
    clips = [
        ("baseline", "h264", h264({"profile": "baseline"})),
        ("main with B frames", "h264", h264({"profile": "main", "bf": "3", "x264-params": "b-pyramid=0"})),
        ("high with a pyramid of B frames, weights and slices", "h264",
         h264({"profile": "high", "x264-params": "bframes=3:b-pyramid=2:weightb=1:slices=4:keyint=7"})),
        ("high, cropped", "h264", h264({"profile": "high"}, (150, 138), 6)),
        ("cropped on each side", "h264",
         crop("h264", h264({"profile": "high", "x264-params": "bframes=2"}, (160, 144), 6), 6, 2, 4, 8)),
        ("open groups of frames", "h264", h264({"x264-params": "open-gop=1:keyint=5:min-keyint=5:bframes=2"})),
        ("interlaced", "h264", h264({"interlaced": True, "x264-params": "tff=1:bframes=2"}, (128, 160), 8)),
        ("pairs of fields", "h264", pairs),
        ("pairs of fields, bottom first, slices", "h264", others),
        ("both fields in a packet", "h264", joined),
        ("ten bits", "h264", h264({"profile": "high10", "x264-params": "bframes=2"}, bits=10, count=6)),
        ("changing resolution", "h264",
         h264({"x264-params": "bframes=2"}, count=5) + h264({"x264-params": "bframes=2"}, (176, 144), 5, first=5)),
        ("main", "hevc", h265("bframes=0:keyint=6")),
        ("B frames", "hevc", h265("bframes=4:b-adapt=0:keyint=8")),
        ("open groups of frames", "hevc", h265("bframes=3:b-adapt=0:open-gop=1:keyint=5:min-keyint=5", count=12)),
        ("main 10", "hevc", h265("bframes=2", bits=10, count=6)),
        ("cropped on each side", "hevc", crop("hevc", h265("bframes=2", (160, 144), 6), 6, 2, 4, 8)),
        ("cropped, slices", "hevc", h265("bframes=2:slices=2", (150, 138), 6)),
        ("changing resolution", "hevc",
         h265("bframes=2", count=4) + h265("bframes=2", (176, 144), 4, first=4)),
    ]
    cases = [case(*clip) for clip in clips]
    header = json.dumps({"cases": [header for header, _ in cases]}).encode()
    data = header + b"\n" + b"".join(data for _, data in cases)
    (HERE / "video.bin").write_bytes(data)
    print(len(data), "bytes")
    for header, _ in cases:
        print(header["codec"], header["name"], sum(header["packets"]), [frame["packet"] for frame in header["frames"]])


if __name__ == "__main__":
    main()
