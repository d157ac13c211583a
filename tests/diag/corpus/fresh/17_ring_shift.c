/* Ring attention: in each round every rank passes its block of keys to the next rank and takes the block of the previous one.
   DEVICES 4 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"
#include "hccl/hccl.h"

#define RANKS 4
#define BLOCK 4096
#define BYTES (BLOCK * sizeof(uint16_t))

struct rank {
    uint32_t id;
    HcclComm comm;
    int errors;
};

static int failed(int code, const char *what, uint32_t id)
{
    if (code != 0) {
        fprintf(stderr, "rank %u: %s -> %d\n", id, what, code);
    }
    return code != 0;
}
#define TRY(r, call) ((r)->errors += failed((int)(call), #call, (r)->id))

static void shift(struct rank *r, void *mine, void *theirs, aclrtStream stream)
{
    uint32_t next = (r->id + 1) % RANKS;
    uint32_t previous = (r->id + RANKS - 1) % RANKS;
    TRY(r, HcclSend(mine, BLOCK, HCCL_DATA_TYPE_FP16, next, r->comm, stream));
    TRY(r, HcclRecv(theirs, BLOCK, HCCL_DATA_TYPE_FP16, previous, r->comm, stream));
}

static void *attention(void *argument)
{
    struct rank *r = argument;
    aclrtStream stream = NULL;
    void *keys[2] = {NULL, NULL};
    TRY(r, aclrtSetDevice((int32_t)r->id));
    TRY(r, aclrtCreateStream(&stream));
    TRY(r, aclrtMalloc(&keys[0], BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    TRY(r, aclrtMalloc(&keys[1], BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    TRY(r, aclrtMemsetAsync(keys[0], BYTES, (int32_t)r->id, BYTES, stream));

    for (int round = 0; round < RANKS - 1 && r->errors == 0; round++) {
        shift(r, keys[round % 2], keys[(round + 1) % 2], stream);
        TRY(r, aclrtSynchronizeStream(stream));
    }

    TRY(r, aclrtFree(keys[1]));
    TRY(r, aclrtFree(keys[0]));
    TRY(r, aclrtDestroyStream(stream));
    return NULL;
}

int main(void)
{
    struct rank ranks[RANKS] = {0};
    HcclComm comms[RANKS] = {0};
    int32_t devices[RANKS] = {0, 1, 2, 3};
    pthread_t threads[RANKS];
    int errors = 0;

    setenv("HCCL_EXEC_TIMEOUT", "4", 0);
    errors += failed(aclInit(NULL), "aclInit", 0);
    errors += failed(HcclCommInitAll(RANKS, devices, comms), "HcclCommInitAll", 0);
    if (errors != 0) {
        return 1;
    }
    for (uint32_t i = 0; i < RANKS; i++) {
        ranks[i].id = i;
        ranks[i].comm = comms[i];
        pthread_create(&threads[i], NULL, attention, &ranks[i]);
    }
    for (uint32_t i = 0; i < RANKS; i++) {
        pthread_join(threads[i], NULL);
        errors += ranks[i].errors;
    }
    for (uint32_t i = 0; i < RANKS; i++) {
        errors += failed(HcclCommDestroy(comms[i]), "HcclCommDestroy", i);
        errors += failed(aclrtResetDevice((int32_t)i), "aclrtResetDevice", i);
    }
    errors += failed(aclFinalize(), "aclFinalize", 0);
    printf("ring finished with %d errors\n", errors);
    return errors != 0;
}
