/* The thread that runs the callbacks ends before the last one, so that the wait for the stream never ends. */
#include "corpus.h"

static aclrtContext context;
static pthread_barrier_t subscribed;
/* How many callbacks ran, all on the thread of the reports. */
static int called;

static void add_one(void *number)
{
    ++*(int *)number;
}

static void *reports(void *rounds)
{
    MUST(aclrtSetCurrentContext(context));
    pthread_barrier_wait(&subscribed);
    /* One report may run several callbacks that are due. */
    while (called < *(int *)rounds) {
        (void)aclrtProcessReport(100);
    }
    return NULL;
}

int main(void)
{
    aclrtStream stream;
    pthread_t thread;
#ifdef CLEAN
    int rounds = 2;
#else
    int rounds = 1;
#endif

    set_up();
    MUST(aclrtGetCurrentContext(&context));
    MUST(aclrtCreateStream(&stream));
    MUST(pthread_barrier_init(&subscribed, NULL, 2));
    MUST(pthread_create(&thread, NULL, reports, &rounds));
    MUST(aclrtSubscribeReport((uint64_t)thread, stream));
    pthread_barrier_wait(&subscribed);
    MUST(aclrtLaunchCallback(add_one, &called, ACL_CALLBACK_BLOCK, stream));
#ifndef CLEAN
    MUST(pthread_join(thread, NULL));
#endif
    MUST(aclrtLaunchCallback(add_one, &called, ACL_CALLBACK_BLOCK, stream));
    MUST(aclrtSynchronizeStream(stream)); /* FINDS JMR-CB-008 */
#ifdef CLEAN
    MUST(pthread_join(thread, NULL));
#endif
    MUST(aclrtUnSubscribeReport((uint64_t)thread, stream));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return called == 2 ? 0 : 1;
}
