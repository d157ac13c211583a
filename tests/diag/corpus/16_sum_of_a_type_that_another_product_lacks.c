/* WITH profiles all: one of them sums no bfloat16. DEVICES 2 */
#include "ranks.h"

int main(void)
{
#ifdef CLEAN
    HcclDataType of = HCCL_DATA_TYPE_FP32;
#else
    HcclDataType of = HCCL_DATA_TYPE_BFP16;
#endif

    set_up_ranks();
    for (int rank = 0; rank < RANKS; rank++) {
        use_rank(rank);
        MUST(HcclAllReduce(inputs[rank], outputs[rank], COUNT, of, HCCL_REDUCE_SUM, comms[rank], streams[rank])); /* FINDS JMR-PORT-001 */
    }
    synchronize_ranks();
    tear_down_ranks();
    return 0;
}
