/* A child that was forked off a process with a device gets an error with a sentence, never blocks, and may ask for versions.
 * Threads of the parent are in the middle of calls while it forks, so that their locks are held. */
#include "program.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, CHILDREN = 60 };

static volatile int stop;
static aclrtContext context;

static void *busy(void *argument)
{
    (void)argument;
    CHECK(aclrtSetCurrentContext(context));
    while (!stop) {
        aclrtStream stream;
        aclrtEvent event;
        void *memory;
        aclDataBuffer *buffer;
        CHECK(aclrtCreateStream(&stream));
        CHECK(aclrtCreateEvent(&event));
        CHECK(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
        buffer = aclCreateDataBuffer(memory, 4096);
        CHECK(aclrtMemsetAsync(memory, 4096, 1, 4096, stream));
        CHECK(aclrtRecordEvent(event, stream));
        EXPECT(107000, aclrtMemsetAsync(memory, 1, 1, 4096, stream));
        CHECK(aclrtSynchronizeStream(stream));
        CHECK(aclDestroyDataBuffer(buffer));
        CHECK(aclrtFree(memory));
        CHECK(aclrtDestroyEvent(event));
        CHECK(aclrtDestroyStream(stream));
    }
    return NULL;
}

static void in_child(aclrtStream stream, int how)
{
    int32_t major, minor, patch;
    uint32_t count;
    void *memory;
    aclrtStream made;
    const char *text;
    aclDataBuffer *buffer;

    /* A child that hangs is killed, and the parent notices. */
    alarm(20);
    EXPECT(507033, aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    text = aclGetRecentErrMsg();
    REQUIRE(text != NULL && strstr(text, "fork") != NULL && strstr(text, "spawn") != NULL);
    EXPECT(507033, aclInit(NULL));
    EXPECT(507033, aclrtSetDevice(0));
    EXPECT(507033, aclrtGetDeviceCount(&count));
    EXPECT(507033, aclrtCreateStream(&made));
    EXPECT(507033, aclrtSynchronizeStream(stream));
    EXPECT(507033, aclrtSynchronizeDevice());
    EXPECT(507033, aclrtDestroyStream(stream));
    EXPECT(507033, aclrtResetDevice(0));
    CHECK(aclrtGetVersion(&major, &minor, &patch));
    buffer = aclCreateDataBuffer(&major, sizeof major);
    REQUIRE(buffer != NULL);
    CHECK(aclDestroyDataBuffer(buffer));
    if (how % 3 == 0) {
        pid_t grandchild = fork();
        if (grandchild == 0) {
            EXPECT(507033, aclrtSetDevice(0));
            exit(6);
        }
        int status;
        REQUIRE(waitpid(grandchild, &status, 0) == grandchild);
        REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 6);
    }
    if (how % 2 == 0) {
        exit(5);
    }
    _exit(5);
}

int main(void)
{
    pthread_t threads[THREADS];
    aclrtStream stream;
    pid_t before;
    int status;

    /* A child of a process that has used no device yet may use one itself. */
    int32_t major, minor, patch;
    CHECK(aclrtGetVersion(&major, &minor, &patch));
    before = fork();
    if (before == 0) {
        alarm(20);
        CHECK(aclrtSetDevice(0));
        CHECK(aclrtCreateStream(&stream));
        CHECK(aclrtSynchronizeStream(stream));
        exit(4);
    }
    REQUIRE(waitpid(before, &status, 0) == before);
    REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 4);

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtGetCurrentContext(&context));
    CHECK(aclrtCreateStream(&stream));
    for (int i = 0; i < THREADS; i++) {
        REQUIRE(pthread_create(&threads[i], NULL, busy, NULL) == 0);
    }
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            in_child(stream, i);
        }
        REQUIRE(waitpid(child, &status, 0) == child);
        REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 5);
    }
    stop = 1;
    for (int i = 0; i < THREADS; i++) {
        REQUIRE(pthread_join(threads[i], NULL) == 0);
    }
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
