#include "video.h"

static void frame(acldvppStreamDesc *input, acldvppPicDesc *output, void *data)
{
    (void)input;
    (void)output;
    (void)data;
}

static void packet_done(acldvppPicDesc *input, acldvppStreamDesc *output, void *data)
{
    (void)input;
    (void)output;
    (void)data;
}

int main(void)
{
    aclvdecChannelDesc *decoder;
    aclvencChannelDesc *encoder;
    aclvencFrameConfig *config;
    acldvppStreamDesc *packet;
    acldvppPicDesc *image;

    set_up();
    decoder = open_decoder(frame);
    encoder = open_encoder(packet_done);
    config = aclvencCreateFrameConfig();
    packet = make_packet(64);
    image = make_image(SIDE);
    MUST(aclvdecSendFrame(decoder, packet, image, NULL, NULL));
    MUST(aclrtProcessReport(10000));
    MUST(aclvdecDestroyChannel(decoder));
    MUST(aclvencDestroyChannel(encoder));
#ifndef CLEAN
    TRY(aclvdecSendFrame(decoder, packet, image, NULL, NULL)); /* FINDS JMR-DVPP-002 */
    TRY(aclvencSendFrame(encoder, image, NULL, config, NULL)); /* FINDS JMR-DVPP-002 */
#endif
    MUST(aclvdecDestroyChannelDesc(decoder));
    MUST(aclvencDestroyChannelDesc(encoder));
#ifndef CLEAN
    TRY(aclvdecDestroyChannelDesc(decoder)); /* FINDS JMR-DVPP-003 */
#endif
    MUST(aclvencDestroyFrameConfig(config));
    free_image(image);
    free_packet(packet);
    tear_down();
    return 0;
}
