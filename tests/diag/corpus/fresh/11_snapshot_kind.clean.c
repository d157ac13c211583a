/* Keeps a snapshot of a device buffer, on the device or on the host. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"

#define BYTES 8192

static bool check(aclError e, const char *what)
{
    if (e != ACL_SUCCESS) {
        printf("%s: error %d\n", what, e);
    }
    return e == ACL_SUCCESS;
}

struct snapshot {
    void *copy;
    size_t bytes;
};

static bool snapshot_take(struct snapshot *s, const void *dev, size_t bytes)
{
    s->bytes = bytes;
    s->copy = malloc(bytes);
    if (s->copy == NULL) {
        return false;
    }
    memset(s->copy, 0, bytes);
    return check(aclrtMemcpy(s->copy, s->bytes, dev, bytes, ACL_MEMCPY_DEVICE_TO_HOST), "take snapshot");
}

static bool snapshot_restore(const struct snapshot *s, void *dev)
{
    return check(aclrtMemcpy(dev, s->bytes, s->copy, s->bytes, ACL_MEMCPY_HOST_TO_DEVICE), "restore snapshot");
}

static void snapshot_drop(struct snapshot *s)
{
    free(s->copy);
    s->copy = NULL;
}

int main(void)
{
    struct snapshot snap = {0};
    void *state = NULL;
    bool good = false;

    if (!check(aclInit(NULL), "init") || !check(aclrtSetDevice(0), "set device")) {
        return 1;
    }
    if (check(aclrtMalloc(&state, BYTES, ACL_MEM_MALLOC_NORMAL_ONLY), "malloc")) {
        good = check(aclrtMemset(state, BYTES, 0x21, BYTES), "fill");
        good = snapshot_take(&snap, state, BYTES) && good;
        good = good && check(aclrtMemset(state, BYTES, 0, BYTES), "clear");
        good = good && snapshot_restore(&snap, state);
        snapshot_drop(&snap);
        check(aclrtFree(state), "free");
    }
    printf("snapshot %s\n", good ? "kept" : "failed");
    check(aclrtResetDevice(0), "reset device");
    check(aclFinalize(), "finalize");
    return good ? 0 : 1;
}
