/* Callbacks that are slower than the sender hold the sender back: a channel keeps the packets of a few frames, and their memory. */
#include "video.h"

#include <malloc.h>
#include <semaphore.h>
#include <stdatomic.h>

/* PER_CHANNEL: what docs/dvpp.md states. One more may be in its callback, and one more in its send. */
enum { PACKETS = 100, PER_CHANNEL = 16, MOST = PER_CHANNEL + 2, PACKET_BYTES = 1 << 20 };

static aclrtContext context;
static atomic_int sent, reported, ended;
static sem_t filled;
static size_t before;

static size_t heap(void)
{
    struct mallinfo2 now = mallinfo2();

    return now.uordblks + now.hblkhd;
}

static void frame(acldvppStreamDesc *input, acldvppPicDesc *output, void *data)
{
    (void)input;
    (void)output;
    (void)data;
    if (reported == 0) {
        /* The sender fills the queue first. */
        sem_wait(&filled);
    }
    REQUIRE(sent - reported <= MOST);
    REQUIRE(heap() < before + (size_t)(MOST + 2) * PACKET_BYTES);
    reported++;
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

int main(void)
{
    pthread_t thread;
    aclvdecChannelDesc *channel;
    acldvppStreamDesc *packet;
    acldvppPicDesc *output;

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtGetCurrentContext(&context));
    REQUIRE(sem_init(&filled, 0, 0) == 0);
    packet = make_packet(PACKET_BYTES);
    output = make_frame();
    REQUIRE(pthread_create(&thread, NULL, report, NULL) == 0);
    channel = open_decoder(0, thread, frame);
    before = heap();
    for (int i = 0; i < PACKETS; i++) {
        CHECK(aclvdecSendFrame(channel, packet, output, NULL, NULL));
        sent++;
        if (i == PER_CHANNEL - 1) {
            sem_post(&filled);
        }
    }
    close_decoder(channel);
    REQUIRE(reported == PACKETS);
    REQUIRE(heap() < before + PACKET_BYTES);
    ended = 1;
    pthread_join(thread, NULL);
    free_packet(packet);
    free_frame(output);
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
