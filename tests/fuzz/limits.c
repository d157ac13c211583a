/* Calls under a limit of the address space that leaves little: each allocation that fails answers a code, and nothing aborts.
 *
 * limits SEED: forks one process for each limit; each makes the same random sequence of calls, allowed a little more memory than the
 * one before. Prints how many there were, or what the first one died of. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "acl/acl.h"

enum { OBJECTS = 16, CALLS = 400, STEP = 24 << 10, LIMITS = 60 };

struct objects {
    void *made[OBJECTS];
    int count;
};

static unsigned short random_state[3];
static const char *current = "none";

static long below(long end)
{
    return nrand48(random_state) % end;
}

static void keep(struct objects *in, void *object)
{
    in->made[in->count++] = object;
}

static void *drop(struct objects *of)
{
    int at = (int)below(of->count);
    void *object = of->made[at];
    of->made[at] = of->made[--of->count];
    return object;
}

static void *any(const struct objects *of)
{
    return of->count ? of->made[below(of->count)] : NULL;
}

#define CALL(name, ...) (current = #name, name(__VA_ARGS__))
#define FULL(objects) ((objects).count == OBJECTS)

static size_t address_space(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file != NULL) {
        if (fscanf(file, "%lu", &pages) != 1) pages = 0;
        fclose(file);
    }
    return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Names the call that ended the process. */
static void report(int signal)
{
    ssize_t written = write(STDERR_FILENO, current, strlen(current));
    written += write(STDERR_FILENO, ": signal\n", 9);
    _exit(signal + 64 + (written < 0));
}

static void callback(void *argument)
{
    (void)argument;
}

static void calls(void)
{
    static struct objects streams, events, blocks, hosts, buffers, datasets, contexts;
    static char bytes[4096];
    void *made;

    for (int turn = 0; turn < CALLS; turn++) {
        made = NULL;
        switch (below(20)) {
        case 0: if (!FULL(streams) && CALL(aclrtCreateStream, &made) == 0) keep(&streams, made); break;
        case 1: if (!FULL(events) && CALL(aclrtCreateEvent, &made) == 0) keep(&events, made); break;
        case 2: case 3: if (!FULL(blocks) && CALL(aclrtMalloc, &made, 1 + (size_t)below(1 << 16), ACL_MEM_MALLOC_NORMAL_ONLY) == 0) keep(&blocks, made); break;
        case 4: if (!FULL(hosts) && CALL(aclrtMallocHost, &made, 1 + (size_t)below(1 << 16)) == 0) keep(&hosts, made); break;
        case 5: if (!FULL(buffers) && (made = CALL(aclCreateDataBuffer, bytes, sizeof bytes)) != NULL) keep(&buffers, made); break;
        case 6: if (!FULL(datasets) && (made = CALL(aclmdlCreateDataset)) != NULL) keep(&datasets, made); break;
        case 7: if (!FULL(contexts) && CALL(aclrtCreateContext, &made, 0) == 0) { keep(&contexts, made); (void)aclrtSetDevice(0); } break;
        case 8: if (streams.count > 1) (void)CALL(aclrtDestroyStream, drop(&streams)); break;
        case 9: if (events.count) (void)CALL(aclrtDestroyEvent, drop(&events)); break;
        case 10: if (blocks.count) { (void)aclrtSynchronizeDevice(); (void)CALL(aclrtFree, drop(&blocks)); } break;
        case 11: if (hosts.count) (void)CALL(aclrtFreeHost, drop(&hosts)); break;
        case 12: if (buffers.count) (void)CALL(aclDestroyDataBuffer, drop(&buffers)); break;
        case 13: if (contexts.count) { (void)CALL(aclrtDestroyContext, drop(&contexts)); (void)aclrtSetDevice(0); } break;
        case 14: if (streams.count && blocks.count) (void)CALL(aclrtMemsetAsync, any(&blocks), 1, 3, 1, any(&streams)); break;
        case 15: if (streams.count && events.count) (void)CALL(aclrtRecordEvent, any(&events), any(&streams)); break;
        case 16: if (streams.count) (void)CALL(aclrtLaunchHostFunc, any(&streams), callback, NULL); break;
        case 17: if (streams.count) (void)CALL(aclrtSynchronizeStreamWithTimeout, any(&streams), 100); break;
        case 18: (void)CALL(aclrtSynchronizeStream, (void *)(uintptr_t)below(100)); break;
        default: current = "aclGetRecentErrMsg"; (void)aclGetRecentErrMsg(); break;
        }
    }
}

/* Makes the calls of a seed, allowed so much more than the process has when it begins. */
static int under(long seed, size_t more, int late)
{
    struct rlimit limit;
    random_state[0] = (unsigned short)seed;
    random_state[1] = (unsigned short)(seed >> 16);
    if (late && (aclInit(NULL) != 0 || aclrtSetDevice(0) != 0)) return 1;
    limit.rlim_cur = limit.rlim_max = address_space() + more;
    if (setrlimit(RLIMIT_AS, &limit) != 0) return 1;
    if (!late) {
        current = "aclInit";
        (void)aclInit(NULL);
        current = "aclrtSetDevice";
        (void)aclrtSetDevice(0);
    }
    calls();
    current = "aclrtResetDevice";
    (void)aclrtResetDevice(0);
    current = "aclFinalize";
    (void)aclFinalize();
    return 0;
}

int main(int count, char **words)
{
    long seed = count > 1 ? atol(words[1]) : 1;
    int tried = 0;

    setvbuf(stdout, NULL, _IONBF, 0);
    for (int late = 0; late < 2; late++) {
        for (size_t step = 0; step < LIMITS; step++, tried++) {
            size_t more = step * STEP * (late ? 1 : 16);
            int status;
            pid_t child = fork();
            if (child < 0) return 2;
            if (child == 0) {
                signal(SIGABRT, report);
                signal(SIGSEGV, report);
                signal(SIGALRM, report);
                alarm(60);
                _exit(under(seed, more, late));
            }
            if (waitpid(child, &status, 0) != child) return 2;
            if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
                printf("seed %ld, %zu bytes %s the start: status %#x\n", seed, more, late ? "after" : "before", status);
                return 1;
            }
        }
    }
    printf("%d limits\n", tried);
    return 0;
}
