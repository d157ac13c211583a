/* Prefetch on one stream, "compute" (a device copy) on another. */
#include <stdio.h>
#include <string.h>

#include "acl/acl.h"

#define BYTES (1u << 20)

#define CHECK(call, label)                                           \
    do {                                                             \
        aclError ret_ = (call);                                      \
        if (ret_ != ACL_SUCCESS) {                                   \
            printf("%s failed: %d\n", #call, ret_);                  \
            goto label;                                              \
        }                                                            \
    } while (0)

struct job {
    aclrtStream load;
    aclrtStream compute;
    aclrtEvent loaded;
    void *host;
    void *input;
    void *output;
};

static int job_run(struct job *j)
{
    memset(j->host, 0x5a, BYTES);
    CHECK(aclrtMemcpyAsync(j->input, BYTES, j->host, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, j->load), fail);
    CHECK(aclrtRecordEvent(j->loaded, j->load), fail);
    CHECK(aclrtMemcpyAsync(j->output, BYTES, j->input, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, j->compute), fail);
    CHECK(aclrtSynchronizeStream(j->compute), fail);
    CHECK(aclrtSynchronizeStream(j->load), fail);
    CHECK(aclrtMemcpy(j->host, BYTES, j->output, BYTES, ACL_MEMCPY_DEVICE_TO_HOST), fail);
    printf("result: 0x%02x\n", ((unsigned char *)j->host)[BYTES / 2]);
    return 0;
fail:
    return 1;
}

int main(void)
{
    struct job j = {0};
    int rc = 1;
    CHECK(aclInit(NULL), end);
    CHECK(aclrtSetDevice(0), finalize);
    CHECK(aclrtCreateStream(&j.load), reset);
    CHECK(aclrtCreateStream(&j.compute), reset);
    CHECK(aclrtCreateEvent(&j.loaded), reset);
    CHECK(aclrtMallocHost(&j.host, BYTES), reset);
    CHECK(aclrtMalloc(&j.input, BYTES, ACL_MEM_MALLOC_HUGE_FIRST), reset);
    CHECK(aclrtMalloc(&j.output, BYTES, ACL_MEM_MALLOC_HUGE_FIRST), reset);
    /* The first job of a stream finds zeros, never old data. */
    CHECK(aclrtMemset(j.input, BYTES, 0, BYTES), reset);

    rc = job_run(&j);

    (void)aclrtFree(j.output);
    (void)aclrtFree(j.input);
    (void)aclrtFreeHost(j.host);
    (void)aclrtDestroyEvent(j.loaded);
    (void)aclrtDestroyStream(j.compute);
    (void)aclrtDestroyStream(j.load);
reset:
    (void)aclrtResetDevice(0);
finalize:
    (void)aclFinalize();
end:
    return rc;
}
