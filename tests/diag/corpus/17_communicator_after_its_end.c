/* A communicator is used after it was destroyed. DEVICES 2 */
#include "ranks.h"

int main(void)
{
    uint32_t size = 0;

    set_up_ranks();
    synchronize_ranks();
#ifdef CLEAN
    MUST(HcclGetRankSize(comms[1], &size));
#endif
    MUST(HcclCommDestroy(comms[1]));
#ifndef CLEAN
    TRY(HcclGetRankSize(comms[1], &size)); /* FINDS JMR-COMM-004 */
#endif
    MUST(HcclCommDestroy(comms[0]));
    tear_down_buffers();
    return 0;
}
