/* 10,000 channels for images, decoding and encoding, opened and closed, leave nothing behind: device memory, files, threads and the heap
 * are the same after the second half as after the first. */
#include "video.h"

#include <dirent.h>
#include <malloc.h>

enum { HALF = 5000, KINDS = 3 };
/* What the heap may differ by: less than the smallest allocation for each channel of one kind. */
enum { SLACK = HALF / KINDS * 16 };
/* The most threads that the runtime starts for its workers on a small machine. */
enum { WORKERS = 8 };

static size_t entries(const char *folder)
{
    DIR *opened = opendir(folder);
    size_t count = 0;

    REQUIRE(opened != NULL);
    while (readdir(opened) != NULL) {
        count++;
    }
    closedir(opened);
    return count;
}

static void decoded(acldvppStreamDesc *input, acldvppPicDesc *output, void *data)
{
    (void)input;
    (void)output;
    (void)data;
}

static void encoded(acldvppPicDesc *input, acldvppStreamDesc *output, void *data)
{
    (void)input;
    (void)output;
    (void)data;
}

static void image_channel(void)
{
    acldvppChannelDesc *channel = acldvppCreateChannelDesc();

    CHECK(acldvppCreateChannel(channel));
    CHECK(acldvppDestroyChannel(channel));
    CHECK(acldvppDestroyChannelDesc(channel));
}

static void encoding_channel(void)
{
    aclvencChannelDesc *channel = aclvencCreateChannelDesc();

    CHECK(aclvencSetChannelDescThreadId(channel, (uint64_t)pthread_self()));
    CHECK(aclvencSetChannelDescCallback(channel, encoded));
    CHECK(aclvencSetChannelDescEnType(channel, H264_MAIN_LEVEL));
    CHECK(aclvencSetChannelDescPicFormat(channel, PIXEL_FORMAT_YUV_SEMIPLANAR_420));
    CHECK(aclvencSetChannelDescPicWidth(channel, SIDE));
    CHECK(aclvencSetChannelDescPicHeight(channel, SIDE));
    CHECK(aclvencSetChannelDescKeyFrameInterval(channel, 16));
    CHECK(aclvencCreateChannel(channel));
    CHECK(aclvencDestroyChannel(channel));
    CHECK(aclvencDestroyChannelDesc(channel));
}

struct usage {
    size_t device, files, threads, heap;
};

static struct usage after_half(void)
{
    struct usage now;
    struct mallinfo2 heap;
    size_t total;

    for (int i = 0; i < HALF; i++) {
        switch (i % KINDS) {
        case 0:
            image_channel();
            break;
        case 1:
            close_decoder(open_decoder((uint32_t)i % 256, pthread_self(), decoded));
            break;
        default:
            encoding_channel();
        }
    }
    CHECK(aclrtGetMemInfo(ACL_DDR_MEM, &now.device, &total));
    now.files = entries("/proc/self/fd");
    now.threads = entries("/proc/self/task");
    heap = mallinfo2();
    now.heap = heap.uordblks + heap.hblkhd;
    return now;
}

int main(void)
{
    struct usage first, second;

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    first = after_half();
    second = after_half();
    printf("heap: %zu, then %zu\n", first.heap, second.heap);
    REQUIRE(second.device == first.device);
    REQUIRE(second.files == first.files);
    /* The runtime starts its workers when they are needed; channels that leave threads behind leave hundreds. */
    REQUIRE(second.threads <= first.threads + WORKERS);
    REQUIRE(second.heap <= first.heap + SLACK);
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
