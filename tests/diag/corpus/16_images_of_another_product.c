#include "images.h"

/* WITH profiles all: none of them has all of this. */
static void frame(acldvppStreamDesc *input, acldvppPicDesc *output, void *data)
{
    (void)input;
    (void)output;
    (void)data;
}

int main(void)
{
    acldvppChannelDesc *channel;
    acldvppPicDesc *from, *to;
#ifndef CLEAN
    acldvppPicDesc *other;
#endif
    acldvppResizeConfig *config;
    aclvdecChannelDesc *decoder;
    aclrtStream stream;

    set_up();
    MUST(aclrtCreateStream(&stream));
    channel = open_channel();
    config = acldvppCreateResizeConfig();
    from = make_image(64);
    decoder = aclvdecCreateChannelDesc();
    MUST(aclvdecSetChannelDescCallback(decoder, frame));
#ifdef CLEAN
    to = make_image(48);
    MUST(acldvppSetResizeConfigInterpolation(config, 1));
    MUST(acldvppVpcResizeAsync(channel, from, to, config, stream));
    MUST(aclvdecSetChannelDescOutPicFormat(decoder, PIXEL_FORMAT_YUV_SEMIPLANAR_420));
#else
    /* 40 is not a multiple of 16. */
    to = make_image(40);
    MUST(acldvppSetResizeConfigInterpolation(config, 3)); /* FINDS JMR-PORT-001 */
    MUST(acldvppVpcResizeAsync(channel, from, to, config, stream)); /* FINDS JMR-PORT-001 */
    other = make_image(64);
    MUST(acldvppSetPicDescFormat(other, PIXEL_FORMAT_YVU_SEMIPLANAR_420));
    MUST(acldvppVpcConvertColorAsync(channel, from, other, stream)); /* FINDS JMR-PORT-001 */
    MUST(aclvdecSetChannelDescOutPicFormat(decoder, PIXEL_FORMAT_RGB_888)); /* FINDS JMR-PORT-001 */
#endif
    MUST(aclrtSynchronizeStream(stream));
    MUST(aclvdecDestroyChannelDesc(decoder));
    MUST(acldvppDestroyResizeConfig(config));
    free_image(from);
    free_image(to);
#ifndef CLEAN
    free_image(other);
#endif
    close_channel(channel);
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
