/* Two ranks of one process, one device each. */
#ifndef RANKS_H
#define RANKS_H

#include "corpus.h"

#include "hccl/hccl.h"

#define RANKS 2
#define COUNT 256

static aclrtStream streams[RANKS];
static float *inputs[RANKS];
static float *outputs[RANKS];
static HcclComm comms[RANKS];

static inline void use_rank(int rank)
{
    MUST(aclrtSetDevice(rank));
}

static inline void set_up_buffers(void)
{
    MUST(aclInit(NULL));
    for (int rank = 0; rank < RANKS; rank++) {
        use_rank(rank);
        MUST(aclrtCreateStream(&streams[rank]));
        MUST(aclrtMalloc((void **)&inputs[rank], COUNT * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST));
        MUST(aclrtMalloc((void **)&outputs[rank], COUNT * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST));
        MUST(aclrtMemset(inputs[rank], COUNT * sizeof(float), 0, COUNT * sizeof(float)));
        MUST(aclrtMemset(outputs[rank], COUNT * sizeof(float), 0, COUNT * sizeof(float)));
    }
}

static inline void set_up_ranks(void)
{
    int32_t devices[RANKS] = {0, 1};

    set_up_buffers();
    MUST(HcclCommInitAll(RANKS, devices, comms));
}

static inline void synchronize_ranks(void)
{
    for (int rank = 0; rank < RANKS; rank++) {
        use_rank(rank);
        MUST(aclrtSynchronizeStream(streams[rank]));
    }
}

static inline void tear_down_buffers(void)
{
    for (int rank = 0; rank < RANKS; rank++) {
        use_rank(rank);
        MUST(aclrtFree(inputs[rank]));
        MUST(aclrtFree(outputs[rank]));
        MUST(aclrtDestroyStream(streams[rank]));
        MUST(aclrtResetDevice(rank));
    }
    MUST(aclFinalize());
}

static inline void tear_down_ranks(void)
{
    for (int rank = 0; rank < RANKS; rank++) {
        MUST(HcclCommDestroy(comms[rank]));
    }
    tear_down_buffers();
}

#endif
