/* Records of activities (MSPTI): what ran, when, and which call caused it.
 *
 * A small buffer is filled and handed over several times; no record is lost or twice there. The kernel and the copies lie
 * within the time of the program, a kernel has the number of the call that launched it, and the program's own number
 * precedes it.
 */
#include "program.h"

#include "aclnnop/aclnn_add.h"
#include "mspti/mspti.h"

enum { SMALL = 200, MOST = 4096 };

static struct {
    int requested, completed;
    size_t kernels, copies, single, calls, memory, external;
    uint64_t kernel, call, related, number;
    int kernel_follows_number;
} seen;
static uint64_t began;

static uint64_t today_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void request(uint8_t **buffer, size_t *size, size_t *most)
{
    seen.requested++;
    *buffer = aligned_alloc(8, SMALL);
    *size = SMALL;
    *most = 0;
}

static void check_record(const msptiActivity *record)
{
    uint64_t now = today_ns();
    switch (record->kind) {
    case MSPTI_ACTIVITY_KIND_KERNEL: {
        const msptiActivityKernel *kernel = (const msptiActivityKernel *)record;
        REQUIRE(kernel->start >= began && kernel->start <= kernel->end && kernel->end <= now);
        REQUIRE(kernel->ds.deviceId == 0 && strstr(kernel->name, "Add") != NULL && strcmp(kernel->type, "Jumar CPU") == 0);
        seen.kernels++;
        seen.kernel = kernel->correlationId;
        seen.kernel_follows_number = seen.related == kernel->correlationId;
        break;
    }
    case MSPTI_ACTIVITY_KIND_MEMCPY: {
        const msptiActivityMemcpy *copy = (const msptiActivityMemcpy *)record;
        REQUIRE(copy->start >= began && copy->start <= copy->end && copy->end <= now);
        REQUIRE(copy->bytes == 16 && copy->correlationId != 0);
        REQUIRE(copy->isAsync ? copy->copyKind == MSPTI_ACTIVITY_MEMCPY_KIND_HTOD : copy->copyKind == MSPTI_ACTIVITY_MEMCPY_KIND_DTOH);
        seen.copies++;
        break;
    }
    case MSPTI_ACTIVITY_KIND_API: {
        const msptiActivityApi *call = (const msptiActivityApi *)record;
        REQUIRE(call->start >= began && call->start <= call->end && call->end <= now);
        REQUIRE(call->pt.processId != 0 && call->pt.threadId != 0 && strncmp(call->name, "aclnn", 5) == 0);
        if (strcmp(call->name, "aclnnAdd") == 0) {
            seen.call = call->correlationId;
        }
        seen.single++;
        break;
    }
    case MSPTI_ACTIVITY_KIND_ACL_API:
        REQUIRE(strncmp(((const msptiActivityApi *)record)->name, "acl", 3) == 0 || strncmp(((const msptiActivityApi *)record)->name, "mspti", 5) == 0);
        seen.calls++;
        break;
    case MSPTI_ACTIVITY_KIND_MEMORY: {
        const msptiActivityMemory *memory = (const msptiActivityMemory *)record;
        REQUIRE(memory->address != 0 && memory->bytes != 0 && memory->deviceId == 0);
        seen.memory++;
        break;
    }
    case MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
        const msptiActivityExternalCorrelation *external = (const msptiActivityExternalCorrelation *)record;
        REQUIRE(external->externalKind == MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0);
        seen.external++;
        seen.related = external->correlationId;
        seen.number = external->externalId;
        break;
    }
    default:
        REQUIRE(!"a record of another kind");
    }
}

static void complete(uint8_t *buffer, size_t size, size_t valid)
{
    msptiActivity *record = NULL;
    msptiResult result;
    REQUIRE(size == SMALL && valid > 0 && valid <= size);
    seen.completed++;
    while ((result = msptiActivityGetNextRecord(buffer, valid, &record)) == MSPTI_SUCCESS) {
        check_record(record);
    }
    REQUIRE(result == MSPTI_ERROR_MAX_LIMIT_REACHED);
    free(buffer);
}

static aclTensor *tensor(void *data)
{
    const int64_t shape[] = {4}, strides[] = {1};
    aclTensor *made = aclCreateTensor(shape, 1, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, shape, 1, data);
    REQUIRE(made != NULL);
    return made;
}

int main(void)
{
    static const msptiActivityKind kinds[] = {
        MSPTI_ACTIVITY_KIND_KERNEL, MSPTI_ACTIVITY_KIND_API, MSPTI_ACTIVITY_KIND_ACL_API,
        MSPTI_ACTIVITY_KIND_MEMORY, MSPTI_ACTIVITY_KIND_MEMCPY, MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
    };
    msptiSubscriberHandle client = NULL;
    aclrtStream stream;
    void *device = NULL, *host = NULL, *workspace = NULL;
    uint64_t bytes = 0;
    aclOpExecutor *executor = NULL;
    float one = 1.0f;

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtMallocHost(&host, 16));
    memcpy(host, (float[]){1, 2, 3, 4}, 16);
    REQUIRE(msptiSubscribe(&client, NULL, NULL) == MSPTI_SUCCESS);
    REQUIRE(msptiActivityRegisterCallbacks(request, complete) == MSPTI_SUCCESS);
    began = today_ns();
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        REQUIRE(msptiActivityEnable(kinds[i]) == MSPTI_SUCCESS);
    }
    CHECK(aclrtMalloc(&device, 16, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemcpyAsync(device, 16, host, 16, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    aclTensor *x = tensor(device);
    aclScalar *alpha = aclCreateScalar(&one, ACL_FLOAT);
    REQUIRE(msptiActivityPushExternalCorrelationId(MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 77) == MSPTI_SUCCESS);
    CHECK(aclnnAddGetWorkspaceSize(x, x, alpha, x, &bytes, &executor));
    if (bytes > 0) {
        CHECK(aclrtMalloc(&workspace, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    }
    CHECK(aclnnAdd(workspace, bytes, executor, stream));
    REQUIRE(msptiActivityPopExternalCorrelationId(MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, NULL) == MSPTI_SUCCESS);
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtMemcpy(host, 16, device, 16, ACL_MEMCPY_DEVICE_TO_HOST));
    REQUIRE(((float *)host)[3] == 8.0f);
    CHECK(aclrtFree(device));
    REQUIRE(msptiActivityFlushAll(0) == MSPTI_SUCCESS);
    REQUIRE(seen.kernels == 1 && seen.copies == 2 && seen.memory >= 2 && seen.single == 2 && seen.calls >= 6);
    REQUIRE(seen.kernel == seen.call && seen.kernel != 0);
    REQUIRE(seen.kernel_follows_number && seen.number == 77);
    REQUIRE(seen.requested == seen.completed && seen.completed > 1);

    /* Nothing is collected after the end. */
    REQUIRE(msptiUnsubscribe(client) == MSPTI_SUCCESS);
    size_t calls = seen.calls;
    CHECK(aclrtSynchronizeStream(stream));
    REQUIRE(msptiActivityFlushAll(0) == MSPTI_SUCCESS && seen.calls == calls);

    CHECK(aclDestroyTensor(x));
    CHECK(aclDestroyScalar(alpha));
    if (workspace != NULL) {
        CHECK(aclrtFree(workspace));
    }
    CHECK(aclrtFreeHost(host));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
