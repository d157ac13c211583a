/* Uploads a short clip frame by frame through two pinned staging buffers. */
#include <stdio.h>
#include <string.h>

#include "acl/acl.h"

#define FRAME_BYTES (256 * 1024)
#define FRAMES 6

static int g_failures = 0;

#define ACL_CHECK(call)                                                             \
    do {                                                                            \
        aclError err_ = (call);                                                     \
        if (err_ != ACL_SUCCESS) {                                                  \
            fprintf(stderr, "%s:%d %s -> %d\n", __FILE__, __LINE__, #call, err_);   \
            g_failures++;                                                           \
        }                                                                           \
    } while (0)

static void decode_frame(unsigned char *dst, int index)
{
    memset(dst, 16 + index, FRAME_BYTES);
}

static void upload_clip(unsigned char *staging, unsigned char *clip, aclrtStream stream)
{
    aclrtEvent read[2] = {NULL, NULL};
    for (int s = 0; s < 2; s++) {
        ACL_CHECK(aclrtCreateEvent(&read[s]));
    }
    for (int i = 0; i < FRAMES; i++) {
        unsigned char *slot = staging + (size_t)(i % 2) * FRAME_BYTES;
        if (i >= 2) {
            ACL_CHECK(aclrtSynchronizeEvent(read[i % 2]));
        }
        decode_frame(slot, i);
        ACL_CHECK(aclrtMemcpyAsync(clip + (size_t)i * FRAME_BYTES, FRAME_BYTES, slot, FRAME_BYTES,
                                   ACL_MEMCPY_HOST_TO_DEVICE, stream));
        ACL_CHECK(aclrtRecordEvent(read[i % 2], stream));
    }
    ACL_CHECK(aclrtSynchronizeStream(stream));
    for (int s = 0; s < 2; s++) {
        ACL_CHECK(aclrtDestroyEvent(read[s]));
    }
}

static int verify_clip(const unsigned char *clip, unsigned char *host)
{
    int wrong = 0;
    for (int i = 0; i < FRAMES; i++) {
        ACL_CHECK(aclrtMemcpy(host, FRAME_BYTES, clip + (size_t)i * FRAME_BYTES, FRAME_BYTES,
                              ACL_MEMCPY_DEVICE_TO_HOST));
        if (host[0] != 16 + i || host[FRAME_BYTES - 1] != 16 + i) {
            wrong++;
        }
    }
    return wrong;
}

int main(void)
{
    aclrtStream stream = NULL;
    void *staging = NULL;
    void *clip = NULL;

    ACL_CHECK(aclInit(NULL));
    ACL_CHECK(aclrtSetDevice(0));
    ACL_CHECK(aclrtCreateStream(&stream));
    ACL_CHECK(aclrtMallocHost(&staging, 2 * FRAME_BYTES));
    ACL_CHECK(aclrtMalloc(&clip, (size_t)FRAMES * FRAME_BYTES, ACL_MEM_MALLOC_HUGE_FIRST));

    upload_clip(staging, clip, stream);
    printf("frames that differ: %d\n", verify_clip(clip, staging));

    ACL_CHECK(aclrtFree(clip));
    ACL_CHECK(aclrtFreeHost(staging));
    ACL_CHECK(aclrtDestroyStream(stream));
    ACL_CHECK(aclrtResetDevice(0));
    ACL_CHECK(aclFinalize());
    return g_failures != 0;
}
