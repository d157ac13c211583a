/* Streams a table to the device in chunks, meant to overlap with host work. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"

#define CHUNKS 16
#define CHUNK_BYTES (512u * 1024u)
#define TABLE_BYTES ((size_t)CHUNKS * CHUNK_BYTES)

#define CK(x)                                                        \
    do {                                                             \
        aclError ck_ = (x);                                          \
        if (ck_ != ACL_SUCCESS) {                                    \
            fprintf(stderr, "%s (%d): %d\n", #x, __LINE__, ck_);     \
            exit(2);                                                 \
        }                                                            \
    } while (0)

static uint8_t *table_alloc(void)
{
    void *p = NULL;
    CK(aclrtMallocHost(&p, TABLE_BYTES));
    return p;
}

static void table_release(uint8_t *table)
{
    CK(aclrtFreeHost(table));
}

static void table_fill(uint8_t *table)
{
    for (size_t i = 0; i < TABLE_BYTES; i++) {
        table[i] = (uint8_t)(i / CHUNK_BYTES);
    }
}

static void table_send(uint8_t *dev, const uint8_t *table, aclrtStream stream)
{
    for (int c = 0; c < CHUNKS; c++) {
        size_t at = (size_t)c * CHUNK_BYTES;
        CK(aclrtMemcpyAsync(dev + at, TABLE_BYTES - at, table + at, CHUNK_BYTES, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    }
}

int main(void)
{
    aclrtStream stream = NULL;
    void *dev = NULL;
    uint8_t last = 0;

    CK(aclInit(NULL));
    CK(aclrtSetDevice(0));
    CK(aclrtCreateStream(&stream));
    CK(aclrtMalloc(&dev, TABLE_BYTES, ACL_MEM_MALLOC_HUGE_FIRST));

    uint8_t *table = table_alloc();
    table_fill(table);
    table_send(dev, table, stream);
    CK(aclrtSynchronizeStream(stream));
    CK(aclrtMemcpy(&last, 1, (uint8_t *)dev + TABLE_BYTES - 1, 1, ACL_MEMCPY_DEVICE_TO_HOST));
    printf("last byte %u\n", last);

    table_release(table);
    CK(aclrtFree(dev));
    CK(aclrtDestroyStream(stream));
    CK(aclrtResetDevice(0));
    CK(aclFinalize());
    return last == CHUNKS - 1 ? 0 : 1;
}
