"""Decoding of the first interface (`acl.media.vdec...`): the committed clips against the digests of what FFmpeg decodes, and misuse."""

import threading

import numpy
import pytest
from test_second_decoder import SUCCESS, clips, digest

import acl

media = acl.media
H264_MAIN, H265_MAIN, NV12 = 2, 0, 1
H2D, D2H = 1, 2
INVALID, OUTPUT_TOO_SMALL, NOT_WRITTEN, FRAME_FAILED, OTHER_CODEC = 100000, 4, 1, 0x10004, 0x10009
SECOND_FIELD = 0x20000
CHANNEL = 12


class Packet:
    """A packet in device memory, with its description."""

    def __init__(self, content=b"", eos=0):
        self.desc, self.data = media.dvpp_create_stream_desc(), 0
        if content:
            self.data, ret = media.dvpp_malloc(len(content))
            assert ret == SUCCESS
            assert acl.rt.memcpy(self.data, len(content), acl.util.bytes_to_ptr(content), len(content), H2D) == SUCCESS
            assert media.dvpp_set_stream_desc_data(self.desc, self.data) == SUCCESS
            assert media.dvpp_set_stream_desc_size(self.desc, len(content)) == SUCCESS
        assert media.dvpp_set_stream_desc_eos(self.desc, eos) == SUCCESS

    def free(self):
        assert not self.data or media.dvpp_free(self.data) == SUCCESS
        assert media.dvpp_destroy_stream_desc(self.desc) == SUCCESS


class Output:
    """Memory for a frame, with its description."""

    def __init__(self, size):
        self.size, self.desc = size, media.dvpp_create_pic_desc()
        self.data, ret = media.dvpp_malloc(size)
        assert ret == SUCCESS
        assert media.dvpp_set_pic_desc_data(self.desc, self.data) == SUCCESS
        assert media.dvpp_set_pic_desc_size(self.desc, size) == SUCCESS

    def samples(self):
        """The planes Y, U and V, without gaps between rows."""
        data = bytes(self.size)
        assert acl.rt.memcpy(acl.util.bytes_to_ptr(data), self.size, self.data, self.size, D2H) == SUCCESS
        get = lambda name: getattr(media, f"dvpp_get_pic_desc_{name}")(self.desc)
        width, row, rows = get("width"), get("width_stride"), get("height_stride")
        planes = numpy.frombuffer(data, numpy.uint8)
        luma = planes[: row * get("height")].reshape(-1, row)[:, :width]
        chroma = planes[row * rows :][: row * (get("height") // 2)].reshape(-1, row)[:, :width]
        return b"".join(plane.tobytes() for plane in (luma, chroma[:, 0::2], chroma[:, 1::2]))

    def free(self):
        assert media.dvpp_free(self.data) == SUCCESS
        assert media.dvpp_destroy_pic_desc(self.desc) == SUCCESS


class Channel:
    """A decoding channel with a thread for its callbacks. `codes` has the number and the result code of each packet, in order."""

    def __init__(self, coding, mode=0, inside=None):
        self.codes, self.ended, self.inside = [], False, inside
        context, ret = acl.rt.get_context()
        assert ret == SUCCESS
        named = threading.Event()
        self.thread = threading.Thread(target=self.report, args=(context, named))
        self.thread.start()
        assert named.wait(30)
        self.desc = media.vdec_create_channel_desc()
        settings = {"channel_id": CHANNEL, "thread_id": self.id, "callback": self.frame, "entype": coding}
        settings |= {"out_pic_format": NV12, "out_mode": mode}
        for name, value in settings.items():
            assert getattr(media, f"vdec_set_channel_desc_{name}")(self.desc, value) == SUCCESS
        self.created = media.vdec_create_channel(self.desc)

    def report(self, context, named):
        self.id = threading.get_ident()
        assert acl.rt.set_context(context) == SUCCESS
        named.set()
        while not self.ended:
            acl.rt.process_report(100)

    def frame(self, _packet, output, number):
        if self.inside:
            self.inside(self)
        self.codes.append((number, media.dvpp_get_pic_desc_ret_code(output)))

    def send(self, packet, output, number):
        assert media.vdec_send_frame(self.desc, packet.desc, output.desc, 0, number) == SUCCESS

    def close(self):
        if self.created == SUCCESS:
            assert media.vdec_destroy_channel(self.desc) == SUCCESS
        self.ended = True
        self.thread.join(30)
        assert not self.thread.is_alive()
        assert media.vdec_destroy_channel_desc(self.desc) == SUCCESS


def decode(coding, packets, sizes, mode=0, inside=None, before_end=None):
    """Decodes packets. Returns what each callback reported, and the outputs."""
    inputs, outputs = [Packet(packet) for packet in packets], [Output(size) for size in sizes]
    channel = Channel(coding, mode, inside)
    assert channel.created == SUCCESS
    for number, (packet, output) in enumerate(zip(inputs, outputs)):
        channel.send(packet, output, number)
    if before_end:
        before_end(outputs)
    channel.close()
    for packet in inputs:
        packet.free()
    return channel.codes, outputs


def clip(name):
    return next(param.values for param in clips() if param.id == name)


@pytest.fixture(autouse=True)
def use_device(device):
    yield


@pytest.mark.parametrize(("case", "packets"), list(clips()))
def test_clips_are_decoded_as_by_ffmpeg(case, packets):
    coding = H264_MAIN if case["codec"] == "h264" else H265_MAIN
    codes, outputs = decode(coding, packets, [192 * 192 * 3 // 2] * len(packets))
    assert [entry for entry in codes if entry[1] != SECOND_FIELD] == [(frame["packet"], 0) for frame in case["frames"]]
    # Each packet has one callback; that of the second field of a frame states that there is no frame.
    assert sorted(number for number, _ in codes) == list(range(len(packets)))
    for frame in case["frames"]:
        output = outputs[frame["packet"]]
        assert media.dvpp_get_pic_desc_width(output.desc) == frame["width"]
        assert media.dvpp_get_pic_desc_height(output.desc) == frame["height"]
        assert digest(output.samples()) == frame["digest"], frame
    for output in outputs:
        output.free()


def test_packets_of_the_other_codec_are_reported():
    for coding, name in ((H264_MAIN, "hevc main"), (H265_MAIN, "h264 baseline")):
        _, packets = clip(name)
        codes, outputs = decode(coding, packets[:1], [32768])
        assert codes == [(0, OTHER_CODEC)]
        outputs[0].free()


def test_frames_before_a_key_frame_are_reported():
    for coding, name in ((H264_MAIN, "h264 baseline"), (H265_MAIN, "hevc main")):
        _, packets = clip(name)
        codes, outputs = decode(coding, [packets[1], packets[0], packets[1]], [32768] * 3)
        assert sorted(codes) == [(0, FRAME_FAILED), (1, 0), (2, 0)]
        for output in outputs:
            output.free()


def test_an_output_that_is_too_small_is_reported_and_not_written_beyond():
    _, packets = clip("h264 baseline")
    codes, outputs = decode(H264_MAIN, packets[:2], [128 * 128 * 3 // 2 - 1, 128 * 128 * 3 // 2])
    assert codes == [(0, OUTPUT_TOO_SMALL), (1, 0)]
    for output in outputs:
        output.free()


def test_the_end_of_a_channel_or_of_its_stream_is_refused_inside_a_callback():
    _, packets = clip("h264 baseline")
    answers = []

    def inside(channel):
        last = Packet(eos=1)
        answers.append(media.vdec_send_frame(channel.desc, last.desc, 0, 0, None))
        answers.append(media.vdec_destroy_channel(channel.desc))
        last.free()

    codes, outputs = decode(H264_MAIN, packets[:3], [32768] * 3, inside=inside)
    assert codes == [(0, 0), (1, 0), (2, 0)]
    assert answers == [INVALID] * 6
    for output in outputs:
        output.free()


def test_memory_that_is_freed_before_its_frame_is_written_fails_the_frame():
    _, packets = clip("h264 baseline")

    def free_the_last(outputs):
        # Its frame waits for a later packet or the end of the stream.
        assert media.dvpp_free(outputs[2].data) == SUCCESS

    codes, outputs = decode(H264_MAIN, packets[:3], [32768] * 3, before_end=free_the_last)
    assert codes == [(0, 0), (1, 0), (2, NOT_WRITTEN)]
    assert media.dvpp_destroy_pic_desc(outputs[2].desc) == SUCCESS
    for output in outputs[:2]:
        output.free()
