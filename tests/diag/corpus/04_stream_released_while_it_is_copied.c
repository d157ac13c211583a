#include "second.h"

int main(void)
{
    void *memory, *host;
    aclrtStream copies;
    hi_video_frame_info frame;
    hi_venc_stream stream;
    hi_venc_pack pack;

    set_up();
    MUST(hi_mpi_sys_init());
    MUST(aclrtCreateStream(&copies));
    open_encoder(0);
    memory = make_memory(IMAGE);
    frame = frame_of(memory);
    MUST(hi_mpi_venc_send_frame(0, &frame, -1));
    stream = fetch_stream(0, &pack);
    MUST(aclrtMallocHost(&host, pack.len));
    MUST(aclrtMemcpyAsync(host, pack.len, pack.addr, pack.len, ACL_MEMCPY_DEVICE_TO_HOST, copies));
#ifdef CLEAN
    MUST(aclrtSynchronizeStream(copies));
#endif
    MUST(hi_mpi_venc_release_stream(0, &stream)); /* FINDS JMR-SYNC-007 */
#ifndef CLEAN
    MUST(aclrtSynchronizeStream(copies));
#endif
    MUST(aclrtFreeHost(host));
    MUST(hi_mpi_dvpp_free(memory));
    MUST(hi_mpi_venc_stop_chn(0));
    MUST(hi_mpi_venc_destroy_chn(0));
    MUST(aclrtDestroyStream(copies));
    MUST(hi_mpi_sys_exit());
    tear_down();
    return 0;
}
