#include "video.h"

static acldvppStreamDesc *packet;
static uint32_t code = 99;

static void frame(acldvppStreamDesc *input, acldvppPicDesc *output, void *data)
{
    (void)input;
    (void)data;
    code = acldvppGetPicDescRetCode(output);
}

static void coded(acldvppPicDesc *input, acldvppStreamDesc *output, void *data)
{
    uint32_t size = acldvppGetStreamDescSize(output);

    (void)input;
    (void)data;
    packet = make_packet(size);
    MUST(aclrtMemcpy(acldvppGetStreamDescData(packet), size, acldvppGetStreamDescData(output), size,
                     ACL_MEMCPY_DEVICE_TO_DEVICE));
}

int main(void)
{
    aclvdecChannelDesc *decoder;
    aclvencChannelDesc *encoder;
    aclvencFrameConfig *config;
    acldvppPicDesc *image, *output;
    void *memory;
#ifdef CLEAN
    uint32_t bytes = SIDE * SIDE * 3 / 2;
#else
    /* Without the plane of colours. */
    uint32_t bytes = SIDE * SIDE;
#endif

    set_up();
    encoder = open_encoder(coded);
    config = aclvencCreateFrameConfig();
    image = make_image(SIDE);
    MUST(aclvencSendFrame(encoder, image, NULL, config, NULL));
    MUST(aclrtProcessReport(10000));
    MUST(aclvencDestroyChannel(encoder));
    MUST(aclvencDestroyChannelDesc(encoder));
    MUST(aclvencDestroyFrameConfig(config));

    decoder = open_decoder(frame);
    output = acldvppCreatePicDesc();
    MUST(acldvppMalloc(&memory, bytes));
    MUST(acldvppSetPicDescData(output, memory));
    MUST(acldvppSetPicDescSize(output, bytes));
    MUST(aclvdecSendFrame(decoder, packet, output, NULL, NULL)); /* FINDS JMR-DVPP-001 */
    MUST(aclrtProcessReport(10000));
    if (code != (bytes == SIDE * SIDE ? 4u : 0u)) {
        return 99;
    }
    MUST(aclvdecDestroyChannel(decoder));
    MUST(aclvdecDestroyChannelDesc(decoder));
    free_image(output);
    free_image(image);
    free_packet(packet);
    tear_down();
    return 0;
}
