/* Data-parallel training: a linear model, whose batch is divided into four parts. Run with JUMAR_DEVICES=4.
 *
 *     train single      one device computes the parts one after the other, and adds their gradients in this order
 *     train threads     four ranks in one process compute a part each, and sum the gradients with HcclAllReduce
 *     train processes   four ranks in four processes
 *
 * All three print the same losses, to the last bit: HcclAllReduce adds in rank order. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_matmul.h"
#include "aclnnop/aclnn_sub.h"
#include "carry.h"
#include "hccl/hccl.h"

enum { PARTS = 4, ROWS = 64, FEATURES = 16, STEPS = 40, WORKSPACE = 1 << 20 };

#define CHECK(call)                                                                     \
    do {                                                                                \
        int code_ = (int)(call);                                                        \
        if (code_ != 0) {                                                               \
            const char *text_ = aclGetRecentErrMsg();                                   \
            fprintf(stderr, "%s: %d\n%s\n", #call, code_, text_ == NULL ? "" : text_); \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

/* Plans an operator and queues it. */
#define RUN(operator, ...)                                                                    \
    do {                                                                                      \
        uint64_t bytes_;                                                                      \
        aclOpExecutor *executor_;                                                             \
        CHECK(operator##GetWorkspaceSize(__VA_ARGS__, &bytes_, &executor_));                  \
        if (bytes_ > WORKSPACE) {                                                             \
            exit(1);                                                                          \
        }                                                                                     \
        CHECK(operator(worker->workspace, bytes_, executor_, worker->stream));                \
    } while (0)

/* A part of the batch, on its device. */
struct part {
    aclTensor *inputs, *transposed, *targets;
};

/* What one device has: the weights, and for each part what its gradient is computed from. */
struct worker {
    aclrtStream stream;
    void *workspace;
    struct part parts[PARTS];
    aclTensor *weights, *errors, *errors_as_row;
    /* The gradient, followed by the sum of squared errors: one buffer, so that one operation sums both over the ranks. */
    float *own, *sum;
    aclTensor *own_gradient, *own_loss, *own_all, *sum_gradient, *sum_all;
    aclScalar *one, *rate;
};

static float *upload(const float *values, size_t count)
{
    float *device;
    CHECK(aclrtMalloc((void **)&device, count * sizeof *device, ACL_MEM_MALLOC_HUGE_FIRST));
    if (values != NULL) {
        CHECK(aclrtMemcpy(device, count * sizeof *device, values, count * sizeof *device, ACL_MEMCPY_HOST_TO_DEVICE));
    } else {
        CHECK(aclrtMemset(device, count * sizeof *device, 0, count * sizeof *device));
    }
    return device;
}

static aclTensor *matrix(float *device, int64_t rows, int64_t columns)
{
    int64_t dims[2] = {rows, columns}, strides[2] = {columns, 1};
    return aclCreateTensor(dims, 2, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, dims, 2, device);
}

/* Numbers between -1 and 1 that look random and are the same in every run. */
static float next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) / 8388608.0f - 1.0f;
}

static struct part make_part(int number)
{
    static const size_t count = (size_t)ROWS * FEATURES;
    float *inputs = malloc(count * sizeof *inputs), *transposed = malloc(count * sizeof *transposed), targets[ROWS];
    uint32_t state = 12345u + (uint32_t)number;
    struct part part;

    for (int row = 0; row < ROWS; row++) {
        targets[row] = 0.01f * next(&state);
        for (int column = 0; column < FEATURES; column++) {
            float value = next(&state);
            inputs[row * FEATURES + column] = value;
            transposed[column * ROWS + row] = value;
            targets[row] += value * (float)(column % 5 - 2);
        }
    }
    part.inputs = matrix(upload(inputs, count), ROWS, FEATURES);
    part.transposed = matrix(upload(transposed, count), FEATURES, ROWS);
    part.targets = matrix(upload(targets, ROWS), ROWS, 1);
    free(inputs);
    free(transposed);
    return part;
}

static struct worker *make_worker(int first_part, int end_part)
{
    struct worker *worker = calloc(1, sizeof *worker);
    float one = 1.0f, rate = -0.2f / (PARTS * ROWS);
    float *errors;

    CHECK(aclrtCreateStream(&worker->stream));
    CHECK(aclrtMalloc(&worker->workspace, WORKSPACE, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int part = first_part; part < end_part; part++) {
        worker->parts[part] = make_part(part);
    }
    errors = upload(NULL, ROWS);
    worker->weights = matrix(upload(NULL, FEATURES), FEATURES, 1);
    worker->errors = matrix(errors, ROWS, 1);
    worker->errors_as_row = matrix(errors, 1, ROWS);
    worker->own = upload(NULL, FEATURES + 1);
    worker->sum = upload(NULL, FEATURES + 1);
    worker->own_gradient = matrix(worker->own, FEATURES, 1);
    worker->own_loss = matrix(worker->own + FEATURES, 1, 1);
    worker->own_all = matrix(worker->own, FEATURES + 1, 1);
    worker->sum_gradient = matrix(worker->sum, FEATURES, 1);
    worker->sum_all = matrix(worker->sum, FEATURES + 1, 1);
    worker->one = aclCreateScalar(&one, ACL_FLOAT);
    worker->rate = aclCreateScalar(&rate, ACL_FLOAT);
    return worker;
}

/* Computes the gradient and the loss of a part. */
static void differentiate(struct worker *worker, const struct part *part)
{
    RUN(aclnnMatmul, part->inputs, worker->weights, worker->errors, 0);
    RUN(aclnnInplaceSub, worker->errors, part->targets, worker->one);
    RUN(aclnnMatmul, part->transposed, worker->errors, worker->own_gradient, 0);
    RUN(aclnnMatmul, worker->errors_as_row, worker->errors, worker->own_loss, 0);
}

/* Changes the weights by the gradient of all parts, and returns the loss. */
static float descend(struct worker *worker)
{
    float loss;
    RUN(aclnnInplaceAdd, worker->weights, worker->sum_gradient, worker->rate);
    CHECK(aclrtSynchronizeStream(worker->stream));
    CHECK(aclrtMemcpy(&loss, sizeof loss, worker->sum + FEATURES, sizeof loss, ACL_MEMCPY_DEVICE_TO_HOST));
    return loss / (PARTS * ROWS);
}

static void print_loss(int step, float loss)
{
    if (step % 5 == 0) {
        printf("step %2d: loss %.6f (%a)\n", step, (double)loss, (double)loss);
        fflush(stdout);
    }
}

static int train_single(void)
{
    static const size_t bytes = (FEATURES + 1) * sizeof(float);
    struct worker *worker;

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    worker = make_worker(0, PARTS);
    for (int step = 0; step <= STEPS; step++) {
        for (int part = 0; part < PARTS; part++) {
            differentiate(worker, &worker->parts[part]);
            if (part == 0) {
                CHECK(aclrtMemcpyAsync(worker->sum, bytes, worker->own, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, worker->stream));
            } else {
                RUN(aclnnInplaceAdd, worker->sum_all, worker->own_all, worker->one);
            }
        }
        print_loss(step, descend(worker));
    }
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}

static void train_rank(uint32_t rank, HcclComm comm)
{
    struct worker *worker = make_worker((int)rank, (int)rank + 1);

    for (int step = 0; step <= STEPS; step++) {
        float loss;
        differentiate(worker, &worker->parts[rank]);
        CHECK(HcclAllReduce(worker->own, worker->sum, FEATURES + 1, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm, worker->stream));
        loss = descend(worker);
        if (rank == 0) {
            print_loss(step, loss);
        }
    }
    CHECK(HcclCommDestroy(comm));
}

static HcclComm comms[PARTS];

static void *train_thread(void *argument)
{
    uint32_t rank = (uint32_t)(uintptr_t)argument;
    CHECK(aclrtSetDevice((int32_t)rank));
    train_rank(rank, comms[rank]);
    return NULL;
}

static int train_threads(void)
{
    int32_t devices[PARTS];
    pthread_t threads[PARTS];

    CHECK(aclInit(NULL));
    for (int rank = 0; rank < PARTS; rank++) {
        devices[rank] = rank;
        CHECK(aclrtSetDevice(rank));
    }
    CHECK(HcclCommInitAll(PARTS, devices, comms));
    for (uintptr_t rank = 0; rank < PARTS; rank++) {
        if (pthread_create(&threads[rank], NULL, train_thread, (void *)rank) != 0) {
            return 1;
        }
    }
    for (int rank = 0; rank < PARTS; rank++) {
        pthread_join(threads[rank], NULL);
    }
    CHECK(aclFinalize());
    return 0;
}

static int train_process(uint32_t rank, int in, int out)
{
    HcclRootInfo info;
    HcclComm comm;

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice((int32_t)rank));
    if (rank == 0) {
        CHECK(HcclGetRootInfo(&info));
        move(-1, out, &info, sizeof info);
    }
    move(in, -1, &info, sizeof info);
    CHECK(HcclCommInitRootInfo(PARTS, &info, rank, &comm));
    train_rank(rank, comm);
    CHECK(aclFinalize());
    return 0;
}

int main(int count, char **words)
{
    const char *mode = count > 1 ? words[1] : "single";

    if (strcmp(mode, "threads") == 0) {
        return train_threads();
    }
    return strcmp(mode, "processes") == 0 ? run_processes(PARTS, train_process) : train_single();
}
