/* Kernels for this machine that a launcher registers itself, as that of triton-ascend does. The arguments are the binary made from
 * tests/behaviour/kernels.c and a binary that another release compiled for Triton. */
#include "../c/program.h"

#include "experiment/runtime/runtime/rt.h"
#include <pthread.h>

enum { PARAM_INVALID = 107000, COUNT = 1000 };

static rtDevBinary_t read_binary(const char *path)
{
    FILE *file = fopen(path, "rb");
    rtDevBinary_t binary = {RT_DEV_BINARY_MAGIC_ELF_AIVEC, 0, NULL, 0};
    REQUIRE(file != NULL && fseek(file, 0, SEEK_END) == 0);
    binary.length = (uint64_t)ftell(file);
    void *data = malloc(binary.length);
    rewind(file);
    REQUIRE(data != NULL && fread(data, 1, binary.length, file) == binary.length && fclose(file) == 0);
    binary.data = data;
    return binary;
}

struct arguments {
    void *x, *y, *z;
    uint32_t n;
};

static struct arguments arguments;
static rtStream_t stream;
static const char stub, other_stub;

/* A thread that has set a device of its own, as the queue of PyTorch's adapter. */
static void *launch(void *unused)
{
    REQUIRE(rtSetDevice(0) == 0);
    struct arguments passed = arguments;
    REQUIRE(rtKernelLaunch(&stub, 8, &passed, sizeof passed, NULL, stream) == 0);
    /* The launch has copied its arguments. */
    memset(&passed, 0, sizeof passed);
    return unused;
}

int main(int argc, char **argv)
{
    REQUIRE(argc == 3);
    const rtDevBinary_t binary = read_binary(argv[1]), old = read_binary(argv[2]);
    uint64_t address = 0;
    uint32_t length = 0, cores = 0;
    char name[32] = "";
    CHECK(aclInit(NULL));
    /* A launcher asks before it sets a device. */
    REQUIRE(rtGetAiCoreCount(&cores) == 0 && cores > 0);
    REQUIRE(rtGetSocVersion(name, sizeof name) == 0 && strncmp(name, "Ascend", 6) == 0);
    REQUIRE(rtGetSocVersion(name, 3) == PARAM_INVALID);
    REQUIRE(rtGetC2cCtrlAddr(&address, &length) == 0 && address != 0 && length > 0);
    REQUIRE(rtSetDevice(0) == 0);
    REQUIRE(rtDeviceSetLimit(0, RT_LIMIT_TYPE_STACK_SIZE, 4096) == 0);
    REQUIRE(rtStreamCreate(&stream, 0) == 0);

    void *handle = NULL, *refused = NULL;
    REQUIRE(rtDevBinaryRegister(&binary, &handle) == 0 && handle != NULL);
    REQUIRE(rtDevBinaryRegister(&old, &refused) == PARAM_INVALID && refused == NULL);
    const char *said = aclGetRecentErrMsg();
    REQUIRE(said != NULL && strstr(said, "release 0.0.0/0 of Jumar's compiler") != NULL && strstr(said, "~/.triton/cache") != NULL);
    REQUIRE(rtFunctionRegister(handle, &stub, "add_1", "add", 0) == 0);
    REQUIRE(rtFunctionRegister(handle, &other_stub, "none", "no_such_kernel", 0) != 0);
    said = aclGetRecentErrMsg();
    REQUIRE(said != NULL && strstr(said, "no_such_kernel") != NULL);

    float *x = NULL, *z = NULL;
    const uint64_t bytes = COUNT * sizeof *x;
    REQUIRE(rtMallocHost((void **)&x, bytes, 0) == 0 && rtMallocHost((void **)&z, bytes, 0) == 0);
    for (int i = 0; i < COUNT; i++) x[i] = (float)i;
    REQUIRE(rtMalloc(&arguments.x, bytes, RT_MEMORY_HBM, 0) == 0 && rtMalloc(&arguments.z, bytes, RT_MEMORY_HBM, 0) == 0);
    REQUIRE(rtMemcpy(arguments.x, bytes, x, bytes, RT_MEMCPY_HOST_TO_DEVICE) == 0);
    arguments.y = arguments.x;
    arguments.n = COUNT;
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, launch, NULL) == 0 && pthread_join(thread, NULL) == 0);
    REQUIRE(rtStreamSynchronize(stream) == 0);
    REQUIRE(rtMemcpy(z, bytes, arguments.z, bytes, RT_MEMCPY_DEVICE_TO_HOST) == 0);
    for (int i = 0; i < COUNT; i++) REQUIRE(z[i] == 2.0F * (float)i);

    REQUIRE(rtKernelLaunch(&stub, 8, NULL, 0, NULL, stream) == PARAM_INVALID);
    REQUIRE(rtKernelLaunch(&stub, 0, &arguments, sizeof arguments, NULL, stream) == PARAM_INVALID);
    REQUIRE(rtKernelLaunch(&other_stub, 8, &arguments, sizeof arguments, NULL, stream) != 0);
    REQUIRE(rtFree(arguments.x) == 0 && rtFree(arguments.z) == 0 && rtFree(NULL) != 0);
    REQUIRE(rtFreeHost(x) == 0 && rtFreeHost(z) == 0);
    REQUIRE(rtDevBinaryUnRegister(handle) == 0);
    /* The kernels of a binary go with it. */
    REQUIRE(rtKernelLaunch(&stub, 8, &arguments, sizeof arguments, NULL, stream) != 0);
    REQUIRE(rtStreamDestroy(stream) == 0);
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    puts("ok");
    return 0;
}
