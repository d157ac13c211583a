/* Waits that another thread cuts short: a wait for an aborted stream returns 107023, the abort of a device's tasks
 * 107022. The abort comes once the waiting thread sleeps, as the system reports. */
#include "program.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static aclrtStream stream;
static aclrtEvent gate, behind;
static atomic_int waiting;

typedef enum { STREAM, STREAM_FOR_A_TIME, EVENT, EVENT_FOR_A_TIME, DEVICE } Wait;

typedef struct {
    Wait wait;
    aclError answer;
} Waiter;

static void *wait_for_it(void *argument)
{
    Waiter *waiter = argument;
    CHECK(aclrtSetDevice(0));
    atomic_store(&waiting, (int)syscall(SYS_gettid));
    switch (waiter->wait) {
    case STREAM:
        waiter->answer = aclrtSynchronizeStream(stream);
        break;
    case STREAM_FOR_A_TIME:
        waiter->answer = aclrtSynchronizeStreamWithTimeout(stream, 60000);
        break;
    case EVENT:
        waiter->answer = aclrtSynchronizeEvent(behind);
        break;
    case EVENT_FOR_A_TIME:
        waiter->answer = aclrtSynchronizeEventWithTimeout(behind, 60000);
        break;
    case DEVICE:
        waiter->answer = aclrtSynchronizeDevice();
        break;
    }
    CHECK(aclrtResetDevice(0));
    return NULL;
}

/* Whether a thread of this process sleeps. */
static int sleeps(int thread)
{
    char path[64], state = '?';
    FILE *file;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
    file = fopen(path, "r");
    if (file != NULL) {
        if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1) state = '?';
        fclose(file);
    }
    return state == 'S';
}

static aclError abort_stream(void)
{
    return aclrtStreamAbort(stream);
}

static aclError abort_device(void)
{
    return aclrtDeviceTaskAbort(0, 10000);
}

/* A thread that sleeps may not have begun to wait: it is tried again until it had. */
static aclError cut_short(Wait wait, aclError (*abort)(void))
{
    aclError answer = ACL_SUCCESS;
    for (int i = 0; i < 100 && answer == ACL_SUCCESS; i++) {
        Waiter waiter = {wait, -1};
        pthread_t thread;
        CHECK(aclrtStreamWaitEvent(stream, gate));
        CHECK(aclrtRecordEvent(behind, stream));
        atomic_store(&waiting, 0);
        REQUIRE(pthread_create(&thread, NULL, wait_for_it, &waiter) == 0);
        while (atomic_load(&waiting) == 0 || !sleeps(atomic_load(&waiting))) {
            sched_yield();
        }
        CHECK(abort());
        REQUIRE(pthread_join(thread, NULL) == 0);
        answer = waiter.answer;
    }
    /* The stream is usable again, and no other call reports the abort. */
    CHECK(aclrtSynchronizeStream(stream));
    return answer;
}

int main(void)
{
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtCreateEventWithFlag(&gate, ACL_EVENT_SYNC));
    CHECK(aclrtCreateEvent(&behind));
    REQUIRE(cut_short(STREAM, abort_stream) == 107023);
    REQUIRE(cut_short(EVENT, abort_stream) == 107023);
    REQUIRE(cut_short(EVENT_FOR_A_TIME, abort_stream) == 107023);
    REQUIRE(cut_short(EVENT, abort_device) == 107022);
    REQUIRE(cut_short(STREAM_FOR_A_TIME, abort_stream) == 107023);
    REQUIRE(cut_short(STREAM, abort_device) == 107022);
    REQUIRE(cut_short(DEVICE, abort_device) == 107022);
    CHECK(aclrtDestroyEvent(behind));
    CHECK(aclrtDestroyEvent(gate));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    printf("ok\n");
    return 0;
}
