/* A process may end at any point, in any way, and never hangs: many children work with several threads and end by themselves or are
 * ended after a time that a seed determines. The seed is printed; a number as argument sets it, a second one sets how many children. */
#include "program.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, WAYS = 5 };

static aclrtContext context;

static uint32_t dice(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static void quick(void *argument)
{
    (void)argument;
}

static void *work(void *argument)
{
    uint64_t state = (uint64_t)(uintptr_t)argument;
    aclrtStream streams[2];
    aclrtEvent event;
    void *memory, *pinned;

    /* Calls may be refused while another thread ends the process: nothing is checked here but that all return. */
    (void)aclrtSetCurrentContext(context);
    if (aclrtCreateStream(&streams[0]) != 0 || aclrtCreateStream(&streams[1]) != 0 ||
        aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC) != 0 || aclrtMalloc(&memory, 1 << 16, ACL_MEM_MALLOC_HUGE_FIRST) != 0 ||
        aclrtMallocHost(&pinned, 1 << 16) != 0) {
        return NULL;
    }
    for (;;) {
        aclrtStream stream = streams[dice(&state) % 2];
        switch (dice(&state) % 10) {
        case 0: (void)aclrtMemcpyAsync(memory, 1 << 16, pinned, 1 << 16, ACL_MEMCPY_HOST_TO_DEVICE, stream); break;
        case 1: (void)aclrtMemsetAsync(memory, 1 << 16, 1, 1 << 16, stream); break;
        case 2: (void)aclrtRecordEvent(event, stream); break;
        case 3: (void)aclrtStreamWaitEvent(stream, event); break;
        case 4: (void)aclrtResetEvent(event, stream); break;
        case 5: (void)aclrtLaunchHostFunc(stream, quick, NULL); break;
        case 6: (void)aclrtSynchronizeStreamWithTimeout(stream, 1); break;
        case 7: (void)aclrtValueWrite(memory, dice(&state) % 4, 0, stream); break;
        case 8: (void)aclrtValueWait(memory, dice(&state) % 4, 0, stream); break;
        default: (void)aclrtStreamAbort(stream); break;
        }
    }
}

static void child(uint64_t seed)
{
    pthread_t threads[THREADS];
    uint64_t state = seed;
    uint32_t way = dice(&state) % WAYS;

    if (aclrtSetDevice(0) != 0 || aclrtGetCurrentContext(&context) != 0) {
        _exit(1);
    }
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)dice(&state)) != 0) {
            _exit(1);
        }
    }
    usleep(dice(&state) % 8000);
    switch (way) {
    case 0: exit(0);
    case 1: _exit(0);
    case 2: abort();
    case 3:
        (void)aclrtResetDeviceForce(0);
        (void)aclFinalize();
        exit(0);
    default:
        /* Killed by the parent. */
        for (;;) {
            pause();
        }
    }
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 20260101;
    int children = argc > 2 ? atoi(argv[2]) : 60;

    printf("seed %llu\n", (unsigned long long)seed);
    fflush(stdout);
    for (int i = 0; i < children; i++) {
        uint64_t own = seed + (uint64_t)i * 7919, state = own;
        uint32_t way = dice(&state) % WAYS;
        pid_t pid = fork();
        int status = 0;
        REQUIRE(pid >= 0);
        if (pid == 0) {
            signal(SIGABRT, SIG_DFL);
            child(own);
        }
        if (way == 4) {
            usleep(dice(&state) % 10000);
            REQUIRE(kill(pid, SIGKILL) == 0);
        }
        for (double start = now_s(); waitpid(pid, &status, WNOHANG) == 0;) {
            if (now_s() - start > PATIENCE_S + 10.0) {
                fprintf(stderr, "child %d (seed %llu, way %u) hangs\n", i, (unsigned long long)own, way);
                kill(pid, SIGKILL);
                return 1;
            }
            usleep(200);
        }
        int well = way == 2   ? WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT
                   : way == 4 ? WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL
                              : WIFEXITED(status) && WEXITSTATUS(status) == 0;
        if (!well) {
            fprintf(stderr, "child %d (seed %llu, way %u) ended with status %#x\n", i, (unsigned long long)own, way, (unsigned)status);
            return 1;
        }
    }
    return 0;
}
