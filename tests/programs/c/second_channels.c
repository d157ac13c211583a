/* 10,000 channels of the second interface, for images, decoding, encoding and PNG, opened and closed with work that is never fetched, in
 * four parts, leave nothing behind. */
#include "usage.h"

#include "acl/dvpp/hi_dvpp.h"

enum { PART = 2500, KINDS = 5, SIDE = 128, IMAGE = SIDE * SIDE * 3 / 2, PACKET = 64 };
/* What a part may add to the heap: less than the state of a channel for each channel of one kind. A worker may keep some memory of its last
 * task. */
enum { SLACK = PART / KINDS * 128 };

static void *packet, *image;

static void image_channel(int number)
{
    hi_vpc_chn_attr attr;
    hi_vpc_pic_info from, to;
    hi_u32 task;

    memset(&attr, 0, sizeof attr);
    memset(&from, 0, sizeof from);
    from.picture_address = image;
    from.picture_buffer_size = IMAGE;
    from.picture_width = from.picture_width_stride = SIDE;
    from.picture_height = from.picture_height_stride = SIDE;
    from.picture_format = HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420;
    to = from;
    to.picture_address = (char *)image + IMAGE;
    CHECK(hi_mpi_vpc_create_chn(number, &attr));
    CHECK(hi_mpi_vpc_resize(number, &from, &to, 0, 0, 0, &task, -1));
    CHECK(hi_mpi_vpc_destroy_chn(number));
}

static void decoding_channel(int number, hi_payload_type type)
{
    hi_vdec_chn_attr attr;
    hi_vdec_stream stream;
    hi_vdec_pic_info output;

    memset(&attr, 0, sizeof attr);
    memset(&stream, 0, sizeof stream);
    memset(&output, 0, sizeof output);
    attr.type = type;
    attr.mode = HI_VDEC_SEND_MODE_FRAME;
    attr.pic_width = attr.pic_height = SIDE;
    attr.stream_buf_size = IMAGE;
    stream.addr = (hi_u8 *)packet;
    stream.len = PACKET;
    stream.end_of_frame = stream.need_display = HI_TRUE;
    output.vir_addr = (hi_u64)(uintptr_t)image;
    output.buffer_size = IMAGE;
    output.pixel_format = HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420;
    CHECK(hi_mpi_vdec_create_chn(number, &attr));
    CHECK(hi_mpi_vdec_start_recv_stream(number));
    CHECK(hi_mpi_vdec_send_stream(number, &stream, &output, -1));
    REQUIRE(hi_mpi_vdec_get_fd(number) >= 0);
    CHECK(hi_mpi_vdec_destroy_chn(number));
}

static void encoding_channel(int number)
{
    hi_venc_chn_attr attr;
    hi_venc_start_param start;
    hi_video_frame_info frame;

    memset(&attr, 0, sizeof attr);
    memset(&start, 0, sizeof start);
    memset(&frame, 0, sizeof frame);
    attr.venc_attr.type = HI_PT_H264;
    attr.venc_attr.max_pic_width = attr.venc_attr.pic_width = SIDE;
    attr.venc_attr.max_pic_height = attr.venc_attr.pic_height = SIDE;
    attr.rc_attr.rc_mode = HI_VENC_RC_MODE_H264_CBR;
    attr.rc_attr.h264_cbr.gop = 30;
    attr.rc_attr.h264_cbr.src_frame_rate = attr.rc_attr.h264_cbr.dst_frame_rate = 30;
    attr.rc_attr.h264_cbr.bit_rate = 1000;
    start.recv_pic_num = -1;
    frame.v_frame.width = frame.v_frame.width_stride[0] = SIDE;
    frame.v_frame.height = frame.v_frame.height_stride[0] = SIDE;
    frame.v_frame.pixel_format = HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420;
    frame.v_frame.virt_addr[0] = image;
    CHECK(hi_mpi_venc_create_chn(number, &attr));
    CHECK(hi_mpi_venc_start_chn(number, &start));
    CHECK(hi_mpi_venc_send_frame(number, &frame, -1));
    REQUIRE(hi_mpi_venc_get_fd(number) >= 0);
    CHECK(hi_mpi_venc_destroy_chn(number));
}

static void png_channel(int number)
{
    hi_pngd_chn_attr attr;
    hi_img_stream stream;
    hi_pic_info output;

    memset(&attr, 0, sizeof attr);
    memset(&stream, 0, sizeof stream);
    memset(&output, 0, sizeof output);
    stream.addr = (hi_u8 *)packet;
    stream.len = PACKET;
    output.picture_address = image;
    output.picture_buffer_size = IMAGE;
    output.picture_format = HI_PIXEL_FORMAT_RGB_888;
    CHECK(hi_mpi_pngd_create_chn(number, &attr));
    CHECK(hi_mpi_pngd_send_stream(number, &stream, &output, -1));
    CHECK(hi_mpi_pngd_destroy_chn(number));
}

static void part(void)
{
    for (int i = 0; i < PART; i++) {
        switch (i % KINDS) {
        case 0:
            image_channel(i % 256);
            break;
        case 1:
            decoding_channel(i % 256, HI_PT_H264);
            break;
        case 2:
            decoding_channel(i % 256, HI_PT_JPEG);
            break;
        case 3:
            encoding_channel(i % 256);
            break;
        default:
            png_channel(i % 256);
        }
    }
}

int main(void)
{
    /* Only the main arena is counted: all threads use it. */
    REQUIRE(mallopt(M_ARENA_MAX, 1) == 1);
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(hi_mpi_sys_init());
    CHECK(hi_mpi_dvpp_malloc(0, &packet, PACKET));
    CHECK(hi_mpi_dvpp_malloc(0, &image, 2 * IMAGE));
    CHECK(aclrtMemset(packet, PACKET, 0x55, PACKET));
    CHECK(aclrtMemset(image, 2 * IMAGE, 0x55, 2 * IMAGE));
    require_nothing_left(part, SLACK);
    CHECK(hi_mpi_dvpp_free(packet));
    CHECK(hi_mpi_dvpp_free(image));
    CHECK(hi_mpi_sys_exit());
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
