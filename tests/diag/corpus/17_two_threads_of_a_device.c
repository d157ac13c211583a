/* Two threads call operations of one device, each with its own communicator and stream, and nothing puts the calls into an order. DEVICES 2 */
#include "ranks.h"

#define CALLS 20000

static HcclComm own[2];
static aclrtStream own_streams[2];
#ifdef CLEAN
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *call_often(void *argument)
{
    int which = (int)(intptr_t)argument;

    use_rank(0);
    for (int i = 0; i < CALLS; i++) {
#ifdef CLEAN
        pthread_mutex_lock(&lock);
#endif
        MUST(HcclBarrier(own[which], own_streams[which])); /* FINDS JMR-COMM-008 */
#ifdef CLEAN
        pthread_mutex_unlock(&lock);
#endif
    }
    MUST(aclrtSynchronizeStream(own_streams[which]));
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    int32_t device = 0;

    set_up_buffers();
    use_rank(0);
    for (int i = 0; i < 2; i++) {
        MUST(HcclCommInitAll(1, &device, &own[i]));
        MUST(aclrtCreateStream(&own_streams[i]));
    }
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, call_often, (void *)(intptr_t)i);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        MUST(HcclCommDestroy(own[i]));
        MUST(aclrtDestroyStream(own_streams[i]));
    }
    tear_down_buffers();
    return 0;
}
