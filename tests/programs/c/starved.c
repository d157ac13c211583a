/* A process whose allocations fail for a while: calls answer 207001, calls that release something work, and no call ends the process. */
#include "program.h"

#include <errno.h>
#include <stdatomic.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t align, size_t size);

static atomic_int starved;

/* These stand in front of the system's. */
void *malloc(size_t size)
{
    return starved ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return starved ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return starved ? NULL : __libc_realloc(memory, size);
}

int posix_memalign(void **memory, size_t align, size_t size)
{
    *memory = starved ? NULL : __libc_memalign(align, size);
    return *memory == NULL ? ENOMEM : 0;
}

void *aligned_alloc(size_t align, size_t size)
{
    return starved ? NULL : __libc_memalign(align, size);
}

enum { TURNS = 3000 };

int main(void)
{
    aclrtStream stream, made_stream;
    aclrtEvent event, more;
    aclDataBuffer *buffer;
    void *memory, *other;
    int refused = 0, strange = 0;
    aclError freed, destroyed;
    const char *text;

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtCreateEvent(&event));
    CHECK(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_NORMAL_ONLY));
    /* Where there is memory, a call of each kind has worked once. */
    CHECK(aclrtSynchronizeStream(stream));
    EXPECT(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream((aclrtStream)8));

    starved = 1;
    for (int turn = 0; turn < TURNS; turn++) {
        aclError answers[] = {
            aclrtCreateEvent(&more), aclrtCreateStream(&made_stream), aclrtMalloc(&other, 64, ACL_MEM_MALLOC_NORMAL_ONLY),
            aclrtSynchronizeStream((aclrtStream)8),
        };
        for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
            refused += answers[i] == ACL_ERROR_RT_MEMORY_ALLOCATION;
            strange += answers[i] != ACL_ERROR_RT_MEMORY_ALLOCATION && answers[i] != ACL_SUCCESS && answers[i] != ACL_ERROR_RT_INVALID_HANDLE;
        }
    }
    buffer = aclCreateDataBuffer(&refused, sizeof refused);
    freed = aclrtFree(memory);
    destroyed = aclrtDestroyEvent(event);
    text = aclGetRecentErrMsg();
    starved = 0;

    REQUIRE(refused > TURNS && strange == 0);
    REQUIRE(buffer == NULL);
    REQUIRE(freed == ACL_SUCCESS && destroyed == ACL_SUCCESS);
    REQUIRE(text != NULL && strstr(text, "can allocate no more memory") != NULL);
    /* With memory again, everything works. */
    CHECK(aclrtCreateEvent(&event));
    CHECK(aclrtRecordEvent(event, stream));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtDestroyEvent(event));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    printf("ok\n");
    return 0;
}
