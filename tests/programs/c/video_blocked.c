/* A callback of a decoder never returns: other channels, streams and devices work, and the process ends. The end of its own channel, and
 * the reset of its device, wait for it. */
#include "video.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 4096 };

static aclrtContext context;
static sem_t entered, release, other_reported;
static atomic_int ended;

static void blocked(acldvppStreamDesc *input, acldvppPicDesc *output, void *data)
{
    (void)input;
    (void)output;
    (void)data;
    sem_post(&entered);
    while (sem_wait(&release) != 0) {
    }
}

static void other(acldvppStreamDesc *input, acldvppPicDesc *output, void *data)
{
    (void)input;
    (void)data;
    REQUIRE(acldvppGetPicDescRetCode(output) == 0x10003);
    sem_post(&other_reported);
}

static void *report(void *unused)
{
    (void)unused;
    CHECK(aclrtSetCurrentContext(context));
    while (!ended) {
        (void)aclrtProcessReport(100);
    }
    return NULL;
}

static void *destroy(void *channel)
{
    CHECK(aclrtSetCurrentContext(context));
    close_decoder(channel);
    return NULL;
}

/* With a callback that blocks, everything else works. */
static int scenario(const char *end)
{
    pthread_t threads[2], destroyer;
    aclvdecChannelDesc *channels[2];
    acldvppStreamDesc *packet;
    acldvppPicDesc *output;
    aclrtStream stream;
    void *device;

    alarm(60);
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtGetCurrentContext(&context));
    REQUIRE(sem_init(&entered, 0, 0) == 0 && sem_init(&release, 0, 0) == 0 && sem_init(&other_reported, 0, 0) == 0);
    packet = make_packet(64);
    output = make_frame();
    for (int i = 0; i < 2; i++) {
        REQUIRE(pthread_create(&threads[i], NULL, report, NULL) == 0);
        channels[i] = open_decoder((uint32_t)i, threads[i], i == 0 ? blocked : other);
    }
    CHECK(aclvdecSendFrame(channels[0], packet, output, NULL, NULL));
    REQUIRE(sem_wait(&entered) == 0);

    CHECK(aclvdecSendFrame(channels[1], packet, output, NULL, NULL));
    REQUIRE(sem_wait(&other_reported) == 0);
    close_decoder(channels[1]);
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtMalloc(&device, BYTES, ACL_MEM_MALLOC_NORMAL_ONLY));
    CHECK(aclrtMemsetAsync(device, BYTES, 1, BYTES, stream));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtFree(device));
    CHECK(aclrtDestroyStream(stream));
    if (strcmp(end, "exit") == 0) {
        exit(0);
    }
    if (strcmp(end, "finalize") == 0) {
        CHECK(aclFinalize());
        return 0;
    }
    if (strcmp(end, "reset") == 0) {
        /* The reset does not wait for a function of the program that may never return. */
        CHECK(aclrtResetDevice(0));
        CHECK(aclFinalize());
        return 0;
    }
    /* The end of the channel waits until the callback returns. */
    REQUIRE(pthread_create(&destroyer, NULL, destroy, channels[0]) == 0);
    REQUIRE(sem_post(&release) == 0);
    REQUIRE(pthread_join(destroyer, NULL) == 0);
    ended = 1;
    for (int i = 0; i < 2; i++) {
        REQUIRE(pthread_join(threads[i], NULL) == 0);
    }
    free_packet(packet);
    free_frame(output);
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}

int main(void)
{
    const char *ends[] = {"destroy", "exit", "finalize", "reset"};

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        int status;
        pid_t child = fork();

        REQUIRE(child >= 0);
        if (child == 0) {
            exit(scenario(ends[i]));
        }
        REQUIRE(waitpid(child, &status, 0) == child);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            fprintf(stderr, "%s: status %#x\n", ends[i], status);
            return 1;
        }
    }
    return 0;
}
