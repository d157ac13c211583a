#include "images.h"

int main(void)
{
    acldvppChannelDesc *channel;
    acldvppPicDesc *from, *to;
    acldvppResizeConfig *config;
    aclrtStream stream;

    set_up();
    MUST(aclrtCreateStream(&stream));
    channel = open_channel();
    from = make_image(64);
    to = make_image(32);
    config = acldvppCreateResizeConfig();
#ifndef CLEAN
    MUST(acldvppSetPicDescSize(from, 64 * 64)); /* The rows of chroma are not counted. */
#endif
    TRY(acldvppVpcResizeAsync(channel, from, to, config, stream)); /* FINDS JMR-DVPP-001 */
#ifndef CLEAN
    MUST(acldvppSetPicDescSize(from, 64 * 64 * 3 / 2));
    MUST(acldvppSetPicDescWidthStride(to, 30));
#endif
    TRY(acldvppVpcResizeAsync(channel, from, to, config, stream)); /* FINDS JMR-DVPP-001 */
    MUST(aclrtSynchronizeStream(stream));
    close_channel(channel);
    free_image(from);
    free_image(to);
    MUST(acldvppDestroyResizeConfig(config));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
