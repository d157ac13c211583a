#include "images.h"

#include <pthread.h>

/* WITH profiles 910A,910B1: neither encodes video. */
static void packet(acldvppPicDesc *input, acldvppStreamDesc *output, void *data)
{
    (void)input;
    (void)output;
    (void)data;
}

int main(void)
{
    aclvencChannelDesc *encoder;

    set_up();
    encoder = aclvencCreateChannelDesc();
    MUST(aclvencSetChannelDescThreadId(encoder, (uint64_t)pthread_self()));
    MUST(aclvencSetChannelDescCallback(encoder, packet));
    MUST(aclvencSetChannelDescEnType(encoder, H264_MAIN_LEVEL));
    MUST(aclvencSetChannelDescPicFormat(encoder, PIXEL_FORMAT_YUV_SEMIPLANAR_420));
    MUST(aclvencSetChannelDescPicWidth(encoder, 128));
    MUST(aclvencSetChannelDescPicHeight(encoder, 128));
    MUST(aclvencSetChannelDescKeyFrameInterval(encoder, 16));
#ifndef CLEAN
    MUST(aclvencCreateChannel(encoder)); /* FINDS JMR-PORT-001 */
    MUST(aclvencDestroyChannel(encoder));
#endif
    MUST(aclvencDestroyChannelDesc(encoder));
    tear_down();
    return 0;
}
