/* A call inside a callback that would wait for callbacks of the same thread is refused, and the channel works on: the end of the stream, and
 * the end of its own channel and of another one that the thread serves. */
#include "video.h"

#include <stdatomic.h>

enum { REFUSED = 100000, PACKETS = 3 };

static aclrtContext context;
static aclvdecChannelDesc *channels[2];
static aclvencChannelDesc *encoder;
static atomic_int reported[2], coded, ended;

static void refuse_ends(void)
{
    acldvppStreamDesc *last = acldvppCreateStreamDesc();
    aclvencFrameConfig *config = aclvencCreateFrameConfig();

    CHECK(acldvppSetStreamDescEos(last, 1));
    CHECK(aclvencSetFrameConfigEos(config, 1));
    for (int i = 0; i < 2; i++) {
        REQUIRE(aclvdecSendFrame(channels[i], last, NULL, NULL, NULL) == REFUSED);
        REQUIRE(strstr(aclGetRecentErrMsg(), "callback") != NULL);
        REQUIRE(aclvdecDestroyChannel(channels[i]) == REFUSED);
    }
    REQUIRE(aclvencSendFrame(encoder, NULL, NULL, config, NULL) == REFUSED);
    REQUIRE(aclvencDestroyChannel(encoder) == REFUSED);
    CHECK(acldvppDestroyStreamDesc(last));
    CHECK(aclvencDestroyFrameConfig(config));
}

static void frame(acldvppStreamDesc *input, acldvppPicDesc *output, void *data)
{
    (void)input;
    (void)output;
    refuse_ends();
    reported[(size_t)data]++;
}

static void packet_coded(acldvppPicDesc *input, acldvppStreamDesc *output, void *data)
{
    (void)input;
    (void)output;
    (void)data;
    refuse_ends();
    coded++;
}

static void *report(void *unused)
{
    (void)unused;
    CHECK(aclrtSetCurrentContext(context));
    while (!ended) {
        (void)aclrtProcessReport(100);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    acldvppStreamDesc *packet, *last = acldvppCreateStreamDesc();
    acldvppPicDesc *image;
    aclvencFrameConfig *config = aclvencCreateFrameConfig();

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtGetCurrentContext(&context));
    packet = make_packet(64);
    image = make_frame();
    CHECK(aclrtMemset(acldvppGetPicDescData(image), FRAME_BYTES, 0x80, FRAME_BYTES));
    REQUIRE(pthread_create(&thread, NULL, report, NULL) == 0);
    channels[0] = open_decoder(0, thread, frame);
    channels[1] = open_decoder(1, thread, frame);
    encoder = aclvencCreateChannelDesc();
    CHECK(aclvencSetChannelDescThreadId(encoder, (uint64_t)thread));
    CHECK(aclvencSetChannelDescCallback(encoder, packet_coded));
    CHECK(aclvencSetChannelDescEnType(encoder, H264_MAIN_LEVEL));
    CHECK(aclvencSetChannelDescPicWidth(encoder, SIDE));
    CHECK(aclvencSetChannelDescPicHeight(encoder, SIDE));
    CHECK(aclvencSetChannelDescKeyFrameInterval(encoder, 16));
    CHECK(aclvencCreateChannel(encoder));
    for (int i = 0; i < PACKETS; i++) {
        for (size_t channel = 0; channel < 2; channel++) {
            CHECK(aclvdecSendFrame(channels[channel], packet, image, NULL, (void *)channel));
        }
        CHECK(aclvencSendFrame(encoder, image, NULL, config, NULL));
    }
    /* Outside of the callbacks, the same calls wait for them. */
    CHECK(acldvppSetStreamDescEos(last, 1));
    CHECK(aclvdecSendFrame(channels[0], last, NULL, NULL, NULL));
    REQUIRE(reported[0] == PACKETS);
    CHECK(aclvencSetFrameConfigEos(config, 1));
    CHECK(aclvencSendFrame(encoder, NULL, NULL, config, NULL));
    REQUIRE(coded == PACKETS);
    /* Its callbacks use the other channels, which end afterwards. */
    close_decoder(channels[1]);
    REQUIRE(reported[1] == PACKETS);
    close_decoder(channels[0]);
    CHECK(aclvencDestroyChannel(encoder));
    CHECK(aclvencDestroyChannelDesc(encoder));
    ended = 1;
    REQUIRE(pthread_join(thread, NULL) == 0);
    CHECK(aclvencDestroyFrameConfig(config));
    CHECK(acldvppDestroyStreamDesc(last));
    free_packet(packet);
    free_frame(image);
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
