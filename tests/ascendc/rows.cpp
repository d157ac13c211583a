// Functions of rows, lists of tensors, blocks in turn, and intrinsics, against scalar loops.
#include "check.h"

#include <algorithm>
#include <cmath>

#include "tiling/tiling_api.h"

namespace {

// Values with repetitions, so that the order of equal elements matters.
template <typename T> std::vector<T> steps(size_t count, uint32_t seed)
{
    std::mt19937 random(seed);
    std::vector<T> values(count);
    for (T& value : values) value = static_cast<T>(static_cast<float>(static_cast<int>(random() % 41) - 20) * 0.25f);
    return values;
}

template <typename T, TopKMode mode, bool has_index, bool has_finish> void check_topk(int32_t rows, int32_t inner, int32_t n, int32_t k, bool is_largest)
{
    const auto values = steps<T>(static_cast<size_t>(rows * inner), 7);
    std::vector<int32_t> indices(static_cast<size_t>(rows * inner));
    for (size_t at = 0; at < indices.size(); at++) indices[at] = static_cast<int32_t>(1000 + at % static_cast<size_t>(inner));
    constexpr bool is_small = mode == TopKMode::TOPK_NSMALL;
    const int32_t value_step = is_small ? k : (k * static_cast<int32_t>(sizeof(T)) + 31) / 32 * 32 / static_cast<int32_t>(sizeof(T));
    const int32_t index_step = is_small ? k : (k + 7) / 8 * 8;
    const std::string said = check::run([&] {
        TPipe pipe;
        auto src = check::put(pipe, values);
        auto src_index = check::put(pipe, indices);
        auto value = check::put(pipe, std::vector<T>(static_cast<size_t>(rows * value_step + 64)));
        auto index = check::put(pipe, std::vector<int32_t>(static_cast<size_t>(rows * index_step + 64)));
        TBuf<TPosition::VECCALC> flags;
        pipe.InitBuffer(flags, 64);
        auto finish = flags.Get<bool>();
        for (int32_t row = 0; row < rows; row++) finish.GetPhyAddr()[row] = row == 1;
        TopK<T, has_index, has_finish, false, mode>(value, index, src, src_index, finish, k, TopkTiling{}, TopKInfo{rows, inner, n}, is_largest);
        for (int32_t row = 0; row < rows; row++) {
            std::vector<std::pair<float, int32_t>> wanted;
            for (int32_t at = 0; at < n; at++) wanted.push_back({static_cast<float>(values[static_cast<size_t>(row * inner + at)]), at});
            std::sort(wanted.begin(), wanted.end(), [&](auto a, auto b) {
                if (a.first != b.first) return is_largest ? a.first > b.first : a.first < b.first;
                return a.second < b.second;
            });
            for (int32_t at = 0; at < k; at++) {
                const auto [score, from] = wanted[static_cast<size_t>(at)];
                EXPECT(static_cast<float>(value.GetPhyAddr()[row * value_step + at]) == score);
                const int32_t number = has_finish && row == 1 ? n : has_index ? 1000 + from : from;
                EXPECT(index.GetPhyAddr()[row * index_step + at] == number);
            }
        }
    });
    if (!said.empty()) check::report(__FILE__, __LINE__, said);
}

} // namespace

TEST(the_largest_and_the_smallest_elements_of_rows)
{
    for (bool is_largest : {true, false}) {
        check_topk<float, TopKMode::TOPK_NORMAL, false, false>(3, 64, 50, 13, is_largest);
        check_topk<half, TopKMode::TOPK_NORMAL, true, true>(4, 96, 96, 9, is_largest);
        check_topk<float, TopKMode::TOPK_NSMALL, true, false>(5, 32, 20, 7, is_largest);
        check_topk<half, TopKMode::TOPK_NSMALL, false, true>(2, 32, 32, 32, is_largest);
    }
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     auto x = check::put(pipe, std::vector<float>(64));
                     auto index = check::put(pipe, std::vector<int32_t>(64));
                     LocalTensor<bool> finish;
                     TopK<float>(x, index, x, index, finish, 65, TopkTiling{}, TopKInfo{1, 64, 64});
                 }),
                 "TopK: k is 65, and the 1 rows have 64 elements of 64; wanted are 1 <= k <= n <= inner");
    optiling::TopkTiling tiling;
    const platform_ascendc::PlatformAscendC platform(platform_ascendc::SocVersion::ASCEND910B);
    EXPECT(AscendC::TopKTilingFunc(platform, 64, 2, 5, 4, false, TopKMode::TOPK_NORMAL, true, tiling) && tiling.get_innerDataSize() == 64);
    EXPECT(!AscendC::TopKTilingFunc(platform, 64, 2, 65, 4, false, TopKMode::TOPK_NORMAL, true, tiling));
}

constexpr CumSumConfig DOWN{false, false, false};

TEST(running_sums_along_rows_and_down_columns)
{
    const auto values = steps<float>(3 * 16, 3);
    const std::string said = check::run([&] {
        TPipe pipe;
        auto src = check::put(pipe, values), dst = check::put(pipe, std::vector<float>(48)), last = check::put(pipe, std::vector<float>(16));
        auto tmp = check::put(pipe, std::vector<uint8_t>(64));
        CumSum(dst, last, src, tmp, CumSumInfo{3, 16});
        for (size_t row = 0; row < 3; row++) {
            float sum = 0;
            for (size_t column = 0; column < 16; column++) {
                sum += values[row * 16 + column];
                EXPECT(dst.GetPhyAddr()[row * 16 + column] == sum);
                if (row == 2) EXPECT(last.GetPhyAddr()[column] == sum);
            }
        }
        CumSum<float, DOWN>(dst, last, src, CumSumInfo{3, 16});
        for (size_t column = 0; column < 16; column++)
            EXPECT(dst.GetPhyAddr()[32 + column] == values[column] + values[16 + column] + values[32 + column]);
    });
    EXPECT(said.empty());
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     auto x = check::put(pipe, std::vector<float>(48));
                     CumSum(x, x, x, CumSumInfo{3, 15});
                 }),
                 "CumSum: a row has 15 elements of 4 bytes");
}

TEST(means_and_gated_units)
{
    const auto values = steps<float>(2 * 24, 5), gates = steps<float>(48, 6);
    const std::string said = check::run([&] {
        TPipe pipe;
        auto src = check::put(pipe, values), gate = check::put(pipe, gates), dst = check::put(pipe, std::vector<float>(48));
        Mean(dst, src, MeanParams{2, 24, 19});
        for (size_t row = 0; row < 2; row++) {
            double sum = 0;
            for (size_t at = 0; at < 19; at++) sum += values[row * 24 + at];
            EXPECT(dst.GetPhyAddr()[row] == static_cast<float>(sum / 19));
        }
        ReGlu(dst, src, gate, 48);
        for (size_t at = 0; at < 48; at++) EXPECT(dst.GetPhyAddr()[at] == values[at] * std::max(gates[at], 0.0f));
        GeGLU(dst, src, gate);
        for (size_t at = 0; at < 48; at++) {
            const double x = gates[at], wanted = values[at] * 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
            EXPECT(std::fabs(dst.GetPhyAddr()[at] - wanted) <= 2e-7 * std::fabs(wanted) + 1e-12);
        }
    });
    EXPECT(said.empty());
}

TEST(masks_of_dropouts_have_bytes_or_bits)
{
    const auto values = steps<float>(2 * 16, 9);
    const std::string said = check::run([&] {
        TPipe pipe;
        auto src = check::put(pipe, values), dst = check::put(pipe, std::vector<float>(32));
        std::vector<uint8_t> bytes(64), bits(64);
        auto is_kept = [](size_t at) { return at * 7 % 5 < 3; };
        for (size_t row = 0; row < 2; row++)
            for (size_t column = 0; column < 16; column++) {
                const bool keeps = is_kept(row * 16 + column);
                bytes[row * 32 + column] = keeps;
                if (keeps) bits[row * 2 + column / 8] = static_cast<uint8_t>(bits[row * 2 + column / 8] | 1 << (column % 8));
            }
        auto check_results = [&] {
            for (size_t at = 0; at < 32; at++) EXPECT(dst.GetPhyAddr()[at] == (is_kept(at) ? values[at] / 0.6f : 0.0f));
        };
        auto byte_mask = check::put(pipe, bytes), bit_mask = check::put(pipe, bits);
        DropOut(dst, src, byte_mask, 0.6f, DropOutShapeInfo{2, 16, 32});
        check_results();
        Duplicate(dst, -1.0f, 32);
        DropOut(dst, src, bit_mask, 0.6f, DropOutShapeInfo{2, 16, 2});
        check_results();
        Duplicate(dst, -1.0f, 32);
        DropOut<float, false, DROPOUT_MODE_BIT_ALIGN>(dst, src, bit_mask, bit_mask, 0.6f, DropOutShapeInfo{2, 16, 2});
        check_results();
    });
    EXPECT(said.empty());
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     auto x = check::put(pipe, std::vector<float>(32));
                     DropOut(x, x, check::put(pipe, std::vector<uint8_t>(32)), 0.0f, DropOutShapeInfo{1, 32, 32});
                 }),
                 "DropOut: keepProb is 0");
}

TEST(reductions_by_their_newer_names)
{
    const auto values = steps<float>(128, 11);
    const std::string said = check::run([&] {
        TPipe pipe;
        auto src = check::put(pipe, values), one = check::put(pipe, std::vector<float>(64)), two = check::put(pipe, std::vector<float>(64));
        ReduceRepeat<ReduceType::MAX>(one, src, 64, 2, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE);
        for (size_t row = 0; row < 2; row++) EXPECT(one.GetPhyAddr()[row] == *std::max_element(values.begin() + row * 64, values.begin() + (row + 1) * 64));
        ReducePairElem<ReduceType::SUM>(two, src, 64, 2, 1, 1, 8);
        for (size_t at = 0; at < 64; at++) EXPECT(two.GetPhyAddr()[at] == values[2 * at] + values[2 * at + 1]);
    });
    EXPECT(said.empty());
}

TEST(region_proposals_are_sorted_and_merged)
{
    const auto scores = steps<half>(64, 21);
    const std::string said = check::run([&] {
        TPipe pipe;
        auto score = check::put(pipe, scores), proposals = check::put(pipe, std::vector<half>(512)), sorted = check::put(pipe, std::vector<half>(512)),
             merged = check::put(pipe, std::vector<half>(512)), result = check::put(pipe, std::vector<half>(64));
        std::vector<half> numbers;
        for (int at = 0; at < 64; at++) numbers.push_back(half(at));
        auto number = check::put(pipe, numbers);
        ProposalConcat(proposals, score, 4, 4);
        ProposalConcat(proposals, number, 4, 5);
        RpSort16(sorted, proposals, 4);
        const uint16_t lengths[4] = {16, 16, 16, 16};
        MrgSort4(merged, MrgSortSrcList<half>(sorted, sorted[128], sorted[256], sorted[384]), MrgSort4Info(lengths, false, 15, 1));
        std::vector<int> wanted(64);
        for (int at = 0; at < 64; at++) wanted[static_cast<size_t>(at)] = at;
        std::stable_sort(wanted.begin(), wanted.end(), [&](int a, int b) { return scores[static_cast<size_t>(a)] > scores[static_cast<size_t>(b)]; });
        ProposalExtract(result, merged, 4, 5);
        for (size_t at = 0; at < 64; at++) EXPECT(static_cast<int>(result.GetPhyAddr()[at]) == wanted[at]);
    });
    EXPECT(said.empty());
}

TEST(lists_of_tensors)
{
    float first[6] = {}, second[2] = {};
    // Two tensors: 2 x 3 and 2.
    const uint64_t list[] = {6 * 8,
                             2 | uint64_t(0) << 32,
                             2,
                             3,
                             1 | uint64_t(1) << 32,
                             2,
                             reinterpret_cast<uint64_t>(first),
                             reinterpret_cast<uint64_t>(second)};
    const std::string said = check::run([&] {
        ListTensorDesc tensors(const_cast<uint64_t*>(list));
        EXPECT(tensors.GetSize() == 2);
        EXPECT(tensors.GetDataPtr<float>(1) == second);
        uint64_t shape[8] = {};
        TensorDesc<float> desc;
        desc.SetShapeAddr(shape);
        tensors.GetDesc(desc, 0);
        EXPECT(desc.GetDim() == 2 && desc.GetIndex() == 0 && desc.GetShape(1) == 3 && desc.GetDataPtr() == first);
        tensors.GetDesc(desc, 1);
        EXPECT(desc.GetDim() == 1 && desc.GetIndex() == 1 && desc.GetShape(0) == 2 && shape[0] == 2);
        tensors.GetDataPtr<float>(2);
    });
    EXPECT(said.find("GetDataPtr(2): the list has 2 tensors") != std::string::npos);
}

TEST(blocks_take_their_turns)
{
    std::vector<uint32_t> turns;
    const std::string said = check::run(
        [&] {
            GlobalTensor<int32_t> memory;
            LocalTensor<int32_t> local;
            InitDetermineComputeWorkspace(memory, local);
            for (int round = 0; round < 3; round++) {
                WaitPreBlock(memory, local);
                turns.push_back(static_cast<uint32_t>(GetBlockIdx()));
                NotifyNextBlock(memory, local);
            }
        },
        4, true);
    EXPECT(said.empty());
    EXPECT(turns == std::vector<uint32_t>({0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}));
}

TEST(intrinsics_copy_and_add)
{
    std::vector<float> from(64), to(64, -1);
    for (size_t at = 0; at < 64; at++) from[at] = static_cast<float>(at);
    const std::string said = check::run([&] {
        TPipe pipe;
        auto x = check::put(pipe, std::vector<float>(64)), y = check::put(pipe, std::vector<float>(64));
        // Two blocks of 16 elements, with gaps of 8 in global memory.
        copy_gm_to_ubuf(x.GetPhyAddr(), from.data(), 0, 2, 2, 1, 0);
        EXPECT(x.GetPhyAddr()[15] == 15 && x.GetPhyAddr()[16] == 24 && x.GetPhyAddr()[31] == 39);
        ResetMask();
        SetVectorMask<float>(0, 0xffffffff);
        vadd(y.GetPhyAddr(), x.GetPhyAddr(), x.GetPhyAddr(), 1, 1, 1, 1, 8, 8, 8);
        ResetMask();
        copy_ubuf_to_gm(to.data(), y.GetPhyAddr(), 0, 1, 4, 0, 0);
        for (size_t at = 0; at < 32; at++) EXPECT(to[at] == 2 * (at < 16 ? from[at] : from[at + 8]));
        EXPECT(to[32] == -1);
    });
    EXPECT(said.empty());
}

int main()
{
    return check::finish("rows");
}
