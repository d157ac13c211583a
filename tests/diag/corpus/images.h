/* What the programs of the corpus about images share. */
#ifndef CORPUS_IMAGES_H
#define CORPUS_IMAGES_H

#include "corpus.h"

#include "acl/ops/acl_dvpp.h"

/* An NV12 image of `side` pixels in width and height over memory that is filled with one value. */
static inline acldvppPicDesc *make_image(uint32_t side)
{
    acldvppPicDesc *image = acldvppCreatePicDesc();
    uint32_t bytes = side * side * 3 / 2;
    void *memory;

    MUST(acldvppMalloc(&memory, bytes));
    MUST(aclrtMemset(memory, bytes, 0x55, bytes));
    MUST(acldvppSetPicDescData(image, memory));
    MUST(acldvppSetPicDescSize(image, bytes));
    MUST(acldvppSetPicDescFormat(image, PIXEL_FORMAT_YUV_SEMIPLANAR_420));
    MUST(acldvppSetPicDescWidth(image, side));
    MUST(acldvppSetPicDescHeight(image, side));
    MUST(acldvppSetPicDescWidthStride(image, side));
    MUST(acldvppSetPicDescHeightStride(image, side));
    return image;
}

static inline void free_image(acldvppPicDesc *image)
{
    MUST(acldvppFree(acldvppGetPicDescData(image)));
    MUST(acldvppDestroyPicDesc(image));
}

static inline acldvppChannelDesc *open_channel(void)
{
    acldvppChannelDesc *channel = acldvppCreateChannelDesc();

    MUST(acldvppCreateChannel(channel));
    return channel;
}

static inline void close_channel(acldvppChannelDesc *channel)
{
    MUST(acldvppDestroyChannel(channel));
    MUST(acldvppDestroyChannelDesc(channel));
}

#endif
