#include "second.h"

int main(void)
{
    void *memory, *data;
    hi_vpc_chn_attr attr;
    hi_vpc_pic_info from, to;
    hi_vdec_stream packet;
    hi_vdec_pic_info output;
    hi_video_frame_info frame;
    hi_u32 task;

    set_up();
    MUST(hi_mpi_sys_init());
    memset(&attr, 0, sizeof attr);
    MUST(hi_mpi_vpc_create_chn(3, &attr));
    open_decoder(3);
    open_encoder(3);
    memory = make_memory(2 * IMAGE);
    data = make_memory(64);
    from = image_of(memory);
    to = image_of((char *)memory + IMAGE);
    MUST(hi_mpi_vpc_resize(3, &from, &to, 0, 0, 0, &task, -1));
    MUST(hi_mpi_vpc_get_process_result(3, task, -1));
    packet = packet_of(data, 64);
    output = output_of(memory, IMAGE);
    MUST(hi_mpi_vdec_send_stream(3, &packet, &output, -1));
    frame = fetch_frame(3);
    MUST(hi_mpi_vdec_release_frame(3, &frame));
#ifndef CLEAN
    TRY(hi_mpi_vdec_release_frame(3, &frame)); /* FINDS JMR-DVPP-003 */
#endif
    MUST(hi_mpi_vpc_destroy_chn(3));
    MUST(hi_mpi_vdec_destroy_chn(3));
    MUST(hi_mpi_venc_destroy_chn(3));
#ifndef CLEAN
    TRY(hi_mpi_vpc_resize(3, &from, &to, 0, 0, 0, &task, -1)); /* FINDS JMR-DVPP-002 */
    TRY(hi_mpi_vdec_send_stream(3, &packet, &output, -1)); /* FINDS JMR-DVPP-002 */
    frame = frame_of(memory);
    TRY(hi_mpi_venc_send_frame(3, &frame, -1)); /* FINDS JMR-DVPP-002 */
#endif
    MUST(hi_mpi_dvpp_free(memory));
    MUST(hi_mpi_dvpp_free(data));
#ifndef CLEAN
    TRY(hi_mpi_dvpp_free(data)); /* FINDS JMR-MEM-004 */
#endif
    MUST(hi_mpi_sys_exit());
    tear_down();
    return 0;
}
