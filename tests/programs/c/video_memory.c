/* A long stream whose callbacks are slower than the sender takes the memory of a few frames, as many at the end as at the beginning: what
 * the decoder refers to, and the packets that wait. With out mode 0, frames wait for the order of display too. */
#include "video.h"

#include <malloc.h>

/* A frame is much larger than what else the process allocates meanwhile. The key frame interval makes the stream refer to many frames
 * behind each other. PER_CHANNEL: what docs/dvpp.md states. */
enum {
    WIDTH = 640,
    HEIGHT = 368,
    BYTES = WIDTH * HEIGHT * 3 / 2,
    CODED = 8,
    PACKETS = 400,
    PER_CHANNEL = 16,
    /* Frames that the decoders refer to and convert (level 3: at most 8), and a frame that waits for the order of display. */
    MOST_FRAMES = 12
};

static aclrtContext context;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int sent, reported, ended;
static size_t before, most;
static acldvppStreamDesc *packets[CODED];
static int coded;

static size_t heap(void)
{
    struct mallinfo2 now = mallinfo2();

    return now.uordblks + now.hblkhd;
}

static void packet_coded(acldvppPicDesc *input, acldvppStreamDesc *output, void *data)
{
    uint32_t size = acldvppGetStreamDescSize(output);

    (void)input;
    (void)data;
    packets[coded] = make_packet(size);
    CHECK(aclrtMemcpy(acldvppGetStreamDescData(packets[coded]), size, acldvppGetStreamDescData(output), size, ACL_MEMCPY_DEVICE_TO_DEVICE));
    coded++;
}

static void frame(acldvppStreamDesc *input, acldvppPicDesc *output, void *data)
{
    size_t now;

    (void)input;
    (void)data;
    REQUIRE(acldvppGetPicDescRetCode(output) == 0);
    REQUIRE(acldvppGetPicDescWidth(output) == WIDTH);
    pthread_mutex_lock(&lock);
    /* As slow as it gets: the sender has filled the channel before each callback returns. */
    while (sent < PACKETS && sent < reported + PER_CHANNEL) {
        pthread_cond_wait(&changed, &lock);
    }
    reported++;
    now = heap();
    most = now > most ? now : most;
    pthread_mutex_unlock(&lock);
}

static void *report(void *unused)
{
    (void)unused;
    CHECK(aclrtSetCurrentContext(context));
    for (;;) {
        int is_over;

        pthread_mutex_lock(&lock);
        is_over = ended;
        pthread_mutex_unlock(&lock);
        if (is_over) {
            return NULL;
        }
        (void)aclrtProcessReport(100);
    }
}

static acldvppPicDesc *make_image(void)
{
    acldvppPicDesc *image = acldvppCreatePicDesc();
    void *data;

    CHECK(acldvppMalloc(&data, BYTES));
    CHECK(aclrtMemset(data, BYTES, 0x80, BYTES));
    CHECK(acldvppSetPicDescData(image, data));
    CHECK(acldvppSetPicDescSize(image, BYTES));
    CHECK(acldvppSetPicDescFormat(image, PIXEL_FORMAT_YUV_SEMIPLANAR_420));
    return image;
}

/* Encodes CODED frames: a key frame, and others that refer to the frames in front of them. */
static void encode(pthread_t thread)
{
    aclvencChannelDesc *encoder = aclvencCreateChannelDesc();
    aclvencFrameConfig *config = aclvencCreateFrameConfig();
    acldvppPicDesc *image = make_image();

    CHECK(aclvencSetChannelDescThreadId(encoder, (uint64_t)thread));
    CHECK(aclvencSetChannelDescCallback(encoder, packet_coded));
    CHECK(aclvencSetChannelDescEnType(encoder, H264_MAIN_LEVEL));
    CHECK(aclvencSetChannelDescPicWidth(encoder, WIDTH));
    CHECK(aclvencSetChannelDescPicHeight(encoder, HEIGHT));
    CHECK(aclvencSetChannelDescKeyFrameInterval(encoder, CODED));
    CHECK(aclvencCreateChannel(encoder));
    for (int i = 0; i < CODED; i++) {
        CHECK(aclrtMemset(acldvppGetPicDescData(image), BYTES, 0x40 + 8 * i, WIDTH * 16 * (i + 1)));
        CHECK(aclvencSendFrame(encoder, image, NULL, config, NULL));
    }
    CHECK(aclvencDestroyChannel(encoder));
    REQUIRE(coded == CODED);
    CHECK(aclvencDestroyChannelDesc(encoder));
    CHECK(aclvencDestroyFrameConfig(config));
    free_frame(image);
}

/* Decodes the packets again and again. */
static void decode(pthread_t thread, uint32_t mode, acldvppPicDesc *output)
{
    aclvdecChannelDesc *channel = aclvdecCreateChannelDesc();

    CHECK(aclvdecSetChannelDescThreadId(channel, (uint64_t)thread));
    CHECK(aclvdecSetChannelDescCallback(channel, frame));
    CHECK(aclvdecSetChannelDescEnType(channel, H264_MAIN_LEVEL));
    CHECK(aclvdecSetChannelDescOutMode(channel, mode));
    CHECK(aclvdecCreateChannel(channel));
    sent = reported = 0;
    most = before = heap();
    for (int i = 0; i < PACKETS; i++) {
        CHECK(aclvdecSendFrame(channel, packets[i % CODED], output, NULL, NULL));
        pthread_mutex_lock(&lock);
        sent++;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    close_decoder(channel);
    REQUIRE(reported == PACKETS);
    if (most >= before + (size_t)MOST_FRAMES * BYTES) {
        fprintf(stderr, "out mode %u: %zu bytes more than before\n", mode, most - before);
        exit(1);
    }
    REQUIRE(heap() < before + 2 * BYTES);
}

int main(void)
{
    pthread_t thread;
    acldvppPicDesc *output;

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtGetCurrentContext(&context));
    REQUIRE(pthread_create(&thread, NULL, report, NULL) == 0);
    encode(thread);
    output = make_image();
    decode(thread, 0, output);
    decode(thread, 1, output);
    pthread_mutex_lock(&lock);
    ended = 1;
    pthread_mutex_unlock(&lock);
    REQUIRE(pthread_join(thread, NULL) == 0);
    for (int i = 0; i < CODED; i++) {
        free_packet(packets[i]);
    }
    free_frame(output);
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
