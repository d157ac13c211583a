/* Another stream changes what is being sent. DEVICES 2 */
#include "ranks.h"

int main(void)
{
    aclrtStream other;

    set_up_ranks();
    use_rank(0);
    MUST(aclrtCreateStream(&other));
    MUST(HcclSend(inputs[0], COUNT, HCCL_DATA_TYPE_FP32, 1, comms[0], streams[0]));
    use_rank(1);
    MUST(HcclRecv(outputs[1], COUNT, HCCL_DATA_TYPE_FP32, 0, comms[1], streams[1]));
    use_rank(0);
#ifdef CLEAN
    MUST(aclrtSynchronizeStream(streams[0]));
#endif
    MUST(aclrtMemsetAsync(inputs[0], COUNT * sizeof(float), 1, COUNT * sizeof(float), other)); /* FINDS JMR-SYNC-002 */
    MUST(aclrtSynchronizeStream(other));
    MUST(aclrtDestroyStream(other));
    synchronize_ranks();
    tear_down_ranks();
    return 0;
}
