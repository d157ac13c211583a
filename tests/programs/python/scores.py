"""Writes the scores that the model computes for each image: scores.py <model.om> <images> <result>"""

import sys

sys.path.insert(0, sys.argv[4])

import digits  # noqa: E402  (the example program, as it is)

with open(sys.argv[2], "rb") as file:
    images = file.read()
reader = digits.Reader()
try:
    reader.open(sys.argv[1])
    with open(sys.argv[3], "wb") as file:
        for start in range(0, len(images), digits.PIXELS):
            file.write(reader.read(images[start : start + digits.PIXELS]).tobytes())
finally:
    reader.close()
print("ok")
