/* Image processing through the second interface, as programs use it: the channel is made by one thread, tasks are queued by a second and their
 * results fetched by a third, in the order of the tasks. Every image is the one that the first interface computes, byte for byte. */
#include "program.h"

#include <pthread.h>

#include "acl/dvpp/hi_dvpp.h"
#include "acl/ops/acl_dvpp.h"

enum { TASKS = 64, WIDTH = 64, HEIGHT = 48, FROM = WIDTH * HEIGHT * 3 / 2, SMALL = 32, TO = SMALL * SMALL * 3 / 2, CHANNEL = 7 };

static aclrtContext context;
static void *input, *outputs[TASKS];
static hi_u32 tasks[TASKS];
static int queued;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static hi_vpc_pic_info image(void *address, hi_u32 size, hi_u32 width, hi_u32 height)
{
    hi_vpc_pic_info info;
    memset(&info, 0, sizeof info);
    info.picture_address = address;
    info.picture_buffer_size = size;
    info.picture_width = width;
    info.picture_height = height;
    info.picture_width_stride = width;
    info.picture_height_stride = height;
    info.picture_format = HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420;
    return info;
}

/* Region `n` of the image: other edges for each task. */
static hi_vpc_crop_region region(int n)
{
    hi_vpc_crop_region crop = {2 * (hi_u32)(n % 7), 2 * (hi_u32)(n % 5), 32 + 2 * (hi_u32)(n % 8), 24};
    return crop;
}

static void *send_tasks(void *unused)
{
    (void)unused;
    CHECK(aclrtSetCurrentContext(context));
    for (int n = 0; n < TASKS; n++) {
        hi_vpc_pic_info source = image(input, FROM, WIDTH, HEIGHT);
        hi_vpc_crop_resize_region info;
        memset(&info, 0, sizeof info);
        info.dest_pic_info = image(outputs[n], TO, SMALL, SMALL);
        info.crop_region = region(n);
        info.resize_info.resize_width = SMALL;
        info.resize_info.resize_height = SMALL;
        hi_u32 task = 0;
        CHECK(hi_mpi_vpc_crop_resize(CHANNEL, &source, &info, 1, &task, -1));
        /* The call has read the structures. */
        memset(&source, 0xff, sizeof source);
        memset(&info, 0xff, sizeof info);
        pthread_mutex_lock(&lock);
        tasks[queued++] = task;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void *fetch_results(void *unused)
{
    (void)unused;
    CHECK(aclrtSetCurrentContext(context));
    for (int n = 0; n < TASKS; n++) {
        pthread_mutex_lock(&lock);
        while (queued <= n) {
            pthread_cond_wait(&changed, &lock);
        }
        hi_u32 task = tasks[n];
        pthread_mutex_unlock(&lock);
        CHECK(hi_mpi_vpc_get_process_result(CHANNEL, task, -1));
        EXPECT(HI_ERR_VPC_ILLEGAL_PARAM, hi_mpi_vpc_get_process_result(CHANNEL, task, 0));
    }
    return NULL;
}

static acldvppPicDesc *desc(void *address, uint32_t size, uint32_t width, uint32_t height)
{
    acldvppPicDesc *made = acldvppCreatePicDesc();
    REQUIRE(made != NULL);
    CHECK(acldvppSetPicDescData(made, address));
    CHECK(acldvppSetPicDescSize(made, size));
    CHECK(acldvppSetPicDescFormat(made, PIXEL_FORMAT_YUV_SEMIPLANAR_420));
    CHECK(acldvppSetPicDescWidth(made, width));
    CHECK(acldvppSetPicDescHeight(made, height));
    CHECK(acldvppSetPicDescWidthStride(made, width));
    CHECK(acldvppSetPicDescHeightStride(made, height));
    return made;
}

int main(void)
{
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtGetCurrentContext(&context));
    CHECK(hi_mpi_sys_init());
    static unsigned char pixels[FROM], one[TO], other[TO];
    for (int n = 0; n < FROM; n++) {
        pixels[n] = (unsigned char)(n * 7 + n / WIDTH * 13);
    }
    CHECK(hi_mpi_dvpp_malloc(0, &input, FROM));
    CHECK(aclrtMemcpy(input, FROM, pixels, FROM, ACL_MEMCPY_HOST_TO_DEVICE));
    for (int n = 0; n < TASKS; n++) {
        CHECK(hi_mpi_dvpp_malloc(0, &outputs[n], TO));
    }
    hi_vpc_chn_attr attr;
    memset(&attr, 0, sizeof attr);
    CHECK(hi_mpi_vpc_create_chn(CHANNEL, &attr));

    pthread_t sender, fetcher;
    REQUIRE(pthread_create(&sender, NULL, send_tasks, NULL) == 0);
    REQUIRE(pthread_create(&fetcher, NULL, fetch_results, NULL) == 0);
    REQUIRE(pthread_join(sender, NULL) == 0);
    REQUIRE(pthread_join(fetcher, NULL) == 0);

    void *expected = NULL;
    aclrtStream stream = NULL;
    CHECK(acldvppMalloc(&expected, TO));
    CHECK(aclrtCreateStream(&stream));
    acldvppChannelDesc *channel = acldvppCreateChannelDesc();
    CHECK(acldvppCreateChannel(channel));
    acldvppPicDesc *from = desc(input, FROM, WIDTH, HEIGHT), *to = desc(expected, TO, SMALL, SMALL);
    acldvppResizeConfig *config = acldvppCreateResizeConfig();
    for (int n = 0; n < TASKS; n++) {
        hi_vpc_crop_region crop = region(n);
        acldvppRoiConfig *roi = acldvppCreateRoiConfig(crop.left_offset, crop.left_offset + crop.crop_width - 1, crop.top_offset,
                                                       crop.top_offset + crop.crop_height - 1);
        CHECK(acldvppVpcCropResizeAsync(channel, from, to, roi, config, stream));
        CHECK(aclrtSynchronizeStream(stream));
        CHECK(aclrtMemcpy(one, TO, expected, TO, ACL_MEMCPY_DEVICE_TO_HOST));
        CHECK(aclrtMemcpy(other, TO, outputs[n], TO, ACL_MEMCPY_DEVICE_TO_HOST));
        REQUIRE(memcmp(one, other, TO) == 0);
        CHECK(acldvppDestroyRoiConfig(roi));
    }
    CHECK(acldvppDestroyResizeConfig(config));
    CHECK(acldvppDestroyPicDesc(from));
    CHECK(acldvppDestroyPicDesc(to));
    CHECK(acldvppDestroyChannel(channel));
    CHECK(acldvppDestroyChannelDesc(channel));
    CHECK(aclrtDestroyStream(stream));
    CHECK(acldvppFree(expected));

    CHECK(hi_mpi_vpc_destroy_chn(CHANNEL));
    EXPECT(HI_ERR_VPC_UNEXIST, hi_mpi_vpc_get_process_result(CHANNEL, tasks[0], -1));
    for (int n = 0; n < TASKS; n++) {
        CHECK(hi_mpi_dvpp_free(outputs[n]));
    }
    CHECK(hi_mpi_dvpp_free(input));
    CHECK(hi_mpi_sys_exit());
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    puts("ok");
    return 0;
}
