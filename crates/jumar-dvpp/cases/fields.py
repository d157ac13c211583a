"""A writer of H.264 streams whose frames are pairs of fields: x264 codes both fields of a frame together.

Macroblocks are samples as they are (I_PCM) or copies of a reference field (P_Skip), so that a page of code writes valid streams. What
they decode to is FFmpeg's to say.
"""

import numpy as np

IDR, OTHER, PARAMETERS, FRAME_PARAMETERS = 5, 1, 7, 8


class Bits:
    """The bits of a unit."""

    def __init__(self):
        self.text = ""

    def u(self, width, value):
        self.text += f"{value:0{width}b}"

    def ue(self, *values):
        for value in values:
            self.u(2 * (value + 1).bit_length() - 1, value + 1)

    def samples(self, values):
        self.text += "0" * (-len(self.text) % 8) + "".join(f"{value:08b}" for value in values)

    def unit(self, kind, reference):
        """The unit as it lies in a stream: with a start code, and without start codes inside."""
        text = self.text + "1"
        text += "0" * (-len(text) % 8)
        plain = int(text, 2).to_bytes(len(text) // 8, "big")
        escaped, zeros = bytearray(), 0
        for byte in plain:
            if zeros >= 2 and byte <= 3:
                escaped.append(3)
                zeros = 0
            escaped.append(byte)
            zeros = zeros + 1 if byte == 0 else 0
        return b"\0\0\0\1" + bytes([reference << 5 | kind]) + bytes(escaped)


def parameters(width, height):
    sequence = Bits()
    for value in (77, 0, 30):  # Main profile, level 3
        sequence.u(8, value)
    # The number; 4 bits of frame_num; 8 bits of the position; two reference frames, without gaps.
    sequence.ue(0, 0, 0, 4, 2)
    sequence.u(1, 0)
    sequence.ue(width // 16 - 1, height // 32 - 1)
    # Not frames alone; no macroblocks of fields in frames; 8x8 inference; neither cropping nor usability information.
    sequence.u(5, 0b00100)
    frame_set = Bits()
    frame_set.ue(0, 0)
    frame_set.u(2, 0)
    frame_set.ue(0, 0, 0)
    frame_set.u(3, 0)
    frame_set.ue(0, 0, 0)
    # Each slice says whether it is filtered.
    frame_set.u(3, 0b100)
    return sequence.unit(PARAMETERS, 3) + frame_set.unit(FRAME_PARAMETERS, 3)


def slice_of(planes, is_coded, first, last, *, is_idr, is_intra, is_reference, is_bottom, frame, position):
    """A slice of a field: macroblocks `first` to `last`, those that `is_coded` names as samples."""
    bits = Bits()
    bits.ue(first, 7 if is_intra else 5, 0)
    bits.u(4, frame % 16)
    bits.u(2, 0b11 if is_bottom else 0b10)
    if is_idr:
        bits.ue(0)
    bits.u(8, position)
    if not is_intra:
        bits.u(2, 0)
    if is_reference:
        bits.u(2 if is_idr else 1, 0)
    # The quantizer, and no filter.
    bits.ue(0, 1)
    skipped, columns = 0, planes[0].shape[1] // 16
    for index in range(first, last):
        if not is_intra and not is_coded(index):
            skipped += 1
            continue
        bits.ue(*([25] if is_intra else [skipped, 30]))
        skipped = 0
        row, column = divmod(index, columns)
        for plane, side in zip(planes, (16, 8, 8)):
            bits.samples(plane[row * side : (row + 1) * side, column * side : (column + 1) * side].ravel())
    if skipped:
        bits.ue(skipped)
    return bits.unit(IDR if is_idr else OTHER, int(is_reference))


def packets(draw, width, height, order, bottom_first=False, slices=1):
    """The packets of a clip, two for each frame, with the position of each frame in the order of display.

    `order` has the positions in the order of coding. A frame whose successor comes before it in the order of display is a reference.
    """
    result, references = [], 0
    macroblocks = width * height // 512
    for number, position in enumerate(order):
        planes = draw(position)
        is_reference = position == max(order[: number + 1])
        for second in (False, True):
            is_bottom = second != bottom_first
            field = [plane[int(is_bottom) :: 2] for plane in planes]
            random = np.random.default_rng(2 * position + second)
            coded = set(random.choice(macroblocks, 3, replace=False).tolist())
            data = parameters(width, height) if number == 0 and not second else b""
            edges = [macroblocks * part // slices for part in range(slices + 1)]
            for first, last in zip(edges, edges[1:]):
                data += slice_of(
                    field, coded.__contains__, first, last, is_idr=number == 0 and not second,
                    is_intra=number == 0 and not second, is_reference=is_reference, is_bottom=is_bottom, frame=references,
                    position=2 * position + second,
                )
            result.append((data, position))
        references += is_reference
    return result
