/* What both programs do on each rank: the mean of a vector over all ranks, as data-parallel training has it of gradients. */
#ifndef MEAN_H
#define MEAN_H

#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"
#include "hccl/hccl.h"

#define RANKS 4
#define COUNT 1000

#define CHECK(call)                                                                     \
    do {                                                                                \
        int code_ = (int)(call);                                                        \
        if (code_ != 0) {                                                               \
            const char *text_ = aclGetRecentErrMsg();                                   \
            fprintf(stderr, "%s: %d\n%s\n", #call, code_, text_ == NULL ? "" : text_); \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

/* Rank r contributes r + 1 everywhere. Returns the mean that all ranks get, (RANKS + 1) / 2. */
static float mean_over_ranks(HcclComm comm, uint32_t rank, aclrtStream stream)
{
    static const size_t bytes = COUNT * sizeof(float);
    float *host = malloc(bytes), *device, mean;

    for (int i = 0; i < COUNT; i++) {
        host[i] = (float)rank + 1.0f;
    }
    CHECK(aclrtMalloc((void **)&device, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemcpy(device, bytes, host, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK(HcclAllReduce(device, device, COUNT, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm, stream));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtMemcpy(host, bytes, device, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
    mean = host[COUNT - 1] / RANKS;
    CHECK(aclrtFree(device));
    free(host);
    return mean;
}

#endif
