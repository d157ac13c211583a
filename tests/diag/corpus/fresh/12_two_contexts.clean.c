/* Two workers, each with its own context and stream, driven by one thread. */
#include <stdio.h>

#include "acl/acl.h"

#define BYTES 32768
#define WORKERS 2

static int problems;

#define ACL_DO(call)                                                     \
    do {                                                                 \
        aclError r = (call);                                             \
        if (r != ACL_SUCCESS) {                                          \
            fprintf(stderr, "%d: %s failed (%d)\n", __LINE__, #call, r); \
            problems++;                                                  \
        }                                                                \
    } while (0)

struct worker {
    aclrtContext context;
    aclrtStream stream;
    void *buffer;
};

static void worker_open(struct worker *w, int device)
{
    ACL_DO(aclrtCreateContext(&w->context, device));
    ACL_DO(aclrtCreateStream(&w->stream));
    ACL_DO(aclrtMalloc(&w->buffer, BYTES, ACL_MEM_MALLOC_NORMAL_ONLY));
}

static void worker_fill(struct worker *w, int value)
{
    ACL_DO(aclrtSetCurrentContext(w->context));
    ACL_DO(aclrtMemsetAsync(w->buffer, BYTES, value, BYTES, w->stream));
}

static void worker_wait(struct worker *w)
{
    ACL_DO(aclrtSetCurrentContext(w->context));
    ACL_DO(aclrtSynchronizeStream(w->stream));
}

static void worker_close(struct worker *w)
{
    ACL_DO(aclrtSetCurrentContext(w->context));
    ACL_DO(aclrtFree(w->buffer));
    ACL_DO(aclrtDestroyStream(w->stream));
    ACL_DO(aclrtDestroyContext(w->context));
}

int main(void)
{
    struct worker workers[WORKERS] = {{0}};

    ACL_DO(aclInit(NULL));
    ACL_DO(aclrtSetDevice(0));
    for (int i = 0; i < WORKERS; i++) {
        worker_open(&workers[i], 0);
    }
    for (int i = 0; i < WORKERS; i++) {
        worker_fill(&workers[i], i + 1);
    }
    for (int i = 0; i < WORKERS; i++) {
        worker_wait(&workers[i]);
    }
    printf("%d workers, %d problems\n", WORKERS, problems);
    for (int i = 0; i < WORKERS; i++) {
        worker_close(&workers[i]);
    }
    ACL_DO(aclrtResetDevice(0));
    ACL_DO(aclFinalize());
    return problems != 0;
}
