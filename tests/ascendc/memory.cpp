// Queues, buffers and copies: what they do, and what is reported of wrong uses.
#include "check.h"

#include <thread>

namespace {

TEST(copies_of_elements_and_blocks)
{
    std::vector<int32_t> in(256), out(256, -1);
    for (int at = 0; at < 256; at++) in[at] = at;
    const std::string said = check::run([&] {
        TPipe pipe;
        GlobalTensor<int32_t> x, z;
        x.SetGlobalBuffer(in.data(), in.size());
        z.SetGlobalBuffer(out.data(), out.size());
        auto t = check::put(pipe, std::vector<int32_t>(256));
        DataCopy(t, x[8], 64);
        for (int at = 0; at < 64; at++) EXPECT(t.GetValue(at) == at + 8);
        // Three blocks of 2 x 32 bytes, with a gap of one block in the source and of two in the destination.
        DataCopy(t, x, DataCopyParams(3, 2, 1, 2));
        for (int block = 0; block < 3; block++)
            for (int at = 0; at < 16; at++) EXPECT(t.GetValue(block * 32 + at) == block * 24 + at);
        DataCopy(z, t, DataCopyParams(2, 1, 3, 1));
        for (int at = 0; at < 8; at++) EXPECT(out[at] == at && out[8 + at] == -1 && out[16 + at] == 24 + at);
        auto u = check::put(pipe, std::vector<int32_t>(256));
        DataCopy(u, t, 32);
        for (int at = 0; at < 16; at++) EXPECT(u.GetValue(at) == at);
    });
    EXPECT(said.empty());
}

TEST(padded_copies_of_any_length)
{
    std::vector<half> in(100), out(100, half(-1));
    for (int at = 0; at < 100; at++) in[at] = static_cast<half>(at + 1);
    const std::string said = check::run([&] {
        TPipe pipe;
        GlobalTensor<half> x, z;
        x.SetGlobalBuffer(in.data(), in.size());
        z.SetGlobalBuffer(out.data(), out.size());
        auto t = check::put(pipe, std::vector<half>(256, half(-7)));
        // Two rows of 5 elements, 3 elements apart in global memory, one in front and 2 behind with a value.
        DataCopyPad(t, x, DataCopyExtParams(2, 10, 6, 0, 0), DataCopyPadExtParams<half>(true, 1, 2, half(9)));
        for (int row = 0; row < 2; row++) {
            EXPECT(t.GetValue(row * 16) == half(9));
            for (int at = 0; at < 5; at++) EXPECT(t.GetValue(row * 16 + 1 + at) == in[row * 8 + at]);
            EXPECT(t.GetValue(row * 16 + 6) == half(9) && t.GetValue(row * 16 + 7) == half(9));
        }
        DataCopyPad(t, x, DataCopyExtParams(1, 6, 0, 0, 0), DataCopyPadExtParams<half>());
        EXPECT(t.GetValue(2) == half(3) && t.GetValue(3) == half(1) && t.GetValue(15) == half(1));
        // Back: rows of 3 elements that lie 2 blocks apart, 1 element apart in global memory.
        DataCopyPad(z, t, DataCopyExtParams(2, 6, 1, 2, 0));
        EXPECT(out[0] == half(1) && out[2] == half(3) && out[3] == half(-1) && out[4] == t.GetValue(32) && out[7] == half(-1));
    });
    EXPECT(said.empty());
}

TEST(slices_and_fractals)
{
    // Rows of 87 elements; two bursts of 24 elements from each of the rows 0 and 2.
    std::vector<float> in(87 * 3);
    for (size_t at = 0; at < in.size(); at++) in[at] = static_cast<float>(at);
    std::vector<half> matrix(3 * 20);
    for (int at = 0; at < 60; at++) matrix[at] = static_cast<half>(at);
    const std::string said = check::run([&] {
        TPipe pipe;
        GlobalTensor<float> x;
        x.SetGlobalBuffer(in.data(), in.size());
        auto t = check::put(pipe, std::vector<float>(96));
        const SliceInfo from[] = {{16, 70, 7, 3, 87}, {0, 2, 1, 1, 3}}, to[] = {{0, 47, 0, 3, 48}, {0, 1, 0, 1, 2}};
        DataCopy(t, x, to, from, 2);
        for (int row = 0; row < 2; row++)
            for (int at = 0; at < 24; at++) {
                EXPECT(t.GetValue(row * 48 + at) == static_cast<float>(row * 2 * 87 + 16 + at));
                EXPECT(t.GetValue(row * 48 + 24 + at) == static_cast<float>(row * 2 * 87 + 47 + at));
            }
        GlobalTensor<half> m;
        m.SetGlobalBuffer(matrix.data(), matrix.size());
        auto nz = check::put(pipe, std::vector<half>(2 * 16 * 16, half(-5)));
        DataCopy(nz, m, Nd2NzParams(1, 3, 20, 0, 20, 16, 1, 0));
        for (int n = 0; n < 3; n++)
            for (int d = 0; d < 32; d++) EXPECT(nz.GetValue(d / 16 * 256 + n * 16 + d % 16) == (d < 20 ? matrix[n * 20 + d] : half(0)));
    });
    EXPECT(said.empty());
}

TEST(atomic_copies_of_parallel_blocks_add_up)
{
    std::vector<float> out(64, 1.0f);
    std::vector<half> largest(64, half(-100));
    auto kernel = [&] {
        TPipe pipe;
        GlobalTensor<float> z;
        z.SetGlobalBuffer(out.data(), out.size());
        GlobalTensor<half> m;
        m.SetGlobalBuffer(largest.data(), largest.size());
        auto t = check::put(pipe, std::vector<float>(64, 2.0f));
        auto h = check::put(pipe, std::vector<half>(64, static_cast<half>(GetBlockIdx())));
        SetAtomicAdd<float>();
        for (int round = 0; round < 50; round++) DataCopy(z, t, 64);
        SetAtomicMax<half>();
        DataCopy(m, h, 64);
        SetAtomicNone();
    };
    std::thread other([&] { check::run(kernel, 4); });
    check::run(kernel, 4);
    other.join();
    for (float value : out) EXPECT(value == 1 + 8 * 50 * 2);
    for (half value : largest) EXPECT(value == half(3));
}

TEST(queues_pass_buffers_in_order)
{
    const std::string said = check::run([&] {
        TPipe pipe;
        TQue<TPosition::VECIN, 2> queue;
        pipe.InitBuffer(queue, 2, 100);
        auto a = queue.AllocTensor<float>();
        EXPECT(a.GetSize() == 32);
        a.SetValue(0, 1.0f);
        queue.EnQue(a);
        auto b = queue.AllocTensor<float>();
        b.SetValue(0, 2.0f);
        queue.EnQue(b);
        EXPECT(queue.GetTensorCountInQue() == 2 && !queue.VacantInQue() && !queue.HasIdleBuffer());
        auto c = queue.DeQue<float>();
        EXPECT(c.GetValue(0) == 1.0f);
        queue.FreeTensor(c);
        EXPECT(queue.HasIdleBuffer());
        LocalTensor<float> d;
        queue.DeQue(d);
        EXPECT(d.GetValue(0) == 2.0f);
        queue.FreeTensor(d);
    });
    EXPECT(said.empty());
}

TEST(fresh_memory_is_filled)
{
    check::run([&] {
        TPipe pipe;
        TBuf<> buffer;
        pipe.InitBuffer(buffer, 64);
        EXPECT(buffer.Get<uint8_t>().GetValue(63) == 0xa5);
        EXPECT(reinterpret_cast<uintptr_t>(buffer.Get<uint8_t>().GetPhyAddr()) % 32 == 0);
    });
}

TEST(wrong_uses_of_queues_are_named)
{
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     TQue<TPosition::VECIN, 1> queue;
                     pipe.InitBuffer(queue, 1, 64);
                     queue.DeQue<half>();
                 }),
                 "DeQue: the queue (VECIN) is empty; EnQue is missing");
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     TQue<TPosition::VECOUT, 1> queue;
                     pipe.InitBuffer(queue, 2, 64);
                     for (int at = 0; at < 3; at++) queue.AllocTensor<half>();
                 }),
                 "AllocTensor: all 2 buffers of the queue (VECOUT) are in use; FreeTensor is missing");
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     TQue<TPosition::VECIN, 1> queue;
                     pipe.InitBuffer(queue, 2, 64);
                     auto a = queue.AllocTensor<half>();
                     queue.FreeTensor(a);
                     Adds(a, a, half(1), 16);
                 }),
                 "Adds: dst is used after FreeTensor");
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     TQue<TPosition::VECIN, 1> queue;
                     pipe.InitBuffer(queue, 2, 64);
                     auto a = queue.AllocTensor<half>();
                     queue.FreeTensor(a);
                     queue.FreeTensor(a);
                 }),
                 "FreeTensor: the tensor was freed already");
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     TQue<TPosition::VECIN, 1> queue, other;
                     pipe.InitBuffer(queue, 1, 64);
                     pipe.InitBuffer(other, 1, 64);
                     auto a = queue.AllocTensor<half>();
                     other.EnQue(a);
                 }),
                 "EnQue: the tensor is not of this queue");
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     TQue<TPosition::VECIN, 1> queue;
                     pipe.InitBuffer(queue, 2, 64);
                     auto a = queue.AllocTensor<half>(), b = queue.AllocTensor<half>();
                     queue.EnQue(a);
                     queue.EnQue(b);
                 }),
                 "EnQue: 1 tensors are in the queue, whose depth is 1");
}

TEST(accesses_beyond_a_buffer_are_named)
{
    std::vector<half> gm(64);
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     auto a = check::put(pipe, std::vector<half>(64)), b = check::put(pipe, std::vector<half>(128));
                     Add(a, b, b, 128);
                 }),
                 "Add: dst reaches bytes 0 to 255 of its buffer in VECCALC, which has 128 bytes");
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     auto a = check::put(pipe, std::vector<half>(256));
                     Muls(a, a, half(1), uint64_t(128), 2, UnaryRepeatParams(1, 1, 9, 8));
                 }),
                 "Muls: dst reaches bytes 0 to 543 of its buffer");
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     auto a = check::put(pipe, std::vector<half>(256));
                     Abs(a[8], a, 16);
                 }),
                 "Abs: dst begins at byte 16 of its buffer in VECCALC, and has to be aligned to 32 bytes");
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     auto a = check::put(pipe, std::vector<half>(16));
                     a.SetValue(16, half(1));
                 }),
                 "SetValue(16) of a LocalTensor at byte 0 leaves its buffer of 32 bytes in VECCALC");
    EXPECT_FAILS(([&] {
                     TPipe pipe;
                     GlobalTensor<half> x;
                     x.SetGlobalBuffer(gm.data(), gm.size());
                     auto a = check::put(pipe, std::vector<half>(64));
                     DataCopy(a, x[32], 48);
                 }),
                 "DataCopy of elements 0 to 47 leaves a GlobalTensor that has 32 elements there");
    EXPECT_FAILS(([&] {
                     TPipe pipe;
                     GlobalTensor<half> x;
                     x.SetGlobalBuffer(gm.data(), gm.size());
                     auto a = check::put(pipe, std::vector<half>(64));
                     DataCopy(a, x, 31);
                 }),
                 "DataCopy: 62 bytes are not a multiple of 32, and the last 30 would not be copied; DataCopyPad copies any number of bytes");
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     TBuf<> a, b;
                     pipe.InitBuffer(a, ASC_UB_SIZE / 1024 * 1024 - 1024);
                     pipe.InitBuffer(b, 2048);
                 }),
                 JUMAR_ASCENDC_CHIP == 2002 ? "2048 more bytes do not fit into UB, where 261120 of 262144 bytes are in use"
                                            : "2048 more bytes do not fit into UB, where 194560 of 196352 bytes are in use");
    // The message has the location of the call.
    int line = 0;
    const std::string said = check::run([&] {
        TPipe pipe;
        auto a = check::put(pipe, std::vector<half>(16));
        line = __LINE__ + 1;
        a.GetValue(99);
    });
    EXPECT(said.find("memory.cpp:" + std::to_string(line) + ": GetValue(99)") != std::string::npos);
}

TEST(events_are_counted)
{
    EXPECT_FAILS(([] { WaitFlag<HardEvent::MTE2_V>(EVENT_ID0); }), "WaitFlag: event 0 was not set; a card would wait for ever");
    EXPECT_FAILS(([] {
                     SetFlag<HardEvent::MTE2_V>(1);
                     SetFlag<HardEvent::MTE2_V>(1);
                 }),
                 "SetFlag: event 1 is set already; WaitFlag is missing");
    EXPECT_FAILS(([] { SetFlag<HardEvent::V_MTE3>(8); }), "SetFlag: the event's number is 8; it has to be 0 to 7");
    const std::string said = check::run([] {
        TPipe pipe;
        const TEventID first = pipe.AllocEventID<HardEvent::V_MTE3>(), second = pipe.AllocEventID<HardEvent::V_MTE3>();
        EXPECT(first != second);
        EXPECT(pipe.FetchEventID(HardEvent::V_MTE3) != first);
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID5);
        WaitFlag<HardEvent::V_MTE3>(EVENT_ID5);
        pipe.ReleaseEventID<HardEvent::V_MTE3>(first);
        EXPECT(pipe.AllocEventID<HardEvent::V_MTE3>() == first);
    });
    EXPECT(said.empty());
}

TEST(a_failing_block_leaves_the_others_alone)
{
    std::vector<int> ran(6);
    EXPECT_FAILS(([&] {
                     if (GetBlockIdx() == 2) Trap();
                     ran[static_cast<size_t>(GetBlockIdx())] = 1;
                 },
                 6),
                 "2: memory.cpp:");
    EXPECT(ran == std::vector<int>({1, 1, 0, 1, 1, 1}));
    EXPECT_FAILS(([] { assert(GetBlockNum() == 3); }), "assertion \"GetBlockNum() == 3\" failed");
    EXPECT_FAILS(([] { throw 1; }), "it threw an exception");
}

TEST(blocks_that_wait_for_each_other)
{
    std::vector<int> first(8), sums(8);
    const std::string said = check::run(
        [&] {
            const size_t block = static_cast<size_t>(GetBlockIdx());
            first[block] = static_cast<int>(block) + 1;
            SyncAll();
            for (int value : first) sums[block] += value;
            SyncAll();
            first[block] = 0;
            CrossCoreSetFlag<0, PIPE_MTE3>(3);
            CrossCoreWaitFlag<0>(3);
            for (int value : first) sums[block] += value;
        },
        8, true);
    EXPECT(said.empty());
    EXPECT(sums == std::vector<int>(8, 36));
    EXPECT_FAILS(([] {
                     if (GetBlockIdx() != 1) SyncAll();
                 },
                 3, true),
                 "SyncAll waits for blocks that have ended or wait themselves: a deadlock");
    EXPECT_FAILS(([] { SyncAll(); }, 2), "SyncAll: the kernel was not compiled as one whose blocks wait for each other");
}

TEST(tiling_data_is_read_by_value)
{
    struct Tiling {
        uint32_t length;
        float scale;
        uint8_t key;
    };
    Tiling host{17, 0.5f, 3};
    uint8_t* tiling = reinterpret_cast<uint8_t*>(&host);
    const std::string said = check::run([&] {
        REGISTER_TILING_DEFAULT(Tiling);
        GET_TILING_DATA(data, tiling);
        EXPECT(data.length == 17 && data.scale == 0.5f);
        GET_TILING_DATA_WITH_STRUCT(Tiling, again, tiling);
        GET_TILING_DATA_MEMBER(Tiling, key, key, tiling);
        EXPECT(again.key == 3 && key == 3);
        if (TILING_KEY_IS(1)) EXPECT(false);
        KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    });
    EXPECT(said.empty());
}

} // namespace

int main()
{
    return check::finish("memory");
}
