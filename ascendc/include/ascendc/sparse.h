// Products with a sparse right matrix, and vectors that are spread over fractals of L0C.
#ifndef JUMAR_ASCENDC_SPARSE_H
#define JUMAR_ASCENDC_SPARSE_H

#include "cube.h"

namespace AscendC {

// Loads fractals of a dense right matrix, of which each pair of elements stands for four, and the 128 bytes of indices of each fractal:
// two bits for an element, that of the lower element in the lower bits. The fractals follow each other in both memories: of the parameters
// the function reads startIndex and repeatTimes.
template <typename TypeT = int8_t, typename TypeU = uint8_t>
void LoadDataWithSparse(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const LocalTensor<TypeU>& idx, const LoadData2DParams& loadDataParam,
                        jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    static_assert(std::is_same_v<TypeT, int8_t> && std::is_same_v<TypeU, uint8_t>, "LoadDataWithSparse has matrices of int8_t and indices of uint8_t");
    const Call call{"LoadDataWithSparse", site, PIPE_MTE1};
    need_cube(call.name, site);
    need_memory(dst, MEMORY_L0B, MEMORY_L0B, "dst", call);
    need_memory(src, MEMORY_L1, MEMORY_L1, "src", call);
    need_memory(idx, MEMORY_L1, MEMORY_L1, "idx", call);
    if (loadDataParam.ifTranspose) fail(site, "LoadDataWithSparse: ifTranspose is not possible");
    const uint64_t fractals = loadDataParam.repeatTimes;
    if (fractals == 0) return;
    const LoadData2DParams in_order(loadDataParam.startIndex, loadDataParam.repeatTimes, 1, 0, 0, false, 0);
    load_fractals(dst, bytes_at(src), in_order, call, [&](uint64_t last) {
        check_access(src, (last + 1) * FRACTAL, "src", call);
        check_access(idx, (last + 1) * FRACTAL / 4, "idx", call);
    });
    Core& self = core();
    std::vector<uint8_t>& indices = self.sparse_indices;
    if (indices.empty()) indices.resize(memory_info(MEMORY_L0B).bytes / 4);
    const uint64_t begin = static_cast<uint64_t>(bytes_at(dst) - self.memories[MEMORY_L0B].base(MEMORY_L0B)) / 4;
    std::memcpy(indices.data() + begin, bytes_at(idx) + loadDataParam.startIndex * (FRACTAL / 4), fractals * (FRACTAL / 4));
}

// C += A * B with a B from LoadDataWithSparse. An element of B is multiplied with the one of four elements of A that its index selects: the
// first element of a pair with 0 to 2, the second one with 1 to 3.
template <typename TypeT = int32_t, typename TypeU = int8_t>
void MmadWithSparse(const LocalTensor<TypeT>& dst, const LocalTensor<TypeU>& fm, const LocalTensor<TypeU>& filter, const MmadParams& mmadParams,
                    jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    static_assert(std::is_same_v<TypeT, int32_t> && std::is_same_v<TypeU, int8_t>, "MmadWithSparse multiplies int8_t and adds int32_t");
    const Call call{"MmadWithSparse", site, PIPE_M};
    need_cube(call.name, site);
    need_memory(dst, MEMORY_L0C, MEMORY_L0C, "dst", call);
    need_memory(fm, MEMORY_L0A, MEMORY_L0A, "fm", call);
    need_memory(filter, MEMORY_L0B, MEMORY_L0B, "filter", call);
    const uint32_t m = mmadParams.m, n = mmadParams.n, k = mmadParams.k;
    if (m == 0 || n == 0 || k == 0) return;
    if (m > 4095 || n > 4095 || k > 4095 || k % 4 != 0)
        fail(site, "MmadWithSparse: m, n and k are %u, %u and %u; wanted are 4095 at most, and a k that is a multiple of 4", m, n, k);
    const bool accumulates = mmadParams.isBias || !mmadParams.cmatrixInitVal;
    if (accumulates && mmadParams.cmatrixSource) fail(site, "MmadWithSparse: cmatrixSource is true, and there is no form with a bias");
    const uint32_t m_blocks = divided_up(m, 16), n_blocks = divided_up(n, 16), k_blocks = divided_up(k, 32), dense_blocks = divided_up(k / 2, 32);
    check_access(fm, static_cast<uint64_t>(m_blocks) * k_blocks * FRACTAL, "fm", call, FRACTAL);
    check_access(filter, static_cast<uint64_t>(dense_blocks) * n_blocks * FRACTAL, "filter", call, FRACTAL);
    check_access(dst, static_cast<uint64_t>(m_blocks) * n_blocks * 256 * sizeof(TypeT), "dst", call, 64);
    const Core& self = core();
    if (self.sparse_indices.empty()) fail(site, "MmadWithSparse: there are no indices; LoadDataWithSparse loads filter");
    const uint8_t* indices =
        self.sparse_indices.data() + static_cast<uint64_t>(bytes_at(filter) - core().memories[MEMORY_L0B].base(MEMORY_L0B)) / 4;
    const int8_t *a = fm.raw(), *b = filter.raw();
    for (uint32_t column = 0; column < n; column++)
        for (uint32_t row = 0; row < m; row++) {
            int32_t& result = dst.raw()[static_cast<uint64_t>(column / 16) * m_blocks * 256 + row * 16 + column % 16];
            uint32_t sum = accumulates ? static_cast<uint32_t>(result) : 0;
            for (uint32_t at = 0; at < k / 2; at++) {
                const uint64_t element = (static_cast<uint64_t>(at / 32) * n_blocks + column / 16) * FRACTAL + column % 16 * 32 + at % 32;
                const uint32_t index = indices[element / 4] >> element % 4 * 2 & 3, from = at / 2 * 4 + at % 2 + index;
                if (index == 3) fail(site, "MmadWithSparse: the index of element (%u, %u) is 3; indices are 0 to 2", at, column);
                const int32_t left = a[(static_cast<uint64_t>(row / 16) * k_blocks + from / 32) * FRACTAL + row % 16 * 32 + from % 32];
                sum += static_cast<uint32_t>(left * b[element]);
            }
            result = static_cast<int32_t>(sum);
        }
}

// Each 16 elements of a vector in UB become the 16 rows of a fractal in L0C. Of the 310P.
template <typename TypeT, typename TypeU>
void BroadCastVecToMM(const LocalTensor<TypeT>& dst, const LocalTensor<TypeU>& src, const int32_t blockCount, const uint8_t blockLen, const uint8_t srcGap,
                      const uint8_t dstGap, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    static_assert(std::is_same_v<TypeT, TypeU> && (sizeof(TypeT) == 2 || sizeof(TypeT) == 4), "BroadCastVecToMM has one type, of 16 or 32 bits");
    const Call call{"BroadCastVecToMM", site};
    need_memory(dst, MEMORY_L0C, MEMORY_L0C, "dst", call);
    need_memory(src, MEMORY_UB, MEMORY_UB, "src", call);
    if (blockCount < 1 || blockCount > 255 || blockLen == 0)
        fail(site, "BroadCastVecToMM: %d blocks of %u times 16 elements; wanted are 1 to 255 each", blockCount, blockLen);
    const uint64_t blocks = static_cast<uint64_t>(blockCount), length = blockLen;
    const uint64_t src_step = length * 16 + srcGap * (32 / sizeof(TypeT)), dst_step = (length + dstGap) * 256;
    check_access(src, ((blocks - 1) * src_step + length * 16) * sizeof(TypeT), "src", call);
    check_access(dst, ((blocks - 1) * dst_step + length * 256) * sizeof(TypeT), "dst", call, 64);
    for (uint64_t block = 0; block < blocks; block++)
        for (uint64_t at = 0; at < length * 256; at++) dst.raw()[block * dst_step + at] = src.raw()[block * src_step + at / 256 * 16 + at % 16];
}

} // namespace AscendC

#endif
