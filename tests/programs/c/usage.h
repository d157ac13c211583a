/* Shows that work which is repeated leaves nothing behind: device memory, files, threads and the heap. */
#ifndef USAGE_H
#define USAGE_H

#include "program.h"

#include <dirent.h>
#include <malloc.h>

/* Parts that are compared, each with the part before it. */
enum { COMPARED_PARTS = 3 };
/* The most threads that the runtime starts for its workers on a small machine. */
enum { WORKERS = 8 };

struct usage {
    size_t device, files, threads, heap;
};

static inline size_t entries(const char *folder)
{
    DIR *opened = opendir(folder);
    size_t count = 0;

    REQUIRE(opened != NULL);
    while (readdir(opened) != NULL) {
        count++;
    }
    closedir(opened);
    return count;
}

static inline struct usage usage_now(void)
{
    struct usage now;
    struct mallinfo2 heap;
    size_t total;

    CHECK(aclrtGetMemInfo(ACL_DDR_MEM, &now.device, &total));
    now.files = entries("/proc/self/fd");
    now.threads = entries("/proc/self/task");
    heap = mallinfo2();
    now.heap = heap.uordblks + heap.hblkhd;
    return now;
}

/* Runs `part` 1 + COMPARED_PARTS times. No part may leave device memory or files behind, and all together no more threads than the runtime
 * has workers. Each worker that starts, and each cache of the heap that fills, adds to the heap once. What a part loses is lost by each:
 * the part that adds least to the heap may add `slack` bytes. */
static inline void require_nothing_left(void (*part)(void), size_t slack)
{
    struct usage first, before, now;
    size_t added, least = SIZE_MAX;

    part();
    first = before = usage_now();
    for (int i = 0; i < COMPARED_PARTS; i++) {
        part();
        now = usage_now();
        added = now.heap > before.heap ? now.heap - before.heap : 0;
        printf("heap: %zu, then %zu; threads: %zu, then %zu\n", before.heap, now.heap, before.threads, now.threads);
        REQUIRE(now.device == first.device);
        REQUIRE(now.files == first.files);
        REQUIRE(now.threads <= first.threads + WORKERS);
        least = added < least ? added : least;
        before = now;
    }
    REQUIRE(least <= slack);
}

#endif
