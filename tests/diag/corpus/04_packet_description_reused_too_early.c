#include "video.h"

static void frame(acldvppStreamDesc *input, acldvppPicDesc *output, void *data)
{
    (void)input;
    (void)output;
    (void)data;
}

/* One description for two packets. */
int main(void)
{
    aclvdecChannelDesc *channel;
    acldvppStreamDesc *packet;
    acldvppPicDesc *image;

    set_up();
    channel = open_decoder(frame);
    packet = make_packet(64);
    image = make_image(SIDE);
    MUST(aclvdecSendFrame(channel, packet, image, NULL, NULL));
#ifdef CLEAN
    MUST(aclrtProcessReport(10000));
#endif
    MUST(acldvppSetStreamDescSize(packet, 32)); /* FINDS JMR-DVPP-004 */
#ifndef CLEAN
    MUST(aclrtProcessReport(10000));
#endif
    MUST(aclvdecSendFrame(channel, packet, image, NULL, NULL));
    MUST(aclrtProcessReport(10000));
    free_image(image);
    free_packet(packet);
    MUST(aclvdecDestroyChannel(channel));
    MUST(aclvdecDestroyChannelDesc(channel));
    tear_down();
    return 0;
}
