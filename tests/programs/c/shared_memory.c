/* Two processes share physical memory: one writes, the other reads and answers, and the first sees it. Memory that is not for
 * the other process, or is gone, is refused. Processes begin before either uses the library. */
#include "program.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define LENGTH (2u << 20)

/* The message from the parent to the child. */
struct offer {
    uint64_t number;
    aclrtMemFabricHandle fabric;
    uint64_t unlisted; /* the child is not named for this one */
    uint64_t first;    /* of the first form */
};

static void send_all(int to, const void *data, size_t length)
{
    REQUIRE(write(to, data, length) == (ssize_t)length);
}

static void receive(int from, void *data, size_t length)
{
    REQUIRE(read(from, data, length) == (ssize_t)length);
}

static aclrtDrvMemHandle make(void)
{
    aclrtPhysicalMemProp prop;
    aclrtDrvMemHandle made = NULL;
    memset(&prop, 0, sizeof prop);
    prop.handleType = ACL_MEM_HANDLE_TYPE_NONE;
    prop.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
    prop.memAttr = ACL_HBM_MEM_HUGE;
    prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    CHECK(aclrtMallocPhysical(&made, LENGTH, &prop, 0));
    return made;
}

static void *map(aclrtDrvMemHandle memory)
{
    void *at = NULL;
    CHECK(aclrtReserveMemAddress(&at, LENGTH, 0, NULL, 1));
    CHECK(aclrtMapMem(at, LENGTH, 0, memory, 0));
    return at;
}

static void unmap(void *at, aclrtDrvMemHandle memory)
{
    CHECK(aclrtUnmapMem(at));
    CHECK(aclrtFreePhysical(memory));
    CHECK(aclrtReleaseMemAddress(at));
}

/* The whole length holds the pattern that begins with `first`. */
static void expect_pattern(void *at, uint32_t first)
{
    uint32_t *host = malloc(LENGTH);
    REQUIRE(host != NULL);
    CHECK(aclrtMemcpy(host, LENGTH, at, LENGTH, ACL_MEMCPY_DEVICE_TO_HOST));
    for (uint32_t i = 0; i < LENGTH / sizeof *host; i++) {
        REQUIRE(host[i] == first + i);
    }
    free(host);
}

static void write_pattern(void *at, uint32_t first)
{
    uint32_t *host = malloc(LENGTH);
    REQUIRE(host != NULL);
    for (uint32_t i = 0; i < LENGTH / sizeof *host; i++) {
        host[i] = first + i;
    }
    CHECK(aclrtMemcpy(at, LENGTH, host, LENGTH, ACL_MEMCPY_HOST_TO_DEVICE));
    free(host);
}

static void child(int from, int to)
{
    struct offer offer;
    aclrtDrvMemHandle memory = NULL, fabric = NULL, first = NULL, none = NULL;
    void *at, *fabric_at, *first_at;
    uint64_t again;
    char turn = 'r';
    int32_t id;

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtDeviceGetBareTgid(&id));
    REQUIRE(id == (int32_t)getpid());
    send_all(to, &id, sizeof id);
    receive(from, &offer, sizeof offer);

    CHECK(aclrtMemImportFromShareableHandleV2(&offer.number, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, 0, &memory));
    CHECK(aclrtMemImportFromShareableHandleV2(&offer.fabric, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, 0, &fabric));
    CHECK(aclrtMemImportFromShareableHandle(offer.first, 0, &first));
    EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtMemImportFromShareableHandle(offer.unlisted, 0, &none));
    /* A number like it, of another token. */
    EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtMemImportFromShareableHandle(offer.number ^ 1, 0, &none));
    EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtMemExportToShareableHandle(memory, ACL_MEM_HANDLE_TYPE_NONE, 1, &again));
    REQUIRE(none == NULL);

    at = map(memory);
    fabric_at = map(fabric);
    first_at = map(first);
    expect_pattern(at, 1000);
    expect_pattern(fabric_at, 2000);
    expect_pattern(first_at, 3000);
    write_pattern(at, 1001);
    write_pattern(fabric_at, 2002);
    unmap(first_at, first);
    send_all(to, &turn, 1);

    /* The parent frees its memory; the mapping here stays, and the handle is invalid. */
    receive(from, &turn, 1);
    expect_pattern(at, 1001);
    EXPECT(ACL_ERROR_RT_PARAM_INVALID,
           aclrtMemImportFromShareableHandleV2(&offer.number, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, 0, &none));
    unmap(at, memory);
    unmap(fabric_at, fabric);
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    exit(0);
}

int main(void)
{
    int down[2], up[2], status;
    int32_t id;
    pid_t other;
    struct offer offer;
    aclrtDrvMemHandle memory, fabric, unlisted, first, replacement;
    void *at, *fabric_at, *first_at;
    char turn = 'r';

    /* A child that fails must not leave the parent waiting: its end of the pipe closes. */
    REQUIRE(pipe(down) == 0 && pipe(up) == 0);
    signal(SIGPIPE, SIG_IGN);
    other = fork();
    REQUIRE(other >= 0);
    if (other == 0) {
        close(down[1]);
        close(up[0]);
        child(down[0], up[1]);
    }
    close(down[0]);
    close(up[1]);

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    receive(up[0], &id, sizeof id);
    memory = make();
    fabric = make();
    unlisted = make();
    first = make();
    at = map(memory);
    fabric_at = map(fabric);
    first_at = map(first);
    write_pattern(at, 1000);
    write_pattern(fabric_at, 2000);
    write_pattern(first_at, 3000);

    memset(&offer, 0, sizeof offer);
    CHECK(aclrtMemExportToShareableHandleV2(memory, ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION,
                                            ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, &offer.number));
    CHECK(aclrtMemExportToShareableHandleV2(fabric, ACL_RT_VMM_EXPORT_FLAG_DEFAULT, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC,
                                            &offer.fabric));
    CHECK(aclrtMemSetPidToShareableHandleV2(&offer.fabric, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, &id, 1));
    CHECK(aclrtMemExportToShareableHandle(unlisted, ACL_MEM_HANDLE_TYPE_NONE, ACL_RT_VMM_EXPORT_FLAG_DEFAULT,
                                          &offer.unlisted));
    CHECK(aclrtMemExportToShareableHandle(first, ACL_MEM_HANDLE_TYPE_NONE, ACL_RT_VMM_EXPORT_FLAG_DEFAULT,
                                          &offer.first));
    CHECK(aclrtMemSetPidToShareableHandle(offer.unlisted, (int32_t[]){1}, 1));
    CHECK(aclrtMemSetPidToShareableHandle(offer.first, (int32_t[]){1}, 1));
    CHECK(aclrtMemSetPidToShareableHandle(offer.first, &id, 1));
    send_all(down[1], &offer, sizeof offer);

    receive(up[0], &turn, 1);
    expect_pattern(at, 1001);
    expect_pattern(fabric_at, 2002);
    expect_pattern(first_at, 3000);
    unmap(at, memory);
    /* New memory gets the descriptor of the old, and is not taken for it. */
    replacement = make();
    CHECK(aclrtMemExportToShareableHandleV2(replacement, ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION,
                                            ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, &offer.number));
    send_all(down[1], &turn, 1);

    REQUIRE(waitpid(other, &status, 0) == other);
    REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(aclrtFreePhysical(replacement));
    CHECK(aclrtFreePhysical(unlisted));
    unmap(fabric_at, fabric);
    unmap(first_at, first);
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
