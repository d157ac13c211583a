/* Encoding through the second interface, as programs use it: one thread sends frames; another one waits with epoll for the channel's descriptor and
 * fetches streams in order. JPEG images are those of the first interface, byte for byte. An argument names a folder for the streams. */
#include "program.h"

#include <pthread.h>
#include <sys/epoll.h>

#include "acl/dvpp/hi_dvpp.h"
#include "acl/ops/acl_dvpp.h"

/* The second plane begins after ROWS rows, of which the image has SIZE. */
enum { SIZE = 128, ROWS = 144, FRAME = SIZE * ROWS * 3 / 2, FRAMES = 100, INTERVAL = 5, VIDEO = 1, IMAGES = 2, QUALITY = 90 };
enum { LONGEST = 1 << 20, DECODED = SIZE * SIZE * 3 / 2 };

static aclrtContext context;
static void *memory;
static unsigned char pixels[FRAME], stream_bytes[LONGEST], other_bytes[LONGEST];

/* Frame `n`: a gradient that moves. */
static void draw(int n)
{
    memset(pixels, 0x55, FRAME);
    for (int y = 0; y < SIZE; y++) {
        for (int x = 0; x < SIZE; x++) {
            pixels[y * SIZE + x] = (unsigned char)(x / 2 + y / 2 + n);
        }
    }
    for (int y = 0; y < SIZE / 2; y++) {
        for (int x = 0; x < SIZE; x++) {
            pixels[SIZE * ROWS + y * SIZE + x] = (unsigned char)(x % 2 == 0 ? 64 + x : 192 - y);
        }
    }
}

static hi_video_frame_info frame(hi_u64 time)
{
    hi_video_frame_info info;
    memset(&info, 0, sizeof info);
    info.v_frame.width = SIZE;
    info.v_frame.height = SIZE;
    info.v_frame.field = HI_VIDEO_FIELD_FRAME;
    info.v_frame.pixel_format = HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420;
    info.v_frame.width_stride[0] = SIZE;
    info.v_frame.width_stride[1] = SIZE;
    info.v_frame.virt_addr[0] = memory;
    info.v_frame.virt_addr[1] = (char *)memory + SIZE * ROWS;
    info.v_frame.pts = time;
    return info;
}

static hi_venc_chn_attr attributes(hi_payload_type type)
{
    hi_venc_chn_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.venc_attr.type = type;
    attr.venc_attr.max_pic_width = SIZE;
    attr.venc_attr.max_pic_height = SIZE;
    attr.venc_attr.pic_width = SIZE;
    attr.venc_attr.pic_height = SIZE;
    attr.venc_attr.buf_size = SIZE * SIZE * 2;
    attr.venc_attr.is_by_frame = HI_TRUE;
    return attr;
}

static void *send_frames(void *unused)
{
    (void)unused;
    CHECK(aclrtSetCurrentContext(context));
    for (int n = 0; n < FRAMES; n++) {
        draw(n);
        CHECK(aclrtMemcpy(memory, FRAME, pixels, FRAME, ACL_MEMCPY_HOST_TO_DEVICE));
        hi_video_frame_info info = frame(1000 + (hi_u64)n);
        CHECK(hi_mpi_venc_send_frame(VIDEO, &info, -1));
        /* The call has copied the frame. */
        CHECK(aclrtMemset(memory, FRAME, 0, FRAME));
    }
    return NULL;
}

/* Fetches a stream, whose bytes are copied to `stream_bytes`. */
static hi_venc_pack fetch(hi_venc_chn channel, hi_u32 number)
{
    hi_venc_pack pack;
    hi_venc_stream stream;
    memset(&stream, 0, sizeof stream);
    stream.pack = &pack;
    stream.pack_cnt = 1;
    CHECK(hi_mpi_venc_get_stream(channel, &stream, -1));
    REQUIRE(stream.pack == &pack && stream.pack_cnt == 1 && stream.seq == number);
    REQUIRE(pack.len > pack.offset && pack.len - pack.offset <= LONGEST);
    CHECK(aclrtMemcpy(stream_bytes, LONGEST, pack.addr + pack.offset, pack.len - pack.offset, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(hi_mpi_venc_release_stream(channel, &stream));
    return pack;
}

static void keep(const char *folder, const char *name, size_t bytes)
{
    if (folder != NULL) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, name);
        FILE *file = fopen(path, "ab");
        REQUIRE(file != NULL);
        REQUIRE(fwrite(stream_bytes, 1, bytes, file) == bytes);
        REQUIRE(fclose(file) == 0);
    }
}

/* What the channel for video encodes. */
static hi_payload_type coding = HI_PT_H264;

/* Creates the channel for video. */
static void create_video(void)
{
    hi_venc_chn_attr attr = attributes(coding);
    int is_h265 = coding == HI_PT_H265;
    attr.venc_attr.profile = is_h265 ? 0 : 1;
    attr.rc_attr.rc_mode = is_h265 ? HI_VENC_RC_MODE_H265_VBR : HI_VENC_RC_MODE_H264_VBR;
    /* The members for H.265 lie where those for H.264 do. */
    attr.rc_attr.h264_vbr.gop = INTERVAL;
    attr.rc_attr.h264_vbr.stats_time = 1;
    attr.rc_attr.h264_vbr.src_frame_rate = 25;
    attr.rc_attr.h264_vbr.dst_frame_rate = 25;
    attr.rc_attr.h264_vbr.max_bit_rate = 1000;
    attr.gop_attr.gop_mode = HI_VENC_GOP_MODE_NORMAL_P;
    attr.gop_attr.normal_p.ip_qp_delta = 3;
    CHECK(hi_mpi_venc_create_chn(VIDEO, &attr));
}

static void start_video(void)
{
    hi_venc_start_param start = {-1};
    CHECK(hi_mpi_venc_start_chn(VIDEO, &start));
}

static void encode_video(const char *folder)
{
    create_video();
    start_video();
    int descriptor = hi_mpi_venc_get_fd(VIDEO), poll = epoll_create1(0);
    REQUIRE(descriptor >= 0 && poll >= 0 && hi_mpi_venc_get_fd(VIDEO) == descriptor);
    struct epoll_event event, seen;
    memset(&event, 0, sizeof event);
    event.events = EPOLLIN;
    REQUIRE(epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event) == 0);
    REQUIRE(epoll_wait(poll, &seen, 1, 0) == 0);

    pthread_t sender;
    REQUIRE(pthread_create(&sender, NULL, send_frames, NULL) == 0);
    for (int n = 0; n < FRAMES; n++) {
        REQUIRE(epoll_wait(poll, &seen, 1, (int)(1000 * PATIENCE_S)) == 1);
        hi_venc_chn_status status;
        CHECK(hi_mpi_venc_query_status(VIDEO, &status));
        REQUIRE(status.cur_packs == 1 && status.left_stream_frames >= 1 && status.left_stream_bytes > 0);
        hi_venc_pack pack = fetch(VIDEO, (hi_u32)n);
        REQUIRE(pack.pts == 1000 + (hi_u64)n && pack.is_frame_end == HI_TRUE && pack.input_addr == (hi_u64)(uintptr_t)memory);
        int is_key = coding == HI_PT_H265 ? pack.data_type.h265_type == HI_VENC_H265_NALU_IDR_SLICE
                                          : pack.data_type.h264_type == HI_VENC_H264_NALU_IDR_SLICE;
        REQUIRE(is_key == (n % INTERVAL == 0));
        keep(folder, coding == HI_PT_H265 ? "video.h265" : "video.h264", pack.len - pack.offset);
    }
    REQUIRE(pthread_join(sender, NULL) == 0);
    /* Everything was fetched. */
    REQUIRE(epoll_wait(poll, &seen, 1, 0) == 0);
    CHECK(hi_mpi_venc_stop_chn(VIDEO));
    CHECK(hi_mpi_venc_destroy_chn(VIDEO));
}

/* Decodes the one frame in `stream_bytes` to `other_bytes`. */
static void decode(hi_u32 bytes)
{
    hi_vdec_chn_attr attr;
    hi_vdec_stream stream, sent;
    hi_vdec_pic_info pic;
    hi_video_frame_info fetched;
    hi_vdec_supplement_info supplement;
    void *packet = NULL, *output = NULL;
    memset(&attr, 0, sizeof attr);
    memset(&stream, 0, sizeof stream);
    memset(&pic, 0, sizeof pic);
    attr.type = coding;
    attr.mode = HI_VDEC_SEND_MODE_FRAME;
    attr.pic_width = SIZE;
    attr.pic_height = SIZE;
    attr.stream_buf_size = LONGEST;
    CHECK(hi_mpi_vdec_create_chn(VIDEO, &attr));
    CHECK(hi_mpi_vdec_start_recv_stream(VIDEO));
    CHECK(hi_mpi_dvpp_malloc(0, &packet, bytes));
    CHECK(hi_mpi_dvpp_malloc(0, &output, DECODED));
    CHECK(aclrtMemcpy(packet, bytes, stream_bytes, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    stream.addr = (hi_u8 *)packet;
    stream.len = bytes;
    stream.end_of_frame = HI_TRUE;
    stream.end_of_stream = HI_TRUE;
    stream.need_display = HI_TRUE;
    pic.vir_addr = (hi_u64)(uintptr_t)output;
    pic.buffer_size = DECODED;
    pic.pixel_format = HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420;
    CHECK(hi_mpi_vdec_send_stream(VIDEO, &stream, &pic, -1));
    CHECK(hi_mpi_vdec_get_frame(VIDEO, &fetched, &supplement, &sent, -1));
    REQUIRE(fetched.v_frame.frame_flag == 0 && fetched.v_frame.width == SIZE && fetched.v_frame.height == SIZE);
    CHECK(aclrtMemcpy(other_bytes, DECODED, output, DECODED, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(hi_mpi_vdec_release_frame(VIDEO, &fetched));
    CHECK(hi_mpi_vdec_destroy_chn(VIDEO));
    CHECK(hi_mpi_dvpp_free(packet));
    CHECK(hi_mpi_dvpp_free(output));
}

/* Encodes a frame, decodes it and returns how far its chroma is from no colour at most. Its luma stays. */
static int chroma_of(hi_bool is_gray)
{
    int distance = 0;
    long difference = 0;
    hi_venc_chn_param param;
    create_video();
    CHECK(hi_mpi_venc_get_chn_param(VIDEO, &param));
    param.color_to_grey_en = is_gray;
    CHECK(hi_mpi_venc_set_chn_param(VIDEO, &param));
    start_video();
    draw(0);
    CHECK(aclrtMemcpy(memory, FRAME, pixels, FRAME, ACL_MEMCPY_HOST_TO_DEVICE));
    hi_video_frame_info info = frame(0);
    CHECK(hi_mpi_venc_send_frame(VIDEO, &info, -1));
    hi_venc_pack pack = fetch(VIDEO, 0);
    CHECK(hi_mpi_venc_destroy_chn(VIDEO));
    decode(pack.len - pack.offset);
    for (int i = 0; i < SIZE * SIZE; i++) {
        difference += abs(other_bytes[i] - pixels[i]);
    }
    REQUIRE(difference < 8 * SIZE * SIZE);
    for (int i = SIZE * SIZE; i < DECODED; i++) {
        int of_this = abs(other_bytes[i] - 128);
        distance = of_this > distance ? of_this : distance;
    }
    return distance;
}

static void encode_without_colour(void)
{
    REQUIRE(chroma_of(HI_FALSE) > 32);
    REQUIRE(chroma_of(HI_TRUE) <= 2);
}

/* Encodes the frame in `memory` with the first interface. Returns the bytes of the image in `other_bytes`. */
static uint32_t encode_with_the_first_interface(void)
{
    acldvppChannelDesc *channel = acldvppCreateChannelDesc();
    CHECK(acldvppCreateChannel(channel));
    acldvppPicDesc *input = acldvppCreatePicDesc();
    CHECK(acldvppSetPicDescData(input, memory));
    CHECK(acldvppSetPicDescSize(input, FRAME));
    CHECK(acldvppSetPicDescFormat(input, PIXEL_FORMAT_YUV_SEMIPLANAR_420));
    CHECK(acldvppSetPicDescWidth(input, SIZE));
    CHECK(acldvppSetPicDescHeight(input, SIZE));
    CHECK(acldvppSetPicDescWidthStride(input, SIZE));
    CHECK(acldvppSetPicDescHeightStride(input, ROWS));
    acldvppJpegeConfig *config = acldvppCreateJpegeConfig();
    CHECK(acldvppSetJpegeConfigLevel(config, QUALITY));
    aclrtStream stream = NULL;
    void *output = NULL;
    uint32_t size = LONGEST;
    CHECK(aclrtCreateStream(&stream));
    CHECK(acldvppMalloc(&output, LONGEST));
    CHECK(acldvppJpegEncodeAsync(channel, input, output, &size, config, stream));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtMemcpy(other_bytes, LONGEST, output, size, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(acldvppFree(output));
    CHECK(aclrtDestroyStream(stream));
    CHECK(acldvppDestroyJpegeConfig(config));
    CHECK(acldvppDestroyPicDesc(input));
    CHECK(acldvppDestroyChannel(channel));
    CHECK(acldvppDestroyChannelDesc(channel));
    return size;
}

static void encode_images(const char *folder)
{
    hi_venc_chn_attr attr = attributes(HI_PT_JPEG);
    attr.venc_attr.jpeg_attr.dcf_en = HI_FALSE;
    attr.venc_attr.jpeg_attr.mpf_cfg.large_thumbnail_num = 0;
    attr.venc_attr.jpeg_attr.recv_mode = HI_VENC_PIC_RECV_SINGLE;
    CHECK(hi_mpi_venc_create_chn(IMAGES, &attr));
    hi_venc_start_param start = {-1};
    CHECK(hi_mpi_venc_start_chn(IMAGES, &start));
    hi_venc_jpeg_param param;
    CHECK(hi_mpi_venc_get_jpeg_param(IMAGES, &param));
    param.qfactor = QUALITY;
    CHECK(hi_mpi_venc_set_jpeg_param(IMAGES, &param));
    draw(0);
    CHECK(aclrtMemcpy(memory, FRAME, pixels, FRAME, ACL_MEMCPY_HOST_TO_DEVICE));
    uint32_t size = encode_with_the_first_interface();
    hi_video_frame_info info = frame(7);
    CHECK(hi_mpi_venc_send_frame(IMAGES, &info, -1));
    hi_venc_pack pack = fetch(IMAGES, 0);
    REQUIRE(pack.len - pack.offset == size && memcmp(stream_bytes, other_bytes, size) == 0);
    REQUIRE(pack.pts == 7 && pack.data_type.jpeg_type == HI_VENC_JPEG_PACK_PIC);
    keep(folder, "image.jpg", size);

    /* To memory of the program. */
    hi_u32 predicted = 0;
    CHECK(hi_mpi_venc_get_jpege_predicted_size(&info, &param, &predicted));
    REQUIRE(predicted >= size);
    hi_img_stream output;
    memset(&output, 0, sizeof output);
    void *target = NULL;
    CHECK(hi_mpi_dvpp_malloc(0, &target, predicted));
    output.addr = (hi_u8 *)target;
    output.len = predicted;
    memset(stream_bytes, 0, LONGEST);
    CHECK(hi_mpi_venc_send_jpege_frame(IMAGES, &info, &output, -1));
    pack = fetch(IMAGES, 1);
    REQUIRE(pack.addr == output.addr && pack.len == size && memcmp(stream_bytes, other_bytes, size) == 0);
    CHECK(hi_mpi_dvpp_free(target));

    /* A channel is destroyed with streams that were not fetched and one that was not released. */
    CHECK(hi_mpi_venc_send_frame(IMAGES, &info, -1));
    CHECK(hi_mpi_venc_send_frame(IMAGES, &info, -1));
    hi_venc_stream stream;
    memset(&stream, 0, sizeof stream);
    stream.pack = &pack;
    stream.pack_cnt = 1;
    CHECK(hi_mpi_venc_get_stream(IMAGES, &stream, -1));
    CHECK(hi_mpi_venc_destroy_chn(IMAGES));
}

int main(int count, char **arguments)
{
    const char *folder = count > 1 ? arguments[1] : NULL;
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtGetCurrentContext(&context));
    CHECK(hi_mpi_sys_init());
    CHECK(hi_mpi_dvpp_malloc(0, &memory, FRAME));
    encode_video(folder);
    encode_without_colour();
    coding = HI_PT_H265;
    encode_video(folder);
    encode_without_colour();
    encode_images(folder);
    CHECK(hi_mpi_dvpp_free(memory));
    CHECK(hi_mpi_sys_exit());
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    puts("ok");
    return 0;
}
