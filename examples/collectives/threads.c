/* Four ranks in one process, one thread and one device each. Run with JUMAR_DEVICES=4. */
#include <pthread.h>

#include "mean.h"

static HcclComm comms[RANKS];

static void *run(void *argument)
{
    uint32_t rank = (uint32_t)(uintptr_t)argument;
    aclrtStream stream;

    CHECK(aclrtSetDevice((int32_t)rank));
    CHECK(aclrtCreateStream(&stream));
    printf("rank %u: mean %.2f\n", rank, mean_over_ranks(comms[rank], rank, stream));
    CHECK(HcclCommDestroy(comms[rank]));
    CHECK(aclrtDestroyStream(stream));
    return NULL;
}

int main(void)
{
    int32_t devices[RANKS];
    pthread_t threads[RANKS];

    CHECK(aclInit(NULL));
    for (int rank = 0; rank < RANKS; rank++) {
        devices[rank] = rank;
        CHECK(aclrtSetDevice(rank));
    }
    CHECK(HcclCommInitAll(RANKS, devices, comms));
    for (int rank = 0; rank < RANKS; rank++) {
        if (pthread_create(&threads[rank], NULL, run, (void *)(uintptr_t)rank) != 0) {
            return 1;
        }
    }
    for (int rank = 0; rank < RANKS; rank++) {
        pthread_join(threads[rank], NULL);
    }
    CHECK(aclFinalize());
    return 0;
}
