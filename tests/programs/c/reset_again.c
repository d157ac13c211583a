/* A device is set again by one thread while another resets it: what the first one allocates is its own, and the reset takes what was there
 * before and nothing else. A callback keeps the reset from ending until the device has been set again. */
#include "program.h"

enum { BYTES = 1 << 16 };

static aclrtContext context;
static void *again;

static void sets_again(void *argument)
{
    int32_t active = 1;

    (void)argument;
    /* The last use has ended once the primary context is no longer active; the reset now waits for this very callback. */
    for (double start = now_s(); active;) {
        CHECK(aclrtGetPrimaryCtxState(1, NULL, &active));
        REQUIRE(now_s() - start < PATIENCE_S);
    }
    CHECK(aclrtSetDevice(1));
    CHECK(aclrtGetCurrentContext(&context));
    CHECK(aclrtMalloc(&again, BYTES, ACL_MEM_MALLOC_NORMAL_ONLY));
    CHECK(aclrtMemset(again, BYTES, 0x5a, BYTES));
}

int main(void)
{
    aclrtStream stream;
    void *before;
    uint64_t found = 0;
    size_t free_before, free_after, total;

    setenv("JUMAR_DEVICES", "2", 1);
    CHECK(aclInit(NULL));
    for (int round = 0; round < 20; round++) {
        CHECK(aclrtSetDevice(1));
        CHECK(aclrtGetMemInfo(ACL_HBM_MEM, &free_before, &total));
        CHECK(aclrtMalloc(&before, BYTES, ACL_MEM_MALLOC_NORMAL_ONLY));
        CHECK(aclrtCreateStream(&stream));
        CHECK(aclrtLaunchHostFunc(stream, sets_again, NULL));
        CHECK(aclrtResetDevice(1));

        CHECK(aclrtSetCurrentContext(context));
        CHECK(aclrtCreateStream(&stream));
        EXPECT(107000, aclrtFree(before));
        CHECK(aclrtMemcpy(&found, sizeof found, again, sizeof found, ACL_MEMCPY_DEVICE_TO_HOST));
        REQUIRE(found == 0x5a5a5a5a5a5a5a5aull);
        CHECK(aclrtMemsetAsync(again, BYTES, 0, BYTES, stream));
        CHECK(aclrtSynchronizeStream(stream));
        CHECK(aclrtDestroyStream(stream));

        /* What the callback made goes with its own reset; nothing is counted twice or forgotten. */
        CHECK(aclrtResetDevice(1));
        EXPECT(507007, aclrtResetDevice(1));
        CHECK(aclrtSetDevice(1));
        EXPECT(107000, aclrtFree(again));
        CHECK(aclrtGetMemInfo(ACL_HBM_MEM, &free_after, &total));
        REQUIRE(free_before == free_after);
        CHECK(aclrtResetDevice(1));
    }
    CHECK(aclFinalize());
    return 0;
}
