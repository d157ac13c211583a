"""Image processing of the second interface (`acl.himpi`) against NumPy in double precision, with random sizes, strides and offsets.

A reference works on component planes: it knows nothing of the rows, strides and orders of bytes in memory. Every byte that does not belong
to a result has to stay as it is.
"""

import numpy
import pytest

import acl

SUCCESS = 0
H2D, D2H = 1, 2
CHANNEL = 11
GRAY, NV12, NV21, NV16, YUV444, RGB, BGR, RGBA = 0, 1, 2, 3, 5, 12, 13, 16
CONSTANT, REPLICATE, REFLECT, REFLECT_101 = 0, 1, 2, 3
ILLEGAL_PARAM, NULL_PTR, UNEXIST = 0xA0078003, 0xA0078006, 0xA0078005

# Orders of components: of the second plane of semi-planar formats, or of a pixel.
PLANAR = {GRAY: "", NV12: "uv", NV21: "vu", NV16: "uv", YUV444: "uv"}
PIXELS = {RGB: "rgb", BGR: "bgr", RGBA: "rgba"}
# By which the width and the height of chroma are divided.
HALVES = {NV12: (2, 2), NV21: (2, 2), NV16: (2, 1)}


class Image:
    """An image in memory with strides that are larger than it, and random bytes between its rows."""

    def __init__(self, random, form, width, height):
        self.form, self.width, self.height = form, width, height
        pixel = len(PIXELS.get(form, "y"))
        # Chroma of 4:2:0 and 4:2:2 needs rows of an even length.
        self.row = width * pixel + 2 * int(random.integers(0, 20))
        self.row += self.row % 2 if form in HALVES else 0
        self.rows = max(height + 2 * int(random.integers(0, 4)), 6)
        factor = {NV12: 1.5, NV21: 1.5, NV16: 2, YUV444: 3}.get(form, 1)
        self.size = int(self.row * self.rows * factor)
        self.bytes = random.integers(0, 256, self.size, dtype=numpy.uint8)
        self.address, ret = acl.himpi.dvpp_malloc(0, self.size)
        assert ret == SUCCESS
        self.write()

    def write(self):
        data = self.bytes.tobytes()
        assert acl.rt.memcpy(self.address, self.size, acl.util.bytes_to_ptr(data), len(data), H2D) == SUCCESS

    def read(self):
        data = bytes(self.size)
        assert acl.rt.memcpy(acl.util.bytes_to_ptr(data), self.size, self.address, self.size, D2H) == SUCCESS
        return numpy.frombuffer(data, numpy.uint8)

    def info(self):
        return {"picture_address": self.address, "picture_buffer_size": self.size, "picture_width": self.width, "picture_height": self.height,
                "picture_width_stride": self.row, "picture_height_stride": self.rows, "picture_format": self.form}

    def views(self, data):
        """The components as views of the bytes of the memory."""
        if self.form in PIXELS:
            order = PIXELS[self.form]
            pixels = data[: self.row * self.rows].reshape(self.rows, self.row)[: self.height, : self.width * len(order)]
            pixels = numpy.lib.stride_tricks.as_strided(pixels, (self.height, self.width, len(order)), (self.row, len(order), 1))
            return {name: pixels[:, :, index] for index, name in enumerate(order)}
        luma = data[: self.row * self.rows].reshape(self.rows, self.row)
        found = {"y": luma[: self.height, : self.width]}
        order = PLANAR[self.form]
        if order:
            across, down = HALVES.get(self.form, (1, 1))
            row = self.row * 2 // across
            chroma = data[self.row * self.rows:][: row * (self.rows // down)].reshape(self.rows // down, row)
            for index, name in enumerate(order):
                found[name] = chroma[: -(-self.height // down), index: 2 * -(-self.width // across): 2]
        return found

    def planes(self):
        return {name: view.astype(numpy.float64) for name, view in self.views(self.bytes).items()}

    def check(self, expected, most=0, left=0, top=0):
        """Compares what a task has written with planes that begin at a corner. All other bytes are as they were."""
        found, before = self.read(), self.bytes.copy()
        across, down = HALVES.get(self.form, (1, 1))
        for name, plane in expected.items():
            x, y = (left // across, top // down) if name in "uv" else (left, top)
            high, wide = plane.shape
            got = self.views(found)[name][y: y + high, x: x + wide]
            assert got.shape == plane.shape
            assert numpy.abs(got.astype(float) - plane).max() <= most, name
            # What was compared is taken over, so that the rest can be compared as a whole.
            self.views(before)[name][y: y + high, x: x + wide] = got
        assert (found == before).all(), "bytes outside of the result changed"

    def free(self):
        assert acl.himpi.dvpp_free(self.address) == SUCCESS


@pytest.fixture(scope="module")
def channel(device):
    assert acl.himpi.sys_init() == SUCCESS
    assert acl.himpi.vpc_create_chn(CHANNEL, {"attr": 0, "pic_width": 0, "pic_height": 0}) == SUCCESS
    yield CHANNEL
    assert acl.himpi.vpc_destroy_chn(CHANNEL) == SUCCESS
    assert acl.himpi.sys_exit() == SUCCESS


def done(result):
    task, ret = result
    assert ret == SUCCESS, acl.get_recent_err_msg()
    assert acl.himpi.vpc_get_process_result(CHANNEL, task, -1) == SUCCESS, acl.get_recent_err_msg()


def rounded(plane):
    return numpy.clip(numpy.floor(plane + 0.5), 0, 255)


def sizes(random, form, least=12, most=90):
    width, height = (int(length) for length in random.integers(least, most, 2))
    across, down = HALVES.get(form, (1, 1))
    return width - width % across, height - height % down


def bilinear(plane, width, height):
    def axis(length, wanted):
        position = numpy.clip((numpy.arange(wanted) + 0.5) * length / wanted - 0.5, 0, length - 1)
        at = numpy.floor(position).astype(int)
        return at, numpy.minimum(at + 1, length - 1), position - at

    if plane.shape == (height, width):
        return plane
    upper, lower, down = axis(plane.shape[0], height)
    left, right, across = axis(plane.shape[1], width)
    rows = plane[:, left] * (1 - across) + plane[:, right] * across
    return rows[upper] * (1 - down)[:, None] + rows[lower] * down[:, None]


def nearest(plane, width, height):
    def axis(length, wanted):
        return numpy.minimum(numpy.floor(numpy.arange(wanted) * (1.0 / (wanted / length))).astype(int), length - 1)

    return plane[axis(plane.shape[0], height)][:, axis(plane.shape[1], width)]


def resized(planes, form, width, height, resize=bilinear):
    across, down = HALVES.get(form, (1, 1))
    return {name: resize(plane, width // across, height // down) if name in "uv" else resize(plane, width, height)
            for name, plane in planes.items()}


def cut(planes, form, left, top, width, height):
    """A region; chroma of an odd edge begins with the sample that covers it."""
    across, down = HALVES.get(form, (1, 1))
    return {name: plane[top // down:, left // across:][: height // down, : width // across] if name in "uv"
            else plane[top: top + height, left: left + width] for name, plane in planes.items()}


@pytest.mark.parametrize("seed", range(24))
def test_resize(channel, seed):
    random = numpy.random.default_rng(seed)
    form = [NV12, NV21, NV16, YUV444, RGB, BGR, GRAY, RGB][seed % 8]
    source, target = Image(random, form, *sizes(random, form)), Image(random, form, *sizes(random, form))
    kind, most = ((0, 1), (1, 1), (2, 0))[seed % 3]
    done(acl.himpi.vpc_resize(channel, source.info(), target.info(), 0, 0, kind, -1))
    target.check(resized(source.planes(), form, target.width, target.height, nearest if kind == 2 else bilinear), most)
    source.free(), target.free()


@pytest.mark.parametrize("seed", range(16))
def test_crop_of_several_regions(channel, seed):
    random = numpy.random.default_rng(100 + seed)
    form = [NV12, RGB, RGBA, NV16, BGR, YUV444, GRAY, NV21][seed % 8]
    source = Image(random, form, *sizes(random, form, 40, 90))
    regions, targets = [], []
    for _ in range(3):
        target = Image(random, form, *sizes(random, form, 12, 30))
        # Odd edges of luma are permitted on this product.
        left, top = int(random.integers(0, source.width - target.width)), int(random.integers(0, source.height - target.height))
        regions.append({"dest_pic_info": target.info(),
                        "crop_region": {"top_offset": top, "left_offset": left, "crop_width": target.width, "crop_height": target.height}})
        targets.append((target, left, top))
    done(acl.himpi.vpc_crop(channel, source.info(), regions, len(regions), -1))
    for target, left, top in targets:
        target.check(cut(source.planes(), form, left, top, target.width, target.height))
        target.free()
    source.free()


def paste_region(random, source, target):
    """A region of the source, and where it goes: odd edges, and sizes of its own."""
    across, down = HALVES.get(source.form, (1, 1))
    even = lambda length, by: length - length % by  # noqa: E731
    width, height = (even(int(random.integers(12, length)), by) for length, by in ((source.width, across), (source.height, down)))
    left, top = int(random.integers(0, source.width - width + 1)), int(random.integers(0, source.height - height + 1))
    if source.form in HALVES:
        left, top = even(left, across), even(top, down)
    wide, high = (even(int(random.integers(12, length)), by) for length, by in ((target.width, across), (target.height, down)))
    x, y = int(random.integers(0, target.width - wide + 1)), int(random.integers(0, target.height - high + 1))
    if source.form in HALVES:
        x, y = even(x, across), even(y, down)
    region = {"dest_pic_info": target.info(),
              "crop_region": {"top_offset": top, "left_offset": left, "crop_width": width, "crop_height": height},
              "resize_info": {"resize_width": wide, "resize_height": high, "interpolation": 1},
              "dest_top_offset": y, "dest_left_offset": x}
    return region, resized(cut(source.planes(), source.form, left, top, width, height), source.form, wide, high)


@pytest.mark.parametrize("seed", range(16))
def test_crop_resize_and_paste(channel, seed):
    random = numpy.random.default_rng(200 + seed)
    form = [RGB, NV12, GRAY, BGR, NV21, YUV444, NV16, RGB][seed % 8]
    source, target = Image(random, form, *sizes(random, form, 30, 90)), Image(random, form, *sizes(random, form, 30, 90))
    region, expected = paste_region(random, source, target)
    done(acl.himpi.vpc_crop_resize_paste(channel, source.info(), [region], 1, -1))
    target.check(expected, 1, region["dest_left_offset"], region["dest_top_offset"])
    source.free(), target.free()


@pytest.mark.parametrize("seed", range(6))
def test_a_batch_pastes_regions_of_several_images(channel, seed):
    random = numpy.random.default_rng(300 + seed)
    form = [NV12, RGB, GRAY][seed % 3]
    sources = [Image(random, form, *sizes(random, form, 30, 90)) for _ in range(3)]
    counts = [int(count) for count in random.integers(0, 3, 3)]
    counts[seed % 3] = 2
    regions, checks = [], []
    for source, count in zip(sources, counts):
        for _ in range(count):
            target = Image(random, form, *sizes(random, form, 30, 90))
            region, expected = paste_region(random, source, target)
            regions.append(region)
            checks.append((target, expected, region["dest_left_offset"], region["dest_top_offset"]))
    done(acl.himpi.vpc_batch_crop_resize_paste(channel, [source.info() for source in sources], 3, regions, counts, -1))
    for target, expected, left, top in checks:
        target.check(expected, 1, left, top)
        target.free()
    for source in sources:
        source.free()


MODES = {CONSTANT: "constant", REPLICATE: "edge", REFLECT: "symmetric", REFLECT_101: "reflect"}


def with_border(planes, form, top, bottom, left, right, kind, values):
    across, down = HALVES.get(form, (1, 1))
    result = {}
    for (name, plane), value in zip(planes.items(), values):
        by = (across, down) if name in "uv" else (1, 1)
        widths = ((top // by[1], bottom // by[1]), (left // by[0], right // by[0]))
        options = {"constant_values": value} if kind == CONSTANT else {}
        result[name] = numpy.pad(plane, widths, MODES[kind], **options)
    return result


def in_order(planes):
    """The components in the order of the values of a border: Y, U, V or red, green, blue."""
    names = "yuv" if "y" in planes else "rgb"
    return {name: planes[name] for name in names if name in planes}


@pytest.mark.parametrize("seed", range(16))
def test_borders(channel, seed):
    random = numpy.random.default_rng(400 + seed)
    form, kind = [RGB, NV12, GRAY, BGR][seed // 4], seed % 4
    source = Image(random, form, *sizes(random, form, 20, 60))
    step = 2 if form in HALVES else 1
    top, bottom, left, right = (step * int(length) for length in random.integers(0, 6, 4))
    values = [float(value) for value in random.integers(0, 256, 4)]
    target = Image(random, form, source.width + left + right, source.height + top + bottom)
    border = {"top": top, "bottom": bottom, "left": left, "right": right, "border_type": kind, "scalar_value": {"val": values}}
    done(acl.himpi.vpc_copy_make_border(channel, source.info(), target.info(), border, -1))
    target.check(with_border(in_order(source.planes()), form, top, bottom, left, right, kind, values))
    source.free(), target.free()


@pytest.mark.parametrize("seed", range(8))
def test_a_region_is_resized_and_surrounded(channel, seed):
    random = numpy.random.default_rng(500 + seed)
    form, kind = [RGB, NV12, GRAY, BGR][seed // 2], seed % 2
    source = Image(random, form, *sizes(random, form, 30, 60))
    target = Image(random, form, *sizes(random, form, 60, 90))
    region, inner = paste_region(random, source, target)
    values = [float(value) for value in random.integers(0, 256, 4)]
    region.update(border_type=kind, scalar_value={"val": values})
    batch = acl.himpi.vpc_batch_crop_resize_make_border
    result = batch(channel, [source.info()], 1, [region], [1], -1) if seed % 4 < 2 else \
        acl.himpi.vpc_crop_resize_make_border(channel, source.info(), [region], 1, -1)
    done(result)
    x, y = region["dest_left_offset"], region["dest_top_offset"]
    wide, high = region["resize_info"]["resize_width"], region["resize_info"]["resize_height"]
    sides = (y, target.height - y - high, x, target.width - x - wide)
    target.check(with_border(in_order(inner), form, *sides, kind, values), 1)
    source.free(), target.free()


def to_rgb(planes, matrix):
    """Coefficients of the documentation, for planes of full size."""
    y, u, v = planes["y"], planes["u"] - 128, planes["v"] - 128
    if matrix == 1:
        y = 1.16438 * (y - 16)
        return {"r": y + 1.59602 * v, "g": y - 0.39176 * u - 0.81297 * v, "b": y + 2.01723 * u}
    return {"r": y + 1.402 * v, "g": y - 0.344 * u - 0.714 * v, "b": y + 1.772 * u}


@pytest.mark.parametrize("seed", range(8))
def test_yuv_to_rgb(channel, seed):
    random = numpy.random.default_rng(600 + seed)
    form, to, matrix = [NV12, NV21, NV16, YUV444][seed % 4], [RGB, BGR][seed // 4], seed % 2
    assert acl.himpi.sys_set_chn_csc_matrix(7, channel, matrix, None) == SUCCESS
    source = Image(random, form, *sizes(random, form))
    target = Image(random, to, source.width, source.height)
    done(acl.himpi.vpc_convert_color(channel, source.info(), target.info(), -1))
    across, down = HALVES.get(form, (1, 1))
    full = {name: plane.repeat(down, 0).repeat(across, 1) if name in "uv" else plane for name, plane in source.planes().items()}
    target.check({name: rounded(plane) for name, plane in to_rgb(full, matrix).items()}, 1)
    assert acl.himpi.sys_set_chn_csc_matrix(7, channel, 0, None) == SUCCESS
    source.free(), target.free()


@pytest.mark.parametrize("seed", range(8))
def test_rgb_to_yuv(channel, seed):
    random = numpy.random.default_rng(700 + seed)
    form, to = [RGB, BGR][seed % 2], [NV12, NV21, NV16, YUV444][seed // 2]
    target = Image(random, to, *sizes(random, to))
    source = Image(random, form, target.width, target.height)
    done(acl.himpi.vpc_convert_color(channel, source.info(), target.info(), -1))
    planes = source.planes()
    r, g, b = planes["r"], planes["g"], planes["b"]
    full = {"y": -0.5 + 0.299 * r + 0.587 * g + 0.114 * b, "u": 127.5 - 0.168 * r - 0.331 * g + 0.5 * b,
            "v": 127.5 + 0.5 * r - 0.419 * g - 0.081 * b}
    across, down = HALVES.get(to, (1, 1))
    expected = {"y": rounded(full["y"])}
    for name in "uv":
        plane = rounded(full[name]).reshape(target.height // down, down, target.width // across, across)
        expected[name] = rounded(plane.mean((1, 3)))
    target.check(expected, 1)
    source.free(), target.free()


@pytest.mark.parametrize("seed", range(15))
def test_rotation(channel, seed):
    random = numpy.random.default_rng(800 + seed)
    form, angle = [NV12, RGB, GRAY, RGBA, YUV444][seed // 3], seed % 3
    source = Image(random, form, *sizes(random, form))
    size = (source.width, source.height) if angle == 1 else (source.height, source.width)
    target = Image(random, form, *size)
    done(acl.himpi.vpc_rotate(channel, {"src": source.info(), "dst": target.info(), "angle": angle}, -1))
    # NumPy rotates counterclockwise.
    target.check({name: numpy.rot90(plane, -1 - angle) for name, plane in source.planes().items()})
    source.free(), target.free()


GAUSSIAN = numpy.outer([1, 4, 6, 4, 1], [1, 4, 6, 4, 1])


@pytest.mark.parametrize("seed", range(12))
def test_pyramid(channel, seed):
    random = numpy.random.default_rng(900 + seed)
    kind, levels = seed % 4, 1 + seed % 3
    source = Image(random, GRAY, *sizes(random, GRAY, 160, 200))
    kernel = GAUSSIAN if seed < 4 else random.integers(-20, 60, (5, 5))
    divisor = 256 if seed < 4 else [128, 1024, 4][seed % 3]
    value = float(random.integers(0, 256))
    width, height, targets = source.width, source.height, []
    for _ in range(levels):
        width, height = width // 2, height // 2
        targets.append(Image(random, GRAY, width, height))
    border = {"border_type": kind, "scalar_value": {"val": [value, 0.0, 0.0, 0.0]}}
    passed = None if seed < 4 else [[int(weight) for weight in row] for row in kernel]
    done(acl.himpi.vpc_pyrdown(channel, source.info(), [target.info() for target in targets], levels, passed, divisor, border, -1))
    plane = source.planes()["y"]
    for target in targets:
        options = {"constant_values": value} if kind == CONSTANT else {}
        padded = numpy.pad(plane, 2, MODES[kind], **options)
        high, wide = target.height, target.width
        total = sum(kernel[row][column] * padded[row: row + 2 * high: 2, column: column + 2 * wide: 2]
                    for row in range(5) for column in range(5))
        plane = rounded(total / divisor)
        target.check({"y": plane})
        target.free()
    source.free()


@pytest.mark.parametrize("seed", range(8))
def test_histogram_and_tables(channel, seed):
    random = numpy.random.default_rng(1000 + seed)
    form = [NV12, NV21, RGB, BGR, GRAY, NV16, RGB, NV12][seed]
    source = Image(random, form, *sizes(random, form))
    address, ret = acl.himpi.dvpp_malloc(0, 3072)
    assert ret == SUCCESS
    done(acl.himpi.vpc_calc_hist(channel, source.info(), address, -1))
    data = bytes(3072)
    assert acl.rt.memcpy(acl.util.bytes_to_ptr(data), 3072, address, 3072, D2H) == SUCCESS
    counts = numpy.frombuffer(data, numpy.uint32).reshape(3, 256)
    planes = in_order(source.planes())
    for found, plane in zip(counts, planes.values()):
        assert (found == numpy.bincount(plane.astype(int).ravel(), minlength=256)).all()
    assert not counts[len(planes):].any()

    tables = random.integers(0, 256, (3, 256), dtype=numpy.uint8)
    data = tables.tobytes()
    assert acl.rt.memcpy(address, 3072, acl.util.bytes_to_ptr(data), 768, H2D) == SUCCESS
    # The output has the strides of the input.
    target = Image(random, form, source.width, source.height)
    target.free()
    target.row, target.rows, target.size = source.row, source.rows, source.size
    target.bytes = random.integers(0, 256, target.size, dtype=numpy.uint8)
    target.address, ret = acl.himpi.dvpp_malloc(0, target.size)
    target.write()
    done(acl.himpi.vpc_equalize_hist(channel, source.info(), target.info(), address, -1))
    target.check({name: table[plane.astype(int)].astype(float) for (name, plane), table in zip(planes.items(), tables)})
    assert acl.himpi.dvpp_free(address) == SUCCESS
    source.free(), target.free()


def test_what_is_refused_has_a_documented_code(channel):
    random = numpy.random.default_rng(1)
    image = Image(random, RGB, 20, 20)
    assert acl.himpi.vpc_create_chn(CHANNEL, None) == NULL_PTR
    assert acl.himpi.vpc_destroy_chn(CHANNEL + 1) == UNEXIST
    # The texts of the library come before those of the module.
    assert "HI_ERR_VPC_UNEXIST" in acl.get_recent_err_msg()
    assert acl.himpi.vpc_crop(channel, image.info(), [], 1, -1) == (0, ILLEGAL_PARAM)
    assert "count <= count(crop_info) does not hold" in acl.get_recent_err_msg()
    assert acl.himpi.vpc_rotate(channel, None, -1) == (0, NULL_PTR)
    assert "HI_ERR_VPC_NULL_PTR" in acl.get_recent_err_msg()
    with pytest.raises(TypeError, match="acl.himpi.vpc_rotate args parse failed"):
        acl.himpi.vpc_rotate(channel, {"src": 3}, -1)
    with pytest.raises(TypeError):
        acl.himpi.vpc_pyrdown(channel, image.info(), [], 1, [[1, 2]], 256, {}, -1)
    image.free()


VIDEO = {"venc_attr": {"type": 96, "max_pic_width": 128, "max_pic_height": 128, "pic_width": 128, "pic_height": 128},
         "rc_attr": {"rc_mode": 1, "h264_cbr": {"gop": 30, "src_frame_rate": 30, "dst_frame_rate": 30, "bit_rate": 1000}}}


def test_encoding_with_dicts(channel):
    module, ret = acl.himpi.venc_get_mod_param({"mod_type": 2})
    assert ret == SUCCESS
    module["h264_mod_param"]["one_stream_buf"] = 1
    assert acl.himpi.venc_set_mod_param(module) == SUCCESS
    assert acl.himpi.venc_get_mod_param({"mod_type": 2}) == (module, SUCCESS)
    assert acl.himpi.venc_create_chn(3, VIDEO) == SUCCESS, acl.get_recent_err_msg()
    attributes, ret = acl.himpi.venc_get_chn_attr(3)
    assert ret == SUCCESS
    assert attributes["rc_attr"] == {"rc_mode": 1, "h264_cbr": {"gop": 30, "stats_time": 0, "src_frame_rate": 30, "dst_frame_rate": 30,
                                                                "bit_rate": 1000}}
    rates, ret = acl.himpi.venc_get_rc_param(3)
    assert ret == SUCCESS and rates["first_frame_start_qp"] == -1
    assert [key for key in rates if key.endswith("_param")] == ["h264_cbr_param"]
    rates["h264_cbr_param"]["max_qp"] = 40
    assert acl.himpi.venc_set_rc_param(3, rates) == SUCCESS
    assert acl.himpi.venc_get_rc_param(3) == (rates, SUCCESS)

    assert acl.himpi.venc_start_chn(3, {"recv_pic_num": -1}) == SUCCESS
    address, ret = acl.himpi.dvpp_malloc(0, 128 * 192)
    assert ret == SUCCESS
    frame = {"v_frame": {"width": 128, "height": 128, "pixel_format": NV12, "width_stride": [128], "virt_addr": [address], "pts": 5}}
    key = []
    for number in range(4):
        if number == 2:
            assert acl.himpi.venc_request_idr(3, 1) == SUCCESS
        assert acl.himpi.venc_send_frame(3, frame, -1) == SUCCESS
        status, ret = acl.himpi.venc_query_status(3)
        assert ret == SUCCESS
        stream, ret = acl.himpi.venc_get_stream(3, {"pack_cnt": 1}, -1)
        assert ret == SUCCESS, acl.get_recent_err_msg()
        pack, = stream["pack"]
        data = bytes(pack["len"])
        assert acl.rt.memcpy(acl.util.bytes_to_ptr(data), len(data), pack["addr"], len(data), D2H) == SUCCESS
        assert data[:4] == b"\0\0\0\1" and pack["pts"] == 5 and pack["is_frame_end"] == 1
        key.append(pack["data_type"]["h264_type"])
        assert acl.himpi.venc_release_stream(3, stream) == SUCCESS
    assert key == [5, 1, 5, 1]
    assert acl.himpi.venc_get_stream(3, {"pack_cnt": 1}, 0) == ({}, 0xA008800E)
    descriptor = acl.himpi.venc_get_fd(3)
    assert descriptor >= 0
    assert acl.himpi.venc_close_fd(3) == SUCCESS
    assert acl.himpi.venc_stop_chn(3) == SUCCESS
    assert acl.himpi.venc_send_frame(3, frame, 0) == 0xA0088009
    assert acl.himpi.venc_destroy_chn(3) == SUCCESS
    assert acl.himpi.dvpp_free(address) == SUCCESS
