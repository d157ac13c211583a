/* What the programs of the corpus about the second interface of images and video share: channels with numbers, and memory that is filled. */
#ifndef CORPUS_SECOND_H
#define CORPUS_SECOND_H

#include "corpus.h"

#include "acl/dvpp/hi_dvpp.h"

enum { SIDE = 128, IMAGE = SIDE * SIDE * 3 / 2 };

static inline void *make_memory(hi_u32 bytes)
{
    void *memory;

    MUST(hi_mpi_dvpp_malloc(0, &memory, bytes));
    MUST(aclrtMemset(memory, bytes, 0x55, bytes));
    return memory;
}

static inline void open_decoder(hi_vdec_chn channel)
{
    hi_vdec_chn_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.type = HI_PT_H264;
    attr.mode = HI_VDEC_SEND_MODE_FRAME;
    attr.pic_width = SIDE;
    attr.pic_height = SIDE;
    attr.stream_buf_size = IMAGE;
    MUST(hi_mpi_vdec_create_chn(channel, &attr));
    MUST(hi_mpi_vdec_start_recv_stream(channel));
}

static inline void open_encoder(hi_venc_chn channel)
{
    hi_venc_chn_attr attr;
    hi_venc_start_param start;

    memset(&attr, 0, sizeof attr);
    memset(&start, 0, sizeof start);
    attr.venc_attr.type = HI_PT_H264;
    attr.venc_attr.max_pic_width = attr.venc_attr.pic_width = SIDE;
    attr.venc_attr.max_pic_height = attr.venc_attr.pic_height = SIDE;
    attr.rc_attr.rc_mode = HI_VENC_RC_MODE_H264_CBR;
    attr.rc_attr.h264_cbr.gop = 30;
    attr.rc_attr.h264_cbr.src_frame_rate = attr.rc_attr.h264_cbr.dst_frame_rate = 30;
    attr.rc_attr.h264_cbr.bit_rate = 1000;
    start.recv_pic_num = -1;
    MUST(hi_mpi_venc_create_chn(channel, &attr));
    MUST(hi_mpi_venc_start_chn(channel, &start));
}

/* The last packet of a stream. */
static inline hi_vdec_stream packet_of(void *memory, hi_u32 bytes)
{
    hi_vdec_stream packet;

    memset(&packet, 0, sizeof packet);
    packet.addr = (hi_u8 *)memory;
    packet.len = bytes;
    packet.end_of_frame = packet.end_of_stream = packet.need_display = HI_TRUE;
    return packet;
}

static inline hi_vdec_pic_info output_of(void *memory, hi_u32 bytes)
{
    hi_vdec_pic_info output;

    memset(&output, 0, sizeof output);
    output.vir_addr = (hi_u64)(uintptr_t)memory;
    output.buffer_size = bytes;
    output.pixel_format = HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420;
    return output;
}

/* An NV12 frame for an encoder. */
static inline hi_video_frame_info frame_of(void *memory)
{
    hi_video_frame_info frame;

    memset(&frame, 0, sizeof frame);
    frame.v_frame.width = frame.v_frame.width_stride[0] = SIDE;
    frame.v_frame.height = frame.v_frame.height_stride[0] = SIDE;
    frame.v_frame.pixel_format = HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420;
    frame.v_frame.virt_addr[0] = memory;
    return frame;
}

/* An NV12 image for image processing. */
static inline hi_vpc_pic_info image_of(void *memory)
{
    hi_vpc_pic_info image;

    memset(&image, 0, sizeof image);
    image.picture_address = memory;
    image.picture_buffer_size = IMAGE;
    image.picture_width = image.picture_width_stride = SIDE;
    image.picture_height = image.picture_height_stride = SIDE;
    image.picture_format = HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420;
    return image;
}

static inline hi_video_frame_info fetch_frame(hi_vdec_chn channel)
{
    hi_video_frame_info frame;

    MUST(hi_mpi_vdec_get_frame(channel, &frame, NULL, NULL, -1));
    return frame;
}

static inline hi_venc_stream fetch_stream(hi_venc_chn channel, hi_venc_pack *pack)
{
    hi_venc_stream stream;

    memset(&stream, 0, sizeof stream);
    stream.pack = pack;
    stream.pack_cnt = 1;
    MUST(hi_mpi_venc_get_stream(channel, &stream, -1));
    return stream;
}

#endif
