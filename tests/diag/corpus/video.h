/* What the programs of the corpus about video share. Callbacks run on the main thread, when it calls aclrtProcessReport. */
#ifndef CORPUS_VIDEO_H
#define CORPUS_VIDEO_H

#include <pthread.h>

#include "images.h"

enum { SIDE = 128 };

static inline aclvdecChannelDesc *open_decoder(aclvdecCallback callback)
{
    aclvdecChannelDesc *channel = aclvdecCreateChannelDesc();

    MUST(aclvdecSetChannelDescThreadId(channel, (uint64_t)pthread_self()));
    MUST(aclvdecSetChannelDescCallback(channel, callback));
    MUST(aclvdecSetChannelDescEnType(channel, H264_MAIN_LEVEL));
    /* Frames are reported in the order of coding, at once. */
    MUST(aclvdecSetChannelDescOutMode(channel, 1));
    MUST(aclvdecCreateChannel(channel));
    return channel;
}

static inline aclvencChannelDesc *open_encoder(aclvencCallback callback)
{
    aclvencChannelDesc *channel = aclvencCreateChannelDesc();

    MUST(aclvencSetChannelDescThreadId(channel, (uint64_t)pthread_self()));
    MUST(aclvencSetChannelDescCallback(channel, callback));
    MUST(aclvencSetChannelDescEnType(channel, H264_MAIN_LEVEL));
    MUST(aclvencSetChannelDescPicFormat(channel, PIXEL_FORMAT_YUV_SEMIPLANAR_420));
    MUST(aclvencSetChannelDescPicWidth(channel, SIDE));
    MUST(aclvencSetChannelDescPicHeight(channel, SIDE));
    MUST(aclvencSetChannelDescKeyFrameInterval(channel, 16));
    MUST(aclvencCreateChannel(channel));
    return channel;
}

/* A description of coded data over memory of its own. */
static inline acldvppStreamDesc *make_packet(uint32_t bytes)
{
    acldvppStreamDesc *packet = acldvppCreateStreamDesc();
    void *memory;

    MUST(acldvppMalloc(&memory, bytes));
    MUST(aclrtMemset(memory, bytes, 0x55, bytes));
    MUST(acldvppSetStreamDescData(packet, memory));
    MUST(acldvppSetStreamDescSize(packet, bytes));
    MUST(acldvppSetStreamDescFormat(packet, H264_MAIN_LEVEL));
    return packet;
}

static inline void free_packet(acldvppStreamDesc *packet)
{
    MUST(acldvppFree(acldvppGetStreamDescData(packet)));
    MUST(acldvppDestroyStreamDesc(packet));
}

#endif
