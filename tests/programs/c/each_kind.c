/* Objects of each kind come and go by thousands: afterwards none is left, and the second half of the cycles takes no more memory
 * than the first. each_kind [cycles] */
#include "program.h"

#include <pthread.h>
#include <unistd.h>

/* What an allocator may take or give back between two looks. */
enum { ALLOWED_KIB = 512 };

static aclrtContext context;
static aclrtStream stream;
static void *memory;
static char *pages;

static long resident_kib(void)
{
    long all = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    REQUIRE(file != NULL && fscanf(file, "%ld %ld", &all, &resident) == 2);
    fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static void a_device_use(void)
{
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtResetDevice(0));
    CHECK(aclrtSetCurrentContext(context));
}

static void a_device(void)
{
    void *block;
    CHECK(aclrtSetDevice(1));
    CHECK(aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemsetAsync(block, 4096, 1, 4096, NULL));
    CHECK(aclrtResetDevice(1));
    CHECK(aclrtSetCurrentContext(context));
}

static void a_context(void)
{
    aclrtContext made;
    aclrtStream left;
    CHECK(aclrtCreateContext(&made, 0));
    CHECK(aclrtCreateStream(&left));
    CHECK(aclrtDestroyContext(made));
    CHECK(aclrtSetCurrentContext(context));
}

static void a_stream(void)
{
    aclrtStream made;
    CHECK(aclrtCreateStream(&made));
    CHECK(aclrtMemsetAsync(memory, 4096, 1, 64, made));
    CHECK(aclrtDestroyStream(made));
}

static void a_stream_that_waits(void)
{
    aclrtStream made;
    CHECK(aclrtCreateStream(&made));
    CHECK(aclrtMemset(memory, 4096, 0, 64));
    CHECK(aclrtValueWait(memory, 7, 1, made));
    CHECK(aclrtMemsetAsync(memory, 4096, 1, 64, made));
    CHECK(aclrtDestroyStreamForce(made));
}

static void an_event(void)
{
    aclrtEvent made[3];
    CHECK(aclrtCreateEvent(&made[0]));
    CHECK(aclrtCreateEventWithFlag(&made[1], ACL_EVENT_SYNC));
    CHECK(aclrtCreateEventExWithFlag(&made[2], ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE));
    for (int i = 0; i < 3; i++) {
        CHECK(aclrtRecordEvent(made[i], stream));
        CHECK(aclrtRecordEvent(made[i], stream));
        CHECK(aclrtStreamWaitEvent(stream, made[i]));
        CHECK(aclrtDestroyEvent(made[i]));
    }
}

/* Nobody tells how many are left, but ten thousand cycles are more than there can be. */
static void a_notify(void)
{
    aclrtNotify made;
    CHECK(aclrtCreateNotify(&made, 0));
    CHECK(aclrtRecordNotify(made, stream));
    CHECK(aclrtWaitAndResetNotify(made, stream, 0));
    CHECK(aclrtDestroyNotify(made));
}

static void device_memory(void)
{
    void *small, *large;
    CHECK(aclrtMalloc(&small, 100, ACL_MEM_MALLOC_NORMAL_ONLY));
    CHECK(aclrtMalloc(&large, 4 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtFree(small));
    CHECK(aclrtFree(large));
}

static void host_memory(void)
{
    void *pinned;
    CHECK(aclrtMallocHost(&pinned, 4096));
    CHECK(aclrtMemcpyAsync(memory, 4096, pinned, 4096, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtFreeHost(pinned));
}

static void registered_memory(void)
{
    void *mapped;
    CHECK(aclrtHostRegister(pages, 4096, ACL_HOST_REGISTER_MAPPED, &mapped));
    CHECK(aclrtHostUnregister(pages));
}

static void mapped_memory(void)
{
    void *place;
    aclrtDrvMemHandle block;
    aclrtPhysicalMemProp properties;
    memset(&properties, 0, sizeof properties);
    properties.handleType = ACL_MEM_HANDLE_TYPE_NONE;
    properties.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
    properties.memAttr = ACL_HBM_MEM_HUGE;
    properties.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = 0;
    CHECK(aclrtReserveMemAddress(&place, 2 << 20, 0, NULL, 0));
    CHECK(aclrtMallocPhysical(&block, 2 << 20, &properties, 0));
    CHECK(aclrtMapMem(place, 2 << 20, 0, block, 0));
    CHECK(aclrtUnmapMem(place));
    CHECK(aclrtFreePhysical(block));
    CHECK(aclrtReleaseMemAddress(place));
}

static void nothing(void *argument)
{
    (void)argument;
}

static void a_subscription(void)
{
    uint64_t me = (uint64_t)pthread_self();
    CHECK(aclrtSubscribeReport(me, stream));
    CHECK(aclrtLaunchCallback(nothing, NULL, ACL_CALLBACK_BLOCK, stream));
    CHECK(aclrtProcessReport(5000));
    CHECK(aclrtUnSubscribeReport(me, stream));
}

static void a_host_function(void)
{
    aclrtStream made;
    CHECK(aclrtCreateStream(&made));
    CHECK(aclrtLaunchHostFunc(made, nothing, NULL));
    CHECK(aclrtDestroyStream(made));
}

static void descriptions(void)
{
    int64_t shape[2] = {2, 3};
    aclmdlDataset *dataset = aclmdlCreateDataset();
    aclDataBuffer *buffer = aclCreateDataBuffer(memory, 64);
    aclTensorDesc *tensor = aclCreateTensorDesc(ACL_FLOAT, 2, shape, ACL_FORMAT_ND);
    aclmdlDesc *model = aclmdlCreateDesc();
    REQUIRE(dataset != NULL && buffer != NULL && tensor != NULL && model != NULL);
    CHECK(aclmdlAddDatasetBuffer(dataset, buffer));
    aclDestroyTensorDesc(tensor);
    CHECK(aclmdlDestroyDataset(dataset));
    CHECK(aclDestroyDataBuffer(buffer));
    CHECK(aclmdlDestroyDesc(model));
}

static void a_graph(void)
{
    aclmdlRI made;
    CHECK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    CHECK(aclrtMemsetAsync(memory, 4096, 1, 64, stream));
    CHECK(aclmdlRICaptureEnd(stream, &made));
    CHECK(aclmdlRIExecuteAsync(made, stream));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclmdlRIDestroy(made));
}

static void an_error(void)
{
    EXPECT(107001, aclrtSetDevice(1000));
    REQUIRE(aclGetRecentErrMsg() != NULL);
}

typedef struct {
    uint32_t streams, events;
    size_t bytes;
} Left;

static Left left(void)
{
    Left now;
    size_t total;
    CHECK(aclrtGetStreamAvailableNum(&now.streams));
    CHECK(aclrtGetEventAvailNum(&now.events));
    CHECK(aclrtGetMemInfo(ACL_HBM_MEM, &now.bytes, &total));
    return now;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*cycle)(void);
        int share; /* one in so many of the cycles: some take long */
    } kinds[] = {
        {"use of a device", a_device_use, 1},
        {"device", a_device, 10},
        {"context", a_context, 1},
        {"stream", a_stream, 1},
        {"stream that waits for a value", a_stream_that_waits, 1},
        {"event", an_event, 1},
        {"notify", a_notify, 1},
        {"device memory", device_memory, 1},
        {"host memory", host_memory, 1},
        {"registered memory", registered_memory, 1},
        {"mapped memory", mapped_memory, 10},
        {"subscription", a_subscription, 1},
        {"stream with a host function", a_host_function, 5},
        {"descriptions", descriptions, 1},
        {"captured graph", a_graph, 1},
        {"error", an_error, 1},
    };
    int cycles = argc > 1 ? atoi(argv[1]) : 600;

    setenv("JUMAR_DEVICES", "2", 1);
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtGetCurrentContext(&context));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    REQUIRE(posix_memalign((void **)&pages, 4096, 4096) == 0);
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        int count = cycles / kinds[kind].share;
        long half, end;
        Left after, before;
        kinds[kind].cycle();
        CHECK(aclrtSynchronizeStream(stream));
        before = left();
        for (int i = 0; i < count / 2; i++) {
            kinds[kind].cycle();
        }
        half = resident_kib();
        for (int i = count / 2; i < count; i++) {
            kinds[kind].cycle();
        }
        CHECK(aclrtSynchronizeStream(stream));
        end = resident_kib();
        after = left();
        printf("%-30s %6d cycles, resident %ld KiB, then %+ld\n", kinds[kind].name, count, half, end - half);
        fflush(stdout);
        REQUIRE(before.streams == after.streams);
        REQUIRE(before.events == after.events);
        REQUIRE(before.bytes == after.bytes);
        REQUIRE(end - half < ALLOWED_KIB);
    }
    CHECK(aclrtFree(memory));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
