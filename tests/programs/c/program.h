/* What the programs here share: every call is checked, and a program that failed says where. */
#ifndef PROGRAM_H
#define PROGRAM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "acl/acl.h"

/* The call answers `code`. */
#define EXPECT(code, call)                                                                                    \
    do {                                                                                                      \
        int ret_ = (int)(call);                                                                               \
        if (ret_ != (int)(code)) {                                                                            \
            const char *text_ = aclGetRecentErrMsg();                                                         \
            fprintf(stderr, "%s:%d: %s gave %d, expected %d\n%s\n", __FILE__, __LINE__, #call, ret_, (int)(code), \
                    text_ != NULL ? text_ : "");                                                              \
            exit(1);                                                                                          \
        }                                                                                                     \
    } while (0)

#define CHECK(call) EXPECT(ACL_SUCCESS, call)

#define REQUIRE(condition)                                                          \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                                \
        }                                                                           \
    } while (0)

/* Longer than anything here takes on a loaded machine, shorter than anyone's patience. */
#define PATIENCE_S 20.0

static inline double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline void sleep_ms(long ms)
{
    struct timespec t;
    t.tv_sec = ms / 1000;
    t.tv_nsec = ms % 1000 * 1000000;
    while (nanosleep(&t, &t) != 0) {
    }
}

#endif
