/* 20 ms of host work and 20 ms of device work take less than 30 ms together: the program goes on while the device works.
 *
 * First with a host function of a known length that needs no core, then with copies inside the device. The best of a few
 * attempts counts, because another program may have the cores for a moment.
 */
#include "program.h"

#define WORK_MS 20
#define ATTEMPTS 15
#define SIZE ((size_t)32 << 20)

static aclrtStream stream;
static void *from, *to;
static int copies;

static void busy(double ms)
{
    double end = now_s() + ms / 1e3;
    while (now_s() < end) {
    }
}

static void nap(void *argument)
{
    (void)argument;
    nap_ms(WORK_MS);
}

static void submit_nap(void)
{
    CHECK(aclrtMemcpyAsync(to, 4096, from, 4096, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    CHECK(aclrtLaunchHostFunc(stream, nap, NULL));
    CHECK(aclrtMemcpyAsync(from, 4096, to, 4096, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
}

static void submit_copies(void)
{
    for (int i = 0; i < copies; i++) {
        CHECK(aclrtMemcpyAsync(to, SIZE, from, SIZE, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    }
}

/* The best time, in ms, for the work with `host_ms` of host work beside it. */
static double measure(void (*submit)(void), double host_ms, double good_ms)
{
    double best = 1e9;
    for (int attempt = 0; attempt < ATTEMPTS && best >= good_ms; attempt++) {
        double start = now_s();
        double took;
        submit();
        busy(host_ms);
        CHECK(aclrtSynchronizeStream(stream));
        took = (now_s() - start) * 1e3;
        best = took < best ? took : best;
    }
    return best;
}

int main(void)
{
    double alone, together;

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtMalloc(&from, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc(&to, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemset(from, SIZE, 1, SIZE));
    CHECK(aclrtMemset(to, SIZE, 2, SIZE));

    together = measure(submit_nap, WORK_MS, 1.5 * WORK_MS);
    printf("host function: %.1f ms for %d ms beside %d ms of host work\n", together, WORK_MS, WORK_MS);
    REQUIRE(together >= WORK_MS);
    REQUIRE(together < 1.5 * WORK_MS);

    copies = 1;
    while ((alone = measure(submit_copies, 0, WORK_MS)) < WORK_MS && copies < 1000) {
        copies *= 2;
    }
    alone = measure(submit_copies, 0, 0);
    together = measure(submit_copies, alone, 1.5 * alone);
    printf("copies: %.1f ms for %.1f ms beside as much host work\n", together, alone);
    REQUIRE(together < 1.5 * alone);

    CHECK(aclrtFree(to));
    CHECK(aclrtFree(from));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
