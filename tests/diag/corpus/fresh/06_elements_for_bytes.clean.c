/* A small tensor type with upload and download. */
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"

#define LOG_ERROR(fmt, ...) fprintf(stderr, "[ERROR] %s:%d " fmt "\n", __func__, __LINE__, ##__VA_ARGS__)

typedef struct {
    void *data;
    size_t elements;
    size_t bytes;
} tensor_t;

static aclError tensor_create(tensor_t *t, const int64_t *shape, int dims)
{
    t->elements = 1;
    for (int i = 0; i < dims; i++) {
        t->elements *= (size_t)shape[i];
    }
    t->bytes = t->elements * aclDataTypeSize(ACL_FLOAT);
    return aclrtMalloc(&t->data, t->bytes, ACL_MEM_MALLOC_HUGE_FIRST);
}

static aclError tensor_upload(tensor_t *t, const float *host)
{
    aclError ret = aclrtMemcpy(t->data, t->bytes, host, t->bytes, ACL_MEMCPY_HOST_TO_DEVICE);
    if (ret != ACL_SUCCESS) {
        LOG_ERROR("copy to device failed, errorCode = %d", ret);
    }
    return ret;
}

static aclError tensor_download(const tensor_t *t, float *host)
{
    aclError ret = aclrtMemcpy(host, t->bytes, t->data, t->bytes, ACL_MEMCPY_DEVICE_TO_HOST);
    if (ret != ACL_SUCCESS) {
        LOG_ERROR("copy to host failed, errorCode = %d", ret);
    }
    return ret;
}

int main(void)
{
    const int64_t shape[4] = {1, 3, 32, 32};
    tensor_t t = {0};
    int rc = 1;
    if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) {
        LOG_ERROR("no device");
        return 1;
    }
    if (tensor_create(&t, shape, 4) == ACL_SUCCESS) {
        float *host = malloc(t.bytes);
        if (host != NULL) {
            for (size_t i = 0; i < t.elements; i++) {
                host[i] = (float)i;
            }
            if (tensor_upload(&t, host) == ACL_SUCCESS && tensor_download(&t, host) == ACL_SUCCESS) {
                printf("last element: %.1f\n", host[t.elements - 1]);
                rc = 0;
            }
            free(host);
        }
        (void)aclrtFree(t.data);
    }
    (void)aclrtResetDevice(0);
    (void)aclFinalize();
    return rc;
}
