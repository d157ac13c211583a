/* A rank destroys its communicator while the other one waits for it. DEVICES 2 */
#include "ranks.h"

int main(void)
{
    set_up_ranks();
    use_rank(0);
    MUST(HcclAllReduce(inputs[0], outputs[0], COUNT, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comms[0], streams[0]));
#ifdef CLEAN
    use_rank(1);
    MUST(HcclAllReduce(inputs[1], outputs[1], COUNT, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comms[1], streams[1]));
    MUST(aclrtSynchronizeStream(streams[1]));
    use_rank(0);
#endif
    MUST(HcclCommDestroy(comms[1]));
    TRY(aclrtSynchronizeStream(streams[0])); /* FINDS JMR-COMM-002 */
    MUST(HcclCommDestroy(comms[0]));
    tear_down_buffers();
    return 0;
}
