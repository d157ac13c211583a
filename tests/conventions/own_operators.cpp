// A program in C++ with operators new and delete of its own. The encoder of video inside the runtime is in C++, too: it must not call them,
// and exceptions of the program must end where the program catches them.
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <vector>

#include "acl/acl.h"
#include "acl/dvpp/hi_dvpp.h"

static long calls;

void *operator new(std::size_t size)
{
    calls++;
    if (void *memory = std::malloc(size)) {
        return memory;
    }
    throw std::bad_alloc();
}

void operator delete(void *memory) noexcept
{
    calls++;
    std::free(memory);
}

void operator delete(void *memory, std::size_t) noexcept
{
    calls++;
    std::free(memory);
}

static void check(int code)
{
    if (code != 0) {
        std::fprintf(stderr, "%x: %s\n", code, aclGetRecentErrMsg());
        throw std::runtime_error("a call failed");
    }
}

// Encodes a frame of one colour. Returns the bytes of its stream.
static unsigned encode()
{
    const int side = 128;
    hi_venc_chn_attr attr = {};
    attr.venc_attr.type = HI_PT_H264;
    attr.venc_attr.max_pic_width = attr.venc_attr.max_pic_height = side;
    attr.venc_attr.pic_width = attr.venc_attr.pic_height = side;
    attr.rc_attr.rc_mode = HI_VENC_RC_MODE_H264_CBR;
    attr.rc_attr.h264_cbr.gop = 10;
    attr.rc_attr.h264_cbr.src_frame_rate = attr.rc_attr.h264_cbr.dst_frame_rate = 25;
    attr.rc_attr.h264_cbr.bit_rate = 500;
    void *memory = nullptr;
    check(hi_mpi_dvpp_malloc(0, &memory, side * side * 3 / 2));
    check(aclrtMemset(memory, side * side * 3 / 2, 0x80, side * side * 3 / 2));
    check(hi_mpi_venc_create_chn(0, &attr));
    hi_venc_start_param start = {-1};
    check(hi_mpi_venc_start_chn(0, &start));
    hi_video_frame_info frame = {};
    frame.v_frame.width = frame.v_frame.height = side;
    frame.v_frame.pixel_format = HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420;
    frame.v_frame.width_stride[0] = side;
    frame.v_frame.virt_addr[0] = memory;
    check(hi_mpi_venc_send_frame(0, &frame, -1));
    hi_venc_pack pack = {};
    hi_venc_stream stream = {};
    stream.pack = &pack;
    stream.pack_cnt = 1;
    check(hi_mpi_venc_get_stream(0, &stream, -1));
    check(hi_mpi_venc_release_stream(0, &stream));
    check(hi_mpi_venc_destroy_chn(0));
    check(hi_mpi_dvpp_free(memory));
    return pack.len - pack.offset;
}

int main()
{
    check(aclInit(nullptr));
    check(aclrtSetDevice(0));
    check(hi_mpi_sys_init());
    const long before = calls;
    const unsigned bytes = encode();
    const bool is_alone = calls == before;
    std::vector<int> own(100);
    bool is_caught = false;
    try {
        own.at(100) = 1;
    } catch (const std::out_of_range &) {
        is_caught = true;
    }
    check(aclrtResetDevice(0));
    check(aclFinalize());
    std::printf("%s\n", bytes > 0 && is_alone && is_caught && calls > before ? "ok" : "failed");
    return 0;
}
