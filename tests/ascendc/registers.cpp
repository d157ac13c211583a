// Registers, modes, output and sizes: functions that change what later calls do, or say what earlier ones did. Expectations come from the
// documents and are calculated element by element.
#define ASCENDC_DEBUG 1
#include "check.h"

#include <cstdlib>
#include <unistd.h>

#include "tiling/tiling_api.h"

namespace {

template <typename T> GlobalTensor<T> global(std::vector<T>& values)
{
    GlobalTensor<T> tensor;
    tensor.SetGlobalBuffer(values.data(), values.size());
    return tensor;
}

// What a kernel writes to the standard output.
template <typename Kernel> std::string printed(Kernel kernel, uint32_t blocks = 1)
{
    char name[] = "/tmp/ascendc-output-XXXXXX";
    const int file = mkstemp(name), before = dup(STDOUT_FILENO);
    std::fflush(stdout);
    dup2(file, STDOUT_FILENO);
    const std::string said = check::run(kernel, blocks);
    std::fflush(stdout);
    dup2(before, STDOUT_FILENO);
    close(before);
    std::string text(static_cast<size_t>(lseek(file, 0, SEEK_END)), '\0');
    const ssize_t bytes = pread(file, text.data(), text.size(), 0);
    close(file);
    unlink(name);
    return bytes == static_cast<ssize_t>(text.size()) ? text + said : "the output cannot be read";
}

template <typename T> std::vector<T> counting(size_t count, int first = 1)
{
    std::vector<T> all(count);
    for (size_t at = 0; at < count; at++) all[at] = static_cast<T>(static_cast<float>((static_cast<int>(at) + first) % 100));
    return all;
}

// Blocks of `length` elements become rows of whole units of 32 bytes; the rest of each row is the value that was set.
template <typename T> void check_pad_value(uint32_t length, T value)
{
    constexpr uint32_t blocks = 3, in_unit = 32 / sizeof(T), gap = 2;
    const uint32_t row = (length + in_unit - 1) / in_unit * in_unit;
    std::vector<T> memory = counting<T>(blocks * (length + gap)), wanted(blocks * (row + in_unit), T(9));
    for (uint32_t block = 0; block < blocks; block++)
        for (uint32_t at = 0; at < row; at++)
            wanted[block * (row + in_unit) + at] = at < length ? memory[block * (length + gap) + at] : value;
    const std::string said = check::run([&] {
        TPipe pipe;
        auto x = check::put(pipe, std::vector<T>(wanted.size(), T(9)));
        SetPadValue<T>(value);
        const DataCopyExtParams params{blocks, length * static_cast<uint32_t>(sizeof(T)), gap * static_cast<uint32_t>(sizeof(T)), 1, 0};
        DataCopyPad(x, global(memory), params, DataCopyPadExtParams<T>{false, 0, 0, T(5)});
        EXPECT_EQUAL(check::get(x, wanted.size()), wanted);
        // A value of the call itself wins.
        DataCopyPad(x, global(memory), params, DataCopyPadExtParams<T>{true, 0, static_cast<uint8_t>(row - length), T(5)});
        for (uint32_t at = length; at < row; at++) EXPECT(check::same(x.GetPhyAddr()[at], T(5)));
    });
    EXPECT(said.empty());
}

TEST(a_pad_value_fills_what_copies_leave)
{
    for (uint32_t length : {1u, 3u, 17u}) {
        check_pad_value<int8_t>(length, -7);
        check_pad_value<uint16_t>(length, 40000);
        check_pad_value<half>(length, half(-0.5f));
        check_pad_value<bfloat16_t>(length, ToBfloat16(1.5f));
        check_pad_value<int32_t>(length, std::numeric_limits<int32_t>::min());
        check_pad_value<float>(length, -INFINITY);
        check_pad_value<int64_t>(length, -123456789012345);
    }
}

template <typename T, RoundMode mode> void check_truncation()
{
    const auto a = check::values<T>(300, 21);
    const std::string said = check::run([&] {
        TPipe pipe;
        auto x = check::put(pipe, a, 304), z = check::put(pipe, std::vector<T>(304, T(9)));
        Truncate<T, mode>(z, x, 299);
        for (size_t at = 0; at < 299; at++) {
            const double value = static_cast<double>(static_cast<float>(a[at]));
            double wanted = value;
            switch (mode) {
            case RoundMode::CAST_FLOOR: wanted = std::floor(value); break;
            case RoundMode::CAST_CEIL: wanted = std::ceil(value); break;
            case RoundMode::CAST_ROUND: wanted = std::round(value); break;
            case RoundMode::CAST_TRUNC: wanted = std::trunc(value); break;
            default: wanted = std::nearbyint(value);
            }
            const double got = static_cast<double>(static_cast<float>(z.GetPhyAddr()[at]));
            if (got == wanted || (got != got && wanted != wanted)) continue;
            return check::report(__FILE__, __LINE__, "Truncate of " + std::to_string(value) + " is " + std::to_string(got));
        }
        EXPECT(z.GetPhyAddr()[299] == T(9));
    });
    EXPECT(said.empty());
}
template <typename T> void check_truncations()
{
    check_truncation<T, RoundMode::CAST_RINT>();
    check_truncation<T, RoundMode::CAST_FLOOR>();
    check_truncation<T, RoundMode::CAST_CEIL>();
    check_truncation<T, RoundMode::CAST_ROUND>();
    check_truncation<T, RoundMode::CAST_TRUNC>();
}

TEST(floats_lose_their_fractions)
{
    check_truncations<half>();
    check_truncations<bfloat16_t>();
    check_truncations<float>();
}

template <typename T> void check_remaining()
{
    constexpr uint32_t per = 256 / sizeof(T);
    const auto a = counting<T>(per * 4);
    const std::string said = check::run([&] {
        TPipe pipe;
        auto x = check::put(pipe, a), z = check::put(pipe, a);
        const uint32_t parts[8] = {0, 2, 2, 4, 4, 4, 4, 1};
        for (uint8_t pattern = 1; pattern <= 7; pattern++)
            for (uint8_t repeats : {1, 3}) {
                uint64_t kept = 99;
                GatherMask(z, x, pattern, false, 0, GatherMaskParams{1, repeats, 8, 0}, kept);
                EXPECT(kept == per / parts[pattern] * repeats && GetGatherMaskRemainCount() == static_cast<int64_t>(kept));
            }
        uint64_t kept = 99;
        // The first 13 elements of two repeats: 7 of 13 have even numbers.
        GatherMask(z, x, 1, true, 13, GatherMaskParams{1, 2, 8, 0}, kept);
        EXPECT(kept == 14 && GetGatherMaskRemainCount() == 14);
        GatherMask(z, x, 1, true, 13, GatherMaskParams{1, 0, 8, 0}, kept);
        EXPECT(kept == 0 && GetGatherMaskRemainCount() == 0);
    });
    EXPECT(said.empty());
}

TEST(packed_elements_are_counted)
{
    check_remaining<uint16_t>();
    check_remaining<uint32_t>();
    check_remaining<half>();
    check_remaining<float>();
}

// The bits of an index, as a value of the elements' type.
template <typename T> T index_bits(uint32_t index)
{
    T bits;
    const uint16_t narrow = static_cast<uint16_t>(index);
    if (sizeof(T) == 2) std::memcpy(&bits, &narrow, sizeof bits);
    else std::memcpy(&bits, &index, sizeof bits);
    return bits;
}

template <typename T> void check_scalar_results()
{
    constexpr uint32_t per = 256 / sizeof(T);
    std::vector<T> a(per * 5);
    for (size_t at = 0; at < a.size(); at++) a[at] = static_cast<T>(static_cast<float>(static_cast<int>((at * 37 + 11) % 64) - 32));
    const std::string said = check::run([&] {
        TPipe pipe;
        auto x = check::put(pipe, a), z = check::put(pipe, a), tmp = check::put(pipe, a);
        for (uint32_t count : {1u, 7u, per, per + 1, 3 * per + 5, 5 * per}) {
            float sum = 0;
            uint32_t low = 0, high = 0;
            for (uint32_t at = 0; at < count; at++) {
                sum += static_cast<float>(a[at]);
                if (a[at] < a[low]) low = at;
                if (a[at] > a[high]) high = at;
            }
            ReduceSum(z, x, tmp, static_cast<int32_t>(count));
            EXPECT(static_cast<float>(GetAccVal<T>()) == sum && static_cast<float>(GetReduceRepeatSumSpr<T>()) == sum);
            T value = T(0), index = T(0);
            ReduceMax(z, x, tmp, static_cast<int32_t>(count), true);
            GetReduceMaxMinCount(value, index);
            EXPECT(value == a[high] && check::same(index, index_bits<T>(high)));
            ReduceMin(z, x, tmp, static_cast<int32_t>(count), true);
            GetReduceRepeatMaxMinSpr(value, index);
            EXPECT(value == a[low] && check::same(index, index_bits<T>(low)));
        }
        // Extremes over all repeats, of all elements and of some.
        T value = T(0);
        const auto largest = [&](uint32_t repeats, uint32_t elements, uint32_t stride) {
            T best = a[0];
            for (uint32_t repeat = 0; repeat < repeats; repeat++)
                for (uint32_t at = 0; at < elements; at++) best = std::max(best, a[repeat * stride * (32 / sizeof(T)) + at]);
            return best;
        };
        for (uint32_t repeats : {1u, 2u, 5u})
            for (uint32_t elements : {1u, 5u, per}) {
                WholeReduceMax(z, x, static_cast<int32_t>(elements), static_cast<int32_t>(repeats), 1, 1, 8);
                GetReduceRepeatMaxMinSpr(value);
                EXPECT(value == largest(repeats, elements, 8));
                WholeReduceMax(z, x, static_cast<int32_t>(elements), static_cast<int32_t>(repeats), 1, 1, 4);
                GetReduceMaxMinCount(value);
                EXPECT(value == largest(repeats, elements, 4));
            }
        T index = T(0);
        WholeReduceMin(z, x, static_cast<int32_t>(per), 5, 1, 1, 8);
        GetReduceRepeatMaxMinSpr(value, index);
        const auto low = static_cast<uint32_t>(std::min_element(a.begin(), a.end()) - a.begin());
        EXPECT(value == a[low] && check::same(index, index_bits<T>(low)));
    });
    EXPECT(said.empty());
}

TEST(reductions_leave_their_result_in_a_register)
{
    check_scalar_results<half>();
    check_scalar_results<float>();
}

template <typename T> void check_atomic_type()
{
    std::vector<T> memory = counting<T>(64), before = memory;
    const std::string said = check::run([&] {
        TPipe pipe;
        auto x = check::put(pipe, counting<T>(64, 3));
        SetAtomicAdd<float>();
        SetAtomicType<T>();
        DataCopy(global(memory), x, 64);
        set_atomic_none();
        DataCopy(global(memory)[32], x[32], 32);
    });
    EXPECT(said.empty());
    for (uint32_t at = 0; at < 64; at++) {
        const float own = static_cast<float>((at + 3) % 100);
        EXPECT(static_cast<float>(memory[at]) == (at < 32 ? static_cast<float>(before[at]) + own : own));
    }
}

TEST(atomic_copies_have_the_type_that_was_set_last)
{
    check_atomic_type<int16_t>();
    check_atomic_type<int32_t>();
    check_atomic_type<half>();
    check_atomic_type<bfloat16_t>();
    check_atomic_type<float>();
}

TEST(masks_are_set_by_intrinsics)
{
    const std::string said = check::run([&] {
        TPipe pipe;
        auto x = check::put(pipe, counting<half>(512)), z = check::put(pipe, std::vector<half>(512));
        const auto added = [&](auto&& is_selected) {
            for (uint32_t at = 0; at < 512; at++) {
                EXPECT(z.GetPhyAddr()[at] == (is_selected(at) ? half(2) * x.GetPhyAddr()[at] : half(0)));
                z.GetPhyAddr()[at] = half(0);
            }
        };
        const BinaryRepeatParams params(1, 1, 1, 8, 8, 8);
        set_vector_mask(0x8000000000000001ull, 0x5555555555555555ull);
        Add<half, false>(z, x, x, MASK_PLACEHOLDER, 3, params);
        added([](uint32_t at) { return at < 384 && (at % 128 < 64 ? at % 2 == 0 : at % 128 == 64 || at % 128 == 127); });
        // The mask counts the elements of the whole instruction, and repeats do not matter.
        set_mask_count();
        set_vector_mask(0, 301);
        Add<half, false>(z, x, x, MASK_PLACEHOLDER, 1, params);
        added([](uint32_t at) { return at < 301; });
        set_mask_norm();
        set_vector_mask(0, 7);
        Add<half, false>(z, x, x, MASK_PLACEHOLDER, 2, params);
        added([](uint32_t at) { return at < 256 && at % 128 < 3; });
    });
    EXPECT(said.empty());
}

TEST(the_start_state_is_restored)
{
    std::vector<float> memory(8, 1);
    const std::string said = check::run([&] {
        TPipe pipe;
        auto x = check::put(pipe, counting<float>(128)), z = check::put(pipe, std::vector<float>(128));
        SetAtomicAdd<float>();
        SetMaskCount();
        SetVectorMask<float>(0, 3);
        InitSocState();
        DataCopy(global(memory), x, 8);
        Add<float, false>(z, x, x, MASK_PLACEHOLDER, 2, BinaryRepeatParams(1, 1, 1, 8, 8, 8));
        for (uint32_t at = 0; at < 128; at++) EXPECT(z.GetPhyAddr()[at] == 2 * x.GetPhyAddr()[at]);
    });
    EXPECT(said.empty());
    for (uint32_t at = 0; at < 8; at++) EXPECT(memory[at] == static_cast<float>(at + 1));
}

TEST(fields_of_the_control_register_are_independent)
{
    const std::string said = check::run([] {
        SetCtrlSpr<0, 63>(0);
        SetCtrlSpr<6, 9>(0xb);
        SetCtrlSpr<48, 48>(1);
        SetCtrlSpr<60, 63>(0x1f);
        EXPECT((GetCtrlSpr<6, 9>() == 0xb) && (GetCtrlSpr<48, 48>() == 1) && (GetCtrlSpr<60, 63>() == 0xf));
        EXPECT((GetCtrlSpr<0, 5>() == 0) && (GetCtrlSpr<10, 47>() == 0) && (GetCtrlSpr<49, 59>() == 0));
        SetCtrlSpr<48, 48>(0);
        EXPECT(static_cast<uint64_t>(GetCtrlSpr<0, 63>()) == (0xfull << 60 | 0xbull << 6));
        SetCtrlSpr<7, 8>(0);
        EXPECT((GetCtrlSpr<6, 9>() == 0x9));
    });
    EXPECT(said.empty());
}

// Calls that order memory, caches and tasks have no effect on values, masks and modes.
TEST(orders_of_memory_leave_registers_alone)
{
    std::vector<int32_t> memory(64, 5);
    const std::string said = check::run([&] {
        TPipe pipe;
        auto x = check::put(pipe, counting<int32_t>(64)), z = check::put(pipe, std::vector<int32_t>(64));
        set_vector_mask(0, 0xff);
        SetAtomicAdd<int32_t>();
        const int64_t begin = GetSystemCycle();
        WaitPreTaskEnd();
        DataSyncBarrier<MemDsbT::ALL>();
        DataSyncBarrier<MemDsbT::DDR>();
        DataSyncBarrier<MemDsbT::UB>();
        ICachePreLoad(2048);
        set_ffts_base_addr(0);
        WriteGmByPassDCache(memory.data() + 60, int32_t(-70));
        dcci(memory.data() + 60, 0);
        pipe_barrier(PIPE_ALL);
        Add<int32_t, false>(z, x, x, MASK_PLACEHOLDER, 1, BinaryRepeatParams(1, 1, 1, 8, 8, 8));
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID3);
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID3);
        DataCopy(global(memory), z, 8);
        SetNextTaskStart();
        EXPECT(ReadGmByPassDCache(memory.data() + 60) == -70);
        EXPECT(GetSystemCycle() > begin);
    });
    EXPECT(said.empty());
    for (int32_t at = 0; at < 64; at++) EXPECT(memory[static_cast<size_t>(at)] == (at < 8 ? 5 + 2 * (at + 1) : at == 60 ? -70 : 5));
    EXPECT_FAILS(([] { wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID1); }), "wait_flag");
    EXPECT_FAILS(([] {
                     set_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
                     wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID2);
                 }),
                 "wait_flag");
}

template <typename T> void check_past_the_cache()
{
    T values[3] = {T(1), T(2), T(3)};
    const std::string said = check::run([&] {
        WriteGmByPassDCache(values + 1, std::numeric_limits<T>::max());
        EXPECT(ReadGmByPassDCache(values + 1) == std::numeric_limits<T>::max() && ReadGmByPassDCache(values) == 1);
    });
    EXPECT(said.empty() && values[0] == 1 && values[1] == std::numeric_limits<T>::max() && values[2] == 3);
}

TEST(scalars_pass_the_cache)
{
    check_past_the_cache<uint8_t>();
    check_past_the_cache<int16_t>();
    check_past_the_cache<uint32_t>();
    check_past_the_cache<int64_t>();
    check_past_the_cache<uint64_t>();
}

TEST(the_workspace_has_a_part_of_the_system_and_one_of_the_user)
{
    std::vector<uint8_t> memory(4096);
    platform_ascendc::PlatformAscendC* platform = platform_ascendc::PlatformAscendCManager::GetInstance("Ascend910B3");
    const std::string said = check::run([&] {
        SetSysWorkspace(memory.data());
        EXPECT(GetSysWorkSpacePtr() == memory.data());
        const GM_ADDR user = GetUserWorkspace(memory.data());
        EXPECT(user >= memory.data() && static_cast<uint64_t>(user - memory.data()) <= platform->GetLibApiWorkSpaceSize());
    });
    EXPECT(said.empty());
}

TEST(blocks_wait_for_the_blocks_in_front)
{
    constexpr uint32_t blocks = 5;
    std::vector<int32_t> flags(1024), sums(blocks * 2);
    const std::string said = check::run(
        [&] {
            TPipe pipe;
            auto unused = check::put(pipe, std::vector<int32_t>(64));
            const int32_t own = static_cast<int32_t>(GetBlockIdx());
            EXPECT(get_block_num() == blocks && get_subblockid() == 0 && get_subblockdim() == 1);
            for (int32_t event = 0; event < 2; event++) {
                if (own > 0) IBWait(global(flags), unused, own - 1, event);
                const size_t at = static_cast<size_t>(own) * 2 + static_cast<size_t>(event);
                sums[at] = (own > 0 ? sums[at - 2] : 100 * event) + own;
                IBSet(global(flags), unused, own, event);
            }
        },
        blocks, true);
    EXPECT(said.empty());
    for (int32_t own = 0; own < static_cast<int32_t>(blocks); own++)
        for (int32_t event = 0; event < 2; event++) EXPECT(sums[static_cast<size_t>(own * 2 + event)] == own * (own + 1) / 2 + 100 * event);
    EXPECT_FAILS(([&] {
                     TPipe pipe;
                     auto unused = check::put(pipe, std::vector<int32_t>(64));
                     IBSet(global(flags), unused, 2, 0);
                 },
                  2, true),
                 "IBSet: block 2, event 0; there are 2 blocks");
}

// Scores and indices of 8 bytes; a half's score has the low two of them.
template <typename T, bool is_full> void check_sort(int32_t repeats)
{
    struct Pair {
        T score;
        uint32_t index;
    };
    const size_t count = static_cast<size_t>(repeats) * 32;
    std::mt19937 random(31);
    std::vector<T> scores(count);
    std::vector<uint32_t> indices(count);
    std::vector<Pair> wanted;
    for (size_t at = 0; at < count; at++) {
        scores[at] = static_cast<T>(static_cast<float>(static_cast<int>(random() % 40) - 20));
        indices[at] = static_cast<uint32_t>(random());
        wanted.push_back({scores[at], indices[at]});
    }
    const size_t list = is_full ? count : 32;
    for (size_t begin = 0; begin < count; begin += list)
        std::stable_sort(wanted.begin() + static_cast<long>(begin), wanted.begin() + static_cast<long>(begin + list),
                         [](const Pair& a, const Pair& b) { return a.score > b.score; });
    const std::string said = check::run([&] {
        TPipe pipe;
        auto x = check::put(pipe, scores), concat = check::put(pipe, std::vector<T>(count * 4)), tmp = check::put(pipe, std::vector<T>(count * 8));
        auto z = check::put(pipe, std::vector<T>(count * 8)), values = check::put(pipe, scores);
        auto order = check::put(pipe, indices), sorted = check::put(pipe, indices);
        Concat(concat, x, tmp, repeats * 2);
        Sort<T, is_full>(z, concat, order, tmp, repeats);
        Extract(values, sorted, z, repeats);
        for (size_t at = 0; at < count; at++) {
            EXPECT(values.GetPhyAddr()[at] == wanted[at].score && sorted.GetPhyAddr()[at] == wanted[at].index);
            EXPECT(z.GetPhyAddr()[at * 8 / sizeof(T)] == wanted[at].score);
        }
    });
    EXPECT(said.empty());
}

TEST(lists_are_sorted_in_parts_and_as_one)
{
    for (int32_t repeats : {1, 2, 5, 8}) {
        check_sort<half, true>(repeats);
        check_sort<half, false>(repeats);
        check_sort<float, true>(repeats);
        check_sort<float, false>(repeats);
    }
}

template <typename T> void check_broadcasts()
{
    const auto a = counting<T>(48);
    const std::string said = check::run([&] {
        TPipe pipe;
        auto x = check::put(pipe, a), z = check::put(pipe, std::vector<T>(768));
        const uint32_t one[1] = {48}, row[2] = {1, 48}, column[2] = {48, 1}, rows[2] = {16, 48}, columns[2] = {48, 16}, first[1] = {1};
        BroadCast<T, 2, 0>(z, x, rows, row);
        for (uint32_t at = 0; at < 768; at++) EXPECT(z.GetPhyAddr()[at] == a[at % 48]);
        auto tmp = check::put(pipe, std::vector<uint8_t>(4096));
        BroadCast<T, 2, 1>(z, x, columns, column, tmp);
        for (uint32_t at = 0; at < 768; at++) EXPECT(z.GetPhyAddr()[at] == a[at / 16]);
        BroadCast<T, 1, 0>(z, x, one, first);
        for (uint32_t at = 0; at < 48; at++) EXPECT(z.GetPhyAddr()[at] == a[0]);
    });
    EXPECT(said.empty());
}

TEST(rows_and_columns_are_repeated)
{
    check_broadcasts<int8_t>();
    check_broadcasts<half>();
    check_broadcasts<float>();
}

TEST(tensors_and_texts_are_printed)
{
    std::vector<int32_t> memory = {7, -8, 9};
    const std::string text = printed(
        [&] {
            TPipe pipe;
            auto x = check::put(pipe, std::vector<half>{half(1), half(-2.5f), half(3)});
            PRINTF("%d of %u, %.2f %s\n", -3, 5u, half(0.25f), "text");
            DumpTensor(x, 5, 3);
            DumpTensor(global(memory), 6, 2);
            const uint32_t shape[2] = {2, 2};
            auto y = check::put(pipe, std::vector<uint8_t>{1, 2, 3, 255});
            DumpTensor(y, 7, 4, ShapeInfo(2, shape));
        });
    const std::string wanted = "[AIV Block 0/1] -3 of 5, 0.25 text\n"
                               "[AIV Block 0/1] DumpTensor: desc=5, addr=0, data_type=float16, position=UB, dump_size=3\n[1.000000, -2.500000, 3.000000]\n"
                               "[AIV Block 0/1] DumpTensor: desc=6, addr=" + std::to_string(reinterpret_cast<uint64_t>(memory.data())) +
                               ", data_type=int32, position=GM, dump_size=2\n[7, -8]\n"
                               "[AIV Block 0/1] DumpTensor: desc=7, addr=32, data_type=uint8, position=UB, dump_size=4\n[1, 2]\n[3, 255]\n";
    if (text != wanted) check::report(__FILE__, __LINE__, "printed \"" + text + "\", wanted \"" + wanted + "\"");
    EXPECT(printed([] { PRINTF("block\n"); }, 2) == "[AIV Block 0/2] block\n[AIV Block 1/2] block\n");
    // A call prints 30 KiB at most.
    const std::string longer(40 * 1024, 'x');
    EXPECT(printed([&] { PRINTF("%s", longer.c_str()); }).size() == 30 * 1024);
}

TEST(assertions_of_debug_builds_end_the_block)
{
    const auto positive = [](int value) { ASSERT(value > 0); };
    EXPECT(check::run([&] { positive(1); }).empty());
    EXPECT_FAILS(([&] { positive(0); }), "assertion \"value > 0\" failed");
}

struct Tiling {
    uint32_t rows;
    uint16_t columns;
    float scale;
};
struct Dims {
    std::vector<int64_t> dims;
    int64_t GetDim(size_t at) const { return dims[at]; }
    size_t GetDimNum() const { return dims.size(); }
    int64_t GetShapeSize() const
    {
        int64_t size = 1;
        for (int64_t dim : dims) size *= dim;
        return size;
    }
};

ASCENDC_TPL_ARGS_DECL(Scaled, ASCENDC_TPL_BOOL_DECL(doubled, 0, 1));
ASCENDC_TPL_SEL(ASCENDC_TPL_ARGS_SEL(ASCENDC_TPL_BOOL_SEL(doubled, 0, 1)), );
template <bool doubled> float scaled(GM_ADDR tiling)
{
    GET_TILING_DATA_PTR_WITH_STRUCT(Tiling, td, tiling);
    return (doubled ? 2 : 1) * td->scale * static_cast<float>(td->rows + td->columns);
}

TEST(tiling_data_is_read_through_a_pointer)
{
    Tiling tiling{3, 4, 0.5f};
    float plain = 0, twice = 0;
    const std::string said = check::run([&] {
        plain = scaled<false>(reinterpret_cast<GM_ADDR>(&tiling));
        tiling.scale = 1.5f;
        twice = scaled<true>(reinterpret_cast<GM_ADDR>(&tiling));
    });
    EXPECT(said.empty() && plain == 3.5f && twice == 21);
}

// Sizes on the host: the smallest is above 0 and not above the largest, larger shapes need no less, and both are enough for a tiling.
TEST(sizes_of_temporary_buffers_are_consistent)
{
    uint32_t most = 0, least = 0, previous = 0;
    for (int64_t columns : {8, 64, 1024, 4096}) {
        const Dims rows{{16, columns}}, cube{{2, 8, columns}};
        for (uint32_t size : {2u, 4u}) {
            least = GetSoftMaxMinTmpSize(rows, size, false);
            most = GetSoftMaxMaxTmpSize(rows, size, false);
            EXPECT(least > 0 && least <= most && least % 32 == 0);
            tiling::SoftMaxTiling softmax;
            SoftMaxTilingFunc(rows, size, least, softmax);
            EXPECT(softmax.srcM == 16 && softmax.srcK == columns);
            GetLayerNormMaxMinTmpSize(cube, size, false, most, least);
            EXPECT(least > 0 && least <= most);
            GetRmsNormMaxMinTmpSize(cube, size, most, least);
            EXPECT(least > 0 && least <= most);
            tiling::RmsNormTiling norm;
            EXPECT(GetRmsNormTilingInfo(cube, cube, least, size, norm) && norm.mainBsLength > 0);
        }
        EXPECT(GetSoftMaxMinTmpSize(rows, 4, false) >= previous);
        previous = GetSoftMaxMinTmpSize(rows, 4, false);
    }
    const auto& platform = *platform_ascendc::PlatformAscendCManager::GetInstance("Ascend910B3");
    EXPECT(GetTopKMaxMinTmpSize(platform, 64, 4, false, false, TopKMode::TOPK_NORMAL, true, 4, most, least) && least > 0 && least <= most);
    // An inner dimension that is not a multiple of 32 has no tiling.
    EXPECT(!GetTopKMaxMinTmpSize(platform, 33, 4, false, false, TopKMode::TOPK_NORMAL, true, 4, most, least));
}

} // namespace

int main()
{
    return check::finish("registers");
}
