// Sorting: pairs of a score and an index, 8 bytes each, in descending order.
#ifndef JUMAR_ASCENDC_SORT_H
#define JUMAR_ASCENDC_SORT_H

#include <algorithm>

#include "vector.h"

namespace AscendC {

struct MrgSort4Info {
    uint16_t elementLengths[MRG_SORT_ELEMENT_LEN] = {0, 0, 0, 0};
    bool ifExhaustedSuspension = false;
    uint16_t validBit = 0;
    uint8_t repeatTimes = 1;

    MrgSort4Info() = default;
    MrgSort4Info(const uint16_t lengths[MRG_SORT_ELEMENT_LEN], bool suspends, uint16_t valid, uint16_t repeat)
        : ifExhaustedSuspension(suspends), validBit(valid), repeatTimes(static_cast<uint8_t>(repeat))
    {
        for (int at = 0; at < MRG_SORT_ELEMENT_LEN; at++) elementLengths[at] = lengths[at];
    }
};

template <typename TypeT> struct MrgSortSrcList {
    LocalTensor<TypeT> src1;
    LocalTensor<TypeT> src2;
    LocalTensor<TypeT> src3;
    LocalTensor<TypeT> src4;

    MrgSortSrcList() = default;
    MrgSortSrcList(const LocalTensor<TypeT>& first, const LocalTensor<TypeT>& second, const LocalTensor<TypeT>& third, const LocalTensor<TypeT>& fourth)
        : src1(first), src2(second), src3(third), src4(fourth)
    {
    }
};

} // namespace AscendC

namespace jumar {
namespace ascendc {

// A pair as it lies in memory. A half score takes the low 2 bytes.
template <typename TypeT> struct SortPair {
    TypeT score;
    uint8_t filler[4 - sizeof(TypeT)];
    uint32_t index;
};
template <> struct SortPair<float> {
    float score;
    uint32_t index;
};

template <typename TypeT> struct Proposal {
    TypeT fields[8];
};

template <typename TypeT> inline bool before(const SortPair<TypeT>& a, const SortPair<TypeT>& b)
{
    // A NaN sorts as the largest value, so that the order is total.
    const bool a_nan = a.score != a.score, b_nan = b.score != b.score;
    return a_nan || b_nan ? a_nan && !b_nan : a.score > b.score;
}

} // namespace ascendc
} // namespace jumar

namespace AscendC {

template <typename TypeT>
void Sort32(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src0, const LocalTensor<uint32_t>& src1, const int32_t repeatTime,
            jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"Sort32", site};
    if (repeatTime <= 0) return;
    check_access(dst, static_cast<uint64_t>(repeatTime) * 256, "dst", call);
    check_access(src0, static_cast<uint64_t>(repeatTime) * 32 * sizeof(TypeT), "src0", call);
    check_access(src1, static_cast<uint64_t>(repeatTime) * 128, "src1", call);
    for (int32_t repeat = 0; repeat < repeatTime; repeat++) {
        SortPair<TypeT> pairs[32] = {};
        for (int at = 0; at < 32; at++) {
            pairs[at].score = src0.raw()[repeat * 32 + at];
            pairs[at].index = src1.raw()[repeat * 32 + at];
        }
        std::stable_sort(pairs, pairs + 32, before<TypeT>);
        std::memcpy(reinterpret_cast<uint8_t*>(dst.raw()) + repeat * 256, pairs, sizeof pairs);
    }
}

// Merges 2 to 4 lists. Of equal scores that of the lower list comes first.
template <typename TypeT>
void MrgSort(const LocalTensor<TypeT>& dst, const MrgSortSrcList<TypeT>& src, const MrgSort4Info& params, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    using Pair = SortPair<TypeT>;
    const Call call{"MrgSort", site};
    const int lists = params.validBit == 15 ? 4 : params.validBit == 7 ? 3 : params.validBit == 3 ? 2 : 0;
    if (lists == 0) fail(site, "MrgSort: validBit is %u; it has to be 3, 7 or 15", params.validBit);
    const LocalTensor<TypeT>* tensors[4] = {&src.src1, &src.src2, &src.src3, &src.src4};
    uint64_t all = 0;
    for (int list = 0; list < lists; list++) all += params.elementLengths[list];
    Core& self = core();
    for (uint64_t repeat = 0; repeat < params.repeatTimes; repeat++) {
        const Pair* from[4];
        uint64_t taken[4] = {0, 0, 0, 0};
        for (int list = 0; list < lists; list++) {
            const uint64_t step = repeat * all;
            check_access(*tensors[list], (step + params.elementLengths[list]) * 8, "src", call, 8);
            from[list] = reinterpret_cast<const Pair*>(tensors[list]->raw()) + step;
        }
        check_access(dst, (repeat + 1) * all * 8, "dst", call);
        Pair* to = reinterpret_cast<Pair*>(dst.raw()) + repeat * all;
        for (uint64_t at = 0; at < all; at++) {
            int best = -1;
            for (int list = 0; list < lists; list++) {
                if (taken[list] == params.elementLengths[list]) continue;
                if (best < 0 || before(from[list][taken[list]], from[best][taken[best]])) best = list;
            }
            to[at] = from[best][taken[best]++];
            if (params.ifExhaustedSuspension && taken[best] == params.elementLengths[best]) break;
        }
        for (int list = 0; list < 4; list++) self.registers.merged[list] = static_cast<uint16_t>(taken[list]);
    }
}
template <typename TypeT, bool isExhaustedSuspension = false>
void MrgSort(const LocalTensor<TypeT>& dst, const MrgSortSrcList<TypeT>& sortList, const uint16_t elementCountList[4], uint32_t sortedNum[4], uint16_t validBit,
             const int32_t repeatTime, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    MrgSort(dst, sortList, MrgSort4Info(elementCountList, isExhaustedSuspension, validBit, static_cast<uint16_t>(repeatTime)), site);
    for (int list = 0; list < 4; list++) sortedNum[list] = jumar::ascendc::core().registers.merged[list];
}
inline void GetMrgSortResult(uint16_t& first, uint16_t& second, uint16_t& third, uint16_t& fourth)
{
    jumar::ascendc::complete_all();
    const uint16_t* merged = jumar::ascendc::core().registers.merged;
    first = merged[0];
    second = merged[1];
    third = merged[2];
    fourth = merged[3];
}

template <typename TypeT> uint32_t GetSortLen(const uint32_t elements)
{
    return elements * 8 / static_cast<uint32_t>(sizeof(TypeT));
}
template <typename TypeT> uint32_t GetSortOffset(const uint32_t element)
{
    return element * 8 / static_cast<uint32_t>(sizeof(TypeT));
}
template <typename TypeT> void Concat(LocalTensor<TypeT>& concat, const LocalTensor<TypeT>& src, const LocalTensor<TypeT>&, const int32_t)
{
    concat = src;
}
template <typename TypeT>
void Extract(const LocalTensor<TypeT>& dstValue, const LocalTensor<uint32_t>& dstIndex, const LocalTensor<TypeT>& sorted, const int32_t repeatTime,
             jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"Extract", site};
    if (repeatTime <= 0) return;
    const uint64_t count = static_cast<uint64_t>(repeatTime) * 32;
    check_access(dstValue, count * sizeof(TypeT), "dstValue", call);
    check_access(dstIndex, count * 4, "dstIndex", call);
    check_access(sorted, count * 8, "sorted", call);
    const SortPair<TypeT>* from = reinterpret_cast<const SortPair<TypeT>*>(sorted.raw());
    for (uint64_t at = 0; at < count; at++) {
        const SortPair<TypeT> pair = from[at];
        dstValue.raw()[at] = pair.score;
        dstIndex.raw()[at] = pair.index;
    }
}
template <typename TypeT, bool isFullSort>
void Sort(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& concat, const LocalTensor<uint32_t>& index, LocalTensor<TypeT>& tmp, const int32_t repeatTime,
          jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    Sort32(dst, concat, index, repeatTime, site);
    if constexpr (isFullSort) {
        const uint64_t count = static_cast<uint64_t>(repeatTime > 0 ? repeatTime : 0) * 32;
        if (repeatTime > 1) check_access(tmp, count * 8, "tmp", Call{"Sort", site});
        SortPair<TypeT>* pairs = reinterpret_cast<SortPair<TypeT>*>(dst.raw());
        std::stable_sort(pairs, pairs + count, before<TypeT>);
    }
}

// Region proposals of 310P: 8 elements each, of which the fifth is the score. A repeat has 16 of them.
template <typename TypeT>
void ProposalConcat(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const int32_t repeatTime, const int32_t modeNumber,
                    jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"ProposalConcat", site};
    if (modeNumber < 0 || modeNumber > 5) fail(site, "ProposalConcat: modeNumber is %d; fields have the numbers 0 to 5", modeNumber);
    if (repeatTime <= 0) return;
    const uint64_t count = static_cast<uint64_t>(repeatTime) * 16;
    check_access(dst, count * sizeof(Proposal<TypeT>), "dst", call);
    check_access(src, count * sizeof(TypeT), "src", call);
    for (uint64_t at = 0; at < count; at++) dst.raw()[at * 8 + static_cast<uint64_t>(modeNumber)] = src.raw()[at];
}
template <typename TypeT>
void ProposalExtract(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const int32_t repeatTime, const int32_t modeNumber,
                     jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"ProposalExtract", site};
    if (modeNumber < 0 || modeNumber > 5) fail(site, "ProposalExtract: modeNumber is %d; fields have the numbers 0 to 5", modeNumber);
    if (repeatTime <= 0) return;
    const uint64_t count = static_cast<uint64_t>(repeatTime) * 16;
    check_access(dst, count * sizeof(TypeT), "dst", call);
    check_access(src, count * sizeof(Proposal<TypeT>), "src", call);
    for (uint64_t at = 0; at < count; at++) dst.raw()[at] = src.raw()[at * 8 + static_cast<uint64_t>(modeNumber)];
}
template <typename TypeT>
void RpSort16(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const int32_t repeatTime, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"RpSort16", site};
    if (repeatTime <= 0) return;
    const uint64_t bytes = static_cast<uint64_t>(repeatTime) * 16 * sizeof(Proposal<TypeT>);
    check_access(dst, bytes, "dst", call);
    check_access(src, bytes, "src", call);
    for (int32_t repeat = 0; repeat < repeatTime; repeat++) {
        Proposal<TypeT> sorted[16];
        std::memcpy(sorted, src.raw() + repeat * 128, sizeof sorted);
        std::stable_sort(sorted, sorted + 16, [](const Proposal<TypeT>& a, const Proposal<TypeT>& b) { return a.fields[4] > b.fields[4]; });
        std::memcpy(dst.raw() + repeat * 128, sorted, sizeof sorted);
    }
}
// Merges 2 to 4 lists of region proposals. Of equal scores that of the lower list comes first.
template <typename TypeT>
void MrgSort4(const LocalTensor<TypeT>& dst, const MrgSortSrcList<TypeT>& src, const MrgSort4Info& params, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"MrgSort4", site};
    const int lists = params.validBit == 15 ? 4 : params.validBit == 7 ? 3 : params.validBit == 3 ? 2 : 0;
    if (lists == 0) fail(site, "MrgSort4: validBit is %u; it has to be 3, 7 or 15", params.validBit);
    const LocalTensor<TypeT>* tensors[4] = {&src.src1, &src.src2, &src.src3, &src.src4};
    uint64_t all = 0, taken[4] = {0, 0, 0, 0};
    for (int list = 0; list < lists; list++) {
        all += params.elementLengths[list];
        check_access(*tensors[list], params.elementLengths[list] * sizeof(Proposal<TypeT>), "src", call);
    }
    check_access(dst, all * sizeof(Proposal<TypeT>), "dst", call);
    for (uint64_t at = 0; at < all; at++) {
        int best = -1;
        for (int list = 0; list < lists; list++) {
            if (taken[list] == params.elementLengths[list]) continue;
            if (best < 0 || tensors[list]->raw()[taken[list] * 8 + 4] > tensors[best]->raw()[taken[best] * 8 + 4]) best = list;
        }
        std::memcpy(dst.raw() + at * 8, tensors[best]->raw() + taken[best]++ * 8, sizeof(Proposal<TypeT>));
        if (params.ifExhaustedSuspension && taken[best] == params.elementLengths[best]) break;
    }
    for (int list = 0; list < 4; list++) core().registers.merged[list] = static_cast<uint16_t>(taken[list]);
}

} // namespace AscendC

#endif
