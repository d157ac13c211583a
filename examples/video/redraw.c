/* A clip in, scaled to half of its size, with boxes drawn around regions, a clip out.
 *
 *   ./redraw clip.h264 out.h264 LEFT,TOP,WIDTH,HEIGHT...
 *
 * The device does all of it: VDEC decodes, VPC scales and draws, VENC encodes. The clip is an elementary stream of H.264 (Annex B), as
 * FFmpeg writes it with `-bsf:v h264_mp4toannexb -f h264`. VDEC and VENC call the functions of this program on one thread, which
 * waits for them in aclrtProcessReport. Boxes are in pixels of the output.
 */
#define ENABLE_DVPP_INTERFACE
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "acl/ops/acl_dvpp.h"

#define CHECK(call)                                                                           \
    do {                                                                                      \
        aclError code_ = (call);                                                              \
        if (code_ != ACL_SUCCESS) {                                                           \
            const char *text_ = aclGetRecentErrMsg();                                         \
            fprintf(stderr, "%s answered %d\n%s\n", #call, code_, text_ ? text_ : "");        \
            exit(1);                                                                          \
        }                                                                                     \
    } while (0)

enum { BAR_WIDTH = 16, BAR_HEIGHT = 6, KEY_FRAME_INTERVAL = 16, KILOBITS = 600 };

static aclrtContext context;
static aclrtStream stream;
static atomic_bool ended;
static acldvppChannelDesc *images;
static acldvppResizeConfig *resize;
static aclvencChannelDesc *encoder;
static aclvencFrameConfig *no_wish;
/* The output of VPC, and an image of the boxes' colour. They exist as soon as the size of the clip is known. */
static acldvppPicDesc *scaled, *color;
static char **boxes;
static FILE *out;
static int decoded, encoded, key_frames;
static size_t written;

static uint32_t align_up(uint32_t value, uint32_t step)
{
    return (value + step - 1) / step * step;
}

/* Describes an NV12 image, and allocates its memory. */
static acldvppPicDesc *make_image(uint32_t width, uint32_t height)
{
    uint32_t width_stride = align_up(width, 16);
    uint32_t height_stride = align_up(height, 2);
    uint32_t size = width_stride * height_stride * 3 / 2;
    void *memory = NULL;
    acldvppPicDesc *image = acldvppCreatePicDesc();

    CHECK(acldvppMalloc(&memory, size));
    CHECK(acldvppSetPicDescData(image, memory));
    CHECK(acldvppSetPicDescSize(image, size));
    CHECK(acldvppSetPicDescFormat(image, PIXEL_FORMAT_YUV_SEMIPLANAR_420));
    CHECK(acldvppSetPicDescWidth(image, width));
    CHECK(acldvppSetPicDescHeight(image, height));
    CHECK(acldvppSetPicDescWidthStride(image, width_stride));
    CHECK(acldvppSetPicDescHeightStride(image, height_stride));
    return image;
}

static void free_image(acldvppPicDesc *image)
{
    CHECK(acldvppFree(acldvppGetPicDescData(image)));
    CHECK(acldvppDestroyPicDesc(image));
}

/* VENC calls it with each coded frame, which is the channel's until the function returns. */
static void write_packet(acldvppPicDesc *input, acldvppStreamDesc *output, void *data)
{
    uint32_t size = acldvppGetStreamDescSize(output);
    unsigned char *bytes = malloc(size);

    (void)input;
    (void)data;
    if (acldvppGetStreamDescRetCode(output) != 0 || bytes == NULL) {
        fprintf(stderr, "a frame was not encoded\n");
        exit(1);
    }
    CHECK(aclrtMemcpy(bytes, size, acldvppGetStreamDescData(output), size, ACL_MEMCPY_DEVICE_TO_HOST));
    if (fwrite(bytes, 1, size, out) != size) {
        fprintf(stderr, "cannot write the clip\n");
        exit(1);
    }
    /* Parameter sets stand in front of key frames: 00 00 00 01 and type 7. */
    key_frames += size > 4 && (bytes[bytes[2] == 1 ? 3 : 4] & 31) == 7;
    encoded++;
    written += size;
    free(bytes);
}

/* The size of the clip is known: makes the images and opens the encoder. */
static void begin(uint32_t width, uint32_t height, uint64_t thread)
{
    uint32_t bytes, luma;
    unsigned char *pixels;

    scaled = make_image(width / 4 * 2, height / 4 * 2);
    /* Luma 82, U 90 and V 240 are red. */
    color = make_image(acldvppGetPicDescWidth(scaled), acldvppGetPicDescHeight(scaled));
    bytes = acldvppGetPicDescSize(color);
    luma = bytes / 3 * 2;
    pixels = malloc(bytes);
    memset(pixels, 82, luma);
    for (uint32_t i = luma; i + 1 < bytes; i += 2) {
        pixels[i] = 90;
        pixels[i + 1] = 240;
    }
    CHECK(aclrtMemcpy(acldvppGetPicDescData(color), bytes, pixels, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    free(pixels);

    encoder = aclvencCreateChannelDesc();
    CHECK(aclvencSetChannelDescThreadId(encoder, thread));
    CHECK(aclvencSetChannelDescCallback(encoder, write_packet));
    CHECK(aclvencSetChannelDescEnType(encoder, H264_MAIN_LEVEL));
    CHECK(aclvencSetChannelDescPicFormat(encoder, PIXEL_FORMAT_YUV_SEMIPLANAR_420));
    CHECK(aclvencSetChannelDescPicWidth(encoder, acldvppGetPicDescWidth(scaled)));
    CHECK(aclvencSetChannelDescPicHeight(encoder, acldvppGetPicDescHeight(scaled)));
    CHECK(aclvencSetChannelDescKeyFrameInterval(encoder, KEY_FRAME_INTERVAL));
    CHECK(aclvencSetChannelDescSrcRate(encoder, 25));
    CHECK(aclvencSetChannelDescMaxBitRate(encoder, KILOBITS));
    CHECK(aclvencCreateChannel(encoder));
}

/* Queues the pasting of a bar of the box's colour. Columns are rounded to 16, as cards of the first generation want it. */
static void paste_bar(uint32_t left, uint32_t top, uint32_t width, uint32_t height)
{
    acldvppRoiConfig *from = acldvppCreateRoiConfig(0, width - 1, 0, height - 1);
    acldvppRoiConfig *to = acldvppCreateRoiConfig(left, left + width - 1, top, top + height - 1);

    CHECK(acldvppVpcCropAndPasteAsync(images, color, scaled, from, to, stream));
    CHECK(acldvppDestroyRoiConfig(from));
    CHECK(acldvppDestroyRoiConfig(to));
}

static void draw(const char *box)
{
    unsigned left, top, width, height;

    if (sscanf(box, "%u,%u,%u,%u", &left, &top, &width, &height) != 4) {
        fprintf(stderr, "%s is not LEFT,TOP,WIDTH,HEIGHT\n", box);
        exit(2);
    }
    left = left / 16 * 16;
    width = align_up(width, 16);
    top &= ~1u;
    height &= ~1u;
    paste_bar(left, top, width, BAR_HEIGHT);
    paste_bar(left, top + height - BAR_HEIGHT, width, BAR_HEIGHT);
    paste_bar(left, top, BAR_WIDTH, height);
    paste_bar(left + width - BAR_WIDTH, top, BAR_WIDTH, height);
}

/* VDEC calls it for each packet that was sent, in the order of display. */
static void take_frame(acldvppStreamDesc *input, acldvppPicDesc *output, void *data)
{
    (void)data;
    if (acldvppGetPicDescRetCode(output) != 0) {
        fprintf(stderr, "a packet was not decoded: %#x\n", acldvppGetPicDescRetCode(output));
    } else {
        if (scaled == NULL) {
            begin(acldvppGetPicDescWidth(output), acldvppGetPicDescHeight(output), (uint64_t)pthread_self());
        }
        decoded++;
        CHECK(acldvppVpcResizeAsync(images, output, scaled, resize, stream));
        for (char **box = boxes; *box != NULL; box++) {
            draw(*box);
        }
        CHECK(aclrtSynchronizeStream(stream));
        /* VENC copies the frame before the call returns: the next one may use the same memory. */
        CHECK(aclvencSendFrame(encoder, scaled, NULL, no_wish, NULL));
    }
    free_image(output);
    CHECK(acldvppDestroyStreamDesc(input));
}

static void *report(void *unused)
{
    (void)unused;
    CHECK(aclrtSetCurrentContext(context));
    while (!ended) {
        /* It answers an error while no channel names this thread yet, and when nothing came in time. */
        (void)aclrtProcessReport(100);
    }
    return NULL;
}

/* Returns the offset behind the next start code (00 00 01), or `size`. */
static size_t next_unit(const unsigned char *bytes, size_t size, size_t at)
{
    for (; at + 3 < size; at++) {
        if (bytes[at] == 0 && bytes[at + 1] == 0 && bytes[at + 2] == 1) {
            return at + 3;
        }
    }
    return size;
}

/* Returns the end of the packet that begins at `at`: what belongs to one frame. */
static size_t packet_end(const unsigned char *bytes, size_t size, size_t at)
{
    int has_slice = 0;

    for (size_t unit = next_unit(bytes, size, at); unit < size; unit = next_unit(bytes, size, unit)) {
        int type = bytes[unit] & 31;
        int is_slice = type == 1 || type == 5;
        /* A slice that begins with a set bit begins with the first macroblock of a frame. */
        int starts = is_slice ? bytes[unit + 1] >> 7 : type >= 6 && type <= 9;
        if (has_slice && starts) {
            size_t end = unit - 3;
            return end > at && bytes[end - 1] == 0 ? end - 1 : end;
        }
        has_slice |= is_slice;
    }
    return size;
}

int main(int argc, char **argv)
{
    aclvdecChannelDesc *decoder;
    acldvppStreamDesc *last;
    pthread_t thread;
    unsigned char *clip;
    void *packet = NULL;
    size_t size, end;
    FILE *in;

    if (argc < 3) {
        fprintf(stderr, "usage: %s clip.h264 out.h264 [LEFT,TOP,WIDTH,HEIGHT...]\n", argv[0]);
        return 2;
    }
    boxes = argv + 3;
    in = fopen(argv[1], "rb");
    out = fopen(argv[2], "wb");
    clip = malloc(64 << 20);
    if (in == NULL || out == NULL || clip == NULL || (size = fread(clip, 1, 64 << 20, in)) == 0) {
        fprintf(stderr, "cannot read %s or write %s\n", argv[1], argv[2]);
        return 1;
    }
    fclose(in);

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtGetCurrentContext(&context));
    CHECK(aclrtCreateStream(&stream));
    images = acldvppCreateChannelDesc();
    CHECK(acldvppCreateChannel(images));
    resize = acldvppCreateResizeConfig();
    no_wish = aclvencCreateFrameConfig();
    if (pthread_create(&thread, NULL, report, NULL) != 0) {
        return 1;
    }

    decoder = aclvdecCreateChannelDesc();
    CHECK(aclvdecSetChannelDescChannelId(decoder, 0));
    CHECK(aclvdecSetChannelDescThreadId(decoder, (uint64_t)thread));
    CHECK(aclvdecSetChannelDescCallback(decoder, take_frame));
    CHECK(aclvdecSetChannelDescEnType(decoder, H264_MAIN_LEVEL));
    CHECK(aclvdecSetChannelDescOutPicFormat(decoder, PIXEL_FORMAT_YUV_SEMIPLANAR_420));
    CHECK(aclvdecCreateChannel(decoder));

    /* One memory serves all packets: a packet is consumed before the call returns. */
    CHECK(acldvppMalloc(&packet, size));
    for (size_t at = 0; at < size; at = end) {
        acldvppStreamDesc *input = acldvppCreateStreamDesc();
        acldvppPicDesc *output = acldvppCreatePicDesc();
        void *frame = NULL;
        uint32_t bytes = 1920 * 1088 * 3 / 2;

        end = packet_end(clip, size, at);
        CHECK(aclrtMemcpy(packet, size, clip + at, end - at, ACL_MEMCPY_HOST_TO_DEVICE));
        CHECK(acldvppSetStreamDescData(input, packet));
        CHECK(acldvppSetStreamDescSize(input, (uint32_t)(end - at)));
        CHECK(acldvppSetStreamDescFormat(input, H264_MAIN_LEVEL));
        /* Without a size the frame keeps that of the clip, which this program does not know yet. */
        CHECK(acldvppMalloc(&frame, bytes));
        CHECK(acldvppSetPicDescData(output, frame));
        CHECK(acldvppSetPicDescSize(output, bytes));
        CHECK(acldvppSetPicDescFormat(output, PIXEL_FORMAT_YUV_SEMIPLANAR_420));
        CHECK(aclvdecSendFrame(decoder, input, output, NULL, NULL));
    }

    /* The ends of both streams: each call returns when the last function above has. */
    last = acldvppCreateStreamDesc();
    CHECK(acldvppSetStreamDescEos(last, 1));
    CHECK(aclvdecSendFrame(decoder, last, NULL, NULL, NULL));
    CHECK(acldvppDestroyStreamDesc(last));
    CHECK(aclvdecDestroyChannel(decoder));
    CHECK(aclvdecDestroyChannelDesc(decoder));
    if (encoder == NULL) {
        fprintf(stderr, "%s has no frame\n", argv[1]);
        return 1;
    }
    CHECK(aclvencSetFrameConfigEos(no_wish, 1));
    CHECK(aclvencSendFrame(encoder, NULL, NULL, no_wish, NULL));
    CHECK(aclvencDestroyChannel(encoder));
    CHECK(aclvencDestroyChannelDesc(encoder));
    ended = true;
    pthread_join(thread, NULL);
    printf("%d frames decoded, %d encoded as %ux%u with %d key frames, %zu bytes\n", decoded, encoded,
           acldvppGetPicDescWidth(scaled), acldvppGetPicDescHeight(scaled), key_frames, written);

    free_image(scaled);
    free_image(color);
    free(clip);
    if (fclose(out) != 0) {
        return 1;
    }
    CHECK(acldvppFree(packet));
    CHECK(aclvencDestroyFrameConfig(no_wish));
    CHECK(acldvppDestroyResizeConfig(resize));
    CHECK(acldvppDestroyChannel(images));
    CHECK(acldvppDestroyChannelDesc(images));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
