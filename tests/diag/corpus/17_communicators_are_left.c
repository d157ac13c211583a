/* Communicators are never destroyed. DEVICES 2 */
#include "ranks.h"

int main(void)
{
    int32_t devices[RANKS] = {0, 1};

    set_up_buffers();
    MUST(HcclCommInitAll(RANKS, devices, comms)); /* FINDS JMR-COMM-005 */
#ifdef CLEAN
    for (int rank = 0; rank < RANKS; rank++)
        MUST(HcclCommDestroy(comms[rank]));
#endif
    tear_down_buffers();
    return 0;
}
