/* A JPEG image in, scaled to half of its size, with boxes drawn around regions, a JPEG image out.
 *
 *   ./boxes photo.jpg out.jpg LEFT,TOP,WIDTH,HEIGHT...
 *
 * The device does all of it: JPEGD decodes, VPC scales and draws, JPEGE encodes, one after the other on a stream. A box is four bars that are pasted
 * into the image. Boxes are in pixels of the output.
 */
#define ENABLE_DVPP_INTERFACE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "acl/ops/acl_dvpp.h"

#define CHECK(call)                                                                           \
    do {                                                                                      \
        aclError code_ = (call);                                                              \
        if (code_ != ACL_SUCCESS) {                                                           \
            const char *text_ = aclGetRecentErrMsg();                                         \
            fprintf(stderr, "%s answered %d\n%s\n", #call, code_, text_ ? text_ : "");        \
            exit(1);                                                                          \
        }                                                                                     \
    } while (0)

static uint32_t align_up(uint32_t value, uint32_t step)
{
    return (value + step - 1) / step * step;
}

/* Describes an NV12 image with rows of at least `width` bytes, and allocates its memory. */
static acldvppPicDesc *make_image(uint32_t width, uint32_t height)
{
    uint32_t width_stride = align_up(width, 128);
    uint32_t height_stride = align_up(height, 16);
    uint32_t size = width_stride * height_stride * 3 / 2;
    void *memory = NULL;
    acldvppPicDesc *image = acldvppCreatePicDesc();

    CHECK(acldvppMalloc(&memory, size));
    CHECK(acldvppSetPicDescData(image, memory));
    CHECK(acldvppSetPicDescSize(image, size));
    CHECK(acldvppSetPicDescFormat(image, PIXEL_FORMAT_YUV_SEMIPLANAR_420));
    CHECK(acldvppSetPicDescWidth(image, width));
    CHECK(acldvppSetPicDescHeight(image, height));
    CHECK(acldvppSetPicDescWidthStride(image, width_stride));
    CHECK(acldvppSetPicDescHeightStride(image, height_stride));
    return image;
}

static void free_image(acldvppPicDesc *image)
{
    CHECK(acldvppFree(acldvppGetPicDescData(image)));
    CHECK(acldvppDestroyPicDesc(image));
}

static unsigned char *read_file(const char *path, uint32_t *size)
{
    FILE *file = fopen(path, "rb");
    unsigned char *bytes;
    long length;

    if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (length = ftell(file)) <= 0) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    rewind(file);
    bytes = malloc((size_t)length);
    if (bytes == NULL || fread(bytes, 1, (size_t)length, file) != (size_t)length) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(file);
    *size = (uint32_t)length;
    return bytes;
}

/* Queues the pasting of a bar of the box's colour. Columns are rounded to 16, as cards of the first generation want it. */
static void paste_bar(acldvppChannelDesc *channel, acldvppPicDesc *color, acldvppPicDesc *image, uint32_t left,
                      uint32_t top, uint32_t width, uint32_t height, aclrtStream stream)
{
    acldvppRoiConfig *from = acldvppCreateRoiConfig(0, width - 1, 0, height - 1);
    acldvppRoiConfig *to = acldvppCreateRoiConfig(left, left + width - 1, top, top + height - 1);

    CHECK(acldvppVpcCropAndPasteAsync(channel, color, image, from, to, stream));
    CHECK(acldvppDestroyRoiConfig(from));
    CHECK(acldvppDestroyRoiConfig(to));
}

enum { BAR_WIDTH = 16, BAR_HEIGHT = 6 };

int main(int argc, char **argv)
{
    uint32_t size, width, height, decoded_size, bound, coded_size;
    int32_t components;
    void *input = NULL, *coded = NULL;
    aclrtStream stream = NULL;
    acldvppPicDesc *photo, *scaled, *color;
    acldvppChannelDesc *channel;
    acldvppResizeConfig *resize;
    acldvppJpegeConfig *quality;
    unsigned char *file, *result;
    FILE *out;

    if (argc < 3) {
        fprintf(stderr, "usage: %s photo.jpg out.jpg [LEFT,TOP,WIDTH,HEIGHT...]\n", argv[0]);
        return 2;
    }
    file = read_file(argv[1], &size);

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream));
    channel = acldvppCreateChannelDesc();
    CHECK(acldvppCreateChannel(channel));

    /* JPEGD: the header says how large the image is, before anything is decoded. */
    CHECK(acldvppJpegGetImageInfo(file, size, &width, &height, &components));
    CHECK(acldvppJpegPredictDecSize(file, size, PIXEL_FORMAT_YUV_SEMIPLANAR_420, &decoded_size));
    CHECK(acldvppMalloc(&input, size));
    CHECK(aclrtMemcpy(input, size, file, size, ACL_MEMCPY_HOST_TO_DEVICE));
    photo = make_image(width & ~1u, height & ~1u);
    CHECK(acldvppJpegDecodeAsync(channel, input, size, photo, stream));

    /* VPC: half of the size. */
    scaled = make_image(width / 4 * 2, height / 4 * 2);
    resize = acldvppCreateResizeConfig();
    CHECK(acldvppSetResizeConfigInterpolation(resize, 1));
    CHECK(acldvppVpcResizeAsync(channel, photo, scaled, resize, stream));
    CHECK(acldvppDestroyResizeConfig(resize));

    /* VPC: boxes of one colour. Luma 82, U 90 and V 240 are red. */
    color = make_image(acldvppGetPicDescWidth(scaled), acldvppGetPicDescHeight(scaled));
    {
        uint32_t bytes = acldvppGetPicDescSize(color);
        unsigned char *pixels = malloc(bytes);
        uint32_t luma = bytes / 3 * 2, i;
        memset(pixels, 82, luma);
        for (i = luma; i + 1 < bytes; i += 2) {
            pixels[i] = 90;
            pixels[i + 1] = 240;
        }
        CHECK(aclrtMemcpy(acldvppGetPicDescData(color), bytes, pixels, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
        free(pixels);
    }
    for (int i = 3; i < argc; i++) {
        unsigned left, top, box_width, box_height;
        if (sscanf(argv[i], "%u,%u,%u,%u", &left, &top, &box_width, &box_height) != 4) {
            fprintf(stderr, "%s is not LEFT,TOP,WIDTH,HEIGHT\n", argv[i]);
            return 2;
        }
        left = left / 16 * 16;
        box_width = align_up(box_width, 16);
        top &= ~1u;
        box_height &= ~1u;
        paste_bar(channel, color, scaled, left, top, box_width, BAR_HEIGHT, stream);
        paste_bar(channel, color, scaled, left, top + box_height - BAR_HEIGHT, box_width, BAR_HEIGHT, stream);
        paste_bar(channel, color, scaled, left, top, BAR_WIDTH, box_height, stream);
        paste_bar(channel, color, scaled, left + box_width - BAR_WIDTH, top, BAR_WIDTH, box_height, stream);
    }

    /* JPEGE: the variable with the size is read now, and written when the task has ended. */
    quality = acldvppCreateJpegeConfig();
    CHECK(acldvppSetJpegeConfigLevel(quality, 90));
    CHECK(acldvppJpegPredictEncSize(scaled, quality, &bound));
    CHECK(acldvppMalloc(&coded, bound));
    coded_size = bound;
    CHECK(acldvppJpegEncodeAsync(channel, scaled, coded, &coded_size, quality, stream));
    CHECK(acldvppDestroyJpegeConfig(quality));
    CHECK(aclrtSynchronizeStream(stream));

    result = malloc(coded_size);
    CHECK(aclrtMemcpy(result, coded_size, coded, coded_size, ACL_MEMCPY_DEVICE_TO_HOST));
    out = fopen(argv[2], "wb");
    if (out == NULL || fwrite(result, 1, coded_size, out) != coded_size || fclose(out) != 0) {
        fprintf(stderr, "cannot write %s\n", argv[2]);
        return 1;
    }
    printf("%ux%u, %d components -> %ux%u, %u bytes\n", width, height, components, acldvppGetPicDescWidth(scaled),
           acldvppGetPicDescHeight(scaled), coded_size);

    free(result);
    free(file);
    free_image(photo);
    free_image(scaled);
    free_image(color);
    CHECK(acldvppFree(input));
    CHECK(acldvppFree(coded));
    CHECK(acldvppDestroyChannel(channel));
    CHECK(acldvppDestroyChannelDesc(channel));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
