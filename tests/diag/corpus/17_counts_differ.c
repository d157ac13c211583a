/* Two ranks sum arrays of different lengths. DEVICES 2 */
#include "ranks.h"

int main(void)
{
    uint64_t counts[RANKS] = {COUNT, COUNT};

    set_up_ranks();
#ifndef CLEAN
    counts[1] = COUNT / 2;
#endif
    for (int rank = 0; rank < RANKS; rank++) {
        use_rank(rank);
        TRY(HcclAllReduce(inputs[rank], outputs[rank], counts[rank], HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comms[rank], streams[rank])); /* FINDS JMR-COMM-001 */
    }
    for (int rank = 0; rank < RANKS; rank++) {
        use_rank(rank);
        TRY(aclrtSynchronizeStream(streams[rank]));
    }
    tear_down_ranks();
    return 0;
}
