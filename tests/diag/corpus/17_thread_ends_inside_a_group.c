/* A thread begins a group, and returns early. DEVICES 2 */
#include "ranks.h"

static void *send_all(void *nothing)
{
    (void)nothing;
    use_rank(0);
    MUST(HcclGroupStart()); /* FINDS JMR-COMM-006 */
    MUST(HcclSend(inputs[0], COUNT, HCCL_DATA_TYPE_FP32, 1, comms[0], streams[0]));
#ifdef CLEAN
    MUST(HcclGroupEnd());
    use_rank(1);
    MUST(HcclRecv(outputs[1], COUNT, HCCL_DATA_TYPE_FP32, 0, comms[1], streams[1]));
#endif
    return NULL;
}

int main(void)
{
    pthread_t thread;

    set_up_ranks();
    pthread_create(&thread, NULL, send_all, NULL);
    pthread_join(thread, NULL);
    synchronize_ranks();
    tear_down_ranks();
    return 0;
}
