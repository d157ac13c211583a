/* A communicator is used on two streams of a rank, and nothing puts them into an order. DEVICES 2 */
#include "ranks.h"

int main(void)
{
    aclrtStream second[RANKS];
    aclrtEvent event[RANKS];

    set_up_ranks();
    for (int rank = 0; rank < RANKS; rank++) {
        use_rank(rank);
        MUST(aclrtCreateStream(&second[rank]));
        MUST(aclrtCreateEvent(&event[rank]));
        MUST(HcclAllReduce(inputs[rank], outputs[rank], COUNT, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comms[rank], streams[rank]));
        MUST(aclrtRecordEvent(event[rank], streams[rank]));
#ifdef CLEAN
        MUST(aclrtStreamWaitEvent(second[rank], event[rank]));
#endif
        MUST(HcclBarrier(comms[rank], second[rank])); /* FINDS JMR-COMM-003 */
    }
    for (int rank = 0; rank < RANKS; rank++) {
        use_rank(rank);
        MUST(aclrtSynchronizeStream(streams[rank]));
        MUST(aclrtSynchronizeStream(second[rank]));
        MUST(aclrtDestroyStream(second[rank]));
        MUST(aclrtDestroyEvent(event[rank]));
    }
    tear_down_ranks();
    return 0;
}
