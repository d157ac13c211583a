/* The host reads a sum that may not be there yet. DEVICES 2 */
#include "ranks.h"

int main(void)
{
    float result[COUNT];

    set_up_ranks();
    for (int rank = 0; rank < RANKS; rank++) {
        use_rank(rank);
        MUST(HcclAllReduce(inputs[rank], outputs[rank], COUNT, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comms[rank], streams[rank]));
    }
#ifdef CLEAN
    synchronize_ranks();
#endif
    use_rank(0);
    MUST(aclrtMemcpy(result, sizeof result, outputs[0], sizeof result, ACL_MEMCPY_DEVICE_TO_HOST)); /* FINDS JMR-SYNC-005 */
    synchronize_ranks();
    tear_down_ranks();
    return 0;
}
