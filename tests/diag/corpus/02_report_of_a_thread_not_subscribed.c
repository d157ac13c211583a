/* A thread that is never subscribed polls for reports. In the correct form a thread polls in a loop, which begins before the thread is
 * subscribed and ends after that is undone. */
#include <sched.h>
#include <stdatomic.h>

#include "corpus.h"

#ifdef CLEAN
static atomic_int polls, stop;

static void *poll(void *argument)
{
    (void)argument;
    while (!atomic_load(&stop)) {
        TRY(aclrtProcessReport(1));
        atomic_fetch_add(&polls, 1);
    }
    return NULL;
}

static void wait_for_polls(int more)
{
    int begin = atomic_load(&polls);
    while (atomic_load(&polls) < begin + more) {
        sched_yield();
    }
}
#endif

int main(void)
{
    set_up();
#ifdef CLEAN
    aclrtStream stream;
    pthread_t thread;
    MUST(aclrtCreateStream(&stream));
    MUST(pthread_create(&thread, NULL, poll, NULL));
    wait_for_polls(2);
    MUST(aclrtSubscribeReport((uint64_t)thread, stream));
    wait_for_polls(2);
    MUST(aclrtUnSubscribeReport((uint64_t)thread, stream));
    wait_for_polls(2);
    atomic_store(&stop, 1);
    MUST(pthread_join(thread, NULL));
    MUST(aclrtDestroyStream(stream));
#else
    TRY(aclrtProcessReport(1)); /* FINDS JMR-CB-009 */
#endif
    tear_down();
    return 0;
}
