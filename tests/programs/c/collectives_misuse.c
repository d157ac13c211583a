/* Misuse of collective communication that needs several ranks, threads or processes: configurations that differ, two sends that meet no
 * receive, captured models that only some ranks execute, a communicator that ends before its model,
 * a device that is reset, a forked child. */
#include "program.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include "hccl/hccl.h"

enum { RANKS = 2, FAILED_STREAM = 507048, FAILED_MODEL = 507011 };

static HcclComm comms[RANKS];
static aclrtStream streams[RANKS];
static int32_t *buffers[RANKS];

static void use(int rank)
{
    CHECK(aclrtSetDevice(rank));
}

static void create(void)
{
    int32_t devices[RANKS] = {0, 1};
    CHECK(HcclCommInitAll(RANKS, devices, comms));
}

static void destroy(void)
{
    for (int rank = 0; rank < RANKS; rank++) {
        CHECK(HcclCommDestroy(comms[rank]));
    }
}

/* Waits for a rank's stream, and requires that its failure names `part`. */
static void expect_failure(int rank, int code, const char *id, const char *part)
{
    const char *text;
    use(rank);
    EXPECT(code, aclrtSynchronizeStreamWithTimeout(streams[rank], (int32_t)(PATIENCE_S * 1000)));
    text = aclGetRecentErrMsg();
    REQUIRE(text != NULL && strstr(text, id) != NULL && strstr(text, part) != NULL);
}

static HcclRootInfo root_info;

static void *join_with_own_configuration(void *argument)
{
    int rank = (int)(intptr_t)argument;
    HcclCommConfig config;
    HcclComm comm;
    const char *text;

    use(rank);
    HcclCommConfigInit(&config);
    config.hcclDeterministic = (uint32_t)rank;
    EXPECT(HCCL_E_PARA, HcclCommInitRootInfoConfig(RANKS, &root_info, (uint32_t)rank, &config, &comm));
    text = aclGetRecentErrMsg();
    REQUIRE(text != NULL && strstr(text, "configure the communicator differently") != NULL);
    return NULL;
}

static void configurations_differ(void)
{
    pthread_t threads[RANKS];

    use(0);
    CHECK(HcclGetRootInfo(&root_info));
    for (int rank = 0; rank < RANKS; rank++) {
        REQUIRE(pthread_create(&threads[rank], NULL, join_with_own_configuration, (void *)(intptr_t)rank) == 0);
    }
    for (int rank = 0; rank < RANKS; rank++) {
        REQUIRE(pthread_join(threads[rank], NULL) == 0);
    }
}

/* Both ranks send first and receive second on one stream. */
static void send_against_send(void)
{
    create();
    for (int rank = 0; rank < RANKS; rank++) {
        uint32_t other = (uint32_t)(1 - rank);
        use(rank);
        CHECK(HcclSend(buffers[rank], 1, HCCL_DATA_TYPE_INT32, other, comms[rank], streams[rank]));
        CHECK(HcclRecv(buffers[rank], 1, HCCL_DATA_TYPE_INT32, other, comms[rank], streams[rank]));
    }
    for (int rank = 0; rank < RANKS; rank++) {
        expect_failure(rank, FAILED_STREAM, "EI0002", "HcclSend");
    }
    destroy();
}

static aclmdlRI capture(int rank)
{
    aclmdlRI model;
    use(rank);
    CHECK(aclmdlRICaptureBegin(streams[rank], ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    CHECK(HcclAllReduce(buffers[rank], buffers[rank], 1, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, comms[rank], streams[rank]));
    CHECK(aclmdlRICaptureEnd(streams[rank], &model));
    return model;
}

/* Rank 1 captured twice, and executes the other model: the operations are the same. */
static void models_of_different_captures(void)
{
    aclmdlRI models[RANKS], other;
    create();
    for (int rank = 0; rank < RANKS; rank++) {
        models[rank] = capture(rank);
    }
    other = capture(1);
    for (int rank = 0; rank < RANKS; rank++) {
        int32_t own = rank + 1;
        use(rank);
        CHECK(aclrtMemcpy(buffers[rank], sizeof own, &own, sizeof own, ACL_MEMCPY_HOST_TO_DEVICE));
        CHECK(aclmdlRIExecuteAsync(rank == 0 ? models[0] : other, streams[rank]));
    }
    for (int rank = 0; rank < RANKS; rank++) {
        int32_t sum;
        use(rank);
        CHECK(aclrtSynchronizeStreamWithTimeout(streams[rank], (int32_t)(PATIENCE_S * 1000)));
        CHECK(aclrtMemcpy(&sum, sizeof sum, buffers[rank], sizeof sum, ACL_MEMCPY_DEVICE_TO_HOST));
        REQUIRE(sum == 3);
        CHECK(aclmdlRIDestroy(models[rank]));
    }
    CHECK(aclmdlRIDestroy(other));
    destroy();
}

/* Rank 1 never executes its model. */
static void model_of_some_ranks(void)
{
    aclmdlRI models[RANKS];
    create();
    for (int rank = 0; rank < RANKS; rank++) {
        models[rank] = capture(rank);
    }
    use(0);
    CHECK(aclmdlRIExecuteAsync(models[0], streams[0]));
    expect_failure(0, FAILED_STREAM, "EI0002", "for rank 1");
    for (int rank = 0; rank < RANKS; rank++) {
        use(rank);
        CHECK(aclmdlRIDestroy(models[rank]));
    }
    destroy();
}

static void communicator_ends_before_its_model(void)
{
    aclmdlRI models[RANKS];
    create();
    for (int rank = 0; rank < RANKS; rank++) {
        models[rank] = capture(rank);
    }
    destroy();
    for (int rank = 0; rank < RANKS; rank++) {
        use(rank);
        CHECK(aclmdlRIExecuteAsync(models[rank], streams[rank]));
        expect_failure(rank, FAILED_MODEL, "EE1009", "was destroyed");
        CHECK(aclmdlRIDestroy(models[rank]));
    }
}

/* Handles of the parent's communicators mean nothing in a child. */
static void forked_child(void)
{
    pid_t child;
    int status;
    create();
    child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        HcclRootInfo info;
        EXPECT(HCCL_E_RUNTIME, HcclBarrier(comms[0], streams[0]));
        EXPECT(HCCL_E_RUNTIME, HcclGetRootInfo(&info));
        _exit(0);
    }
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    destroy();
}

/* The reset of rank 1's device ends the wait of rank 0. */
static void device_is_reset(void)
{
    create();
    use(0);
    CHECK(HcclBarrier(comms[0], streams[0]));
    CHECK(aclrtResetDeviceForce(1));
    CHECK(HcclCommDestroy(comms[1]));
    expect_failure(0, FAILED_STREAM, "EI0002", "rank 1");
    CHECK(HcclCommDestroy(comms[0]));
}

int main(void)
{
    setenv("JUMAR_DEVICES", "2", 1);
    setenv("JUMAR_HCCL_TIMEOUT", "4", 1);
    CHECK(aclInit(NULL));
    for (int rank = 0; rank < RANKS; rank++) {
        use(rank);
        CHECK(aclrtCreateStream(&streams[rank]));
        CHECK(aclrtMalloc((void **)&buffers[rank], 64, ACL_MEM_MALLOC_HUGE_FIRST));
        CHECK(aclrtMemset(buffers[rank], 64, 0, 64));
    }
    configurations_differ();
    send_against_send();
    models_of_different_captures();
    model_of_some_ranks();
    communicator_ends_before_its_model();
    forked_child();
    device_is_reset();
    CHECK(aclFinalize());
    return 0;
}
