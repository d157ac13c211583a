/* A minimal application object: init, one fill, shutdown. */
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"

#define ERR(...) fprintf(stderr, __VA_ARGS__)

typedef struct app {
    int device;
    aclrtStream stream;
    void *buffer;
    size_t size;
} app_t;

static int app_init(app_t *app, int device, size_t size)
{
    app->device = device;
    app->size = size;
    if (aclInit(NULL) != ACL_SUCCESS) {
        ERR("acl init failed\n");
        return -1;
    }
    if (aclrtSetDevice(device) != ACL_SUCCESS) {
        ERR("open device %d failed\n", device);
        return -1;
    }
    if (aclrtCreateStream(&app->stream) != ACL_SUCCESS) {
        ERR("create stream failed\n");
        return -1;
    }
    if (aclrtMalloc(&app->buffer, size, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) {
        ERR("malloc %zu failed\n", size);
        return -1;
    }
    return 0;
}

static int app_work(app_t *app)
{
    if (aclrtMemsetAsync(app->buffer, app->size, 0x7f, app->size, app->stream) != ACL_SUCCESS) {
        return -1;
    }
    return aclrtSynchronizeStream(app->stream) == ACL_SUCCESS ? 0 : -1;
}

static int app_shutdown(app_t *app)
{
    aclError ret;
    int rc = 0;
    ret = aclrtFree(app->buffer);
    if (ret != ACL_SUCCESS) {
        ERR("free buffer failed, errorCode is %d\n", ret);
        rc = -1;
    }
    ret = aclrtResetDevice(app->device);
    if (ret != ACL_SUCCESS) {
        ERR("reset device failed, errorCode is %d\n", ret);
        rc = -1;
    }
    ret = aclFinalize();
    if (ret != ACL_SUCCESS) {
        ERR("finalize failed, errorCode is %d\n", ret);
        rc = -1;
    }
    ret = aclrtDestroyStream(app->stream);
    if (ret != ACL_SUCCESS) {
        ERR("destroy stream failed, errorCode is %d\n", ret);
        rc = -1;
    }
    return rc;
}

int main(void)
{
    app_t app = {0};
    if (app_init(&app, 0, 1 << 16) != 0) {
        return EXIT_FAILURE;
    }
    int rc = app_work(&app);
    if (app_shutdown(&app) != 0) {
        rc = -1;
    }
    puts("done");
    return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
