#include "second.h"

/* Fetches and releases the frame that a channel has. */
static void finish(hi_vdec_chn channel)
{
    hi_video_frame_info frame = fetch_frame(channel);

    MUST(hi_mpi_vdec_release_frame(channel, &frame));
}

int main(void)
{
    void *data, *memory;
    hi_vdec_stream packet;
    hi_vdec_pic_info output;
    hi_pngd_chn_attr attr;
    hi_img_stream image;
    hi_pic_info pixels;

    set_up();
    MUST(hi_mpi_sys_init());
    open_decoder(0);
    data = make_memory(64);
    memory = make_memory(IMAGE);
    packet = packet_of(data, 64);
    output = output_of(memory, IMAGE);
    MUST(hi_mpi_vdec_send_stream(0, &packet, &output, -1));
#ifdef CLEAN
    finish(0);
#endif
    MUST(hi_mpi_dvpp_free(memory)); /* FINDS JMR-DVPP-004 */
    MUST(hi_mpi_dvpp_free(data)); /* FINDS JMR-DVPP-004 */
#ifndef CLEAN
    finish(0);
#endif
    /* A channel that is reset returns nothing any more. */
    data = make_memory(64);
    memory = make_memory(IMAGE);
    packet = packet_of(data, 64);
    output = output_of(memory, IMAGE);
    MUST(hi_mpi_vdec_send_stream(0, &packet, &output, -1));
    MUST(hi_mpi_vdec_stop_recv_stream(0));
    MUST(hi_mpi_vdec_reset_chn(0));
    MUST(hi_mpi_dvpp_free(memory));
    MUST(hi_mpi_dvpp_free(data));
    MUST(hi_mpi_vdec_destroy_chn(0));

    memset(&attr, 0, sizeof attr);
    memset(&image, 0, sizeof image);
    memset(&pixels, 0, sizeof pixels);
    MUST(hi_mpi_pngd_create_chn(0, &attr));
    data = make_memory(64);
    MUST(aclrtMalloc(&memory, IMAGE, ACL_MEM_MALLOC_NORMAL_ONLY));
    image.addr = (hi_u8 *)data;
    image.len = 64;
    pixels.picture_address = memory;
    pixels.picture_buffer_size = IMAGE;
    pixels.picture_format = HI_PIXEL_FORMAT_RGB_888;
    MUST(hi_mpi_pngd_send_stream(0, &image, &pixels, -1));
#ifdef CLEAN
    if (hi_mpi_pngd_get_image_data(0, &pixels, NULL, -1) != 0) puts("not an image");
#endif
    MUST(aclrtFree(memory)); /* FINDS JMR-DVPP-004 */
#ifndef CLEAN
    if (hi_mpi_pngd_get_image_data(0, &pixels, NULL, -1) != 0) puts("not an image");
#endif
    MUST(hi_mpi_dvpp_free(data));
    MUST(hi_mpi_pngd_destroy_chn(0));
    MUST(hi_mpi_sys_exit());
    tear_down();
    return 0;
}
