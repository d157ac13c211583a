/* The part of the program of calls.py that is the same each time. Included twice: what the calls need, and what makes them. */
#ifndef RUN_CALLS
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "acl/acl.h"
#include "acl/acl_dump.h"
#include "acl/acl_op_compiler.h"
#include "acl/acl_platform.h"
#include "acl/acl_prof.h"
#include "acl/acl_rt_allocator.h"
#include "acl/acl_rt_compile.h"
#include "acl/acl_rt_memory_soma.h"
#include "acl/acl_tdt.h"
#include "acl/acl_tdt_queue.h"
#include "acl/ops/acl_cblas.h"
#include "acl/ops/acl_dvpp.h"
#include "acl/ops/acl_fv.h"
#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"

enum { THREADS = 4, KEPT = 64, NAMES = 8 };

struct thread {
    unsigned short random[3];
    const char *volatile current;
    /* Each thread has its own: a call that was accepted may work on it later. */
    char *out, *data;
    unsigned long calls;
    pthread_t self;
};

struct entry {
    const char *name;
    void (*call)(struct thread *);
};

static struct thread threads[THREADS];
static long seed;
/* Never written: structures and lists of it are all zero. */
static void *zeros;
/* Handles and addresses that calls returned, shared by the threads; the latest replace the earliest. */
static _Atomic uint64_t kept[POOLS][KEPT];
static const char *names[NAMES] = {"", "nowhere", "add", "%s%n%x", "../fuzz", NULL, NULL, NULL};

static uint64_t below(struct thread *me, uint64_t end)
{
    return (uint64_t)nrand48(me->random) % end;
}

static long callback(void)
{
    return 0;
}

static uint64_t number(struct thread *me)
{
    static const uint64_t some[] = {0, 0, 1, 1, 2, 3, 4, 7, 16, 64, 4096, 65536, 1ull << 31, 1ull << 40, 1ull << 63, UINT64_MAX, UINT64_MAX - 1};
    return below(me, 4) ? some[below(me, sizeof some / sizeof *some)] : below(me, 64);
}

/* A size or a count of memory that is passed: there is as much. */
static uint64_t size(struct thread *me)
{
    static const uint64_t some[] = {0, 1, 2, 3, 4, 8, 16, 32, 64};
    return below(me, 8) ? some[below(me, sizeof some / sizeof *some)] : below(me, MOST);
}

static uint64_t few(struct thread *me)
{
    return below(me, 512);
}

static uint64_t handle(struct thread *me, unsigned pool)
{
    switch (below(me, 16)) {
    case 0: return 0;
    case 1: return number(me);
    case 2: return kept[below(me, POOLS)][below(me, KEPT)];
    default: return kept[pool][below(me, KEPT)];
    }
}

static void keep(struct thread *me, unsigned pool, uint64_t value)
{
    /* All results of a call go to one area, so that a size may stand where an address was. As memory of the host it would be the
     * program's mistake, which no library survives. */
    if (pool == VOID_POOL && value < (uint64_t)1 << 32) return;
    if (value != 0) kept[pool][below(me, KEPT)] = value;
}

/* Host memory. */
static void *data(struct thread *me)
{
    return below(me, 8) ? me->data + below(me, 16) * 8 : NULL;
}

/* An address that the library looks up: memory of the device, live or not, or of the host. */
static void *memory(struct thread *me)
{
    return below(me, 2) ? (void *)(uintptr_t)kept[VOID_POOL][below(me, KEPT)] : data(me);
}

static void *out_area(struct thread *me)
{
    if (below(me, 32) == 0) return NULL;
    memset(me->out, 0, 64);
    return me->out;
}

static const char *name(struct thread *me)
{
    return names[below(me, NAMES)];
}

static void say(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
}

/* Names what each thread was calling. */
static void report(int signal)
{
    char line[128];
    snprintf(line, sizeof line, "seed %ld: signal %d\n", seed, signal);
    say(line);
    for (int i = 0; i < THREADS; i++) {
        int here = pthread_equal(threads[i].self, pthread_self());
        snprintf(line, sizeof line, "  thread %d: %s, after %lu calls%s\n", i, threads[i].current ? threads[i].current : "none",
            threads[i].calls, here ? ", got the signal" : "");
        say(line);
    }
    _exit(70);
}

static void answered(struct thread *me, aclError result)
{
    const char *text;
    if (result != ACL_ERROR_INTERNAL_ERROR) return;
    /* Some functions answer this code for misuse, too: the message of a panic states it. */
    text = aclGetRecentErrMsg();
    if (text == NULL || strstr(text, "Jumar itself failed") == NULL) return;
    fprintf(stderr, "seed %ld: %s: %s\n", seed, me->current, strstr(text, "Jumar itself failed"));
    _exit(71);
}

#else /* RUN_CALLS */

static void *run(void *argument)
{
    struct thread *me = argument;
    me->self = pthread_self();
    const size_t count = sizeof entries / sizeof *entries;
    (void)aclrtSetDevice(0);
    for (;;) {
        const struct entry *entry = &entries[below(me, count)];
        me->current = entry->name;
        entry->call(me);
        me->calls++;
    }
    return NULL;
}

static void *area(void)
{
    void *made = mmap(NULL, AREA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) _exit(72);
    return made;
}

/* calls SEED SECONDS [MODEL [KERNELS]] */
int main(int count, char **words)
{
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
    static char longest[6000];
    pthread_t made[THREADS];
    unsigned long calls = 0;

    if (count < 3) return 64;
    seed = atol(words[1]);
    zeros = mmap(NULL, AREA, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (zeros == MAP_FAILED) return 72;
    memset(longest, 'x', sizeof longest - 1);
    names[NAMES - 1] = longest;
    for (int i = 3; i < count && i < 5; i++) names[i + 2] = words[i];
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) signal(deadly[i], report);
    if (aclInit(NULL) != 0) return 65;
    for (int i = 0; i < THREADS; i++) {
        threads[i].random[0] = (unsigned short)seed;
        threads[i].random[1] = (unsigned short)(seed >> 16);
        threads[i].random[2] = (unsigned short)i;
        threads[i].out = area();
        threads[i].data = area();
        if (pthread_create(&made[i], NULL, run, &threads[i]) != 0) return 66;
    }
    sleep((unsigned)atoi(words[2]));
    for (int i = 0; i < THREADS; i++) calls += threads[i].calls;
    printf("%lu calls of %zu functions; at the end", calls, sizeof entries / sizeof *entries);
    for (int i = 0; i < THREADS; i++) printf(" %s", threads[i].current ? threads[i].current : "none");
    printf("\n");
    fflush(stdout);
    /* The threads are inside calls. */
    _exit(0);
}
#endif
