"""Draws clip.h264: a ball that crosses a landscape, with B frames. Needs av, numpy and pillow."""

from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from PIL import Image, ImageDraw

WIDTH, HEIGHT, FRAMES = 384, 288, 40

context = av.CodecContext.create("libx264", "w")
context.width, context.height, context.pix_fmt = WIDTH, HEIGHT, "yuv420p"
context.framerate, context.time_base = 25, Fraction(1, 25)
context.options = {"preset": "medium", "crf": "28", "x264-params": "bframes=3:keyint=20"}
packets = []
y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
sky = np.stack([90 + 80 * y / HEIGHT, 140 + 60 * y / HEIGHT, 220 - 60 * y / HEIGHT], axis=2).astype(np.uint8)
for index in range(FRAMES):
    image = Image.fromarray(sky)
    draw = ImageDraw.Draw(image)
    draw.polygon([(0, 220), (110, 110), (220, 210), (300, 100), (384, 230), (384, 288), (0, 288)], fill=(70, 90, 70))
    draw.rectangle([0, 232, WIDTH, HEIGHT], fill=(110, 150, 80))
    left, top = 7 * index, 60 + round(40 * np.sin(index / 5))
    draw.ellipse([left, top, left + 72, top + 72], fill=(235, 200, 80))
    frame = av.VideoFrame.from_image(image)
    frame.pts = index
    packets += context.encode(frame)
packets += context.encode(None)
Path(__file__).with_name("clip.h264").write_bytes(b"".join(bytes(packet) for packet in packets))
