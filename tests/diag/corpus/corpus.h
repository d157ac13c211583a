/* What the programs of the bug corpus share. Each is compiled twice: as it is, with a mistake, and with CLEAN, without it. A comment
 * "FINDS <rule>" stands on the line of the call that the finding names first. */
#ifndef CORPUS_H
#define CORPUS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "acl/acl.h"

/* The program continues whatever a call returns, as careless programs do. */
#define TRY(call) (void)(call)

/* What has to work for the mistake to be made at all. */
#define MUST(call)                                                                       \
    do {                                                                                 \
        int ret_ = (int)(call);                                                          \
        if (ret_ != 0) {                                                                 \
            fprintf(stderr, "%s:%d: %s gave %d\n", __FILE__, __LINE__, #call, ret_);     \
            _exit(99);                                                                   \
        }                                                                                \
    } while (0)

static inline void set_up(void)
{
    MUST(aclInit(NULL));
    MUST(aclrtSetDevice(0));
}

static inline void tear_down(void)
{
    MUST(aclrtResetDevice(0));
    MUST(aclFinalize());
}

#endif
