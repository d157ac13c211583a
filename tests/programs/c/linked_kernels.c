/* Kernels that are linked into a program as code for the cores of a card, as the libraries of vLLM's plug-in have them.
 *
 * They are registered when the program starts, before aclInit, and nothing else happens to a program that never launches one. A
 * launch returns an error that names the kernel, and the stream fails as well: launchers that compilers generate drop the
 * returned code.
 */
#include "program.h"

#include "experiment/runtime/runtime/rt.h"
#include "mmpa/mmpa_api.h"
#include <sys/syscall.h>
#include <unistd.h>

enum { NOT_SUPPORTED = 207000, KERNEL_FAILED = 507015 };

static int created;

static void on_stream(rtStream_t stream, const bool is_create)
{
    (void)stream;
    created += is_create ? 1 : -1;
}

/* Launches by `launch`, and checks the message and the stream. */
#define REFUSED(launch, words)                                                                                                   \
    do {                                                                                                                         \
        aclrtStream stream;                                                                                                      \
        CHECK(aclrtCreateStream(&stream));                                                                                       \
        REQUIRE((launch) == NOT_SUPPORTED);                                                                                      \
        const char *said = aclGetRecentErrMsg();                                                                                 \
        REQUIRE(said != NULL && strstr(said, words) != NULL);                                                                    \
        REQUIRE(aclrtSynchronizeStream(stream) == KERNEL_FAILED);                                                                \
        CHECK(aclrtDestroyStream(stream));                                                                                       \
    } while (0)

int main(void)
{
    static const unsigned char code[64];
    const rtDevBinary_t binary = {0x41415246, 0, code, sizeof code};
    void *one = NULL, *two = NULL;
    REQUIRE(rtRegisterAllKernel(&binary, &one) == 0 && one != NULL);
    REQUIRE(rtDevBinaryRegister(&binary, &two) == 0 && two != NULL && two != one);
    REQUIRE(rtFunctionRegister(two, (const void *)&main, "scale_rows", "scale_rows", 0) == 0);
    void *none = NULL;
    REQUIRE(rtRegisterAllKernel(NULL, &none) != 0 && none == NULL);
    REQUIRE(mmGetTid() == (int32_t)syscall(SYS_gettid));

    CHECK(aclInit(NULL));
    REQUIRE(rtRegStreamStateCallback("linked_kernels", on_stream) == 0);
    CHECK(aclrtSetDevice(0));
    void *memory = NULL;
    REQUIRE(rtMalloc(&memory, 256, 0, 0) == 0 && memory != NULL);
    CHECK(aclrtFree(memory));
    const int before = created;
    REFUSED(rtKernelLaunchWithHandleV2(one, 7, 1, NULL, NULL, stream, NULL), "kernel 7 of a binary of 64 bytes for vector cores");
    CHECK(aclrtResetDevice(0));
    CHECK(aclrtSetDevice(0));
    REFUSED(rtKernelLaunch((const void *)&main, 1, NULL, 0, NULL, stream), "kernel \"scale_rows\"");
    REQUIRE(created == before);
    REQUIRE(rtDevBinaryUnRegister(one) == 0);
    REQUIRE(rtKernelLaunchWithHandle(one, 7, 1, NULL, NULL, NULL, NULL) != 0);
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    REQUIRE(rtDevBinaryUnRegister(two) == 0);
    return 0;
}
