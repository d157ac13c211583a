#include "second.h"

int main(void)
{
    void *memory;
    hi_video_frame_info frame;
    hi_venc_stream stream;
    hi_venc_pack pack;
    hi_vdec_stream packet;
    hi_vdec_pic_info output;
    hi_vpc_chn_attr attr;
    hi_vpc_pic_info from, to;
    hi_u32 task, bytes = IMAGE;

    set_up();
    MUST(hi_mpi_sys_init());
    open_encoder(0);
    open_decoder(0);
    memory = make_memory(2 * IMAGE);
    frame = frame_of(memory);
    MUST(hi_mpi_venc_send_frame(0, &frame, -1));
    stream = fetch_stream(0, &pack);
#ifndef CLEAN
    /* Only the packet says how large its frame is. */
    bytes = IMAGE - 1;
#endif
    packet = packet_of(pack.addr, pack.len);
    output = output_of(memory, bytes);
    MUST(hi_mpi_vdec_send_stream(0, &packet, &output, -1)); /* FINDS JMR-DVPP-001 */
    frame = fetch_frame(0);
    MUST(hi_mpi_vdec_release_frame(0, &frame));
    MUST(hi_mpi_venc_release_stream(0, &stream));
    MUST(hi_mpi_vdec_destroy_chn(0));
    MUST(hi_mpi_venc_destroy_chn(0));

    memset(&attr, 0, sizeof attr);
    MUST(hi_mpi_vpc_create_chn(0, &attr));
    from = image_of(memory);
    to = image_of((char *)memory + IMAGE);
    to.picture_buffer_size = bytes;
#ifdef CLEAN
    MUST(hi_mpi_vpc_resize(0, &from, &to, 0, 0, 0, &task, -1));
    MUST(hi_mpi_vpc_get_process_result(0, task, -1));
#else
    TRY(hi_mpi_vpc_resize(0, &from, &to, 0, 0, 0, &task, -1)); /* FINDS JMR-DVPP-001 */
#endif
    MUST(hi_mpi_vpc_destroy_chn(0));
    MUST(hi_mpi_dvpp_free(memory));
    MUST(hi_mpi_sys_exit());
    tear_down();
    return 0;
}
