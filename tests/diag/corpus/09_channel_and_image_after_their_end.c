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
    MUST(acldvppDestroyChannel(channel));
#ifndef CLEAN
    TRY(acldvppVpcResizeAsync(channel, from, to, config, stream)); /* FINDS JMR-DVPP-002 */
#endif
    MUST(aclrtSynchronizeStream(stream));
    MUST(acldvppDestroyChannelDesc(channel));
    free_image(from);
    free_image(to);
#ifndef CLEAN
    TRY(acldvppGetPicDescRetCode(to)); /* FINDS JMR-DVPP-003 */
#endif
    MUST(acldvppDestroyResizeConfig(config));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
