/* A thousand streams wait, half for an event and half for a value, and hold none of two workers: another stream runs to
 * its end. Two more streams wait for each other's values in turn. Then all are released, and each did its work once. */
#include "program.h"

enum { STREAMS = 1000, TURNS = 200 };

static aclrtStream streams[STREAMS];

int main(void)
{
    aclrtStream other, ping, pong;
    aclrtEvent gate;
    uint64_t *words;
    uint32_t *counts, *host;
    aclrtStreamStatus status;

    setenv("JUMAR_WORKERS", "2", 1);
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&other));
    CHECK(aclrtCreateStream(&ping));
    CHECK(aclrtCreateStream(&pong));
    CHECK(aclrtCreateEventWithFlag(&gate, ACL_EVENT_SYNC));
    CHECK(aclrtMalloc((void **)&words, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc((void **)&counts, STREAMS * sizeof *counts, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMallocHost((void **)&host, STREAMS * sizeof *host));
    CHECK(aclrtMemset(words, 64, 0, 64));
    CHECK(aclrtMemset(counts, STREAMS * sizeof *counts, 0, STREAMS * sizeof *counts));
    for (int i = 0; i < STREAMS; i++) {
        CHECK(aclrtCreateStream(&streams[i]));
        if (i % 2 == 0) {
            CHECK(aclrtStreamWaitEvent(streams[i], gate));
        } else {
            CHECK(aclrtValueWait(&words[0], 7, 1, streams[i]));
        }
        CHECK(aclrtMemsetAsync(&counts[i], sizeof *counts, i % 251 + 1, sizeof *counts, streams[i]));
    }
    /* The other one is done while they all wait. */
    for (int i = 0; i < 1000; i++) {
        CHECK(aclrtMemsetAsync(&words[4], 8, i % 256, 8, other));
    }
    CHECK(aclrtSynchronizeStreamWithTimeout(other, (int32_t)(PATIENCE_S * 1000)));
    for (int i = 1; i <= TURNS; i++) {
        CHECK(aclrtValueWait(&words[1], (uint64_t)(i - 1), 1, ping));
        CHECK(aclrtValueWrite(&words[2], (uint64_t)i, 0, ping));
        CHECK(aclrtValueWait(&words[2], (uint64_t)i, 1, pong));
        CHECK(aclrtValueWrite(&words[1], (uint64_t)i, 0, pong));
    }
    CHECK(aclrtSynchronizeStreamWithTimeout(ping, (int32_t)(PATIENCE_S * 1000)));
    CHECK(aclrtSynchronizeStreamWithTimeout(pong, (int32_t)(PATIENCE_S * 1000)));
    for (int i = 0; i < STREAMS; i++) {
        CHECK(aclrtStreamQuery(streams[i], &status));
        REQUIRE(status == ACL_STREAM_STATUS_NOT_READY);
    }
    CHECK(aclrtMemcpy(host, STREAMS * sizeof *host, counts, STREAMS * sizeof *counts, ACL_MEMCPY_DEVICE_TO_HOST));
    for (int i = 0; i < STREAMS; i++) {
        REQUIRE(host[i] == 0);
    }
    CHECK(aclrtRecordEvent(gate, other));
    CHECK(aclrtValueWrite(&words[0], 7, 0, other));
    for (int i = 0; i < STREAMS; i++) {
        CHECK(aclrtSynchronizeStreamWithTimeout(streams[i], (int32_t)(PATIENCE_S * 1000)));
        CHECK(aclrtDestroyStream(streams[i]));
    }
    CHECK(aclrtMemcpy(host, STREAMS * sizeof *host, counts, STREAMS * sizeof *counts, ACL_MEMCPY_DEVICE_TO_HOST));
    for (int i = 0; i < STREAMS; i++) {
        REQUIRE(host[i] == 0x01010101u * (uint32_t)(i % 251 + 1));
    }
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    printf("ok\n");
    return 0;
}
