/* A communicator is destroyed while a thread is inside one of its calls. A program of its own: to fill a stream takes longer under valgrind
 * than ranks wait for each other in the tests of misuse. */
#include "program.h"

#include <pthread.h>
#include "hccl/hccl.h"

/* A million operations fail one after the other: under valgrind, on a slow machine, that takes longer than PATIENCE_S. */
enum { RANKS = 2, FAILED_STREAM = 507048, FAILING_MS = 300 * 1000 };

static HcclComm comms[RANKS];
static aclrtStream streams[RANKS];
static volatile int calls_made;

/* The stream takes no more operations, since rank 1 never comes: the thread stays inside a call. */
static void *call_until_refused(void *nothing)
{
    int code;
    (void)nothing;
    CHECK(aclrtSetDevice(0));
    do {
        code = (int)HcclBarrier(comms[0], streams[0]);
        calls_made++;
    } while (code == HCCL_SUCCESS);
    EXPECT(HCCL_E_UNAVAIL, code);
    return NULL;
}

static void wait_until_no_call_returns(void)
{
    int seen;
    do {
        seen = calls_made;
        sleep_ms(200);
    } while (seen == 0 || seen != calls_made);
}

int main(void)
{
    int32_t devices[RANKS] = {0, 1};
    const char *text;
    pthread_t thread;

    setenv("JUMAR_DEVICES", "2", 1);
    setenv("JUMAR_HCCL_TIMEOUT", "100", 1);
    CHECK(aclInit(NULL));
    for (int rank = 0; rank < RANKS; rank++) {
        CHECK(aclrtSetDevice(rank));
        CHECK(aclrtCreateStream(&streams[rank]));
    }
    CHECK(HcclCommInitAll(RANKS, devices, comms));
    REQUIRE(pthread_create(&thread, NULL, call_until_refused, NULL) == 0);
    wait_until_no_call_returns();
    EXPECT(HCCL_E_AGAIN, HcclCommDestroy(comms[0]));

    /* Now the operations that wait for rank 1 fail, and the stream takes others. */
    CHECK(HcclCommDestroy(comms[1]));
    REQUIRE(pthread_join(thread, NULL) == 0);
    CHECK(aclrtSetDevice(0));
    EXPECT(FAILED_STREAM, aclrtSynchronizeStreamWithTimeout(streams[0], FAILING_MS));
    text = aclGetRecentErrMsg();
    REQUIRE(text != NULL && strstr(text, "EI0002") != NULL && strstr(text, "rank 1") != NULL);
    CHECK(HcclCommDestroy(comms[0]));
    for (int rank = 0; rank < RANKS; rank++) {
        CHECK(aclrtSetDevice(rank));
        CHECK(aclrtDestroyStreamForce(streams[rank]));
        CHECK(aclrtResetDevice(rank));
    }
    CHECK(aclFinalize());
    return 0;
}
