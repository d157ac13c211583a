/* Two processes share an allocation, a notify and an event by their keys: one process's stream waits for the other's, in both
 * directions. A process that is not named is refused, and a process that dies blocks no other. Processes begin before either uses the
 * library; the second one is this program again, started anew. */
#include "program.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define LENGTH (1u << 20)
#define SMALL 100

/* The message from the parent to the child. */
struct offer {
    char memory[65];
    char small[65];
    char unlisted[65];
    char there[65]; /* recorded by the parent */
    char back[65];  /* recorded by the child */
    char never[65]; /* never recorded */
    aclrtIpcEventHandle event;
};

static void send_all(int to, const void *data, size_t length)
{
    REQUIRE(write(to, data, length) == (ssize_t)length);
}

static void receive(int from, void *data, size_t length)
{
    REQUIRE(read(from, data, length) == (ssize_t)length);
}

static void expect_bytes(void *at, int byte, size_t length)
{
    unsigned char *host = malloc(length);
    REQUIRE(host != NULL);
    CHECK(aclrtMemcpy(host, length, at, length, ACL_MEMCPY_DEVICE_TO_HOST));
    for (size_t i = 0; i < length; i++) {
        REQUIRE(host[i] == byte);
    }
    free(host);
}

static int child(int from, int to)
{
    struct offer offer;
    void *at = NULL, *again = NULL, *small = NULL, *none = NULL;
    aclrtNotify there, back, wrong = NULL;
    aclrtEvent event, other = NULL;
    aclrtEventRecordedStatus recorded;
    aclrtIpcEventHandle handle;
    aclrtStream stream;
    char key[65];
    int32_t id = (int32_t)getpid();

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream));
    send_all(to, &id, sizeof id);
    receive(from, &offer, sizeof offer);

    CHECK(aclrtIpcMemImportByKey(&at, offer.memory, ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS));
    CHECK(aclrtIpcMemImportByKey(&again, offer.memory, 0));
    REQUIRE(again == at);
    CHECK(aclrtIpcMemImportByKey(&small, offer.small, 0));
    EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcMemImportByKey(&none, offer.unlisted, 0));
    /* A key of one kind is none of another. */
    EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcMemImportByKey(&none, offer.there, 0));
    EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtNotifyImportByKey(&wrong, offer.memory, 0));
    REQUIRE(none == NULL && wrong == NULL);
    CHECK(aclrtNotifyImportByKey(&there, offer.there, 0));
    CHECK(aclrtNotifyImportByKey(&back, offer.back, 0));
    CHECK(aclrtIpcOpenEventHandle(offer.event, &event));
    /* Only the exporter exports, and names others. */
    EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtNotifyGetExportKey(there, key, sizeof key, 0));
    EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtNotifySetImportPid(there, &id, 1));
    EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcGetEventHandle(event, &handle));
    EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcMemGetExportKey(at, LENGTH, key, sizeof key, 0));
    memset(&handle, 0, sizeof handle);
    EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcOpenEventHandle(handle, &other));

    /* The parent's fill comes after this wait was queued; what follows sees it. */
    CHECK(aclrtWaitAndResetNotify(there, stream, 0));
    send_all(to, "w", 1);
    CHECK(aclrtSynchronizeStream(stream));
    expect_bytes(at, 5, LENGTH);
    expect_bytes(small, 6, SMALL);

    /* The parent's event is recorded behind a blocked stream; it completes when the parent releases the stream. */
    receive(from, key, 1);
    CHECK(aclrtQueryEventStatus(event, &recorded));
    REQUIRE(recorded == ACL_EVENT_RECORDED_STATUS_NOT_READY);
    EXPECT(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, aclrtSynchronizeEventWithTimeout(event, 20));
    CHECK(aclrtStreamWaitEvent(stream, event));
    CHECK(aclrtMemsetAsync(at, LENGTH, 7, LENGTH, stream));
    CHECK(aclrtRecordNotify(back, stream));
    EXPECT(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream, 20));
    send_all(to, "e", 1);
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtSynchronizeEvent(event));

    /* A record of this process is seen by the other one, too. */
    CHECK(aclrtRecordEvent(event, stream));
    CHECK(aclrtSynchronizeStream(stream));
    send_all(to, "r", 1);
    receive(from, key, 1);

    CHECK(aclrtIpcMemClose(offer.memory));
    expect_bytes(at, 8, LENGTH); /* imported twice, closed once */
    CHECK(aclrtIpcMemClose(offer.memory));
    EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcMemClose(offer.memory));
    CHECK(aclrtIpcMemClose(offer.small));
    CHECK(aclrtDestroyNotify(there));
    CHECK(aclrtDestroyNotify(back));

    /* The last one waits, and dies. */
    CHECK(aclrtNotifyImportByKey(&wrong, offer.never, 0));
    CHECK(aclrtRecordEvent(event, stream));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtWaitAndResetNotify(wrong, stream, 0));
    CHECK(aclrtRecordEvent(event, stream));
    send_all(to, "d", 1);
    receive(from, key, 1);
    return 1; /* killed before */
}

static void export_notify(aclrtNotify *notify, char *key, uint64_t flags, int32_t id)
{
    CHECK(aclrtCreateNotify(notify, 0));
    CHECK(aclrtNotifyGetExportKey(*notify, key, 65, flags));
    REQUIRE(strlen(key) <= 64);
    if (flags == ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT) {
        CHECK(aclrtNotifySetImportPid(*notify, &id, 1));
    }
}

int main(int argc, char **argv)
{
    int down[2], up[2], status;
    int32_t id;
    pid_t other;
    struct offer offer;
    void *memory, *small, *unlisted, *neighbour;
    aclrtNotify there, back, never;
    aclrtEvent event, gate;
    aclrtEventRecordedStatus recorded;
    aclrtStream stream, opener;
    char turn;

    if (argc == 3) {
        return child(atoi(argv[1]), atoi(argv[2]));
    }
    signal(SIGPIPE, SIG_IGN);
    REQUIRE(pipe(down) == 0 && pipe(up) == 0);
    other = fork();
    REQUIRE(other >= 0);
    if (other == 0) {
        char from[16], to[16];
        close(down[1]);
        close(up[0]);
        snprintf(from, sizeof from, "%d", down[0]);
        snprintf(to, sizeof to, "%d", up[1]);
        execl("/proc/self/exe", argv[0], from, to, (char *)NULL);
        _exit(127);
    }
    close(down[0]);
    close(up[1]);

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtCreateStream(&opener));
    receive(up[0], &id, sizeof id);
    REQUIRE(id == (int32_t)other);
    memset(&offer, 0, sizeof offer);

    CHECK(aclrtMalloc(&memory, LENGTH, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc(&neighbour, SMALL, ACL_MEM_MALLOC_NORMAL_ONLY));
    CHECK(aclrtMalloc(&small, SMALL, ACL_MEM_MALLOC_NORMAL_ONLY));
    CHECK(aclrtMalloc(&unlisted, LENGTH, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemset(neighbour, SMALL, 1, SMALL));
    CHECK(aclrtMemset(small, SMALL, 6, SMALL));
    CHECK(aclrtIpcMemGetExportKey(memory, LENGTH, offer.memory, 65, ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT));
    CHECK(aclrtIpcMemSetImportPid(offer.memory, &id, 1));
    CHECK(aclrtIpcMemGetExportKey(small, SMALL, offer.small, 65, ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
    CHECK(aclrtIpcMemGetExportKey(unlisted, LENGTH, offer.unlisted, 65, ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT));
    REQUIRE(strlen(offer.memory) <= 64);
    export_notify(&there, offer.there, ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT, id);
    export_notify(&back, offer.back, ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION, id);
    export_notify(&never, offer.never, ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT, id);
    CHECK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC));
    CHECK(aclrtIpcGetEventHandle(event, &offer.event));
    send_all(down[1], &offer, sizeof offer);

    /* The child's stream waits already. */
    receive(up[0], &turn, 1);
    CHECK(aclrtMemsetAsync(memory, LENGTH, 5, LENGTH, stream));
    CHECK(aclrtRecordNotify(there, stream));
    CHECK(aclrtSynchronizeStream(stream));

    CHECK(aclrtCreateEventWithFlag(&gate, ACL_EVENT_SYNC));
    CHECK(aclrtStreamWaitEvent(stream, gate));
    CHECK(aclrtRecordEvent(event, stream));
    CHECK(aclrtWaitAndResetNotify(back, stream, 0));
    send_all(down[1], "g", 1);
    receive(up[0], &turn, 1);
    CHECK(aclrtRecordEvent(gate, opener));
    /* Over and back: the child's fill is behind the event, and its notify behind the fill. */
    CHECK(aclrtSynchronizeStream(stream));
    expect_bytes(memory, 7, LENGTH);
    expect_bytes(neighbour, 1, SMALL);

    receive(up[0], &turn, 1);
    CHECK(aclrtQueryEventStatus(event, &recorded));
    REQUIRE(recorded == ACL_EVENT_RECORDED_STATUS_COMPLETE);
    CHECK(aclrtMemset(memory, LENGTH, 8, LENGTH));
    send_all(down[1], "m", 1);

    /* The child dies with a record pending and a notify unset: waits for either end, with an error. */
    receive(up[0], &turn, 1);
    CHECK(aclrtStreamWaitEvent(stream, event));
    CHECK(aclrtWaitAndResetNotify(never, opener, 0));
    EXPECT(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream, 20));
    REQUIRE(kill(other, SIGKILL) == 0);
    EXPECT(ACL_ERROR_RT_INTERNAL_ERROR, aclrtSynchronizeStream(stream));
    EXPECT(ACL_ERROR_RT_INTERNAL_ERROR, aclrtSynchronizeStream(opener));
    EXPECT(ACL_ERROR_RT_INTERNAL_ERROR, aclrtSynchronizeEvent(event));
    REQUIRE(waitpid(other, &status, 0) == other);
    REQUIRE(WIFSIGNALED(status));
    CHECK(aclrtSynchronizeStream(stream));

    CHECK(aclrtIpcMemClose(offer.memory));
    CHECK(aclrtDestroyEvent(event));
    CHECK(aclrtDestroyNotify(there));
    CHECK(aclrtDestroyNotify(back));
    CHECK(aclrtDestroyNotify(never));
    CHECK(aclrtFree(memory));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
