/* Captures two device operations into a graph and replays it. */
#include <stdio.h>

#include "acl/acl.h"

#define BYTES 65536

static int errors = 0;

#define ACL_CALL(call)                                                          \
    do {                                                                        \
        aclError e = (call);                                                    \
        if (e != ACL_SUCCESS) {                                                 \
            fprintf(stderr, "%s:%d: %s = %d\n", __FILE__, __LINE__, #call, e);  \
            ++errors;                                                           \
        }                                                                       \
    } while (0)

static void print_head(const char *tag, const void *dev)
{
    unsigned char head[4] = {0};
    ACL_CALL(aclrtMemcpy(head, sizeof(head), dev, sizeof(head), ACL_MEMCPY_DEVICE_TO_HOST));
    printf("%s: %02x %02x %02x %02x\n", tag, head[0], head[1], head[2], head[3]);
}

static aclmdlRI capture(aclrtStream stream, void *a, void *b)
{
    aclmdlRI graph = NULL;
    ACL_CALL(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    ACL_CALL(aclrtMemsetAsync(a, BYTES, 0x11, BYTES, stream));
    ACL_CALL(aclrtMemcpyAsync(b, BYTES, a, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    ACL_CALL(aclmdlRICaptureEnd(stream, &graph));
    return graph;
}

int main(void)
{
    aclrtStream stream = NULL;
    void *a = NULL;
    void *b = NULL;
    ACL_CALL(aclInit(NULL));
    ACL_CALL(aclrtSetDevice(0));
    ACL_CALL(aclrtCreateStream(&stream));
    ACL_CALL(aclrtMalloc(&a, BYTES, ACL_MEM_MALLOC_NORMAL_ONLY));
    ACL_CALL(aclrtMalloc(&b, BYTES, ACL_MEM_MALLOC_NORMAL_ONLY));
    ACL_CALL(aclrtMemset(a, BYTES, 0, BYTES));
    ACL_CALL(aclrtMemset(b, BYTES, 0, BYTES));

    aclmdlRI graph = capture(stream, a, b);
    if (graph != NULL) {
        for (int i = 0; i < 3; i++) {
            ACL_CALL(aclmdlRIExecuteAsync(graph, stream));
        }
        ACL_CALL(aclrtSynchronizeStream(stream));
        print_head("a", a);
        print_head("b", b);
        ACL_CALL(aclmdlRIDestroy(graph));
    }
    ACL_CALL(aclrtFree(b));
    ACL_CALL(aclrtFree(a));
    ACL_CALL(aclrtDestroyStream(stream));
    ACL_CALL(aclrtResetDevice(0));
    ACL_CALL(aclFinalize());
    return errors != 0;
}
