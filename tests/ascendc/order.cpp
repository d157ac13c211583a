// Checks of order, compiled with JUMAR_ASCENDC_CHECK=2: kernels with one mistake each, and the same kernels without it.
#include "check.h"

#include "lib/matmul_intf.h"

namespace {

constexpr uint32_t COUNT = 64;
std::vector<float> input(4096, 1.0f), output(4096);

GlobalTensor<float> in(uint32_t from = 0)
{
    GlobalTensor<float> tensor;
    tensor.SetGlobalBuffer(input.data() + from, input.size() - from);
    return tensor;
}
GlobalTensor<float> out(uint32_t from = 0)
{
    GlobalTensor<float> tensor;
    tensor.SetGlobalBuffer(output.data() + from, output.size() - from);
    return tensor;
}

LocalTensor<float> buffer(TPipe& pipe)
{
    TBuf<TPosition::VECCALC> memory;
    pipe.InitBuffer(memory, COUNT * 4);
    return memory.Get<float>();
}

template <HardEvent event> void order(bool is_there)
{
    if (!is_there) return;
    SetFlag<event>(0);
    WaitFlag<event>(0);
}

// In, double, out, twice through the same buffer, with an event or barrier left out.
enum Missing { NOTHING, MTE2_V, V_MTE3, MTE3_MTE2, V_MTE2 };
void with_events(Missing missing)
{
    TPipe pipe;
    auto x = buffer(pipe), y = buffer(pipe);
    for (int round = 0; round < 2; round++) {
        DataCopy(x, in(), COUNT);
        order<HardEvent::MTE2_V>(missing != MTE2_V);
        Add(y, x, x, COUNT);
        order<HardEvent::V_MTE2>(missing != V_MTE2);
        order<HardEvent::V_MTE3>(missing != V_MTE3);
        DataCopy(out(), y, COUNT);
        order<HardEvent::MTE3_V>(true);
    }
}

// The buffer of a copy to global memory is filled again.
void copy_through(bool waits)
{
    TPipe pipe;
    auto x = buffer(pipe);
    for (int round = 0; round < 2; round++) {
        DataCopy(x, in(), COUNT);
        order<HardEvent::MTE2_MTE3>(true);
        DataCopy(out(), x, COUNT);
        order<HardEvent::MTE3_MTE2>(waits);
    }
}

// Two copies fill overlapping bytes.
void overlapping_copies(bool has_barrier)
{
    TPipe pipe;
    auto x = buffer(pipe);
    DataCopy(x, in(), COUNT);
    if (has_barrier) PipeBarrier<PIPE_MTE2>();
    DataCopy(x[32], in(), 32);
}

// A queue orders its own buffers, and no others.
void with_queues(bool uses_deque_of_other)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 2> queue;
    TQue<TPosition::VECOUT, 2> results;
    pipe.InitBuffer(queue, 2, COUNT * 4);
    pipe.InitBuffer(results, 2, COUNT * 4);
    auto other = buffer(pipe);
    for (uint32_t tile = 0; tile < 6; tile++) {
        auto x = queue.AllocTensor<float>();
        DataCopy(x, in(tile * COUNT), COUNT);
        queue.EnQue(x);
        x = queue.DeQue<float>();
        if (uses_deque_of_other) DataCopy(other, in(), COUNT);
        auto y = results.AllocTensor<float>();
        Add(y, x, uses_deque_of_other ? other : x, COUNT);
        results.EnQue(y);
        queue.FreeTensor(x);
        y = results.DeQue<float>();
        DataCopy(out(tile * COUNT), y, COUNT);
        results.FreeTensor(y);
    }
}

// A product by hand. Queues order L1 and L0; with `skips` the result is taken without waiting for it.
void product(bool skips, uint8_t unit_flag)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    TPipe pipe;
    TBuf<TPosition::A2> a2;
    TBuf<TPosition::B2> b2;
    TBuf<TPosition::CO1> co1;
    pipe.InitBuffer(a2, 512);
    pipe.InitBuffer(b2, 512);
    pipe.InitBuffer(co1, 1024);
    auto a = a2.Get<half>(), b = b2.Get<half>();
    auto c = co1.Get<float>();
    InitConstValue(a, {1, 1, 0, half(1)});
    InitConstValue(b, {1, 1, 0, half(1)});
    order<HardEvent::MTE1_M>(true);
    Mmad(c, a, b, MmadParams(16, 16, 16, unit_flag, false, true));
    order<HardEvent::M_FIX>(!skips);
    Fixpipe(out(), c, FixpipeParamsV220(16, 16, 16, 16, false, NoQuant, 0, 1, 0, 0, unit_flag));
}

// Blocks that write the same, neighbouring, or ordered memory.
void blocks(uint32_t step, bool waits, bool adds)
{
    TPipe pipe;
    auto x = buffer(pipe);
    Duplicate(x, 1.0f, COUNT);
    order<HardEvent::V_MTE3>(true);
    if (adds) SetAtomicAdd<float>();
    DataCopy(out(static_cast<uint32_t>(GetBlockIdx()) * step), x, COUNT);
    SetAtomicNone();
    if (!waits) return;
    SyncAll();
    DataCopy(out(static_cast<uint32_t>(GetBlockNum() - 1 - GetBlockIdx()) * step), x, COUNT);
}

std::string report_of(void (*kernel)(), uint32_t count = 1, bool together = false)
{
    return check::run(kernel, count, together);
}

} // namespace

TEST(kernels_in_order_have_no_reports)
{
    EXPECT(report_of([] { with_events(NOTHING); }).empty());
    EXPECT(report_of([] { copy_through(true); }).empty());
    EXPECT(report_of([] { overlapping_copies(true); }).empty());
    EXPECT(report_of([] { with_queues(false); }, 3).find("Add") == std::string::npos);
    EXPECT(report_of([] { blocks(COUNT, false, false); }, 8).empty());
    EXPECT(report_of([] { blocks(COUNT, true, false); }, 8, true).empty());
    EXPECT(report_of([] { blocks(8, false, true); }, 8).empty());
    EXPECT(report_of([] { product(false, 0); }).empty());
    EXPECT(report_of([] { product(true, 3); }).empty());
    // The compiler makes the scalar unit wait, and what follows starts later.
    EXPECT(report_of([] {
               TPipe pipe;
               auto x = buffer(pipe);
               DataCopy(x, in(), COUNT);
               if (x.GetValue(3) == 1.0f) Adds(x, x, 1.0f, COUNT);
           }).empty());
    // A barrier of all pipes stands for every event.
    EXPECT(report_of([] {
               TPipe pipe;
               auto x = buffer(pipe);
               DataCopy(x, in(), COUNT);
               PipeBarrier<PIPE_ALL>();
               Adds(x, x, 1.0f, COUNT);
               PipeBarrier<PIPE_ALL>();
               DataCopy(out(), x, COUNT);
           }).empty());
}

TEST(missing_events_are_named_with_both_calls)
{
    EXPECT_FAILS(([] { with_events(MTE2_V); }), "Add: PIPE_V reads src0 (VECCALC, bytes 0 to 255) and does not wait for DataCopy at order.cpp:");
    EXPECT_FAILS(([] { with_events(MTE2_V); }), "which writes it; an event MTE2_V is missing");
    EXPECT_FAILS(([] { with_events(V_MTE3); }), "DataCopy: PIPE_MTE3 reads src (VECCALC, bytes 0 to 255) and does not wait for Add at order.cpp:");
    EXPECT_FAILS(([] { with_events(V_MTE3); }), "an event V_MTE3 is missing");
    EXPECT_FAILS(([] { with_events(V_MTE2); }), "which reads it; an event V_MTE2 is missing");
    EXPECT_FAILS(([] { copy_through(false); }), "DataCopy: PIPE_MTE2 writes dst (VECCALC, bytes 0 to 255) and does not wait for DataCopy at order.cpp:");
    EXPECT_FAILS(([] { copy_through(false); }), "an event MTE3_MTE2 is missing");
    EXPECT_FAILS(([] { with_queues(true); }), "Add: PIPE_V reads src1");
    EXPECT_FAILS(([] { product(true, 0); }), "Fixpipe: PIPE_FIX reads src (L0C, bytes 0 to 1023) and does not wait for Mmad");
    EXPECT_FAILS(([] { product(true, 0); }), "an event M_FIX is missing");
    // An event of other pipes does not help.
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     auto x = buffer(pipe);
                     DataCopy(x, in(), COUNT);
                     order<HardEvent::MTE2_MTE3>(true);
                     Adds(x, x, 1.0f, COUNT);
                 }),
                 "an event MTE2_V is missing");
}

TEST(missing_barriers_are_named)
{
    EXPECT_FAILS(([] { overlapping_copies(false); }), "DataCopy: PIPE_MTE2 writes dst (VECCALC, bytes 128 to 255), which DataCopy at order.cpp:");
    EXPECT_FAILS(([] { overlapping_copies(false); }), "PipeBarrier<PIPE_MTE2> is missing");
}

// A value that the scalar unit has stored is copied. `lines` are those that are cleaned: none, that of an address, or all.
enum Lines { NO_LINE, OTHER_LINE, ITS_LINE, ALL_LINES };
void stored_and_copied(Lines lines)
{
    TPipe pipe;
    auto x = buffer(pipe);
    out().SetValue(40, 3.0f);
    if (lines == ALL_LINES) dcci(output.data(), 1);
    else if (lines != NO_LINE) dcci(output.data() + (lines == ITS_LINE ? 40 : 0), 0);
    DataCopy(x, out(), COUNT);
    pipe_barrier(PIPE_ALL);
}

TEST(intrinsics_clean_lines_and_order_copies)
{
    EXPECT(report_of([] { stored_and_copied(ALL_LINES); }).empty());
    EXPECT(report_of([] { stored_and_copied(ITS_LINE); }).empty());
    EXPECT_FAILS(([] { stored_and_copied(OTHER_LINE); }), "DataCacheCleanAndInvalid");
    EXPECT_FAILS(([] { stored_and_copied(NO_LINE); }), "DataCacheCleanAndInvalid");
    const auto twice = [](bool has_barrier, pipe_t pipe_of_barrier) {
        TPipe pipe;
        auto x = buffer(pipe);
        DataCopy(x, in(), COUNT);
        if (has_barrier) pipe_barrier(pipe_of_barrier);
        DataCopy(x[32], in(), 32);
        pipe_barrier(PIPE_ALL);
    };
    EXPECT(check::run([&] { twice(true, PIPE_MTE2); }).empty());
    EXPECT(check::run([&] { twice(true, PIPE_ALL); }).empty());
    EXPECT_FAILS(([&] { twice(true, PIPE_MTE3); }), "PipeBarrier<PIPE_MTE2> is missing");
    EXPECT_FAILS(([&] { twice(false, PIPE_ALL); }), "PipeBarrier<PIPE_MTE2> is missing");
    // A barrier of the scalar unit's own accesses does not order pipes.
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     auto x = buffer(pipe);
                     DataCopy(x, in(), COUNT);
                     DataSyncBarrier<MemDsbT::ALL>();
                     Adds(x, x, 1.0f, COUNT);
                 }),
                 "an event MTE2_V is missing");
}

TEST(blocks_that_write_the_same_memory_are_named)
{
    const std::string said = check::run([] { blocks(COUNT - 16, false, false); }, 8);
    EXPECT(said.rfind("1: order.cpp:", 0) == 0);
    EXPECT(said.find("DataCopy: bytes 0 to 63 of the copy go to global memory that block 0 has written (DataCopy at order.cpp:") != std::string::npos);
    EXPECT_FAILS(([] { blocks(0, false, false); }, 2), "bytes 0 to 255 of the copy go to global memory that block 0 has written");
    // Waiting orders what comes before with what comes after, and nothing else.
    EXPECT_FAILS(([] { blocks(COUNT - 8, true, false); }, 4, true), "global memory that block 0 has written");
}

// 13 of 16 floats in each of two rows, in a buffer of 256 bytes. `use` gets the rows and a buffer for results.
template <typename Use> std::string with_padding(const DataCopyPadExtParams<float>& pad, Use use)
{
    return check::run([&] {
        TPipe pipe;
        TBuf<> rows, results;
        pipe.InitBuffer(rows, 256);
        pipe.InitBuffer(results, 1024);
        auto x = rows.Get<float>(), y = results.Get<float>();
        DataCopyPad(x, in(), DataCopyExtParams{2, 13 * sizeof(float), 0, 0, 0}, pad);
        SetFlag<HardEvent::MTE2_V>(0);
        WaitFlag<HardEvent::MTE2_V>(0);
        use(x, y);
        PipeBarrier<PIPE_ALL>();
    });
}

TEST(padding_without_a_value_is_no_operand_of_reductions_and_copies)
{
    const DataCopyPadExtParams<float> none{false, 0, 0, 0}, zeros{true, 0, 3, 0};
    const auto sum = [](LocalTensor<float> x, LocalTensor<float> y, uint32_t count) { ReduceSum(y, x, y[64], count); };
    const auto copy_out = [](LocalTensor<float> x, uint32_t count) {
        SetFlag<HardEvent::V_MTE3>(0);
        WaitFlag<HardEvent::V_MTE3>(0);
        DataCopy(out(), x, count);
    };
    const char* wanted = "padding that DataCopyPad at order.cpp:";
    using Tensor = LocalTensor<float>;
    const auto fails = [&](auto use, const char* part) {
        const std::string said = with_padding(none, use);
        if (said.find(wanted) == std::string::npos || said.find(part) == std::string::npos) check::report(__FILE__, __LINE__, said);
        EXPECT_RUNS(with_padding(zeros, use));
    };
    fails([&](Tensor x, Tensor y) { sum(x, y, 16); }, "ReduceSum: PIPE_V reads byte 52 of src (VECCALC)");
    fails([&](Tensor x, Tensor y) { sum(x[16], y, 14); }, "reads byte 116");
    fails([&](Tensor x, Tensor y) { ReduceMax(y, x, y[64], 16, false); }, "ReduceMax");
    fails([&](Tensor x, Tensor y) { WholeReduceSum(y, x, 16, 2, 1, 1, 2); }, "WholeReduceSum");
    fails([&](Tensor x, Tensor y) { BlockReduceMax(y, x, 1, 32, 1, 1, 8); }, "BlockReduceMax");
    fails([&](Tensor x, Tensor y) { PairReduceSum(y, x, 1, 32, 1, 1, 8); }, "PairReduceSum");
    // Elementwise functions carry it on, also where they write over their operand.
    fails([&](Tensor x, Tensor y) { Exp(x, x, 32); sum(x, y, 16); }, "ReduceSum");
    fails([&](Tensor x, Tensor y) { Add(y, x[16], x, 16); sum(y, y[64], 16); }, "ReduceSum");
    fails([&](Tensor x, Tensor y) { Muls(y, x, 2.0f, 32, 1, {1, 1, 8, 8}); sum(y, y[64], 16); }, "ReduceSum");
    fails([&](Tensor x, Tensor y) { Sub(y, x, x, 32, 1, {1, 1, 1, 8, 8, 8}); copy_out(y, 32); }, "DataCopy: PIPE_MTE3");
    fails([&](Tensor x, Tensor) { copy_out(x, 32); }, "DataCopy: PIPE_MTE3 reads byte 52 of src");
    const auto works = [&](auto use) { EXPECT_RUNS(with_padding(none, use)); };
    works([&](Tensor x, Tensor y) { sum(x, y, 13); });
    works([&](Tensor x, Tensor y) { WholeReduceSum(y, x, 13, 2, 1, 1, 2); });
    works([&](Tensor x, Tensor) {
        Exp(x, x, 32);
        SetFlag<HardEvent::V_MTE3>(0);
        WaitFlag<HardEvent::V_MTE3>(0);
        DataCopyPad(out(), x, DataCopyExtParams{2, 13 * sizeof(float), 0, 0, 0});
    });
    // What the program writes there has a value.
    works([&](Tensor x, Tensor y) {
        const uint64_t ends[2] = {0xe000e000, 0};
        Duplicate(x, 0.0f, ends, 1, 1, 8);
        sum(x, y, 32);
    });
    works([&](Tensor x, Tensor y) {
        for (uint32_t at = 13; at < 16; at++) x.SetValue(at, 0.0f);
        sum(x, y, 16);
    });
    works([&](Tensor x, Tensor y) {
        for (uint32_t at = 13; at < 16; at++) x.GetPhyAddr()[at] = 0.0f;
        sum(x, y, 16);
    });
    EXPECT_RUNS(check::run([&] {
        TPipe pipe;
        TBuf<> rows;
        pipe.InitBuffer(rows, 1024);
        auto x = rows.Get<float>();
        SetPadValue(0.0f);
        DataCopyPad(x, in(), DataCopyExtParams{1, 13 * sizeof(float), 0, 0, 0}, none);
        SetFlag<HardEvent::MTE2_V>(0);
        WaitFlag<HardEvent::MTE2_V>(0);
        ReduceSum(x[64], x, x[128], 16);
        PipeBarrier<PIPE_ALL>();
    }));
}

int main()
{
    return check::finish("order");
}
