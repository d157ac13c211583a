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
    MUST(acldvppVpcResizeAsync(channel, from, to, config, stream));
#ifdef CLEAN
    MUST(aclrtSynchronizeStream(stream));
#endif
    MUST(acldvppFree(acldvppGetPicDescData(from))); /* FINDS JMR-SYNC-007 */
    MUST(acldvppDestroyPicDesc(from));
    MUST(aclrtSynchronizeStream(stream));
    close_channel(channel);
    free_image(to);
    MUST(acldvppDestroyResizeConfig(config));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
