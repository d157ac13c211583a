"""Draws photo.jpg: shapes over a gradient, with grain. Needs numpy and pillow."""

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

WIDTH, HEIGHT = 480, 320

y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
sky = np.stack([90 + 80 * y / HEIGHT, 140 + 60 * y / HEIGHT, 220 - 60 * y / HEIGHT], axis=2)
image = Image.fromarray(sky.astype(np.uint8))
draw = ImageDraw.Draw(image)
draw.polygon([(0, 250), (110, 130), (220, 240), (330, 110), (480, 260), (480, 320), (0, 320)], fill=(70, 90, 70))
draw.rectangle([0, 262, 480, 320], fill=(110, 150, 80))
draw.ellipse([80, 60, 240, 180], fill=(235, 200, 80))
draw.rectangle([340, 150, 460, 230], fill=(160, 70, 60))
draw.polygon([(325, 150), (400, 95), (475, 150)], fill=(90, 50, 40))
draw.rectangle([385, 180, 415, 230], fill=(60, 40, 30))
image = image.filter(ImageFilter.GaussianBlur(0.8))
grain = np.random.default_rng(1).normal(0, 3, (HEIGHT, WIDTH, 1))
pixels = np.clip(np.asarray(image) + grain, 0, 255).astype(np.uint8)
Image.fromarray(pixels).save(Path(__file__).with_name("photo.jpg"), quality=80, subsampling=2)
