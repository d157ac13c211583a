/* A communicator is used by a captured model and by calls of its own. DEVICES 2 */
#include "ranks.h"

int main(void)
{
    aclmdlRI models[RANKS];

    set_up_ranks();
    for (int rank = 0; rank < RANKS; rank++) {
        use_rank(rank);
        MUST(aclmdlRICaptureBegin(streams[rank], ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
        MUST(HcclAllReduce(inputs[rank], outputs[rank], COUNT, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comms[rank], streams[rank]));
        MUST(aclmdlRICaptureEnd(streams[rank], &models[rank]));
    }
    for (int rank = 0; rank < RANKS; rank++) {
        use_rank(rank);
        MUST(aclmdlRIExecuteAsync(models[rank], streams[rank]));
#ifndef CLEAN
        MUST(HcclBarrier(comms[rank], streams[rank])); /* FINDS JMR-COMM-007 */
#endif
    }
    synchronize_ranks();
    for (int rank = 0; rank < RANKS; rank++) {
        use_rank(rank);
        MUST(aclmdlRIDestroy(models[rank]));
    }
    tear_down_ranks();
    return 0;
}
