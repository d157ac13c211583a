"""Images (DVPP) compared with libjpeg-turbo, OpenCV and plain copies: `cargo xtask bench images`.

The work alternates with that of the peer in one run, each with one thread. Prints a line of JSON for each figure, as jumar-bench does.

Usage: images.py LIBJPEG_TURBO, the program of crates/jumar-dvpp/examples/libjpeg_turbo.rs
"""

import ctypes
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import acl
import cv2
import numpy as np

WIDTH, HEIGHT = 1920, 1080
# What JPEGD aligns to: rows of 1,088 lines.
LINES = 1088
NV12 = 1
# A row has at least so many rounds, and up to so many while they take less than a second.
ROUNDS, MOST_ROUNDS = 101, 2001
HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2


def check(ret):
    if ret != 0:
        raise RuntimeError(f"{ret}: {acl.get_recent_err_msg()}")


def photo(width, height):
    """An NV12 image with edges, gradients and a little noise, as planes of bytes."""
    random = np.random.default_rng(1)
    y, x = np.mgrid[0:height, 0:width]
    luma = 96 + 64 * np.sin(x / 37) * np.cos(y / 53) + 32 * ((x // 120 + y // 90) % 2)
    luma = np.clip(luma + random.normal(0, 3, luma.shape), 0, 255)
    chroma = 128 + 48 * np.sin(np.mgrid[0 : height // 2, 0:width][1] / 97)
    return np.vstack([luma, chroma]).astype(np.uint8)


class Image:
    """An NV12 image in device memory, with its description."""

    def __init__(self, width, height, lines=None, pixels=None):
        self.width, self.lines = width, lines or height
        self.size = width * self.lines * 3 // 2
        self.data, ret = acl.media.dvpp_malloc(self.size)
        check(ret)
        self.desc = acl.media.dvpp_create_pic_desc()
        for name, value in [
            ("data", self.data),
            ("size", self.size),
            ("format", NV12),
            ("width", width),
            ("height", height),
            ("width_stride", width),
            ("height_stride", self.lines),
        ]:
            check(getattr(acl.media, f"dvpp_set_pic_desc_{name}")(self.desc, value))
        pixels = np.zeros(self.size, np.uint8) if pixels is None else np.ascontiguousarray(pixels)
        check(acl.rt.memcpy(self.data, self.size, pixels.ctypes.data, pixels.nbytes, HOST_TO_DEVICE))

    def pixels(self):
        found = np.empty(self.size, np.uint8)
        check(acl.rt.memcpy(found.ctypes.data, self.size, self.data, self.size, DEVICE_TO_HOST))
        return found.reshape(-1, self.width)

    def free(self):
        check(acl.media.dvpp_free(self.data))
        check(acl.media.dvpp_destroy_pic_desc(self.desc))


class Peer:
    """libjpeg-turbo in a process of its own, which times itself."""

    def __init__(self, program, path):
        self.process = subprocess.Popen([program, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def milliseconds(self, what):
        self.process.stdin.write(what + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=10)


def timed(function):
    start = time.perf_counter()
    function()
    return (time.perf_counter() - start) * 1e3


def compare(what, ours, theirs, peer, most):
    """Measures two functions that return milliseconds, one after the other in each round."""
    ours(), theirs()
    rounds = int(1e3 / (ours() + theirs()))
    pairs = [(ours(), theirs()) for _ in range(min(max(rounds, ROUNDS), MOST_ROUNDS))]
    value, limit = (statistics.median(column) for column in zip(*pairs))
    line = {"what": what, "value": value, "unit": "ms", "limit": [peer, limit], "target": {"Ratio": most}}
    print(json.dumps(line), flush=True)


def agrees(what, found, expected, most):
    worst = int(np.abs(found.astype(int) - expected.astype(int)).max())
    if worst > most:
        raise RuntimeError(f"{what} differs by {worst}")


def encoded(channel, image, stream):
    """Encodes an image with quality 90; returns a function that does it again, and the bytes."""
    config = acl.media.dvpp_create_jpege_config()
    check(acl.media.dvpp_set_jpege_config_level(config, 90))
    bound, ret = acl.media.dvpp_jpeg_predict_enc_size(image.desc, config)
    check(ret)
    data, ret = acl.media.dvpp_malloc(bound)
    check(ret)
    size = np.zeros(1, np.uint32)

    def encode():
        size[0] = bound
        check(acl.media.dvpp_jpeg_encode_async(channel, image.desc, data, size.ctypes.data, config, stream))
        check(acl.rt.synchronize_stream(stream))

    encode()
    found = np.empty(size[0], np.uint8)
    check(acl.rt.memcpy(found.ctypes.data, found.nbytes, data, found.nbytes, DEVICE_TO_HOST))
    return encode, data, found


def jpeg(channel, stream, program):
    source = Image(WIDTH, HEIGHT, pixels=photo(WIDTH, HEIGHT))
    target = Image(WIDTH, HEIGHT, LINES)
    encode, data, found = encoded(channel, source, stream)

    def decode():
        check(acl.media.dvpp_jpeg_decode_async(channel, data, found.nbytes, target.desc, stream))
        check(acl.rt.synchronize_stream(stream))

    decode()
    gray = cv2.imdecode(found, cv2.IMREAD_GRAYSCALE)
    agrees("the decoded image", target.pixels()[:HEIGHT], gray, 1)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "photo.jpg"
        path.write_bytes(found.tobytes())
        peer = Peer(program, path)
        name = "libjpeg-turbo"
        compare("JPEG 1080p to NV12", lambda: timed(decode), lambda: peer.milliseconds("decode"), name, 1.1)
        compare("NV12 1080p to JPEG, quality 90", lambda: timed(encode), lambda: peer.milliseconds("encode"), name, 1.1)
        peer.close()


def resize(channel, stream):
    side = 640
    pixels = photo(WIDTH, HEIGHT)
    source, target = Image(WIDTH, HEIGHT, pixels=pixels), Image(side, side)
    config = acl.media.dvpp_create_resize_config()
    check(acl.media.dvpp_set_resize_config_interpolation(config, 1))

    def ours():
        check(acl.media.dvpp_vpc_resize_async(channel, source.desc, target.desc, config, stream))
        check(acl.rt.synchronize_stream(stream))

    chroma = pixels[HEIGHT:].reshape(HEIGHT // 2, WIDTH // 2, 2)
    luma_out, chroma_out = np.empty((side, side), np.uint8), np.empty((side // 2, side // 2, 2), np.uint8)

    def theirs():
        cv2.resize(pixels[:HEIGHT], (side, side), dst=luma_out)
        cv2.resize(chroma, (side // 2, side // 2), dst=chroma_out)

    ours(), theirs()
    agrees("the resized image", target.pixels(), np.vstack([luma_out, chroma_out.reshape(-1, side)]), 1)
    compare("NV12 1080p to 640x640, bilinear", lambda: timed(ours), lambda: timed(theirs), "OpenCV", 1.0)


def paste(channel, stream):
    count, side = 64, 128
    pixels = photo(WIDTH, HEIGHT)
    source, target = Image(WIDTH, HEIGHT, pixels=pixels), Image(WIDTH, HEIGHT)
    corners = [((i * 208) % (WIDTH - side) // 16 * 16, (i * 130) % (HEIGHT - side) // 2 * 2) for i in range(count)]
    sources, targets = acl.media.dvpp_create_batch_pic_desc(1), acl.media.dvpp_create_batch_pic_desc(count)
    for batch, number, image in [(sources, 1, source), (targets, count, target)]:
        for index in range(number):
            desc = acl.media.dvpp_get_pic_desc(batch, index)
            for name in ("data", "size", "format", "width", "height", "width_stride", "height_stride"):
                value = getattr(acl.media, f"dvpp_get_pic_desc_{name}")(image.desc)
                check(getattr(acl.media, f"dvpp_set_pic_desc_{name}")(desc, value))
    regions = [acl.media.dvpp_create_roi_config(x, x + side - 1, y, y + side - 1) for x, y in corners]

    def ours():
        _, ret = acl.media.dvpp_vpc_batch_crop_and_paste_async(
            channel, sources, [count], targets, regions, regions, stream
        )
        check(ret)
        check(acl.rt.synchronize_stream(stream))

    expected = np.zeros_like(pixels)

    def theirs():
        for x, y in corners:
            expected[y : y + side, x : x + side] = pixels[y : y + side, x : x + side]
            half = HEIGHT + y // 2
            expected[half : half + side // 2, x : x + side] = pixels[half : half + side // 2, x : x + side]

    ours(), theirs()
    agrees("the image of pasted regions", target.pixels(), expected, 0)
    compare("64 regions of 128x128 cropped and pasted", lambda: timed(ours), lambda: timed(theirs), "NumPy copies", 1.2)


FRAMES = 100
FRAME_WIDTH, FRAME_HEIGHT, FRAME_RATE = 1280, 720, 25
H264_MAIN = 2


class Video:
    """Channels of one clip: their callbacks run on a thread of their own, which takes a function for each packet or frame."""

    def __init__(self, context):
        self.context, self.ended, self.failures = context, False, []
        self.named = threading.Event()
        self.thread = threading.Thread(target=self.report, daemon=True)
        self.thread.start()
        self.named.wait()

    def report(self):
        self.id = threading.get_ident()
        check(acl.rt.set_context(self.context))
        self.named.set()
        while not self.ended:
            # It is refused while no channel names the thread, and when nothing came in time.
            if acl.rt.process_report(100) != 0:
                # Work beside it is measured meanwhile.
                time.sleep(1e-3)

    def guarded(self, function):
        """An exception in a callback is reported by the thread that waits for the clip."""

        def call(*arguments):
            try:
                function(*arguments)
            except Exception as error:
                self.failures.append(error)

        return call

    def decoder(self, number, on_frame):
        desc = acl.media.vdec_create_channel_desc()
        for name, value in [
            ("channel_id", number),
            ("thread_id", self.id),
            ("callback", self.guarded(on_frame)),
            ("entype", H264_MAIN),
            ("out_pic_format", NV12),
            ("out_mode", 1),
        ]:
            check(getattr(acl.media, f"vdec_set_channel_desc_{name}")(desc, value))
        check(acl.media.vdec_create_channel(desc))
        return desc

    def encoder(self, on_packet):
        desc = acl.media.venc_create_channel_desc()
        for name, value in [
            ("thread_id", self.id),
            ("callback", self.guarded(on_packet)),
            ("entype", H264_MAIN),
            ("pic_format", NV12),
            ("pic_width", FRAME_WIDTH),
            ("pic_height", FRAME_HEIGHT),
            ("key_frame_interval", 50),
            ("src_rate", FRAME_RATE),
            ("max_bit_rate", 4000),
        ]:
            check(getattr(acl.media, f"venc_set_channel_desc_{name}")(desc, value))
        check(acl.media.venc_create_channel(desc))
        return desc

    def end(self):
        self.ended = True
        self.thread.join()
        if self.failures:
            raise self.failures[0]


def packets_to(packets):
    """Returns a callback that adds each packet of an encoder to a list."""

    def take(_image, packet, _data):
        size = acl.media.dvpp_get_stream_desc_size(packet)
        found = np.empty(size, np.uint8)
        check(acl.rt.memcpy(found.ctypes.data, size, acl.media.dvpp_get_stream_desc_data(packet), size, DEVICE_TO_HOST))
        packets.append(found)

    return take


def encode_clip(video, images):
    """Encodes FRAMES frames; returns the packets and the milliseconds."""
    packets = []
    encoder, config = video.encoder(packets_to(packets)), acl.media.venc_create_frame_config()
    start = time.perf_counter()
    for number in range(FRAMES):
        check(acl.media.venc_send_frame(encoder, images[number % len(images)].desc, 0, config, None))
    check(acl.media.venc_destroy_channel(encoder))
    elapsed = (time.perf_counter() - start) * 1e3
    check(acl.media.venc_destroy_frame_config(config))
    check(acl.media.venc_destroy_channel_desc(encoder))
    return packets, elapsed


def decode_clip(video, packets, on_frame=None, at_end=None, images=32):
    """Decodes the packets of a clip; returns the milliseconds. `on_frame` is called for each image, `at_end` behind the last one."""
    size = max(packet.nbytes for packet in packets)
    inputs = [acl.media.dvpp_create_stream_desc() for _ in packets]
    outputs = [Image(FRAME_WIDTH, FRAME_HEIGHT) for _ in range(images)]
    memory = []
    for desc, packet in zip(inputs, packets):
        data, ret = acl.media.dvpp_malloc(size)
        check(ret)
        check(acl.rt.memcpy(data, size, packet.ctypes.data, packet.nbytes, HOST_TO_DEVICE))
        check(acl.media.dvpp_set_stream_desc_data(desc, data))
        check(acl.media.dvpp_set_stream_desc_size(desc, packet.nbytes))
        memory.append(data)

    def take(_packet, image, _data):
        if code := acl.media.dvpp_get_pic_desc_ret_code(image):
            raise RuntimeError(f"a packet has no frame: {code:#x}")
        if on_frame:
            on_frame(image)

    decoder = video.decoder(0, take)
    start = time.perf_counter()
    for number, desc in enumerate(inputs):
        # A send waits while 16 packets wait for their callbacks: an output is free again when its turn comes.
        check(acl.media.vdec_send_frame(decoder, desc, outputs[number % len(outputs)].desc, 0, None))
    check(acl.media.vdec_destroy_channel(decoder))
    if at_end:
        at_end()
    elapsed = (time.perf_counter() - start) * 1e3
    check(acl.media.vdec_destroy_channel_desc(decoder))
    for desc, data in zip(inputs, memory):
        check(acl.media.dvpp_destroy_stream_desc(desc))
        check(acl.media.dvpp_free(data))
    for output in outputs:
        output.free()
    return elapsed


def against_real_time(what, elapsed, factor):
    """A row in milliseconds a frame, beside the time that a frame may take at `factor` times the speed of the clip."""
    most = 1e3 / FRAME_RATE / factor
    line = {"what": what, "value": elapsed / FRAMES, "unit": "ms", "limit": [f"{factor}x real time", most], "target": {"Ratio": 1.0}}
    print(json.dumps(line), flush=True)


class Libavcodec:
    """FFmpeg's decoder of H.264, called directly with one thread."""

    # AVPacket.data
    DATA = 24

    def __init__(self):
        for version in (61, 60, 59, 58):
            try:
                self.library = ctypes.CDLL(f"libavcodec.so.{version}")
            except OSError:
                continue
            break
        else:
            raise OSError("there is no libavcodec 58 to 61")
        for name in ("avcodec_find_decoder_by_name", "avcodec_alloc_context3", "av_packet_alloc", "av_frame_alloc"):
            getattr(self.library, name).restype = ctypes.c_void_p
        self.codec = ctypes.c_void_p(self.library.avcodec_find_decoder_by_name(b"h264"))
        self.packet = ctypes.c_void_p(self.library.av_packet_alloc())
        self.frame = ctypes.c_void_p(self.library.av_frame_alloc())

    def receive(self, context):
        count = 0
        while self.library.avcodec_receive_frame(context, self.frame) >= 0:
            count += 1
        return count

    def milliseconds(self, packets):
        context = ctypes.c_void_p(self.library.avcodec_alloc_context3(self.codec))
        self.library.av_opt_set_int(context, b"threads", ctypes.c_int64(1), 0)
        if self.library.avcodec_open2(context, self.codec, None) < 0:
            raise RuntimeError("avcodec_open2 failed")
        frames = 0
        start = time.perf_counter()
        for packet in packets:
            self.library.av_new_packet(self.packet, packet.nbytes)
            data = ctypes.c_void_p.from_address(self.packet.value + self.DATA).value
            ctypes.memmove(data, packet.ctypes.data, packet.nbytes)
            if self.library.avcodec_send_packet(context, self.packet) < 0:
                raise RuntimeError("avcodec_send_packet failed")
            self.library.av_packet_unref(self.packet)
            frames += self.receive(context)
        self.library.avcodec_send_packet(context, None)
        frames += self.receive(context)
        elapsed = (time.perf_counter() - start) * 1e3
        self.library.avcodec_free_context(ctypes.byref(context))
        if frames != len(packets):
            raise RuntimeError(f"{frames} of {len(packets)} frames were decoded")
        return elapsed


def ffmpeg_row(video, packets):
    """A clip that VDEC decodes through libavcodec, against the same library called directly: at least 0.6 times its speed."""
    try:
        direct = Libavcodec()
    except OSError as error:
        print(f"no row for VDEC through FFmpeg: {error}", flush=True)
        return
    os.environ["JUMAR_FFMPEG"] = "1"
    rounds = [(decode_clip(video, packets), direct.milliseconds(packets)) for _ in range(6)][1:]
    os.environ["JUMAR_FFMPEG"] = "0"
    ours, theirs = sorted(rounds, key=lambda row: row[0] / row[1])[len(rounds) // 2]
    line = {
        "what": "VDEC through FFmpeg, H.264 720p, a frame",
        "value": ours / FRAMES,
        "unit": "ms",
        "limit": ["libavcodec called directly", theirs / FRAMES],
        "target": {"Ratio": 1.67},
    }
    print(json.dumps(line), flush=True)


SIDE = 640


def network(folder):
    """Converts a small network over an NV12 image of SIDE pixels, and returns its file."""
    from onnx import TensorProto, helper, numpy_helper, save

    random = np.random.default_rng(5)
    nodes, weights = [helper.make_node("Cast", ["image"], ["x0"], to=TensorProto.FLOAT)], []
    channels = 1
    for index, (filters, step) in enumerate([(16, 4), (32, 2), (64, 2), (64, 2)]):
        values = random.normal(0, 0.05, (filters, channels, 3, 3)).astype(np.float32)
        weights.append(numpy_helper.from_array(values, f"w{index}"))
        inputs = [f"x{index}", f"w{index}"]
        nodes.append(helper.make_node("Conv", inputs, [f"c{index}"], strides=[step, step], pads=[1, 1, 1, 1]))
        nodes.append(helper.make_node("Relu", [f"c{index}"], [f"x{index + 1}"]))
        channels = filters
    nodes.append(helper.make_node("GlobalAveragePool", [f"x{index + 1}"], ["scores"]))
    image = helper.make_tensor_value_info("image", TensorProto.UINT8, [1, 1, SIDE * 3 // 2, SIDE])
    scores = helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, channels, 1, 1])
    graph = helper.make_graph(nodes, "detector", [image], [scores], weights)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "network.onnx")
    convert = ["atc", f"--model={folder}/network.onnx", "--framework=5", f"--output={folder}/network", "--soc_version=Ascend910B1"]
    done = subprocess.run(convert, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"atc: {done.stdout}{done.stderr}")
    return folder / "network.om"


class Detector:
    """Resizes an image and runs a network over it, on a stream of its own."""

    def __init__(self):
        with tempfile.TemporaryDirectory() as folder:
            self.model, ret = acl.mdl.load_from_file(str(network(pathlib.Path(folder))))
            check(ret)
        self.stream, ret = acl.rt.create_stream()
        check(ret)
        self.channel = acl.media.dvpp_create_channel_desc()
        check(acl.media.dvpp_create_channel(self.channel))
        self.config = acl.media.dvpp_create_resize_config()
        self.image = Image(SIDE, SIDE)
        desc = acl.mdl.create_desc()
        check(acl.mdl.get_desc(desc, self.model))
        size = acl.mdl.get_output_size_by_index(desc, 0)
        self.scores, ret = acl.rt.malloc(size, 0)
        check(ret)
        self.inputs, self.outputs = acl.mdl.create_dataset(), acl.mdl.create_dataset()
        for dataset, data, length in [(self.inputs, self.image.data, self.image.size), (self.outputs, self.scores, size)]:
            _, ret = acl.mdl.add_dataset_buffer(dataset, acl.create_data_buffer(data, length))
            check(ret)

    def resize(self, desc):
        check(acl.media.dvpp_vpc_resize_async(self.channel, desc, self.image.desc, self.config, self.stream))

    def run(self):
        check(acl.mdl.execute_async(self.model, self.inputs, self.outputs, self.stream))

    def wait(self):
        check(acl.rt.synchronize_stream(self.stream))

    def close(self):
        check(acl.media.dvpp_destroy_channel(self.channel))
        check(acl.rt.destroy_stream(self.stream))
        check(acl.mdl.unload(self.model))
        check(acl.rt.free(self.scores))
        self.image.free()


def pipeline_row(video, packets, images, ffmpeg=False):
    """A clip that is decoded, resized, seen by a network and encoded, against the slowest of the four parts alone. The row states too
    the processor time of the four parts divided by the cores: no order of the work is faster. Each channel has a thread for its
    callbacks, so that the encoder holds the decoder back."""
    if ffmpeg:
        try:
            Libavcodec()
        except OSError as error:
            print(f"no row for the pipeline through FFmpeg: {error}", flush=True)
            return
    detector = Detector()

    def repeated(work):
        for _ in range(FRAMES):
            work()
        detector.wait()

    context, ret = acl.rt.get_context()
    check(ret)
    behind = Video(context)

    def together():
        coded = []
        encoder, config = behind.encoder(packets_to(coded)), acl.media.venc_create_frame_config()

        def on_frame(image):
            detector.resize(image)
            detector.run()
            check(acl.media.venc_send_frame(encoder, image, 0, config, None))

        def at_end():
            check(acl.media.venc_destroy_channel(encoder))
            detector.wait()

        elapsed = decode_clip(video, packets, on_frame, at_end, images=FRAMES)
        check(acl.media.venc_destroy_frame_config(config))
        check(acl.media.venc_destroy_channel_desc(encoder))
        if len(coded) != FRAMES:
            raise RuntimeError(f"{len(coded)} of {FRAMES} frames were encoded")
        return elapsed

    parts = {
        "VDEC": lambda: decode_clip(video, packets),
        "VPC": lambda: timed(lambda: repeated(lambda: detector.resize(images[0].desc))),
        "model": lambda: timed(lambda: repeated(detector.run)),
        "VENC": lambda: encode_clip(video, images)[1],
    }
    os.environ["JUMAR_FFMPEG"] = "1" if ffmpeg else "0"
    rounds = []
    for _ in range(9):
        began = time.process_time()
        alone = {name: part() for name, part in parts.items()}
        work = (time.process_time() - began) * 1e3
        rounds.append((together(), alone, work))
    os.environ["JUMAR_FFMPEG"] = "0"
    rounds.sort(key=lambda row: row[0] / max(row[1].values()))
    elapsed, alone, work = rounds[len(rounds) // 2]
    slowest = max(alone, key=alone.get)
    for name, time_alone in alone.items():
        print(f"{name} alone: {time_alone / FRAMES:.3g} ms a frame", flush=True)
    cores = len(os.sched_getaffinity(0))
    decoder = "VDEC through FFmpeg" if ffmpeg else "VDEC"
    line = {
        "what": f"{decoder}, VPC, model and VENC side by side, 720p, a frame",
        "value": elapsed / FRAMES,
        "unit": "ms",
        "limit": [f"the slowest alone, {slowest}", alone[slowest] / FRAMES],
        "also": [[f"the processor time of all four on {cores} cores", work / FRAMES / cores]],
        "target": {"Ratio": 1.15},
    }
    print(json.dumps(line), flush=True)
    behind.end()
    detector.close()


def video_rows():
    """Decoding and encoding of a clip with 1280x720 pixels at 25 frames a second, against real time, and both in a pipeline."""
    context, ret = acl.rt.get_context()
    check(ret)
    pixels = photo(FRAME_WIDTH, FRAME_HEIGHT)
    images = [Image(FRAME_WIDTH, FRAME_HEIGHT, pixels=np.roll(pixels, 4 * shift, axis=1)) for shift in range(8)]
    video = Video(context)
    packets, _ = encode_clip(video, images)
    if len(packets) != FRAMES:
        raise RuntimeError(f"{len(packets)} of {FRAMES} frames were encoded")
    against_real_time("VENC H.264 720p, a frame", statistics.median(encode_clip(video, images)[1] for _ in range(3)), 2)
    against_real_time("VDEC H.264 720p, a frame", statistics.median(decode_clip(video, packets) for _ in range(3)), 4)
    ffmpeg_row(video, packets)
    pipeline_row(video, packets, images)
    pipeline_row(video, packets, images, ffmpeg=True)
    video.end()
    for image in images:
        image.free()


def main():
    cv2.setNumThreads(1)
    check(acl.init())
    check(acl.rt.set_device(0))
    stream, ret = acl.rt.create_stream()
    check(ret)
    channel = acl.media.dvpp_create_channel_desc()
    check(acl.media.dvpp_create_channel(channel))
    jpeg(channel, stream, sys.argv[1])
    resize(channel, stream)
    paste(channel, stream)
    video_rows()
    check(acl.media.dvpp_destroy_channel(channel))
    check(acl.rt.reset_device(0))
    check(acl.finalize())


if __name__ == "__main__":
    main()
