/* What the programs about video share: a decoding channel whose packets fail at once, each with its callback. */
#ifndef VIDEO_H
#define VIDEO_H

#include "program.h"

#include <pthread.h>

#include "acl/ops/acl_dvpp.h"

enum { SIDE = 128, FRAME_BYTES = SIDE * SIDE * 3 / 2 };

/* Opens a decoding channel whose callbacks run on `thread`. */
static inline aclvdecChannelDesc *open_decoder(uint32_t number, pthread_t thread, aclvdecCallback callback)
{
    aclvdecChannelDesc *channel = aclvdecCreateChannelDesc();

    CHECK(aclvdecSetChannelDescChannelId(channel, number));
    CHECK(aclvdecSetChannelDescThreadId(channel, (uint64_t)thread));
    CHECK(aclvdecSetChannelDescCallback(channel, callback));
    CHECK(aclvdecSetChannelDescEnType(channel, H264_MAIN_LEVEL));
    CHECK(aclvdecSetChannelDescOutPicFormat(channel, PIXEL_FORMAT_YUV_SEMIPLANAR_420));
    /* Each packet has its callback at once, and not when a later one comes. */
    CHECK(aclvdecSetChannelDescOutMode(channel, 1));
    CHECK(aclvdecCreateChannel(channel));
    return channel;
}

static inline void close_decoder(aclvdecChannelDesc *channel)
{
    CHECK(aclvdecDestroyChannel(channel));
    CHECK(aclvdecDestroyChannelDesc(channel));
}

/* A packet without a start code: it has no frame, and one callback, which reports it. */
static inline acldvppStreamDesc *make_packet(uint32_t bytes)
{
    acldvppStreamDesc *packet = acldvppCreateStreamDesc();
    void *data;

    CHECK(acldvppMalloc(&data, bytes));
    CHECK(aclrtMemset(data, bytes, 0x55, bytes));
    CHECK(acldvppSetStreamDescData(packet, data));
    CHECK(acldvppSetStreamDescSize(packet, bytes));
    CHECK(acldvppSetStreamDescFormat(packet, H264_MAIN_LEVEL));
    return packet;
}

static inline void free_packet(acldvppStreamDesc *packet)
{
    CHECK(acldvppFree(acldvppGetStreamDescData(packet)));
    CHECK(acldvppDestroyStreamDesc(packet));
}

/* An output that takes the size of the stream. */
static inline acldvppPicDesc *make_frame(void)
{
    acldvppPicDesc *frame = acldvppCreatePicDesc();
    void *data;

    CHECK(acldvppMalloc(&data, FRAME_BYTES));
    CHECK(acldvppSetPicDescData(frame, data));
    CHECK(acldvppSetPicDescSize(frame, FRAME_BYTES));
    CHECK(acldvppSetPicDescFormat(frame, PIXEL_FORMAT_YUV_SEMIPLANAR_420));
    return frame;
}

static inline void free_frame(acldvppPicDesc *frame)
{
    CHECK(acldvppFree(acldvppGetPicDescData(frame)));
    CHECK(acldvppDestroyPicDesc(frame));
}

#endif
