// The C functions of kernels: the functions on tensors, with addresses instead. An address is that of an array or a tensor in local memory, or an
// offset into the memory in bytes.
#ifndef JUMAR_ASCENDC_C_API_H
#define JUMAR_ASCENDC_C_API_H

#include "arithmetic.h"
#include "copy.h"
#include "fixpipe.h"
#include "intrinsics.h"
#include "local_array.h"
#include "missing.h"
#include "print.h"
#include "sync.h"

namespace jumar {
namespace ascendc {

template <typename TypeT> using Element = std::conditional_t<std::is_void_v<TypeT>, uint8_t, std::remove_const_t<TypeT>>;

// Returns a tensor over an operand, up to the end of the array, the buffer or, for addresses outside of these, the memory.
template <typename TypeT> inline AscendC::LocalTensor<Element<TypeT>> operand(TypeT* address, Memory memory, const char* name, const Call& call)
{
    Core& self = core();
    self.complete_all();
    // An address may share its memory with the buffers of queues.
    self.may_defer = false;
    const MemoryInfo& info = memory_info(memory);
    uint8_t* const base = self.memories[memory].base(memory);
    const uintptr_t value = reinterpret_cast<uintptr_t>(address), first = reinterpret_cast<uintptr_t>(base);
    const uint64_t offset = value < info.bytes ? value : value - first;
    if (value >= info.bytes && (value < first || offset >= info.bytes))
        fail(call.site, "%s: %s is not in %s; it has to be an array or a tensor there, or an offset in bytes below %llu", call.name, name, info.name,
             static_cast<unsigned long long>(info.bytes));
    uint8_t* const at = base + offset;
    Buffer* found = nullptr;
    for (Buffer& buffer : self.buffers)
        if (memory_of(buffer.position) == memory && at >= buffer.begin && at < buffer.begin + buffer.bytes && (!found || buffer.bytes <= found->bytes))
            found = &buffer;
    if (!found) {
        self.buffers.emplace_back();
        found = &self.buffers.back();
        found->begin = base;
        found->bytes = static_cast<uint32_t>(info.bytes);
        found->position = position_of(memory);
    }
    const uint64_t within = static_cast<uint64_t>(at - found->begin);
    return AscendC::LocalTensor<Element<TypeT>>(found, within, elements_in<Element<TypeT>>(found->bytes - within));
}
template <typename TypeT> inline AscendC::GlobalTensor<Element<TypeT>> global_operand(TypeT* address)
{
    AscendC::GlobalTensor<Element<TypeT>> tensor;
    tensor.SetGlobalBuffer(reinterpret_cast<Element<TypeT>*>(const_cast<std::remove_const_t<TypeT>*>(address)));
    return tensor;
}

// Fails if an atomic copy has no type to add with.
template <typename TypeT> inline void need_type_of_atomic([[maybe_unused]] const Call& call)
{
    if constexpr (std::is_void_v<TypeT>)
        if (core().registers.atomic != AtomicOperation::NONE) fail(call.site, "%s: an atomic copy needs an address with a type, and src is void*", call.name);
}

// The mode of a conversion, by its name or by the number that the instruction has for it.
inline AscendC::QuantMode_t quantisation_mode(uint64_t mode, const Call& call)
{
    switch (mode) {
    case 9: return REQ8;
    case 10: return VDEQF16;
    case 11: return DEQF16;
    case 16: return F322BF16;
    case 23: return VQF322B8_PRE;
    case 24: return QF322B8_PRE;
    default: break;
    }
    if (mode > VREQ8) fail(call.site, "%s: the mode of quantisation %llu is not supported", call.name, static_cast<unsigned long long>(mode));
    return static_cast<AscendC::QuantMode_t>(mode);
}

template <typename TypeT> inline void load_left_or_right(TypeT* dst, Memory memory, TypeT* src, const AscendC::LoadData2DParams& params, const Call& call)
{
    need_cube(call.name, call.site);
    AscendC::LoadData(operand(dst, memory, "dst", call), operand(src, MEMORY_L1, "src", call), params, call.site);
}

template <typename TypeT>
inline void dump_operand(const TypeT* input, Memory memory, uint32_t number, uint32_t count, const Call& call)
{
    AscendC::DumpTensor(operand(input, memory, "input", call), number, count, call.site);
}

} // namespace ascendc
} // namespace jumar

// Core and order.
inline void asc_init()
{
    AscendC::InitSocState();
}
inline int64_t asc_get_block_idx()
{
    return AscendC::GetBlockIdx();
}
inline int64_t asc_get_block_num()
{
    return AscendC::GetBlockNum();
}
inline void asc_sync_notify(pipe_t pipe, pipe_t tpipe, event_t id, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    jumar::ascendc::set_event(jumar::ascendc::event_of_pipes(pipe, tpipe, site), static_cast<int32_t>(id), "asc_sync_notify", site);
}
inline void asc_sync_wait(pipe_t pipe, pipe_t tpipe, event_t id, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    jumar::ascendc::wait_event(jumar::ascendc::event_of_pipes(pipe, tpipe, site), static_cast<int32_t>(id), "asc_sync_wait", site);
}
inline void asc_sync_pipe(pipe_t pipe)
{
    pipe_barrier(pipe);
}
inline void asc_sync()
{
    pipe_barrier(PIPE_ALL);
}
inline void asc_dcci_entire_out()
{
    jumar::ascendc::record_cache_clean(nullptr, true);
}

// Copies between global memory and UB: a size in bytes, or bursts with lengths and gaps of 32 bytes.
inline void asc_copy_gm2ub(__ubuf__ void* dst, __gm__ void* src, uint32_t size, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"asc_copy_gm2ub", site, PIPE_MTE2};
    AscendC::DataCopy(operand(dst, MEMORY_UB, "dst", call), global_operand(src), size, site);
}
inline void asc_copy_gm2ub(__ubuf__ void* dst, __gm__ void* src, uint16_t n_burst, uint16_t len_burst, uint16_t src_gap, uint16_t dst_gap,
                           jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"asc_copy_gm2ub", site, PIPE_MTE2};
    AscendC::DataCopy(operand(dst, MEMORY_UB, "dst", call), global_operand(src), AscendC::DataCopyParams(n_burst, len_burst, src_gap, dst_gap), site);
}
inline void asc_copy_gm2ub_sync(__ubuf__ void* dst, __gm__ void* src, uint32_t size, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    asc_copy_gm2ub(dst, src, size, site);
    asc_sync();
}
template <typename TypeT>
inline void asc_copy_ub2gm(__gm__ void* dst, __ubuf__ TypeT* src, uint32_t size, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"asc_copy_ub2gm", site, PIPE_MTE3};
    need_type_of_atomic<TypeT>(call);
    const auto tensor = operand(src, MEMORY_UB, "src", call);
    check_block_multiple(size, call);
    AscendC::DataCopy(global_operand(static_cast<Element<TypeT>*>(dst)), tensor, static_cast<uint32_t>(elements_in<Element<TypeT>>(size)), site);
}
template <typename TypeT>
inline void asc_copy_ub2gm(__gm__ void* dst, __ubuf__ TypeT* src, uint16_t n_burst, uint16_t len_burst, uint16_t src_gap, uint16_t dst_gap,
                           jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"asc_copy_ub2gm", site, PIPE_MTE3};
    need_type_of_atomic<TypeT>(call);
    AscendC::DataCopy(global_operand(static_cast<Element<TypeT>*>(dst)), operand(src, MEMORY_UB, "src", call),
                      AscendC::DataCopyParams(n_burst, len_burst, src_gap, dst_gap), site);
}
template <typename TypeT>
inline void asc_copy_ub2gm_sync(__gm__ void* dst, __ubuf__ TypeT* src, uint32_t size, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    asc_copy_ub2gm(dst, src, size, site);
    asc_sync();
}
inline void asc_copy_ub2ub(__ubuf__ void* dst, __ubuf__ void* src, uint32_t size, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"asc_copy_ub2ub", site};
    AscendC::DataCopy(operand(dst, MEMORY_UB, "dst", call), operand(src, MEMORY_UB, "src", call), size, site);
}
inline void asc_copy_ub2ub(__ubuf__ void* dst, __ubuf__ void* src, uint16_t n_burst, uint16_t len_burst, uint16_t src_gap, uint16_t dst_gap,
                           jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"asc_copy_ub2ub", site};
    AscendC::DataCopy(operand(dst, MEMORY_UB, "dst", call), operand(src, MEMORY_UB, "src", call),
                      AscendC::DataCopyParams(n_burst, len_burst, src_gap, dst_gap), site);
}

// Sums: of a number of elements, or of repeats with the mask that is set.
#define JUMAR_ASCENDC_C_ADD(TypeT)                                                                                                                   \
    inline void asc_add(__ubuf__ TypeT* dst, __ubuf__ TypeT* src0, __ubuf__ TypeT* src1, uint32_t count,                                             \
                        jumar::ascendc::Site site = jumar::ascendc::Site::here())                                                                    \
    {                                                                                                                                                \
        using namespace jumar::ascendc;                                                                                                              \
        const Call call{"asc_add", site};                                                                                                            \
        AscendC::Add(operand(dst, MEMORY_UB, "dst", call), operand(src0, MEMORY_UB, "src0", call), operand(src1, MEMORY_UB, "src1", call),           \
                     static_cast<int32_t>(count), site);                                                                                             \
    }                                                                                                                                                \
    inline void asc_add(__ubuf__ TypeT* dst, __ubuf__ TypeT* src0, __ubuf__ TypeT* src1, uint8_t repeat, uint8_t dst_block_stride, uint8_t src0_block_stride, \
                        uint8_t src1_block_stride, uint8_t dst_repeat_stride, uint8_t src0_repeat_stride, uint8_t src1_repeat_stride,                \
                        jumar::ascendc::Site site = jumar::ascendc::Site::here())                                                                    \
    {                                                                                                                                                \
        using namespace jumar::ascendc;                                                                                                              \
        const Call call{"asc_add", site};                                                                                                            \
        AscendC::Add<TypeT, false>(operand(dst, MEMORY_UB, "dst", call), operand(src0, MEMORY_UB, "src0", call), operand(src1, MEMORY_UB, "src1", call), \
                               AscendC::MASK_PLACEHOLDER, repeat,                                                                                    \
                               AscendC::BinaryRepeatParams(dst_block_stride, src0_block_stride, src1_block_stride, dst_repeat_stride,                \
                                                           src0_repeat_stride, src1_repeat_stride),                                                  \
                               site);                                                                                                                \
    }                                                                                                                                                \
    inline void asc_add_sync(__ubuf__ TypeT* dst, __ubuf__ TypeT* src0, __ubuf__ TypeT* src1, uint32_t count,                                        \
                             jumar::ascendc::Site site = jumar::ascendc::Site::here())                                                               \
    {                                                                                                                                                \
        asc_add(dst, src0, src1, count, site);                                                                                                       \
        asc_sync();                                                                                                                                  \
    }
JUMAR_ASCENDC_C_ADD(int16_t)
JUMAR_ASCENDC_C_ADD(half)
JUMAR_ASCENDC_C_ADD(int32_t)
JUMAR_ASCENDC_C_ADD(float)
#undef JUMAR_ASCENDC_C_ADD

// Copies to L1: bytes, bursts, fractals for addresses with a type, and row-major matrices to columns of fractals.
inline void asc_copy_gm2l1(__cbuf__ void* dst, __gm__ void* src, uint32_t size, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"asc_copy_gm2l1", site, PIPE_MTE2};
    need_cube(call.name, site);
    AscendC::DataCopy(operand(dst, MEMORY_L1, "dst", call), global_operand(src), size, site);
}
inline void asc_copy_gm2l1(__cbuf__ void* dst, __gm__ void* src, uint16_t n_burst, uint16_t len_burst, uint16_t src_gap, uint16_t dst_gap,
                           jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"asc_copy_gm2l1", site, PIPE_MTE2};
    need_cube(call.name, site);
    AscendC::DataCopy(operand(dst, MEMORY_L1, "dst", call), global_operand(src), AscendC::DataCopyParams(n_burst, len_burst, src_gap, dst_gap), site);
}
#define JUMAR_ASCENDC_C_GM2L1(TypeT)                                                                                                                 \
    inline void asc_copy_gm2l1(__cbuf__ TypeT* dst, __gm__ TypeT* src, uint16_t base_idx, uint8_t repeat, uint16_t src_stride, uint16_t dst_gap,     \
                               jumar::ascendc::Site site = jumar::ascendc::Site::here())                                                             \
    {                                                                                                                                                \
        using namespace jumar::ascendc;                                                                                                              \
        const Call call{"asc_copy_gm2l1", site, PIPE_MTE2};                                                                                          \
        need_cube(call.name, site);                                                                                                                  \
        AscendC::LoadData(operand(dst, MEMORY_L1, "dst", call), global_operand(src),                                                                 \
                          AscendC::LoadData2DParams(base_idx, repeat, src_stride, 0, dst_gap, false, 0), site);                                      \
    }
JUMAR_ASCENDC_C_GM2L1(bfloat16_t)
JUMAR_ASCENDC_C_GM2L1(half)
JUMAR_ASCENDC_C_GM2L1(float)
JUMAR_ASCENDC_C_GM2L1(int32_t)
JUMAR_ASCENDC_C_GM2L1(int8_t)
JUMAR_ASCENDC_C_GM2L1(uint32_t)
JUMAR_ASCENDC_C_GM2L1(uint8_t)
#undef JUMAR_ASCENDC_C_GM2L1
template <typename TypeT>
inline void asc_copy_gm2l1_nd2nz(__cbuf__ TypeT* dst, __gm__ TypeT* src, uint16_t nd_num, uint16_t n_value, uint16_t d_value, uint16_t src_nd_matrix_stride,
                                 uint16_t src_d_value, uint16_t dst_nz_c0_stride, uint16_t dst_nz_n_stride, uint16_t dst_nz_matrix_stride,
                                 jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"asc_copy_gm2l1_nd2nz", site, PIPE_MTE2};
    need_cube(call.name, site);
    AscendC::DataCopy(operand(dst, MEMORY_L1, "dst", call), global_operand(src),
                      AscendC::Nd2NzParams(nd_num, n_value, d_value, src_nd_matrix_stride, src_d_value, dst_nz_c0_stride, dst_nz_n_stride,
                                           dst_nz_matrix_stride),
                      site);
}

// Fractals from L1 to L0A and L0B.
template <typename TypeT>
inline void asc_copy_l12l0a(__ca__ TypeT* dst, __cbuf__ TypeT* src, uint16_t start_index, uint8_t repeat, uint16_t src_stride, uint16_t dst_gap,
                            jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    load_left_or_right(dst, MEMORY_L0A, src, AscendC::LoadData2DParams(start_index, repeat, src_stride, 0, dst_gap, false, 0),
                       Call{"asc_copy_l12l0a", site, PIPE_MTE1});
}
template <typename TypeT>
inline void asc_copy_l12l0b(__cb__ TypeT* dst, __cbuf__ TypeT* src, uint16_t start_index, uint8_t repeat, uint16_t src_stride, uint16_t dst_gap,
                            jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    load_left_or_right(dst, MEMORY_L0B, src, AscendC::LoadData2DParams(start_index, repeat, src_stride, 0, dst_gap, false, 0),
                       Call{"asc_copy_l12l0b", site, PIPE_MTE1});
}
template <typename TypeT>
inline void asc_copy_l12l0b_trans(__cb__ TypeT* dst, __cbuf__ TypeT* src, uint16_t index_id, uint8_t repeat, uint16_t src_stride, uint16_t dst_gap,
                                  bool enable_addr_decrement, uint16_t dst_frac_gap, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"asc_copy_l12l0b_trans", site, PIPE_MTE1};
    need_cube(call.name, site);
    AscendC::LoadDataWithTranspose(operand(dst, MEMORY_L0B, "dst", call), operand(src, MEMORY_L1, "src", call),
                                   AscendC::LoadData2dTransposeParams(index_id, repeat, src_stride, dst_gap, dst_frac_gap, enable_addr_decrement), site);
}

// Biases and scales from L1. The bias table's address is a number, and its lengths have units of 64 bytes; those of the fixpipe buffer have 128.
template <typename TypeT>
inline void asc_copy_l12bt(uint64_t dst, __cbuf__ TypeT* src, uint32_t size, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    static_assert(std::is_void_v<TypeT> || sizeof(Element<TypeT>) == 4, "asc_copy_l12bt with a size copies elements of 32 bits; docs/ascendc.md lists what is supported");
    const Call call{"asc_copy_l12bt", site, PIPE_MTE1};
    need_cube(call.name, site);
    AscendC::DataCopy(operand(reinterpret_cast<uint8_t*>(dst), MEMORY_BIAS, "dst", call),
                      operand(reinterpret_cast<uint8_t*>(src), MEMORY_L1, "src", call), size, site);
}
template <typename TypeT>
inline void asc_copy_l12bt(uint64_t dst, __cbuf__ TypeT* src, uint16_t conv_control, uint16_t n_burst, uint16_t len_burst, uint16_t source_gap,
                           uint16_t dst_gap, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    using Source = std::conditional_t<std::is_void_v<TypeT>, half, Element<TypeT>>;
    const Call call{"asc_copy_l12bt", site, PIPE_MTE1};
    need_cube(call.name, site);
    const AscendC::DataCopyParams params(n_burst, len_burst, source_gap, dst_gap);
    if (conv_control == 0) {
        AscendC::DataCopy(operand(reinterpret_cast<uint8_t*>(dst), MEMORY_BIAS, "dst", call),
                          operand(reinterpret_cast<uint8_t*>(src), MEMORY_L1, "src", call), params, site);
        return;
    }
    if constexpr (is_half<Source> || is_bfloat16<Source>)
        AscendC::DataCopy(operand(reinterpret_cast<float*>(dst), MEMORY_BIAS, "dst", call),
                          operand(reinterpret_cast<Source*>(src), MEMORY_L1, "src", call), params, site);
    else
        fail(site, "asc_copy_l12bt: conv_control converts half and bfloat16_t, and src has elements of another type");
}
inline void asc_copy_l12fb(__fbuf__ void* dst, __cbuf__ void* src, uint32_t size, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"asc_copy_l12fb", site, PIPE_FIX};
    need_cube(call.name, site);
    AscendC::DataCopy(operand(dst, MEMORY_FIXPIPE, "dst", call), operand(src, MEMORY_L1, "src", call), size, site);
}
inline void asc_copy_l12fb(__fbuf__ void* dst, __cbuf__ void* src, uint16_t n_burst, uint16_t len_burst, uint16_t src_gap_size, uint16_t dst_gap_size,
                           jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"asc_copy_l12fb", site, PIPE_FIX};
    need_cube(call.name, site);
    AscendC::DataCopy(operand(dst, MEMORY_FIXPIPE, "dst", call), operand(src, MEMORY_L1, "src", call),
                      AscendC::DataCopyParams(n_burst, len_burst, src_gap_size, dst_gap_size), site);
}

// The product: left_height rows, n_dim products for each element, right_width columns.
template <typename TypeT, typename TypeU>
inline void asc_mmad(__cc__ TypeT* c_matrix, __ca__ TypeU* a_matrix, __cb__ TypeU* b_matrix, uint16_t left_height, uint16_t n_dim, uint16_t right_width,
                     uint8_t unit_flag, bool k_direction_align, bool c_matrix_source, bool c_matrix_init_val,
                     jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"asc_mmad", site, PIPE_M};
    need_cube(call.name, site);
    AscendC::MmadParams params(left_height, right_width, n_dim, unit_flag, c_matrix_source, c_matrix_init_val);
    params.kDirectionAlign = k_direction_align;
    AscendC::Mmad(operand(c_matrix, MEMORY_L0C, "c_matrix", call), operand(a_matrix, MEMORY_L0A, "a_matrix", call),
                  operand(b_matrix, MEMORY_L0B, "b_matrix", call), params, site);
}

// Results: the vector of scales, the scale of the other modes, the number of matrices and their distances, and the copy.
inline void asc_set_l0c2gm_config([[maybe_unused]] uint64_t relu_pre, uint64_t quant_pre, bool, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"asc_set_l0c2gm_config", site, PIPE_FIX};
    const auto words = operand(reinterpret_cast<uint64_t*>(quant_pre), MEMORY_FIXPIPE, "quant_pre", call);
    core().registers.cube.quantisations = quantisation_words(words, 1, call);
}
inline void asc_set_l0c_copy_prequant(uint64_t config)
{
    AscendC::SetFixpipePreQuantFlag(config);
}
inline void asc_set_l0c_copy_params(uint16_t nd_num, uint16_t src_nd_stride, uint16_t dst_nd_stride)
{
    AscendC::SetFixpipeNz2ndFlag(nd_num, src_nd_stride, dst_nd_stride);
}
template <typename TypeT, typename TypeU>
inline void asc_copy_l0c2gm(__gm__ TypeT* dst, __cc__ TypeU* src, uint16_t n_size, uint16_t m_size, uint32_t dst_stride_dst_d, uint16_t src_stride,
                            uint8_t unit_flag_mode, uint64_t quant_pre, uint8_t relu_pre, bool channel_split, bool nz2nd_en,
                            jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"asc_copy_l0c2gm", site, PIPE_FIX};
    need_cube(call.name, site);
    if (relu_pre > 1) fail(site, "asc_copy_l0c2gm: relu_pre is %u; 0 and 1 are supported, ReLU with slopes is not", relu_pre);
    AscendC::DataCopyCO12DstParams params(n_size, m_size, dst_stride_dst_d, src_stride, quantisation_mode(quant_pre, call), relu_pre, channel_split,
                                          nz2nd_en);
    params.unitFlag = unit_flag_mode;
    AscendC::DataCopy(global_operand(dst), operand(src, MEMORY_L0C, "src", call), params, site);
}

// Prints elements.
template <typename TypeT> void asc_dump_gm(__gm__ TypeT* input, uint32_t desc, uint32_t dump_size, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    AscendC::DumpTensor(jumar::ascendc::global_operand(input), desc, dump_size, site);
}
template <typename TypeT> void asc_dump_ubuf(__ubuf__ TypeT* input, uint32_t desc, uint32_t dump_size, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    dump_operand(input, MEMORY_UB, desc, dump_size, Call{"asc_dump_ubuf", site});
}
template <typename TypeT> void asc_dump_l1buf(__cbuf__ TypeT* input, uint32_t desc, uint32_t dump_size, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    dump_operand(input, MEMORY_L1, desc, dump_size, Call{"asc_dump_l1buf", site});
}
template <typename TypeT> void asc_dump_cbuf(__cc__ TypeT* input, uint32_t desc, uint32_t dump_size, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    dump_operand(input, MEMORY_L0C, desc, dump_size, Call{"asc_dump_cbuf", site});
}

#endif
