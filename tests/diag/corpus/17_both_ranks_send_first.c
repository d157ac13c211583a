/* Each rank sends before it receives: neither send ends before the other rank receives. DEVICES 2 */
#include "ranks.h"

static void *exchange(void *number)
{
    uint32_t rank = (uint32_t)(uintptr_t)number;
    uint32_t other = 1 - rank;

    use_rank((int)rank);
#ifdef CLEAN
    MUST(HcclGroupStart());
#endif
    MUST(HcclSend(inputs[rank], COUNT, HCCL_DATA_TYPE_FP32, other, comms[rank], streams[rank]));
    MUST(HcclRecv(outputs[rank], COUNT, HCCL_DATA_TYPE_FP32, other, comms[rank], streams[rank]));
#ifdef CLEAN
    MUST(HcclGroupEnd());
#endif
    return NULL;
}

int main(void)
{
    pthread_t threads[RANKS];

    set_up_ranks();
    for (uintptr_t rank = 0; rank < RANKS; rank++)
        pthread_create(&threads[rank], NULL, exchange, (void *)rank);
    for (int rank = 0; rank < RANKS; rank++)
        pthread_join(threads[rank], NULL);
    use_rank(0);
    MUST(aclrtSynchronizeStream(streams[0])); /* FINDS JMR-COMM-002 */
    synchronize_ranks();
    tear_down_ranks();
    return 0;
}
