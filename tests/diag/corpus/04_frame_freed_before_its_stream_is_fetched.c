#include "second.h"

int main(void)
{
    void *memory;
    hi_video_frame_info frame;
    hi_venc_stream stream;
    hi_venc_pack pack;

    set_up();
    MUST(hi_mpi_sys_init());
    open_encoder(7);
    memory = make_memory(IMAGE);
    frame = frame_of(memory);
    MUST(hi_mpi_venc_send_frame(7, &frame, -1));
#ifdef CLEAN
    stream = fetch_stream(7, &pack);
#endif
    MUST(hi_mpi_dvpp_free(memory)); /* FINDS JMR-DVPP-004 */
#ifndef CLEAN
    stream = fetch_stream(7, &pack);
#endif
    MUST(hi_mpi_venc_release_stream(7, &stream));
    /* A channel that was destroyed uses nothing any more. */
    memory = make_memory(IMAGE);
    frame = frame_of(memory);
    MUST(hi_mpi_venc_send_frame(7, &frame, -1));
    MUST(hi_mpi_venc_stop_chn(7));
    MUST(hi_mpi_venc_destroy_chn(7));
    MUST(hi_mpi_dvpp_free(memory));
    MUST(hi_mpi_sys_exit());
    tear_down();
    return 0;
}
