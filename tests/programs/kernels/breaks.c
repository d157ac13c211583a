/* Runs a kernel of broken.c: breaks <binary> spoils | strays | divides | handled | sent | returned. */
#include "../c/program.h"

#include <signal.h>
#include <unistd.h>

static void handler(int number)
{
    static const char said[] = "the program's own handler\n";
    (void)number;
    if (write(1, said, sizeof said - 1) < 0) _exit(4);
    _exit(3);
}

static volatile sig_atomic_t calls;

/* Counts, and returns as a handler that only sets a flag does. A handler that is called for ever ends the program. */
static void counts(int number)
{
    (void)number;
    if (++calls > 8) _exit(7);
}

int main(int argc, char **argv)
{
    aclrtBinHandle binary;
    aclrtFuncHandle kernel;
    aclrtStream stream;
    const char *what;

    REQUIRE(argc == 3);
    what = argv[2];
    if (strcmp(what, "handled") == 0) {
        REQUIRE(signal(SIGSEGV, handler) != SIG_ERR);
        what = "strays";
    }
    if (strcmp(what, "returned") == 0) {
        REQUIRE(signal(SIGSEGV, counts) != SIG_ERR);
        REQUIRE(signal(SIGFPE, counts) != SIG_ERR);
        REQUIRE(signal(SIGILL, counts) != SIG_ERR);
    }
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtBinaryLoadFromFile(argv[1], NULL, &binary));
    if (strcmp(what, "spoils") == 0) {
        float host[8] = {0, 1, 2, 3, 4, 5, 6, 7};
        uint32_t count = 8;
        void *x, *y;
        CHECK(aclrtBinaryGetFunction(binary, "spoils", &kernel));
        CHECK(aclrtMalloc(&x, sizeof host, ACL_MEM_MALLOC_HUGE_FIRST));
        CHECK(aclrtMalloc(&y, sizeof host, ACL_MEM_MALLOC_HUGE_FIRST));
        CHECK(aclrtMemcpy(x, sizeof host, host, sizeof host, ACL_MEMCPY_HOST_TO_DEVICE));
        void *arguments[] = {&x, &y, &count};
        CHECK(aclrtLaunchKernelWithArgsArray(kernel, 1, stream, NULL, arguments));
        EXPECT(ACL_ERROR_RT_AICORE_EXCEPTION, aclrtSynchronizeStream(stream));
        CHECK(aclrtResetDevice(0));
        CHECK(aclFinalize());
        printf("ok\n");
        return 0;
    }
    if (strcmp(what, "sent") == 0 || strcmp(what, "returned") == 0) {
        /* A kernel has run, so that the handlers are installed. A signal that is sent takes its effect all the same. */
        int32_t one = 1;
        void *arguments[] = {&one, &one};
        CHECK(aclrtBinaryGetFunction(binary, "divides", &kernel));
        CHECK(aclrtLaunchKernelWithArgsArray(kernel, 1, stream, NULL, arguments));
        CHECK(aclrtSynchronizeStream(stream));
        if (strcmp(what, "returned") == 0) {
            static const int sent[] = {SIGSEGV, SIGFPE, SIGILL, SIGSEGV};
            size_t i;
            for (i = 0; i < sizeof sent / sizeof *sent; i++) {
                CHECK(raise(sent[i]));
                REQUIRE(calls == (sig_atomic_t)(i + 1));
            }
            CHECK(aclrtResetDevice(0));
            CHECK(aclFinalize());
            printf("ok\n");
            return 0;
        }
        kill(getpid(), SIGSEGV);
        return 5;
    }
    CHECK(aclrtBinaryGetFunction(binary, what, &kernel));
    if (strcmp(what, "strays") == 0) {
        uint64_t where = 0x18;
        void *arguments[] = {&where};
        CHECK(aclrtLaunchKernelWithArgsArray(kernel, 8, stream, NULL, arguments));
    } else {
        int32_t one = 1, zero = 0;
        void *arguments[] = {&one, &zero};
        CHECK(aclrtLaunchKernelWithArgsArray(kernel, 1, stream, NULL, arguments));
    }
    CHECK(aclrtSynchronizeStream(stream));
    return 6;
}
