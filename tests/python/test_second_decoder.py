"""Decoding of the second interface (`acl.himpi`): the committed clips against the digests of what FFmpeg decodes, JPEG and PNG images
against known samples, and the structures as dicts with the names of their fields."""

import json
import struct
import threading
import zlib
from pathlib import Path

import numpy
import pytest

import acl

ROOT = Path(__file__).resolve().parent.parent.parent
CASES = ROOT / "crates/jumar-dvpp/cases"
SUCCESS = 0
H2D, D2H = 1, 2
H264, H265, JPEG, PNG = 96, 265, 26, 268
FRAME_MODE = 1
UNKNOWN, NV12, NV21, RGB, RGBA = 10000, 1, 2, 12, 16
ADD, IN = 1, 1
VDEC = 0xA0058000
INVALID_CHN_ID, ILLEGAL_PARAM, UNEXIST, NULL_PTR, NOT_PERM, EMPTY = (VDEC + cause for cause in (2, 3, 5, 6, 9, 0xE))
CHANNEL = 21


@pytest.fixture(scope="module", autouse=True)
def system(device):
    assert acl.himpi.sys_init() == SUCCESS
    yield
    assert acl.himpi.sys_exit() == SUCCESS


class Memory:
    """Memory of the second interface with bytes in it."""

    def __init__(self, content):
        data = bytes(content) if not isinstance(content, int) else bytes([0xEE]) * content
        self.size = len(data)
        self.address, ret = acl.himpi.dvpp_malloc(0, self.size)
        assert ret == SUCCESS
        assert acl.rt.memcpy(self.address, self.size, acl.util.bytes_to_ptr(data), self.size, H2D) == SUCCESS

    def read(self):
        data = bytes(self.size)
        assert acl.rt.memcpy(acl.util.bytes_to_ptr(data), self.size, self.address, self.size, D2H) == SUCCESS
        return numpy.frombuffer(data, numpy.uint8)

    def free(self):
        assert acl.himpi.dvpp_free(self.address) == SUCCESS


def clips():
    header, _, rest = (CASES / "video.bin").read_bytes().partition(b"\n")
    for case in json.loads(header)["cases"]:
        packets = []
        for length in case["packets"]:
            packets.append(rest[:length])
            rest = rest[length:]
        yield pytest.param(case, packets, id=f"{case['codec']} {case['name']}")


def digest(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def samples(info, memory):
    """The planes Y, U and V of an NV12 frame in memory, without gaps between rows."""
    assert info["pixel_format"] == NV12
    data, width, height, row = memory.read(), info["width"], info["height"], info["width_stride"][0]
    luma = data[: row * height].reshape(-1, row)[:, :width]
    start = info["virt_addr"][1] - info["virt_addr"][0]
    chroma = data[start:][: info["width_stride"][1] * ((height + 1) // 2)].reshape(-1, info["width_stride"][1])
    pairs = chroma[:, : 2 * ((width + 1) // 2)]
    return b"".join(plane.tobytes() for plane in (luma, pairs[:, 0::2], pairs[:, 1::2]))


def attributes(kind, width, height):
    attr = {"type": kind, "mode": FRAME_MODE, "pic_width": width, "pic_height": height, "stream_buf_size": width * height * 3 // 2,
            "frame_buf_cnt": 16}
    if kind != JPEG:
        form = {"width": width, "height": height, "bit_width": 0, "pixel_format": NV12}
        attr["frame_buf_size"] = acl.himpi.vdec_get_pic_buf_size(kind, form)
        attr["video_attr"] = {"ref_frame_num": 12, "temporal_mvp_en": 1,
                              "tmv_buf_size": acl.himpi.vdec_get_tmv_buf_size(kind, width, height)}
        assert attr["frame_buf_size"] >= width * height * 3 // 2 and attr["video_attr"]["tmv_buf_size"] > 0
    return attr


def opened(kind, width=256, height=256):
    assert acl.himpi.vdec_create_chn(CHANNEL, attributes(kind, width, height)) == SUCCESS, acl.get_recent_err_msg()
    assert acl.himpi.vdec_start_recv_stream(CHANNEL) == SUCCESS


def closed():
    assert acl.himpi.vdec_stop_recv_stream(CHANNEL) == SUCCESS
    assert acl.himpi.vdec_destroy_chn(CHANNEL) == SUCCESS


def send(packet, output, **more):
    """Sends a packet, whose memory is free again when the call has returned."""
    stream = {"end_of_frame": 1, "need_display": 1, "addr": packet.address, "len": packet.size, **more}
    form = {"vir_addr": output.address, "buffer_size": output.size, "pixel_format": NV12}
    assert acl.himpi.vdec_send_stream(CHANNEL, stream, form, -1) == SUCCESS, acl.get_recent_err_msg()
    packet.free()


@pytest.mark.parametrize("case, packets", list(clips()))
def test_frames_equal_those_of_ffmpeg(case, packets):
    opened(H264 if case["codec"] == "h264" else H265)
    outputs = {}
    for number, packet in enumerate(packets):
        output = Memory(256 * 256 * 3 // 2)
        outputs[output.address] = output
        send(Memory(packet), output, pts=1000 + number, private_data=number)
    assert acl.himpi.vdec_send_stream(CHANNEL, {"end_of_stream": 1}, None, -1) == SUCCESS
    # The frames come in the order of display, each with its packet; the second field of a frame has none.
    wanted, other = iter(case["frames"]), 0
    for _ in packets:
        frame, supplement, sent, ret = acl.himpi.vdec_get_frame(CHANNEL, -1)
        assert ret == SUCCESS, acl.get_recent_err_msg()
        info = frame["v_frame"]
        assert supplement["type"] in (H264, H265) and set(supplement) == {"type", "video_supplement_info"}
        if info["frame_flag"] == 2:
            other += 1
        else:
            frame_of = next(wanted)
            assert info["frame_flag"] == 0
            assert sent["private_data"] == frame_of["packet"] and sent["pts"] == info["pts"] == 1000 + frame_of["packet"]
            assert (info["width"], info["height"]) == (frame_of["width"], frame_of["height"])
            assert digest(samples(info, outputs[info["virt_addr"][0]])) == frame_of["digest"]
        assert acl.himpi.vdec_release_frame(CHANNEL, frame) == SUCCESS
        outputs.pop(info["virt_addr"][0]).free()
    assert next(wanted, None) is None and not outputs
    status, ret = acl.himpi.vdec_query_status(CHANNEL)
    assert ret == SUCCESS and status["recv_stream_frames"] == len(packets) and status["dec_stream_frames"] == len(packets) - other
    assert status["left_stream_frames"] == status["left_decoded_frames"] == 0 and not any(status["dec_err"].values())
    assert acl.himpi.vdec_get_frame(CHANNEL, 0) == ({}, {}, {}, EMPTY)
    closed()


def test_the_case_file_has_clips_of_both_formats():
    codecs = [param.values[0]["codec"] for param in clips()]
    assert codecs.count("h264") >= 5 and codecs.count("hevc") >= 5


def test_parameters_have_the_member_of_their_type():
    opened(H264)
    param, ret = acl.himpi.vdec_get_chn_param(CHANNEL)
    assert ret == SUCCESS and param["type"] == H264 and "pic_param" not in param
    param["video_param"]["out_order"] = 1
    param["display_frame_num"] = 3
    assert acl.himpi.vdec_set_chn_param(CHANNEL, param) == SUCCESS
    assert acl.himpi.vdec_get_chn_param(CHANNEL) == (param, SUCCESS)
    attr, ret = acl.himpi.vdec_get_chn_attr(CHANNEL)
    assert ret == SUCCESS and attr["pic_width"] == 256 and attr["video_attr"]["ref_frame_num"] == 12
    assert acl.himpi.vdec_reset_chn(CHANNEL) == NOT_PERM
    assert acl.himpi.vdec_stop_recv_stream(CHANNEL) == SUCCESS
    assert acl.himpi.vdec_reset_chn(CHANNEL) == SUCCESS
    assert acl.himpi.vdec_destroy_chn(CHANNEL) == SUCCESS
    assert acl.himpi.vdec_create_chn(CHANNEL, attributes(JPEG, 256, 256)) == SUCCESS
    param, ret = acl.himpi.vdec_get_chn_param(CHANNEL)
    assert ret == SUCCESS and "video_param" not in param and set(param["pic_param"]) == {"pixel_format", "alpha"}
    assert acl.himpi.vdec_destroy_chn(CHANNEL) == SUCCESS


def test_a_thread_that_waits_for_a_frame_leaves_the_interpreter_free():
    opened(H264)
    first = next(clips()).values[1][0]
    found, output = [], Memory(256 * 256 * 3 // 2)
    context, ret = acl.rt.get_context()
    assert ret == SUCCESS

    def fetch():
        assert acl.rt.set_context(context) == SUCCESS
        found.append(acl.himpi.vdec_get_frame(CHANNEL, -1))

    thread = threading.Thread(target=fetch)
    thread.start()
    send(Memory(first), output, end_of_stream=1)
    thread.join(60)
    (frame, _, _, ret), = found
    assert ret == SUCCESS and frame["v_frame"]["frame_flag"] == 0
    assert acl.himpi.vdec_release_frame(CHANNEL, frame) == SUCCESS
    closed()
    output.free()


def test_a_set_of_descriptors_returns_its_events_as_a_list():
    opened(H264)
    first = next(clips()).values[1][0]
    output = Memory(256 * 256 * 3 // 2)
    waiting, ret = acl.himpi.sys_create_epoll(4)
    assert ret == SUCCESS
    descriptor = acl.himpi.vdec_get_fd(CHANNEL)
    assert descriptor >= 0
    assert acl.himpi.sys_ctl_epoll(waiting, ADD, descriptor, {"events": IN, "data": CHANNEL}) == SUCCESS, acl.get_recent_err_msg()
    assert acl.himpi.sys_wait_epoll(waiting, 3, 0) == ([], 0, SUCCESS)
    send(Memory(first), output, end_of_stream=1)
    assert acl.himpi.sys_wait_epoll(waiting, 3, -1) == ([{"events": IN, "data": CHANNEL}], 1, SUCCESS)
    # A length that no array has is a limit like another.
    assert acl.himpi.sys_wait_epoll(waiting, 2**31 - 1, -1)[1:] == (1, SUCCESS)
    assert acl.himpi.sys_wait_epoll(waiting, 0, 0) == ([], 0, 0xA0028003)
    frame, _, _, ret = acl.himpi.vdec_get_frame(CHANNEL, -1)
    assert ret == SUCCESS
    assert acl.himpi.vdec_release_frame(CHANNEL, frame) == SUCCESS
    assert acl.himpi.sys_close_epoll(waiting) == SUCCESS
    assert acl.himpi.sys_wait_epoll(waiting, 3, 0)[2] != SUCCESS
    closed()
    output.free()


def test_a_jpeg_image_has_the_samples_of_the_first_interface():
    data = (ROOT / "examples/images/photo.jpg").read_bytes()
    stream = {"addr": acl.util.bytes_to_ptr(data), "len": len(data)}
    info, ret = acl.himpi.dvpp_get_image_info(JPEG, stream)
    assert ret == SUCCESS, acl.get_recent_err_msg()
    again, ret = acl.himpi.vdec_get_jpegd_output_info(stream, NV12)
    assert ret == SUCCESS and again["img_buf_size"] == info["img_buf_size"] == info["width_stride"] * info["height_stride"] * 3 // 2
    opened(JPEG, 1024, 1024)
    output = Memory(info["img_buf_size"])
    send(Memory(data), output)
    frame, _, sent, ret = acl.himpi.vdec_get_frame(CHANNEL, -1)
    assert ret == SUCCESS and frame["v_frame"]["frame_flag"] == 0 and sent["len"] == len(data)
    assert (frame["v_frame"]["width"], frame["v_frame"]["height"]) == (info["width"], info["height"])
    # The first interface, whose samples are compared with FFmpeg elsewhere, has the same ones.
    other, source = Memory(info["img_buf_size"]), Memory(data)
    desc, channel = acl.media.dvpp_create_pic_desc(), acl.media.dvpp_create_channel_desc()
    assert acl.media.dvpp_create_channel(channel) == SUCCESS
    assert acl.media.dvpp_set_pic_desc_data(desc, other.address) == SUCCESS
    assert acl.media.dvpp_set_pic_desc_size(desc, other.size) == SUCCESS
    assert acl.media.dvpp_set_pic_desc_format(desc, NV12) == SUCCESS
    assert acl.media.dvpp_jpeg_decode_async(channel, source.address, source.size, desc, 0) == SUCCESS
    assert acl.rt.synchronize_stream(0) == SUCCESS
    found = output.read()
    assert found.std() > 10 and (found == other.read()).all()
    assert acl.himpi.vdec_release_frame(CHANNEL, frame) == SUCCESS
    closed()
    assert acl.media.dvpp_destroy_channel(channel) == SUCCESS
    assert acl.media.dvpp_destroy_channel_desc(channel) == SUCCESS
    assert acl.media.dvpp_destroy_pic_desc(desc) == SUCCESS
    output.free(), other.free(), source.free()


def test_a_region_of_a_jpeg_image_is_that_part_of_it():
    data = (ROOT / "examples/images/photo.jpg").read_bytes()
    info, ret = acl.himpi.dvpp_get_image_info(JPEG, {"addr": acl.util.bytes_to_ptr(data), "len": len(data)})
    assert ret == SUCCESS
    opened(JPEG, 1024, 1024)
    size, parts = (info["width"], info["height"]), []
    for margins in ({}, {"offset_top": 30, "offset_bottom": 52, "offset_left": 64, "offset_right": 16}):
        output, source = Memory(info["img_buf_size"]), Memory(data)
        form = {"vir_addr": output.address, "buffer_size": output.size, "pixel_format": NV12, **margins}
        stream = {"end_of_frame": 1, "need_display": 1, "addr": source.address, "len": source.size}
        assert acl.himpi.vdec_send_stream(CHANNEL, stream, form, -1) == SUCCESS, acl.get_recent_err_msg()
        frame, _, _, ret = acl.himpi.vdec_get_frame(CHANNEL, -1)
        assert ret == SUCCESS and frame["v_frame"]["frame_flag"] == 0
        parts.append((frame["v_frame"], samples(frame["v_frame"], output)))
        assert acl.himpi.vdec_release_frame(CHANNEL, frame) == SUCCESS
        output.free(), source.free()
    closed()
    (_, complete), (form, region) = parts
    wide, high = size[0] - 64 - 16, size[1] - 30 - 52
    assert (form["width"], form["height"]) == (wide, high)
    luma = numpy.frombuffer(complete[: size[0] * size[1]], numpy.uint8).reshape(size[1], size[0])
    assert (numpy.frombuffer(region[: wide * high], numpy.uint8).reshape(high, wide) == luma[30:-52, 64:-16]).all()
    chroma = numpy.frombuffer(complete[size[0] * size[1]:], numpy.uint8).reshape(2, size[1] // 2, size[0] // 2)
    found = numpy.frombuffer(region[wide * high:], numpy.uint8).reshape(2, high // 2, wide // 2)
    assert (found == chroma[:, 15:-26, 32:-8]).all()


def png(pixels):
    """A PNG image with those pixels, 8 bits a sample."""
    height, width, parts = pixels.shape
    chunk = lambda name, data: struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))  # noqa: E731
    color = {1: 0, 2: 4, 3: 2, 4: 6}[parts]
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, color, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


@pytest.mark.parametrize("parts", [1, 3, 4])
def test_a_png_image_has_its_pixels(parts):
    pixels = numpy.random.default_rng(parts).integers(0, 256, (45, 70, parts), dtype=numpy.uint8)
    data = png(pixels)
    # The header is read in host memory.
    info, ret = acl.himpi.png_get_image_info({"type": PNG, "addr": acl.util.bytes_to_ptr(data), "len": len(data)})
    assert ret == SUCCESS and (info["width"], info["height"]) == (70, 45)
    assert info["png_pixel_format"] == {1: 0, 3: 2, 4: 6}[parts]
    bytes_each = 4 if parts == 4 else 3
    assert (info["width_stride"], info["height_stride"]) == (128 * bytes_each, 48)
    assert acl.himpi.pngd_create_chn(CHANNEL, {"stream_que_cnt": 4, "reserved": [0, 0, 0, 0]}) == SUCCESS
    output, source = Memory(info["img_buf_size"]), Memory(data)
    form = {"picture_address": output.address, "picture_buffer_size": output.size, "picture_format": RGBA if parts == 4 else RGB}
    sent = {"type": PNG, "addr": source.address, "len": source.size, "pts": 9}
    assert acl.himpi.pngd_send_stream(CHANNEL, sent, form, -1) == SUCCESS, acl.get_recent_err_msg()
    image, back, ret = acl.himpi.pngd_get_image_data(CHANNEL, -1)
    assert ret == SUCCESS and back == {**sent, "reserved": [0, 0]}
    assert (image["picture_width"], image["picture_height"], image["picture_address"]) == (70, 45, output.address)
    row = image["picture_width_stride"]
    found = output.read()[: 45 * row].reshape(45, row)[:, : 70 * bytes_each].reshape(45, 70, bytes_each)
    assert (found == (pixels.repeat(3, 2) if parts == 1 else pixels)).all()
    assert acl.himpi.pngd_get_image_data(CHANNEL, 0) == ({}, {}, 0xA040800E)
    assert acl.himpi.pngd_destroy_chn(CHANNEL) == SUCCESS
    output.free(), source.free()


def test_what_is_refused_has_a_documented_code():
    assert acl.himpi.vdec_create_chn(CHANNEL, None) == NULL_PTR
    assert acl.himpi.vdec_create_chn(256, attributes(H264, 256, 256)) == INVALID_CHN_ID
    assert acl.himpi.vdec_destroy_chn(CHANNEL) == UNEXIST
    assert "HI_ERR_VDEC_UNEXIST" in acl.get_recent_err_msg()
    assert acl.himpi.vdec_get_chn_param(CHANNEL) == ({}, UNEXIST)
    assert acl.himpi.vdec_get_frame(CHANNEL, 0) == ({}, {}, {}, UNEXIST)
    assert acl.himpi.vdec_get_fd(CHANNEL) == -1
    assert acl.himpi.vdec_get_tmv_buf_size(JPEG, 128, 128) == 0
    opened(H264)
    assert acl.himpi.vdec_send_stream(CHANNEL, {"need_display": 1}, {}, 0) == ILLEGAL_PARAM
    assert acl.himpi.vdec_release_frame(CHANNEL, {"pool_id": 3}) == ILLEGAL_PARAM
    with pytest.raises(TypeError, match="acl.himpi.vdec_send_stream args parse failed"):
        acl.himpi.vdec_send_stream(CHANNEL, 3, {}, 0)
    with pytest.raises(TypeError):
        acl.himpi.vdec_send_stream(CHANNEL, {"addr": "text"}, {}, 0)
    closed()


def test_a_damaged_packet_is_a_frame_with_a_flag():
    opened(H264)
    output = Memory(256 * 256 * 3 // 2)
    send(Memory(bytes(range(200))), output, end_of_stream=1)
    frame, _, _, ret = acl.himpi.vdec_get_frame(CHANNEL, -1)
    assert ret == SUCCESS and frame["v_frame"]["frame_flag"] == 1
    status, _ = acl.himpi.vdec_query_status(CHANNEL)
    assert sum(status["dec_err"].values()) == 1 and status["dec_stream_frames"] == 0
    assert (output.read() == 0xEE).all()
    assert acl.himpi.vdec_release_frame(CHANNEL, frame) == SUCCESS
    closed()
    output.free()
