/* Making and releasing objects all day leaves the process as large as it was: cycles <model.om> */
#include "program.h"

#include <unistd.h>

#define CYCLES 400
/* What an allocator and a few tables may still take after the first rounds. */
#define ALLOWED_KIB 1024

static long resident_kib(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    REQUIRE(file != NULL);
    REQUIRE(fscanf(file, "%*s %ld", &pages) == 1);
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static aclmdlDataset *dataset(void *memory, size_t size)
{
    aclmdlDataset *made = aclmdlCreateDataset();
    aclDataBuffer *buffer = aclCreateDataBuffer(memory, size);
    REQUIRE(made != NULL && buffer != NULL);
    CHECK(aclmdlAddDatasetBuffer(made, buffer));
    return made;
}

static void discard(aclmdlDataset *made)
{
    CHECK(aclDestroyDataBuffer(aclmdlGetDatasetBuffer(made, 0)));
    CHECK(aclmdlDestroyDataset(made));
}

static void cycle(const char *path)
{
    aclrtContext context;
    aclrtStream stream;
    aclrtEvent events[8];
    void *device, *host;
    uint32_t model;
    aclmdlDesc *desc;
    aclmdlDataset *input, *output;

    CHECK(aclrtCreateContext(&context, 0));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtMalloc(&device, 1 << 16, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMallocHost(&host, 1 << 16));
    CHECK(aclmdlLoadFromFile(path, &model));
    desc = aclmdlCreateDesc();
    CHECK(aclmdlGetDesc(desc, model));
    input = dataset(device, 256);
    output = dataset((char *)device + 1024, 40);
    for (int i = 0; i < 8; i++) {
        CHECK(aclrtCreateEventExWithFlag(&events[i], ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE));
        CHECK(aclrtMemcpyAsync(device, 1 << 16, host, 1 << 16, ACL_MEMCPY_HOST_TO_DEVICE, stream));
        CHECK(aclmdlExecuteAsync(model, input, output, stream));
        CHECK(aclrtRecordEvent(events[i], stream));
        CHECK(aclrtStreamWaitEvent(stream, events[i]));
    }
    /* An error and its message come and go as well. */
    EXPECT(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(1000));
    CHECK(aclrtSynchronizeStream(stream));
    for (int i = 0; i < 8; i++) {
        CHECK(aclrtDestroyEvent(events[i]));
    }
    discard(output);
    discard(input);
    CHECK(aclmdlDestroyDesc(desc));
    CHECK(aclmdlUnload(model));
    CHECK(aclrtFreeHost(host));
    CHECK(aclrtFree(device));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtDestroyContext(context));
}

int main(int argc, char **argv)
{
    long before;

    if (argc != 2) {
        return 2;
    }
    CHECK(aclInit(NULL));
    for (int i = 0; i < CYCLES / 4; i++) {
        cycle(argv[1]);
    }
    before = resident_kib();
    for (int i = 0; i < CYCLES; i++) {
        cycle(argv[1]);
    }
    printf("%ld KiB resident, %ld more after %d cycles\n", before, resident_kib() - before, CYCLES);
    REQUIRE(resident_kib() - before < ALLOWED_KIB);
    CHECK(aclFinalize());
    return 0;
}
