/* A thread submits the work and notifies the program afterwards. Where a call fails the thread returns without a notification, and the program waits
 * for ever: what `jumar faults` has to see and to end. */
#include <pthread.h>
#include <stdio.h>

#include "acl/acl.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready;

static void *worker(void *argument)
{
    void *memory;

    (void)argument;
    if (aclrtSetDevice(0) != ACL_SUCCESS) {
        return NULL; /* the mistake: nothing wakes the waiting thread */
    }
    if (aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS) {
        (void)aclrtFree(memory);
    }
    (void)aclrtResetDevice(0);
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t thread;

    if (aclInit(NULL) != ACL_SUCCESS) {
        return 2;
    }
    if (pthread_create(&thread, NULL, worker, NULL) != 0) {
        return 3;
    }
    pthread_mutex_lock(&lock);
    while (!ready) {
        pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    puts("done");
    return aclFinalize() == ACL_SUCCESS ? 0 : 4;
}
