/* A rank sends more than the other one expects. DEVICES 2 */
#include "ranks.h"

int main(void)
{
    uint64_t expected = COUNT;

    set_up_ranks();
#ifndef CLEAN
    expected = COUNT / 4;
#endif
    use_rank(0);
    MUST(HcclSend(inputs[0], COUNT, HCCL_DATA_TYPE_FP32, 1, comms[0], streams[0]));
    use_rank(1);
    TRY(HcclRecv(outputs[1], expected, HCCL_DATA_TYPE_FP32, 0, comms[1], streams[1])); /* FINDS JMR-COMM-001 */
    for (int rank = 0; rank < RANKS; rank++) {
        use_rank(rank);
        TRY(aclrtSynchronizeStream(streams[rank]));
    }
    tear_down_ranks();
    return 0;
}
