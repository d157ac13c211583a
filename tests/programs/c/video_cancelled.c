/* A thread that waits in aclrtProcessReport is cancelled, and joined; then its channel is closed. */
#include "video.h"

#include <semaphore.h>
#include <unistd.h>

static aclrtContext context;
static sem_t reported;

static void frame(acldvppStreamDesc *input, acldvppPicDesc *output, void *data)
{
    (void)input;
    (void)output;
    (void)data;
    sem_post(&reported);
}

/* Until a channel names the thread, and after the channel has ended, the call is refused. */
static void *report(void *timeout)
{
    CHECK(aclrtSetCurrentContext(context));
    for (;;) {
        (void)aclrtProcessReport(*(int *)timeout);
    }
    return NULL;
}

static void *report_host_functions(void *timeout)
{
    CHECK(aclrtSetCurrentContext(context));
    for (;;) {
        (void)aclrtProcessHostFunc(*(int *)timeout);
    }
    return NULL;
}

static void cancel(pthread_t thread)
{
    void *result = NULL;

    REQUIRE(pthread_cancel(thread) == 0);
    REQUIRE(pthread_join(thread, &result) == 0);
    REQUIRE(result == PTHREAD_CANCELED);
}

int main(void)
{
    int timeouts[] = {-1, 1000, 60000};
    acldvppStreamDesc *packet;
    acldvppPicDesc *output;
    aclrtStream stream;
    pthread_t thread;

    /* Instead of a hang. */
    alarm(60);
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtGetCurrentContext(&context));
    REQUIRE(sem_init(&reported, 0, 0) == 0);
    packet = make_packet(64);
    output = make_frame();
    for (size_t i = 0; i < sizeof timeouts / sizeof timeouts[0]; i++) {
        aclvdecChannelDesc *channel;

        REQUIRE(pthread_create(&thread, NULL, report, &timeouts[i]) == 0);
        channel = open_decoder(7, thread, frame);
        CHECK(aclvdecSendFrame(channel, packet, output, NULL, NULL));
        REQUIRE(sem_wait(&reported) == 0);
        cancel(thread);
        close_decoder(channel);
    }
    CHECK(aclrtCreateStream(&stream));
    REQUIRE(pthread_create(&thread, NULL, report_host_functions, &timeouts[0]) == 0);
    CHECK(aclrtSubscribeHostFunc((uint64_t)thread, stream));
    cancel(thread);
    CHECK(aclrtUnSubscribeHostFunc((uint64_t)thread, stream));
    CHECK(aclrtDestroyStream(stream));
    free_packet(packet);
    free_frame(output);
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
