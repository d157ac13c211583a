/* Decoding through the second interface, as programs use it: one thread sends packets, another one waits for the channel, fetches frames in the
 * order of display and releases them. The frames are those of FFmpeg and the PNG images those of Pillow, byte for byte (the cases of
 * crates/jumar-dvpp); JPEG images are those of the first interface. Damaged streams, and a program that never releases frames, end with codes. */
#include "program.h"

#include <pthread.h>

#include "acl/dvpp/hi_dvpp.h"
#include "acl/ops/acl_dvpp.h"

enum { CHANNEL = 9, LARGEST = 256, OUTPUT = LARGEST * LARGEST * 3 / 2, MOST_PACKETS = 16, QUEUE = 64, PACKET = 1 << 16 };

static aclrtContext context;

/* A file of cases: a line of JSON, then data. */
typedef struct {
    char *header;
    unsigned char *data;
} cases;

static cases read_cases(const char *name)
{
    /* This file is tests/programs/c/second_decoder.c. */
    char path[4096];
    const char *file = __FILE__, *last = strrchr(file, '/');
    snprintf(path, sizeof path, "%.*s/../../../crates/jumar-dvpp/cases/%s", last != NULL ? (int)(last - file) : 1, last != NULL ? file : ".", name);
    FILE *stream = fopen(path, "rb");
    REQUIRE(stream != NULL);
    REQUIRE(fseek(stream, 0, SEEK_END) == 0);
    long size = ftell(stream);
    rewind(stream);
    cases found;
    found.header = (char *)malloc((size_t)size + 1);
    REQUIRE(found.header != NULL && fread(found.header, 1, (size_t)size, stream) == (size_t)size);
    found.header[size] = 0;
    fclose(stream);
    char *end = (char *)memchr(found.header, '\n', (size_t)size);
    REQUIRE(end != NULL);
    *end = 0;
    found.data = (unsigned char *)end + 1;
    return found;
}

/* The text behind the next occurrence of a key. */
static char *behind(char *text, const char *key)
{
    char *found = strstr(text, key);
    return found != NULL ? found + strlen(key) : NULL;
}

static hi_vdec_chn_attr attributes(hi_payload_type type)
{
    hi_vdec_chn_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.type = type;
    attr.mode = HI_VDEC_SEND_MODE_FRAME;
    attr.pic_width = LARGEST;
    attr.pic_height = LARGEST;
    attr.stream_buf_size = OUTPUT;
    attr.video_attr.ref_frame_num = 12;
    attr.video_attr.temporal_mvp_en = HI_TRUE;
    attr.video_attr.tmv_buf_size = hi_vdec_get_tmv_buf_size(type, LARGEST, LARGEST);
    return attr;
}

static void open_channel(hi_payload_type type, hi_video_out_order order)
{
    hi_vdec_chn_attr attr = attributes(type);
    CHECK(hi_mpi_vdec_create_chn(CHANNEL, &attr));
    hi_vdec_chn_param param;
    CHECK(hi_mpi_vdec_get_chn_param(CHANNEL, &param));
    param.video_param.out_order = order;
    CHECK(hi_mpi_vdec_set_chn_param(CHANNEL, &param));
    CHECK(hi_mpi_vdec_start_recv_stream(CHANNEL));
}

/* Sends bytes with an output of their own; both are freed when the frame was fetched. */
static int send_bytes(const unsigned char *bytes, hi_u32 size, hi_u64 time, hi_pixel_format format, hi_s32 patience)
{
    hi_vdec_stream stream;
    hi_vdec_pic_info pic;
    memset(&stream, 0, sizeof stream);
    memset(&pic, 0, sizeof pic);
    void *memory = NULL, *output = NULL;
    CHECK(hi_mpi_dvpp_malloc(0, &memory, size));
    CHECK(hi_mpi_dvpp_malloc(0, &output, OUTPUT));
    CHECK(aclrtMemcpy(memory, size, bytes, size, ACL_MEMCPY_HOST_TO_DEVICE));
    stream.addr = (hi_u8 *)memory;
    stream.len = size;
    stream.pts = time;
    stream.end_of_frame = HI_TRUE;
    stream.need_display = HI_TRUE;
    pic.vir_addr = (hi_u64)(uintptr_t)output;
    pic.buffer_size = OUTPUT;
    pic.pixel_format = format;
    int code = hi_mpi_vdec_send_stream(CHANNEL, &stream, &pic, patience);
    if (code != HI_SUCCESS) {
        CHECK(hi_mpi_dvpp_free(memory));
        CHECK(hi_mpi_dvpp_free(output));
    }
    return code;
}

static void send_end(void)
{
    hi_vdec_stream stream;
    hi_vdec_pic_info pic;
    memset(&stream, 0, sizeof stream);
    memset(&pic, 0, sizeof pic);
    stream.end_of_stream = HI_TRUE;
    CHECK(hi_mpi_vdec_send_stream(CHANNEL, &stream, &pic, -1));
}

/* What a fetched frame needs no more. */
static void finish(const hi_video_frame_info *frame, const hi_vdec_stream *stream)
{
    CHECK(hi_mpi_vdec_release_frame(CHANNEL, frame));
    CHECK(hi_mpi_dvpp_free(stream->addr));
    CHECK(hi_mpi_dvpp_free(frame->v_frame.virt_addr[0]));
}

/* The digest (FNV-1a) of the planes Y, U and V of a frame in NV12. */
static uint64_t digest(const hi_video_frame *frame)
{
    static unsigned char pixels[OUTPUT];
    hi_u32 stride = frame->width_stride[0], rows = frame->height_stride[0];
    REQUIRE((char *)frame->virt_addr[1] - (char *)frame->virt_addr[0] == (long)stride * rows);
    size_t size = (size_t)stride * rows * 3 / 2;
    REQUIRE(size <= OUTPUT);
    CHECK(aclrtMemcpy(pixels, OUTPUT, frame->virt_addr[0], size, ACL_MEMCPY_DEVICE_TO_HOST));
    uint64_t value = 0xCBF29CE484222325u;
    for (int plane = 0; plane < 3; plane++) {
        int half = plane > 0;
        for (hi_u32 y = 0; y < frame->height >> half; y++) {
            for (hi_u32 x = 0; x < frame->width >> half; x++) {
                size_t at = half ? (size_t)stride * rows + (size_t)y * stride + 2 * x + (size_t)plane - 1 : (size_t)y * stride + x;
                value = (value ^ pixels[at]) * 0x100000001B3u;
            }
        }
    }
    return value;
}

/* A clip: its packets, and its frames in the order of display. */
typedef struct {
    hi_payload_type type;
    int packets, frames;
    const unsigned char *bytes[MOST_PACKETS];
    hi_u32 sizes[MOST_PACKETS];
    int of_packet[MOST_PACKETS];
    hi_u32 widths[MOST_PACKETS], heights[MOST_PACKETS];
    uint64_t digests[MOST_PACKETS];
} clip;

static void *send_clip(void *argument)
{
    const clip *sent = (const clip *)argument;
    CHECK(aclrtSetCurrentContext(context));
    for (int n = 0; n < sent->packets; n++) {
        CHECK(send_bytes(sent->bytes[n], sent->sizes[n], (hi_u64)n, HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420, -1));
    }
    send_end();
    return NULL;
}

/* Fetches the frame of a packet; n frames were fetched before. Returns how many were then: the second field of a frame has none. */
static int check_frame(const clip *sent, int n)
{
    hi_video_frame_info frame;
    hi_vdec_supplement_info supplement;
    hi_vdec_stream stream;
    CHECK(hi_mpi_vdec_get_frame(CHANNEL, &frame, &supplement, &stream, -1));
    REQUIRE(supplement.type == sent->type);
    if (frame.v_frame.frame_flag == 2) {
        for (int other = 0; other < sent->frames; other++) {
            REQUIRE((int)stream.pts != sent->of_packet[other]);
        }
        finish(&frame, &stream);
        return n;
    }
    REQUIRE(frame.v_frame.frame_flag == 0 && n < sent->frames);
    REQUIRE((int)frame.v_frame.pts == sent->of_packet[n] && (int)stream.pts == sent->of_packet[n]);
    REQUIRE(stream.len == sent->sizes[sent->of_packet[n]]);
    REQUIRE(frame.v_frame.width == sent->widths[n] && frame.v_frame.height == sent->heights[n]);
    REQUIRE(digest(&frame.v_frame) == sent->digests[n]);
    finish(&frame, &stream);
    return n + 1;
}

static void check_empty(void)
{
    hi_video_frame_info frame;
    hi_vdec_chn_status status;
    EXPECT(HI_ERR_VDEC_BUF_EMPTY, hi_mpi_vdec_get_frame(CHANNEL, &frame, NULL, NULL, 0));
    CHECK(hi_mpi_vdec_query_status(CHANNEL, &status));
    REQUIRE(status.left_stream_bytes == 0 && status.left_stream_frames == 0 && status.left_decoded_frames == 0);
}

static void decode_clip(clip *sent)
{
    open_channel(sent->type, HI_VIDEO_OUT_ORDER_DISPLAY);
    hi_s32 set = -1, events = -1;
    CHECK(hi_mpi_sys_create_epoll(1, &set));
    hi_dvpp_epoll_event event, seen[2];
    event.events = HI_DVPP_EPOLL_IN;
    event.data = sent;
    int descriptor = hi_mpi_vdec_get_fd(CHANNEL);
    CHECK(hi_mpi_sys_ctl_epoll(set, HI_DVPP_EPOLL_CTL_ADD, descriptor, &event));
    pthread_t sender;
    REQUIRE(pthread_create(&sender, NULL, send_clip, sent) == 0);
    int fetched = 0;
    for (int n = 0; n < sent->packets; n++) {
        CHECK(hi_mpi_sys_wait_epoll(set, seen, 2, (hi_s32)(1000 * PATIENCE_S), &events));
        REQUIRE(events == 1 && seen[0].data == sent && (seen[0].events & HI_DVPP_EPOLL_IN) != 0);
        fetched = check_frame(sent, fetched);
    }
    REQUIRE(fetched == sent->frames);
    REQUIRE(pthread_join(sender, NULL) == 0);
    check_empty();
    CHECK(hi_mpi_sys_wait_epoll(set, seen, 2, 0, &events));
    REQUIRE(events == 0);
    CHECK(hi_mpi_sys_ctl_epoll(set, HI_DVPP_EPOLL_CTL_DEL, descriptor, NULL));
    CHECK(hi_mpi_sys_close_epoll(set));
    CHECK(hi_mpi_vdec_stop_recv_stream(CHANNEL));
    CHECK(hi_mpi_vdec_destroy_chn(CHANNEL));
}

/* Fetches what is there after the end of a stream; each packet has one frame. */
static void drain(int packets)
{
    for (int n = 0; n < packets; n++) {
        hi_video_frame_info frame;
        hi_vdec_stream stream;
        CHECK(hi_mpi_vdec_get_frame(CHANNEL, &frame, NULL, &stream, -1));
        REQUIRE(frame.v_frame.frame_flag <= 2);
        finish(&frame, &stream);
    }
    check_empty();
}

static void decode_damaged(const clip *sent)
{
    static unsigned char bytes[PACKET];
    uint32_t random = 7;
    for (int round = 0; round < 20; round++) {
        open_channel(sent->type, round % 2 == 0 ? HI_VIDEO_OUT_ORDER_DISPLAY : HI_VIDEO_OUT_ORDER_DEC);
        for (int n = 0; n < sent->packets; n++) {
            memcpy(bytes, sent->bytes[n], sent->sizes[n]);
            for (int bit = 0; bit < 3; bit++) {
                random = random * 1664525u + 1013904223u;
                bytes[(random >> 8) % sent->sizes[n]] ^= (unsigned char)(1u << (random & 7));
            }
            hi_u32 size = sent->sizes[n];
            if (round % 5 == 4) {
                size = 1 + (random >> 8) % size;
            }
            CHECK(send_bytes(bytes, size, (hi_u64)n, HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420, -1));
        }
        send_end();
        drain(sent->packets);
        CHECK(hi_mpi_vdec_destroy_chn(CHANNEL));
    }
}

/* A baseline stream, one packet at a time; the channel refuses packets while the program keeps all of its frames. */
static void keep_frames(const clip *sent)
{
    static hi_video_frame_info frames[QUEUE];
    static hi_vdec_stream streams[QUEUE];
    open_channel(sent->type, HI_VIDEO_OUT_ORDER_DISPLAY);
    for (int n = 0; n < QUEUE; n++) {
        int packet = n % sent->packets;
        CHECK(send_bytes(sent->bytes[packet], sent->sizes[packet], (hi_u64)n, HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420, -1));
        CHECK(hi_mpi_vdec_get_frame(CHANNEL, &frames[n], NULL, &streams[n], (hi_s32)(1000 * PATIENCE_S)));
        REQUIRE(frames[n].v_frame.frame_flag == 0 && (int)frames[n].v_frame.pts == n);
        REQUIRE(digest(&frames[n].v_frame) == sent->digests[packet]);
    }
    int next = QUEUE % sent->packets;
    EXPECT(HI_ERR_VDEC_BUF_FULL, send_bytes(sent->bytes[next], sent->sizes[next], 0, HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420, 0));
    EXPECT(HI_ERR_VDEC_BUF_FULL, send_bytes(sent->bytes[next], sent->sizes[next], 0, HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420, 20));
    finish(&frames[0], &streams[0]);
    EXPECT(HI_ERR_VDEC_ILLEGAL_PARAM, hi_mpi_vdec_release_frame(CHANNEL, &frames[0]));
    CHECK(send_bytes(sent->bytes[next], sent->sizes[next], 0, HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420, 0));
    drain(1);
    for (int n = 1; n < QUEUE; n++) {
        finish(&frames[n], &streams[n]);
    }
    /* A channel is destroyed with frames that were not fetched. Their memory stays the program's, which leaves it behind. */
    CHECK(send_bytes(sent->bytes[0], sent->sizes[0], 0, HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420, 0));
    CHECK(hi_mpi_vdec_destroy_chn(CHANNEL));
    EXPECT(HI_ERR_VDEC_UNEXIST, hi_mpi_vdec_get_frame(CHANNEL, &frames[0], NULL, NULL, -1));
}

static void *fetch_for_ever(void *code)
{
    hi_video_frame_info frame;
    CHECK(aclrtSetCurrentContext(context));
    *(int *)code = hi_mpi_vdec_get_frame(CHANNEL, &frame, NULL, NULL, -1);
    return NULL;
}

/* A call that waits without limit ends when its channel is destroyed. */
static void destroy_while_a_call_waits(void)
{
    int code = 0;
    pthread_t waiter;
    open_channel(HI_PT_H264, HI_VIDEO_OUT_ORDER_DISPLAY);
    REQUIRE(pthread_create(&waiter, NULL, fetch_for_ever, &code) == 0);
    sleep_ms(50);
    CHECK(hi_mpi_vdec_destroy_chn(CHANNEL));
    REQUIRE(pthread_join(waiter, NULL) == 0);
    REQUIRE(code == HI_ERR_VDEC_UNEXIST);
}

static void decode_video(void)
{
    cases found = read_cases("video.bin");
    char *at = found.header;
    const unsigned char *bytes = found.data;
    int clips = 0, kept = 0;
    while ((at = behind(at, "\"codec\": \"")) != NULL) {
        clip read;
        memset(&read, 0, sizeof read);
        read.type = strncmp(at, "h264", 4) == 0 ? HI_PT_H264 : HI_PT_H265;
        at = behind(at, "\"packets\": [");
        while (*at != ']') {
            REQUIRE(read.packets < MOST_PACKETS);
            read.bytes[read.packets] = bytes;
            read.sizes[read.packets] = (hi_u32)strtoul(at, &at, 10);
            bytes += read.sizes[read.packets++];
            at += strspn(at, ", ");
        }
        char *end = strchr(at + 1, ']');
        REQUIRE(end != NULL);
        char *next;
        while ((next = behind(at, "\"packet\": ")) != NULL && next < end) {
            REQUIRE(read.frames < MOST_PACKETS);
            read.of_packet[read.frames] = (int)strtol(next, NULL, 10);
            read.widths[read.frames] = (hi_u32)strtoul(behind(next, "\"width\": "), NULL, 10);
            read.heights[read.frames] = (hi_u32)strtoul(behind(next, "\"height\": "), NULL, 10);
            at = behind(next, "\"digest\": \"");
            read.digests[read.frames++] = strtoull(at, NULL, 16);
        }
        REQUIRE(read.packets > 0 && read.frames > 0);
        decode_clip(&read);
        decode_damaged(&read);
        if (clips == 0) {
            keep_frames(&read);
            kept = 1;
        }
        clips++;
    }
    REQUIRE(clips >= 10 && kept);
    free(found.header);
}

/* The lengths of the parts that a file of cases contains. */
static char *lengths(const cases *found)
{
    char *at = behind(found->header, "\"lengths\": [");
    REQUIRE(at != NULL);
    return at;
}

static hi_u32 next_length(char **at)
{
    hi_u32 length = (hi_u32)strtoul(*at, at, 10);
    *at += strspn(*at, ", ");
    return length;
}

static void decode_png(void)
{
    static unsigned char pixels[1 << 20];
    cases found = read_cases("png.bin");
    char *length = lengths(&found), *at = found.header;
    const unsigned char *bytes = found.data;
    int images = 0;
    hi_pngd_chn_attr attr;
    memset(&attr, 0, sizeof attr);
    CHECK(hi_mpi_pngd_create_chn(CHANNEL, &attr));
    while ((at = behind(at, "\"count\": ")) != NULL) {
        hi_u32 components = (hi_u32)strtoul(at, NULL, 10);
        hi_u32 width = (hi_u32)strtoul(behind(at, "\"width\": "), NULL, 10), height = (hi_u32)strtoul(behind(at, "\"height\": "), NULL, 10);
        hi_u32 size = next_length(&length), expected = next_length(&length);
        hi_img_stream stream, sent;
        hi_pic_info pic, decoded;
        hi_img_info info;
        memset(&stream, 0, sizeof stream);
        memset(&pic, 0, sizeof pic);
        stream.type = HI_PT_PNG;
        stream.addr = (hi_u8 *)(uintptr_t)bytes;
        stream.len = size;
        stream.pts = (hi_u64)images;
        CHECK(hi_mpi_png_get_image_info(&stream, &info));
        REQUIRE(info.width == width && info.height == height);
        void *memory = NULL, *output = NULL;
        CHECK(hi_mpi_dvpp_malloc(0, &memory, size));
        CHECK(hi_mpi_dvpp_malloc(0, &output, info.img_buf_size));
        CHECK(aclrtMemcpy(memory, size, bytes, size, ACL_MEMCPY_HOST_TO_DEVICE));
        stream.addr = (hi_u8 *)memory;
        pic.picture_address = output;
        pic.picture_buffer_size = info.img_buf_size;
        pic.picture_width = info.width;
        pic.picture_height = info.height;
        pic.picture_width_stride = info.width_stride;
        pic.picture_height_stride = info.height_stride;
        pic.picture_format = HI_PIXEL_FORMAT_UNKNOWN;
        CHECK(hi_mpi_pngd_send_stream(CHANNEL, &stream, &pic, -1));
        /* The call has copied the data. */
        CHECK(aclrtMemset(memory, size, 0, size));
        CHECK(hi_mpi_pngd_get_image_data(CHANNEL, &decoded, &sent, -1));
        REQUIRE(sent.addr == memory && sent.pts == (hi_u64)images && decoded.picture_address == output);
        REQUIRE(decoded.picture_format == (components == 3 ? HI_PIXEL_FORMAT_RGB_888 : HI_PIXEL_FORMAT_RGBA_8888));
        REQUIRE(decoded.picture_buffer_size == info.img_buf_size && info.img_buf_size <= sizeof pixels);
        CHECK(aclrtMemcpy(pixels, sizeof pixels, output, info.img_buf_size, ACL_MEMCPY_DEVICE_TO_HOST));
        const unsigned char *row = bytes + size;
        REQUIRE(expected == width * height * components);
        for (hi_u32 y = 0; y < height; y++) {
            REQUIRE(memcmp(pixels + (size_t)y * decoded.picture_width_stride, row + (size_t)y * width * components, (size_t)width * components) == 0);
        }
        CHECK(hi_mpi_dvpp_free(memory));
        CHECK(hi_mpi_dvpp_free(output));
        bytes += size + expected;
        images++;
    }
    REQUIRE(images >= 5);
    CHECK(hi_mpi_pngd_destroy_chn(CHANNEL));
    free(found.header);
}

/* Decodes an image with the first interface to the strides and the format of an image of the second one. Returns whether both are equal. */
static int is_the_same(const unsigned char *bytes, hi_u32 size, const hi_video_frame *frame, hi_u32 buffer)
{
    static unsigned char first[1 << 20], second[1 << 20];
    acldvppChannelDesc *channel = acldvppCreateChannelDesc();
    CHECK(acldvppCreateChannel(channel));
    void *memory = NULL, *output = NULL;
    CHECK(acldvppMalloc(&memory, size));
    CHECK(acldvppMalloc(&output, buffer));
    CHECK(aclrtMemcpy(memory, size, bytes, size, ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK(aclrtMemset(output, buffer, 0, buffer));
    acldvppPicDesc *desc = acldvppCreatePicDesc();
    CHECK(acldvppSetPicDescData(desc, output));
    CHECK(acldvppSetPicDescSize(desc, buffer));
    CHECK(acldvppSetPicDescFormat(desc, PIXEL_FORMAT_UNKNOWN));
    aclrtStream stream = NULL;
    CHECK(aclrtCreateStream(&stream));
    CHECK(acldvppJpegDecodeAsync(channel, memory, size, desc, stream));
    CHECK(aclrtSynchronizeStream(stream));
    REQUIRE(acldvppGetPicDescWidth(desc) == frame->width && acldvppGetPicDescHeight(desc) == frame->height);
    REQUIRE(acldvppGetPicDescWidthStride(desc) == frame->width_stride[0]);
    REQUIRE((hi_u32)acldvppGetPicDescFormat(desc) == (hi_u32)frame->pixel_format);
    REQUIRE(acldvppGetPicDescSize(desc) == buffer && buffer <= sizeof first);
    CHECK(aclrtMemcpy(first, sizeof first, output, buffer, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(aclrtMemcpy(second, sizeof second, frame->virt_addr[0], buffer, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(aclrtDestroyStream(stream));
    CHECK(acldvppDestroyPicDesc(desc));
    CHECK(acldvppFree(output));
    CHECK(acldvppFree(memory));
    CHECK(acldvppDestroyChannel(channel));
    CHECK(acldvppDestroyChannelDesc(channel));
    return memcmp(first, second, buffer) == 0;
}

static void decode_jpeg(void)
{
    cases found = read_cases("jpeg.bin");
    char *length = lengths(&found), *at = found.header;
    const unsigned char *bytes = found.data;
    int decoded = 0, refused = 0;
    hi_vdec_chn_attr attr = attributes(HI_PT_JPEG);
    CHECK(hi_mpi_vdec_create_chn(CHANNEL, &attr));
    CHECK(hi_mpi_vdec_start_recv_stream(CHANNEL));
    while ((at = behind(at, "\"name\": \"")) != NULL) {
        hi_u32 size = next_length(&length), expected = next_length(&length);
        hi_vdec_stream header, stream;
        hi_img_info info;
        hi_video_frame_info frame;
        memset(&header, 0, sizeof header);
        header.addr = (hi_u8 *)(uintptr_t)bytes;
        header.len = size;
        int known = hi_mpi_dvpp_get_image_info(HI_PT_JPEG, &header, &info);
        /* The output is larger than any of the images needs; nothing behind the image is written. */
        void *output = NULL, *memory = NULL;
        hi_vdec_pic_info pic;
        memset(&pic, 0, sizeof pic);
        CHECK(hi_mpi_dvpp_malloc(0, &output, OUTPUT));
        CHECK(aclrtMemset(output, OUTPUT, 0, OUTPUT));
        CHECK(hi_mpi_dvpp_malloc(0, &memory, size));
        CHECK(aclrtMemcpy(memory, size, bytes, size, ACL_MEMCPY_HOST_TO_DEVICE));
        header.addr = (hi_u8 *)memory;
        header.pts = 3;
        pic.vir_addr = (hi_u64)(uintptr_t)output;
        pic.buffer_size = OUTPUT;
        pic.pixel_format = HI_PIXEL_FORMAT_UNKNOWN;
        CHECK(hi_mpi_vdec_send_stream(CHANNEL, &header, &pic, -1));
        CHECK(hi_mpi_vdec_get_frame(CHANNEL, &frame, NULL, &stream, -1));
        REQUIRE(stream.addr == memory && frame.v_frame.pts == 3 && frame.v_frame.virt_addr[0] == output);
        /* Progressive, CMYK and RGB images are refused, as on the cards. */
        int is_refused = strncmp(at, "progressive", 11) == 0 || strncmp(at, "cmyk", 4) == 0 || strncmp(at, "rgb", 3) == 0;
        REQUIRE((frame.v_frame.frame_flag != 0) == is_refused);
        if (is_refused) {
            refused++;
        } else {
            REQUIRE(known == HI_SUCCESS && info.img_buf_size <= OUTPUT);
            REQUIRE(info.width_stride == frame.v_frame.width_stride[0] && info.height_stride == frame.v_frame.height_stride[0]);
            REQUIRE(info.width >= frame.v_frame.width && info.width <= frame.v_frame.width + 1);
            REQUIRE(info.height >= frame.v_frame.height && info.height <= frame.v_frame.height + 1);
            REQUIRE(is_the_same(bytes, size, &frame.v_frame, info.img_buf_size));
            decoded++;
        }
        finish(&frame, &stream);
        bytes += size + expected;
    }
    REQUIRE(decoded >= 10 && refused >= 2);
    EXPECT(HI_ERR_VDEC_NULL_PTR, hi_mpi_dvpp_get_image_info(HI_PT_JPEG, NULL, NULL));
    EXPECT(HI_ERR_VDEC_NULL_PTR, hi_mpi_vdec_get_frame(CHANNEL, NULL, NULL, NULL, 0));
    CHECK(hi_mpi_vdec_destroy_chn(CHANNEL));
    free(found.header);
}

int main(void)
{
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtGetCurrentContext(&context));
    CHECK(hi_mpi_sys_init());
    decode_video();
    destroy_while_a_call_waits();
    decode_png();
    decode_jpeg();
    CHECK(hi_mpi_sys_exit());
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    puts("ok");
    return 0;
}
