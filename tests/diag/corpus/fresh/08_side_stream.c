/* Captures a graph with a side branch on a second stream. */
#include <stdio.h>

#include "acl/acl.h"

#define BYTES 65536

static int errors = 0;

static int ok(aclError e, const char *text, int line)
{
    if (e == ACL_SUCCESS) {
        return 1;
    }
    fprintf(stderr, "line %d: %s -> %d\n", line, text, e);
    errors++;
    return 0;
}
#define OK(call) ok((call), #call, __LINE__)

struct branch {
    aclrtStream main;
    aclrtStream side;
    aclrtEvent fork;
    aclrtEvent join;
    void *x;
    void *y;
};

static aclmdlRI build_graph(struct branch *g)
{
    aclmdlRI ri = NULL;
    OK(aclmdlRICaptureBegin(g->main, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
    OK(aclrtRecordEvent(g->fork, g->main));
    OK(aclrtStreamWaitEvent(g->side, g->fork));
    OK(aclrtMemsetAsync(g->x, BYTES, 1, BYTES, g->main));
    OK(aclrtMemsetAsync(g->y, BYTES, 2, BYTES, g->side));
    OK(aclrtRecordEvent(g->join, g->side));
    OK(aclmdlRICaptureEnd(g->main, &ri));
    return ri;
}

int main(void)
{
    struct branch g = {0};
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtCreateStream(&g.main));
    OK(aclrtCreateStream(&g.side));
    OK(aclrtCreateEventExWithFlag(&g.fork, ACL_EVENT_SYNC));
    OK(aclrtCreateEventExWithFlag(&g.join, ACL_EVENT_SYNC));
    OK(aclrtMalloc(&g.x, BYTES, ACL_MEM_MALLOC_NORMAL_ONLY));
    OK(aclrtMalloc(&g.y, BYTES, ACL_MEM_MALLOC_NORMAL_ONLY));

    aclmdlRI ri = build_graph(&g);
    if (ri != NULL) {
        OK(aclmdlRIExecuteAsync(ri, g.main));
        OK(aclrtSynchronizeStream(g.main));
        OK(aclmdlRIDestroy(ri));
        printf("graph replayed\n");
    }

    OK(aclrtFree(g.y));
    OK(aclrtFree(g.x));
    OK(aclrtDestroyEvent(g.join));
    OK(aclrtDestroyEvent(g.fork));
    OK(aclrtDestroyStream(g.side));
    OK(aclrtDestroyStream(g.main));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return errors != 0;
}
