// Kernels without checks, whose copies into queues are done late: what a kernel sees is what it would see if they were done at once. Each test
// changes the source, or looks at the tensor, in a way that a card allows.
#include "check.h"

namespace {

constexpr uint32_t COUNT = 1024;

std::vector<float> numbers(size_t count = COUNT)
{
    std::vector<float> all(count);
    for (size_t at = 0; at < count; at++) all[at] = static_cast<float>(at % 1000) + 1;
    return all;
}
GlobalTensor<float> global(std::vector<float>& values)
{
    GlobalTensor<float> tensor;
    tensor.SetGlobalBuffer(values.data(), values.size());
    return tensor;
}

// A tensor that was copied from `memory` and taken out of its queue; then `change`; then the tensor and its double are compared with
// what was copied; `small` is another tensor. `deferred` says whether the copy is still open in front of `change`.
template <typename Change> void check_unchanged(Change change, bool deferred = true, int line = __builtin_LINE())
{
    auto memory = numbers();
    const auto before = memory;
    const std::string said = check::run([&] {
        TPipe pipe;
        TQue<TPosition::VECIN, 2> queue;
        TQue<TPosition::VECOUT, 1> results;
        pipe.InitBuffer(queue, 2, COUNT * 4);
        pipe.InitBuffer(results, 1, COUNT * 4);
        TBuf<TPosition::VECCALC> buffer;
        pipe.InitBuffer(buffer, 1024);
        LocalTensor<float> small = buffer.Get<float>(), x = queue.AllocTensor<float>();
        DataCopy(x, global(memory), COUNT);
        queue.EnQue(x);
        x = queue.DeQue<float>();
        if ((jumar::ascendc::core().deferred_count == 1) != deferred) check::report(__FILE__, line, "the copy was not deferred, or was");
        change(small, x, memory);
        LocalTensor<float> z = results.AllocTensor<float>();
        Add(z, x, x, COUNT);
        for (uint32_t at = 0; at < COUNT; at++) {
            if (z.GetValue(at) == 2 * before[at] && x.GetValue(at) == before[at]) continue;
            return check::report(__FILE__, line, "element " + std::to_string(at) + " is " + std::to_string(x.GetValue(at)));
        }
        results.FreeTensor(z);
        queue.FreeTensor(x);
    });
    if (!said.empty()) check::report(__FILE__, line, said);
}

using Memory = std::vector<float>;
using Tensor = LocalTensor<float>;

TEST(a_source_that_changes_later_does_not_change_the_tensor)
{
    const auto fill = [](Memory& memory) { std::fill(memory.begin(), memory.end(), -1.0f); };
    check_unchanged([](Tensor&, Tensor&, Memory&) {});
    check_unchanged([](Tensor&, Tensor&, Memory& memory) { global(memory).SetValue(5, -1); });
    check_unchanged([](Tensor&, Tensor&, Memory& memory) { global(memory)(5) = -1; });
    check_unchanged([](Tensor&, Tensor&, Memory& memory) {
        GlobalTensor<float> all = global(memory);
        InitGlobalMemory(all, COUNT, -1.0f);
    });
    check_unchanged([](Tensor& small, Tensor&, Memory& memory) {
        Duplicate(small, -1.0f, 16);
        DataCopy(global(memory)[512], small, 16);
    });
    check_unchanged([](Tensor& small, Tensor&, Memory& memory) {
        Duplicate(small, -1.0f, 16);
        SetAtomicAdd<float>();
        DataCopyPad(global(memory)[3], small, DataCopyExtParams{1, 20, 0, 0, 0});
        SetAtomicNone();
    });
    // The scalar unit waits for the copy, by an event, a barrier or an access, and stores by an address.
    check_unchanged([&](Tensor&, Tensor&, Memory& memory) {
        SetFlag<HardEvent::MTE2_S>(0);
        WaitFlag<HardEvent::MTE2_S>(0);
        fill(memory);
    });
    check_unchanged([&](Tensor&, Tensor&, Memory& memory) {
        set_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
        fill(memory);
        wait_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
    });
    check_unchanged([&](Tensor&, Tensor&, Memory& memory) {
        PipeBarrier<PIPE_ALL>();
        fill(memory);
    });
    check_unchanged([&](Tensor&, Tensor&, Memory& memory) {
        pipe_barrier(PIPE_ALL);
        fill(memory);
    });
    check_unchanged([&](Tensor&, Tensor& x, Memory& memory) {
        if (x.GetValue(7) == 8) fill(memory);
    });
    check_unchanged([&](Tensor&, Tensor&, Memory& memory) {
        if (ReadGmByPassDCache(memory.data()) == 1) fill(memory);
    });
    check_unchanged([&](Tensor& small, Tensor&, Memory& memory) {
        Duplicate(small, 2.0f, 16);
        ReduceSum(small, small, small, 8);
        if (GetAccVal<float>() == 16) fill(memory);
    });
    check_unchanged([&](Tensor& small, Tensor&, Memory& memory) {
        float value = 0;
        Duplicate(small, 2.0f, 64);
        WholeReduceMax(small, small, 64, 1, 1, 1, 8);
        GetReduceRepeatMaxMinSpr(value);
        if (value == 2) fill(memory);
    });
    check_unchanged([&](Tensor& small, Tensor&, Memory& memory) {
        float value = 0, index = 1;
        Duplicate(small, 2.0f, 64);
        WholeReduceMax(small, small, 64, 1, 1, 1, 8);
        GetReduceRepeatMaxMinSpr(value, index);
        if (value == 2 && index == 0) fill(memory);
    });
    check_unchanged([&](Tensor& small, Tensor&, Memory& memory) {
        Duplicate(small, 2.0f, 64);
        if (small.GetValue(3) == 2) fill(memory);
    });
    check_unchanged([&](Tensor&, Tensor&, Memory& memory) {
        DataSyncBarrier<MemDsbT::ALL>();
        fill(memory);
    });
    check_unchanged([&](Tensor&, Tensor&, Memory& memory) {
        if (global(memory).GetValue(3) == 4) fill(memory);
    });
    check_unchanged([&](Tensor&, Tensor&, Memory& memory) {
        WriteGmByPassDCache(reinterpret_cast<uint32_t*>(memory.data()), 0u);
        fill(memory);
    });
    check_unchanged([&](Tensor& small, Tensor&, Memory& memory) {
        uint64_t kept = 0;
        Duplicate(small, 2.0f, 128);
        GatherMask(small, small[64], 1, false, 0, GatherMaskParams{1, 1, 8, 0}, kept);
        if (kept == 32) fill(memory);
    });
    check_unchanged([&](Tensor&, Tensor&, Memory& memory) {
        uint16_t merged[4];
        GetMrgSortResult(merged[0], merged[1], merged[2], merged[3]);
        fill(memory);
    });
    check_unchanged([&](Tensor&, Tensor&, Memory& memory) {
        DataCacheCleanAndInvalid<float, CacheLine::ENTIRE_DATA_CACHE, DcciDst::CACHELINE_OUT>(global(memory));
        fill(memory);
    });
    check_unchanged([&](Tensor&, Tensor&, Memory& memory) {
        dcci(memory.data(), 1);
        fill(memory);
    });
}

TEST(a_tensor_whose_address_is_known_holds_its_values)
{
    check_unchanged([](Tensor&, Tensor& x, Memory&) {
        const float* values = x.GetPhyAddr();
        EXPECT(values[COUNT - 1] == 24);
    });
    check_unchanged([](Tensor&, Tensor& x, Memory&) { EXPECT(x(9) == 10); });
    // The address was known in front of the copy, from an earlier use of the buffer.
    auto memory = numbers();
    const std::string said = check::run([&] {
        TPipe pipe;
        TQue<TPosition::VECIN, 1> queue;
        pipe.InitBuffer(queue, 1, COUNT * 4);
        Tensor x = queue.AllocTensor<float>();
        const volatile float* values = x.GetPhyAddr();
        DataCopy(x, global(memory), COUNT);
        EXPECT(values[10] == 11 && jumar::ascendc::core().deferred_count == 0);
        queue.FreeTensor(x);
        TQue<TPosition::VECIN, 1> third;
        pipe.InitBuffer(third, 1, COUNT * 4);
        x = third.AllocTensor<float>();
        const volatile float& tenth = x(9);
        DataCopy(x, global(memory), COUNT);
        EXPECT(tenth == 10);
        third.FreeTensor(x);
        // A tensor at a fixed address lies over the queue's memory.
        TQue<TPosition::VECIN, 1> other;
        pipe.InitBuffer(other, 1, COUNT * 4);
        Tensor y = other.AllocTensor<float>();
        DataCopy(y, global(memory), COUNT);
        EXPECT(jumar::ascendc::core().deferred_count == 1);
        Tensor over(TPosition::VECIN, COUNT * 4, COUNT);
        EXPECT(jumar::ascendc::core().deferred_count == 0);
        Adds(over[512], over, 1.0f, 8);
        EXPECT(over.GetValue(3) == 4 && over.GetValue(515) == 5);
        other.FreeTensor(y);
        y = other.AllocTensor<float>();
        DataCopy(y, global(memory), COUNT);
        EXPECT(jumar::ascendc::core().deferred_count == 0);
    });
    EXPECT(said.empty());
}

TEST(parts_of_a_tensor_are_written_and_read)
{
    auto memory = numbers(2 * COUNT);
    const std::string said = check::run([&] {
        TPipe pipe;
        TQue<TPosition::VECIN, 1> queue;
        TQue<TPosition::VECOUT, 1> results;
        pipe.InitBuffer(queue, 1, 2 * COUNT * 4);
        pipe.InitBuffer(results, 1, 2 * COUNT * 4);
        const auto expect = [&](const Tensor& tensor, uint32_t at, float wanted) { EXPECT(tensor.GetValue(at) == wanted); };
        // Two copies, one behind the other, and a read over both.
        Tensor x = queue.AllocTensor<float>(), z = results.AllocTensor<float>();
        DataCopy(x, global(memory), COUNT);
        DataCopy(x[COUNT], global(memory)[8], COUNT);
        Adds(z, x, 1.0f, 2 * COUNT);
        expect(z, 0, 2), expect(z, COUNT - 1, 25), expect(z, COUNT, 10), expect(z, 2 * COUNT - 1, 33);
        queue.FreeTensor(x);
        // The second half first, and reads that begin inside.
        x = queue.AllocTensor<float>();
        DataCopy(x[COUNT], global(memory)[8], COUNT);
        DataCopy(x, global(memory), COUNT);
        Adds(z, x[16], 0.5f, 64);
        Adds(z[64], x[COUNT - 8], 0.5f, 16);
        expect(z, 0, 17.5f), expect(z, 63, 80.5f), expect(z, 71, 24.5f), expect(z, 72, 9.5f);
        queue.FreeTensor(x);
        // The tensor itself is the destination, of a part and of all; and a copy that is not read.
        x = queue.AllocTensor<float>();
        DataCopy(x, global(memory), COUNT);
        Muls(x[8], x, 2.0f, 8);
        expect(x, 0, 1), expect(x, 8, 2), expect(x, 15, 16), expect(x, 16, 17);
        queue.FreeTensor(x);
        x = queue.AllocTensor<float>();
        DataCopy(x, global(memory), COUNT);
        Add(x, x, x, COUNT);
        expect(x, 100, 202);
        queue.FreeTensor(x);
        x = queue.AllocTensor<float>();
        DataCopy(x, global(memory), COUNT);
        queue.FreeTensor(x);
        x = queue.AllocTensor<float>();
        Duplicate(x, 3.0f, 2 * COUNT);
        EXPECT(jumar::ascendc::core().deferred_count == 0);
        expect(x, 0, 3), expect(x, COUNT - 1, 3);
        queue.FreeTensor(x);
        // Integers of the same bytes, masks and strides.
        x = queue.AllocTensor<float>();
        DataCopy(x, global(memory), COUNT);
        LocalTensor<int32_t> bits = x.ReinterpretCast<int32_t>();
        Adds(z.ReinterpretCast<int32_t>(), bits, 1 << 23, COUNT);
        expect(z, 4, 10);
        Add(z, x, x, 8, 2, BinaryRepeatParams(1, 1, 1, 8, 8, 8));
        expect(z, 65, 132), expect(z, 73, 148);
        queue.FreeTensor(x);
        results.FreeTensor(z);
    });
    EXPECT(said.empty());
}

TEST(more_copies_than_are_kept_open_and_new_blocks)
{
    auto memory = numbers(16 * COUNT);
    std::vector<float> sums(4);
    const std::string said = check::run(
        [&] {
            TPipe pipe;
            TQue<TPosition::VECIN, 12> queue;
            pipe.InitBuffer(queue, 11, COUNT * 4);
            Tensor all[11];
            for (uint32_t at = 0; at < 11; at++) {
                all[at] = queue.AllocTensor<float>();
                DataCopy(all[at], global(memory)[at * 8], COUNT);
            }
            for (uint32_t at = 0; at < 11; at++) {
                EXPECT(all[at].GetValue(1) == static_cast<float>(at * 8 + 2));
                queue.FreeTensor(all[at]);
            }
            // A block that ends with an open copy leaves nothing to the next one.
            Tensor x = queue.AllocTensor<float>();
            DataCopy(x, global(memory), COUNT);
            sums[static_cast<size_t>(GetBlockIdx())] = 1;
        },
        4);
    EXPECT(said.empty() && sums == std::vector<float>({1, 1, 1, 1}));
}

TEST(blocks_change_what_others_have_copied)
{
    // Each block copies its part; after SyncAll it overwrites that of its neighbour, and then adds what it has copied.
    constexpr uint32_t blocks = 4;
    auto memory = numbers(blocks * COUNT);
    std::vector<float> out(blocks * COUNT);
    const std::string said = check::run(
        [&] {
            KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
            const uint32_t own = static_cast<uint32_t>(GetBlockIdx());
            TPipe pipe;
            TQue<TPosition::VECIN, 1> queue;
            TQue<TPosition::VECOUT, 1> results;
            pipe.InitBuffer(queue, 1, COUNT * 4);
            pipe.InitBuffer(results, 1, COUNT * 4);
            Tensor x = queue.AllocTensor<float>();
            DataCopy(x, global(memory)[own * COUNT], COUNT);
            queue.EnQue(x);
            SyncAll();
            std::fill_n(memory.begin() + (own + 1) % blocks * COUNT, COUNT, -1.0f);
            SyncAll();
            x = queue.DeQue<float>();
            Tensor z = results.AllocTensor<float>();
            Add(z, x, x, COUNT);
            results.EnQue(z);
            queue.FreeTensor(x);
            z = results.DeQue<float>();
            DataCopy(global(out)[own * COUNT], z, COUNT);
            results.FreeTensor(z);
        },
        blocks, true);
    EXPECT(said.empty());
    const auto before = numbers(blocks * COUNT);
    for (size_t at = 0; at < out.size(); at++) EXPECT(out[at] == 2 * before[at]);
}

// Results of more than a megabyte are written past the caches; a tile that reads what the tile in front of it has written.
TEST(long_runs_of_results_are_complete)
{
    constexpr uint32_t tile = 2048, tiles = 300;
    for (const uint32_t shift : {0u, 8u, 1u}) {
        std::vector<float> memory(tile * tiles + 64, 1.0f), last(tile);
        // The first address is a multiple of 32 bytes, or of 4.
        float* const begin = memory.data() + (32 - reinterpret_cast<uintptr_t>(memory.data()) % 32) % 32 / 4 + (shift == 1 ? 1 : 0);
        GlobalTensor<float> all;
        all.SetGlobalBuffer(begin, tile * tiles + 8);
        const std::string said = check::run([&] {
            TPipe pipe;
            TQue<TPosition::VECIN, 2> in;
            TQue<TPosition::VECOUT, 2> out;
            pipe.InitBuffer(in, 2, tile * 4);
            pipe.InitBuffer(out, 2, tile * 4);
            for (uint32_t at = 0; at + tile < tile * tiles; at += tile) {
                Tensor x = in.AllocTensor<float>();
                DataCopy(x, all[at], tile);
                in.EnQue(x);
                x = in.DeQue<float>();
                Tensor z = out.AllocTensor<float>();
                Adds(z, x, 1.0f, tile);
                out.EnQue(z);
                in.FreeTensor(x);
                z = out.DeQue<float>();
                DataCopy(all[at + tile], z, tile - shift / 8 * 8);
                out.FreeTensor(z);
            }
        });
        EXPECT(said.empty());
        for (uint32_t number = 0; number < tiles; number++)
            for (uint32_t at = 0; at < tile - shift / 8 * 8; at += 7) EXPECT(begin[number * tile + at] == static_cast<float>(number + 1));
    }
}

} // namespace

int main()
{
    return check::finish("deferred");
}
