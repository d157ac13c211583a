/* 10,000 channels for images, decoding and encoding, opened and closed in four parts, leave nothing behind. */
#include "usage.h"
#include "video.h"

enum { PART = 2500, KINDS = 3 };
/* What a part may add to the heap: less than the smallest allocation for each channel of one kind. */
enum { SLACK = PART / KINDS * 16 };

static void decoded(acldvppStreamDesc *input, acldvppPicDesc *output, void *data)
{
    (void)input;
    (void)output;
    (void)data;
}

static void encoded(acldvppPicDesc *input, acldvppStreamDesc *output, void *data)
{
    (void)input;
    (void)output;
    (void)data;
}

static void image_channel(void)
{
    acldvppChannelDesc *channel = acldvppCreateChannelDesc();

    CHECK(acldvppCreateChannel(channel));
    CHECK(acldvppDestroyChannel(channel));
    CHECK(acldvppDestroyChannelDesc(channel));
}

static void encoding_channel(void)
{
    aclvencChannelDesc *channel = aclvencCreateChannelDesc();

    CHECK(aclvencSetChannelDescThreadId(channel, (uint64_t)pthread_self()));
    CHECK(aclvencSetChannelDescCallback(channel, encoded));
    CHECK(aclvencSetChannelDescEnType(channel, H264_MAIN_LEVEL));
    CHECK(aclvencSetChannelDescPicFormat(channel, PIXEL_FORMAT_YUV_SEMIPLANAR_420));
    CHECK(aclvencSetChannelDescPicWidth(channel, SIDE));
    CHECK(aclvencSetChannelDescPicHeight(channel, SIDE));
    CHECK(aclvencSetChannelDescKeyFrameInterval(channel, 16));
    CHECK(aclvencCreateChannel(channel));
    CHECK(aclvencDestroyChannel(channel));
    CHECK(aclvencDestroyChannelDesc(channel));
}

static void part(void)
{
    for (int i = 0; i < PART; i++) {
        switch (i % KINDS) {
        case 0:
            image_channel();
            break;
        case 1:
            close_decoder(open_decoder((uint32_t)i % 256, pthread_self(), decoded));
            break;
        default:
            encoding_channel();
        }
    }
}

int main(void)
{
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    require_nothing_left(part, SLACK);
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
