/* A decoding channel ends although its callbacks cannot all run, or packets still come:
 * - the thread that runs its callbacks has ended: the end of the stream and of the channel state it, and the channel is closed;
 * - threads send while another destroys the channel: each packet that was accepted has its callback, later ones are refused. */
#include "video.h"

#include <stdatomic.h>
#include <unistd.h>

enum { SENDERS = 3, ROUNDS = 20, THREAD_SUBSCRIBE = 107012 };

static aclrtContext context;
static atomic_int ended, callbacks, accepted, refused;

static void count(acldvppStreamDesc *input, acldvppPicDesc *output, void *data)
{
    (void)input;
    (void)output;
    (void)data;
    callbacks++;
}

static void *report(void *unused)
{
    (void)unused;
    CHECK(aclrtSetCurrentContext(context));
    while (!ended) {
        (void)aclrtProcessReport(20);
    }
    return NULL;
}

static void without_its_thread(void)
{
    pthread_t thread;
    acldvppStreamDesc *packet = make_packet(64), *end = acldvppCreateStreamDesc();
    acldvppPicDesc *output = make_frame();

    ended = 0;
    REQUIRE(pthread_create(&thread, NULL, report, NULL) == 0);
    aclvdecChannelDesc *channel = open_decoder(1, thread, count);
    CHECK(aclvdecSendFrame(channel, packet, output, NULL, NULL));
    CHECK(acldvppSetStreamDescEos(end, 1));
    CHECK(aclvdecSendFrame(channel, end, NULL, NULL, NULL));
    REQUIRE(callbacks == 1);
    ended = 1;
    REQUIRE(pthread_join(thread, NULL) == 0);

    CHECK(aclvdecSendFrame(channel, packet, output, NULL, NULL));
    EXPECT(THREAD_SUBSCRIBE, aclvdecSendFrame(channel, end, NULL, NULL, NULL));
    EXPECT(THREAD_SUBSCRIBE, aclvdecDestroyChannel(channel));
    REQUIRE(strstr(aclGetRecentErrMsg(), "has ended; 1 of them were not called") != NULL);
    REQUIRE(callbacks == 1);
    /* The channel is closed all the same. */
    CHECK(aclvdecDestroyChannelDesc(channel));
    CHECK(acldvppDestroyStreamDesc(end));
    free_packet(packet);
    free_frame(output);
}

static void *send_packets(void *channel)
{
    CHECK(aclrtSetCurrentContext(context));
    acldvppStreamDesc *packet = make_packet(64);
    acldvppPicDesc *output = make_frame();

    while (aclvdecSendFrame(channel, packet, output, NULL, NULL) == ACL_SUCCESS) {
        accepted++;
    }
    refused++;
    free_packet(packet);
    free_frame(output);
    return NULL;
}

static void while_others_send(uint32_t number, pthread_t reporter)
{
    pthread_t senders[SENDERS];
    aclvdecChannelDesc *channel = open_decoder(number, reporter, count);

    callbacks = accepted = refused = 0;
    for (int i = 0; i < SENDERS; i++) {
        REQUIRE(pthread_create(&senders[i], NULL, send_packets, channel) == 0);
    }
    while (accepted < SENDERS) {
        sched_yield();
    }
    CHECK(aclvdecDestroyChannel(channel));
    for (int i = 0; i < SENDERS; i++) {
        REQUIRE(pthread_join(senders[i], NULL) == 0);
    }
    REQUIRE(refused == SENDERS && callbacks == accepted);
    CHECK(aclvdecDestroyChannelDesc(channel));
}

int main(void)
{
    pthread_t reporter;

    alarm(60);
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtGetCurrentContext(&context));
    without_its_thread();
    ended = 0;
    REQUIRE(pthread_create(&reporter, NULL, report, NULL) == 0);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        while_others_send(round, reporter);
    }
    ended = 1;
    REQUIRE(pthread_join(reporter, NULL) == 0);
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    puts("passed");
    return 0;
}
