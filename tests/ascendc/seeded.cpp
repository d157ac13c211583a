// Ten kernels with six seeded mistakes each, and ten correct variants of each kernel. Compiled with JUMAR_ASCENDC_CHECK=2. A mistake counts as
// found if the report names what is wrong.
#include "check.h"

#include <algorithm>
#include <cstring>

namespace {

// The mistake of the run, 0 without one, and the variant of a correct run.
int mistake = 0;
int variant = 0;

bool is(int number)
{
    return mistake == number;
}

constexpr uint32_t ELEMENTS = 1 << 14;
std::vector<float> input(ELEMENTS), other(ELEMENTS), output(ELEMENTS), workspace(ELEMENTS);

template <typename T> GlobalTensor<T> global(std::vector<float>& memory, uint64_t from = 0)
{
    GlobalTensor<T> tensor;
    tensor.SetGlobalBuffer(reinterpret_cast<T*>(memory.data()) + from, memory.size() * sizeof(float) / sizeof(T) - from);
    return tensor;
}
template <HardEvent event> void order(int id = 0)
{
    SetFlag<event>(id);
    WaitFlag<event>(id);
}
uint32_t block()
{
    return static_cast<uint32_t>(GetBlockIdx());
}
uint32_t tiles()
{
    return 2 + static_cast<uint32_t>(variant % 4);
}
// Elements of a tile: a multiple of 64.
uint32_t length()
{
    return 128 + 64 * static_cast<uint32_t>(variant / 4);
}

// 1: tiles through queues with two buffers.
template <typename T> void add_tiles()
{
    TPipe pipe;
    TQue<TPosition::VECIN, 2> xs, ys;
    TQue<TPosition::VECOUT, 2> zs;
    const uint32_t count = length(), all = tiles() * count;
    pipe.InitBuffer(xs, 2, count * sizeof(T));
    pipe.InitBuffer(ys, 2, count * sizeof(T));
    pipe.InitBuffer(zs, 2, count * sizeof(T));
    const uint64_t begin = uint64_t(block()) * (is(6) ? all - 16 : all);
    auto x_in = global<T>(input, begin), y_in = global<T>(other, begin), out = global<T>(output, begin);
    for (uint32_t tile = 0; tile < tiles(); tile++) {
        auto x = xs.template AllocTensor<T>();
        auto y = ys.template AllocTensor<T>();
        DataCopy(x, x_in[tile * count], is(5) ? count - 1 : count);
        DataCopy(y, y_in[tile * count], count);
        if (!is(1)) xs.EnQue(x);
        ys.EnQue(y);
        if (!is(2)) x = xs.template DeQue<T>();
        y = ys.template DeQue<T>();
        auto z = zs.template AllocTensor<T>();
        if (is(4)) xs.FreeTensor(x);
        Add(z, x, y, static_cast<int32_t>(count));
        if (!is(3) && !is(4)) xs.FreeTensor(x);
        ys.FreeTensor(y);
        zs.EnQue(z);
        z = zs.template DeQue<T>();
        DataCopy(out[tile * count], z, count);
        zs.FreeTensor(z);
    }
}
void add()
{
    if (variant % 3 == 1) return add_tiles<half>();
    if (variant % 3 == 2) return add_tiles<int32_t>();
    add_tiles<float>();
}

// 2: one buffer, and all events by hand.
void scale()
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> memory;
    const uint32_t count = length();
    pipe.InitBuffer(memory, count * 8);
    auto x = memory.Get<float>(), y = memory.GetWithOffset<float>(count, count * 4);
    const uint64_t begin = uint64_t(block()) * tiles() * count;
    auto in = global<float>(input, begin), out = global<float>(output, begin);
    for (uint32_t tile = 0; tile < tiles(); tile++) {
        const bool again = tile > 0;
        if (again && !is(5)) WaitFlag<HardEvent::V_MTE2>(1);
        DataCopy(x, in[tile * count], count);
        if (is(3)) {
            order<HardEvent::MTE2_MTE3>(0);
        } else if (!is(2)) {
            SetFlag<HardEvent::MTE2_V>(0);
            if (is(6)) SetFlag<HardEvent::MTE2_V>(0);
            if (!is(1) || !again) WaitFlag<HardEvent::MTE2_V>(0);
        }
        if (again) WaitFlag<HardEvent::MTE3_V>(1);
        Muls(y, x, 3.0f, static_cast<int32_t>(count));
        if (!is(5) && tile + 1 < tiles()) SetFlag<HardEvent::V_MTE2>(1);
        if (!is(4)) order<HardEvent::V_MTE3>(0);
        DataCopy(out[tile * count], y, count);
        if (tile + 1 < tiles()) SetFlag<HardEvent::MTE3_V>(1);
    }
}

// 3: the sum of a row, stored by the scalar unit. Each block has 64 bytes for its result.
void sum_rows()
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> row, work, result;
    const uint32_t count = length() * 2;
    pipe.InitBuffer(row, count * 4);
    pipe.InitBuffer(work, count * 4);
    pipe.InitBuffer(result, 32);
    auto x = row.Get<float>(), tmp = work.Get<float>(), sum = result.Get<float>();
    auto in = global<float>(input, uint64_t(block()) * count);
    // The second block's result has the number 16: it begins the next line.
    auto out = global<float>(output);
    // A vector's data begins at a multiple of 64 bytes only by chance: the results begin at one here.
    const uint64_t first = (64 - reinterpret_cast<uintptr_t>(output.data()) % 64) % 64 / 4;
    DataCopy(x, is(4) ? in[ELEMENTS] : in, is(2) ? count / 4 : is(5) ? count - 3 : count);
    order<HardEvent::MTE2_V>();
    ReduceSum(sum, is(6) ? x[3] : x, tmp, static_cast<int32_t>(is(6) ? count - 8 : count));
    order<HardEvent::V_S>();
    const float value = sum.GetValue(is(3) ? 8 : 0);
    out.SetValue(first + block() * (is(1) ? 1 : 16), value);
}

// 4: partial results go through a workspace, and each block takes that of its neighbour.
void exchange()
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> memory;
    const uint32_t count = length(), blocks = static_cast<uint32_t>(GetBlockNum()), next = (block() + 1) % blocks;
    pipe.InitBuffer(memory, count * 4);
    auto x = memory.Get<float>();
    auto in = global<float>(input, uint64_t(block()) * count), shared = global<float>(workspace), out = global<float>(output);
    DataCopy(x, in, count);
    order<HardEvent::MTE2_V>();
    Adds(x, x, 1.0f, static_cast<int32_t>(count));
    order<HardEvent::V_MTE3>();
    DataCopy(shared[block() * (is(3) ? count / 2 : count)], x, count);
    if (is(4)) {
        order<HardEvent::V_MTE2>();
        DataCopy(x, shared[block() * count], count);
        order<HardEvent::MTE3_V>();
    }
    order<HardEvent::MTE3_MTE2>();
    if (is(5) && block() == 0) {
        LocalTensor<int32_t> flags = x.ReinterpretCast<int32_t>();
        IBWait(global<int32_t>(other), flags, 1, 0);
    }
    if (!is(1) && !(is(2) && block() == 1)) SyncAll();
    DataCopy(x, shared[next * count], count);
    order<HardEvent::MTE2_MTE3>();
    DataCopy(is(6) ? shared[block() * count] : out[block() * count], x, count);
}

// 5: all blocks add to the same result.
void accumulate()
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> memory;
    const uint32_t count = length();
    pipe.InitBuffer(memory, is(5) ? 200 * 1024 : count * 4);
    auto x = memory.Get<float>();
    auto out = global<float>(output);
    for (uint32_t tile = 0; tile < tiles(); tile++) {
        if (tile > 0) WaitFlag<HardEvent::MTE3_V>(2);
        Duplicate(x, static_cast<float>(block() + tile), static_cast<int32_t>(is(4) ? count + 8 : count));
        if (!is(3)) order<HardEvent::V_MTE3>();
        if (!is(1)) SetAtomicAdd<float>();
        const uint16_t rows = 4;
        const uint32_t stride = is(6) ? ELEMENTS * 4 : 0;
        DataCopyPad(out[tile * count], x, DataCopyExtParams{rows, count, 0, stride, 0});
        if (!is(2)) SetAtomicNone();
        if (tile + 1 < tiles()) SetFlag<HardEvent::MTE3_V>(2);
    }
}

// 6: the larger of two values, by a comparison and a selection.
void select()
{
    TPipe pipe;
    TQue<TPosition::VECIN, 1> xs, ys;
    TQue<TPosition::VECOUT, 1> zs;
    TBuf<TPosition::VECCALC> bits;
    const uint32_t count = length();
    pipe.InitBuffer(xs, 1, count * 4);
    pipe.InitBuffer(ys, 1, count * 4);
    pipe.InitBuffer(zs, 1, count * 4);
    pipe.InitBuffer(bits, is(2) ? 32 * (count / 256) : count / 8 + 32);
    const uint64_t begin = uint64_t(block()) * count;
    auto x = xs.AllocTensor<float>(), y = ys.AllocTensor<float>();
    DataCopy(x, global<float>(input, begin), count);
    if (!is(3)) DataCopy(y, global<float>(other, begin), count);
    xs.EnQue(x);
    ys.EnQue(y);
    if (is(6)) xs.EnQue(x);
    x = xs.DeQue<float>();
    y = ys.DeQue<float>();
    auto z = zs.AllocTensor<float>();
    auto mask = bits.Get<uint8_t>();
    Compare(mask, x, y, CMPMODE::GT, count);
    Select(z, mask, x, y, SELMODE::VSEL_TENSOR_TENSOR_MODE, count);
    if (is(4)) ys.FreeTensor(x);
    xs.FreeTensor(x);
    if (is(5)) xs.FreeTensor(x);
    ys.FreeTensor(y);
    zs.EnQue(z);
    z = zs.DeQue<float>();
    DataCopy(global<float>(output, begin), z, count);
    zs.FreeTensor(z);
    if (is(1)) SetMaskCount();
}

// 7: every second block of 32 bytes is copied, and rows are put side by side.
void strided()
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> memory;
    const uint16_t rows = static_cast<uint16_t>(length() / 8);
    pipe.InitBuffer(memory, rows * 64u);
    auto x = memory.Get<float>();
    const uint64_t begin = uint64_t(block()) * rows * 16;
    auto in = global<float>(input, begin), out = global<float>(output, begin);
    const uint16_t count = is(3) ? static_cast<uint16_t>(rows * 2 + 1) : rows;
    DataCopy(x, in, DataCopyParams{count, 1, static_cast<uint16_t>(is(1) ? 400 : 1), static_cast<uint16_t>(is(2) ? 2 : 0)});
    if (is(4)) DataCopy(x[8], in, DataCopyParams{1, 1, 0, 0});
    if (!is(4)) PipeBarrier<PIPE_MTE2>();
    DataCopy(x[rows * 8], in[8], DataCopyParams{rows, 1, 1, 0});
    order<HardEvent::MTE2_V>();
    Adds(x, x, 2.0f, static_cast<int32_t>(rows * 16));
    if (!is(5)) order<HardEvent::V_MTE3>();
    if (is(6)) DataCopy(global<uint8_t>(output, begin * 4), x.ReinterpretCast<uint8_t>(), 31);
    DataCopy(out, x, rows * 16u);
}

// 8: a product of 16 x 16 matrices on the cube core.
void product()
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    TPipe pipe;
    TBuf<TPosition::A1> a1, b1;
    TBuf<TPosition::A2> a2;
    TBuf<TPosition::B2> b2;
    TBuf<TPosition::CO1> co1;
    pipe.InitBuffer(a1, 512);
    pipe.InitBuffer(b1, 512);
    pipe.InitBuffer(a2, is(5) ? 65 * 1024 : 512);
    pipe.InitBuffer(b2, 512);
    pipe.InitBuffer(co1, 1024);
    auto left1 = a1.Get<half>(), right1 = b1.Get<half>(), left = a2.Get<half>(), right = b2.Get<half>();
    auto sums = co1.Get<float>();
    for (uint32_t step = 0; step < tiles(); step++) {
        const uint64_t begin = (uint64_t(block()) * tiles() + step) * 256;
        if (step > 0) WaitFlag<HardEvent::MTE1_MTE2>(1);
        DataCopy(left1, global<half>(input, begin), 256);
        DataCopy(right1, global<half>(other, begin), 256);
        if (!is(1)) order<HardEvent::MTE2_MTE1>();
        if (step > 0) WaitFlag<HardEvent::M_MTE1>(1);
        LoadData(left, left1, LoadData2DParams(0, 1, 1, 0, 0, false, 0));
        LoadData(right, right1, LoadData2DParams(0, 1, 1, 0, 0, true, 0));
        if (step + 1 < tiles()) SetFlag<HardEvent::MTE1_MTE2>(1);
        if (!is(2)) order<HardEvent::MTE1_M>();
        if (is(4)) Mmad(sums, right, left, MmadParams(16, 16, 16, 0, false, step == 0));
        else Mmad(sums, left, right, MmadParams(16, 16, 16, 0, false, step == 0));
        if (step + 1 < tiles()) SetFlag<HardEvent::M_MTE1>(1);
    }
    if (!is(3)) order<HardEvent::M_FIX>();
    const uint16_t columns = is(6) ? 32 : 16;
    Fixpipe(global<float>(output, uint64_t(block()) * 256), sums, FixpipeParamsV220(columns, 16, 16, columns, false, NoQuant, 0, 1, 0, 0, 0));
}

// 9: the vector cores of a block write what its cube core reads.
void transfer()
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
    TPipe pipe;
    auto shared = global<half>(workspace);
    const uint32_t pair = ASCEND_IS_AIC ? block() : block() / static_cast<uint32_t>(GetTaskRatio()), count = 256;
    if ASCEND_IS_AIV {
        TBuf<TPosition::VECCALC> memory;
        pipe.InitBuffer(memory, count * 2);
        auto x = memory.Get<half>();
        Duplicate(x, half(1.0f), count);
        order<HardEvent::V_MTE3>();
        DataCopy(shared[pair * count], x, count);
        if (is(3)) return;
        for (int times = 0; times < (is(5) ? 17 : 1); times++) CrossCoreSetFlag<2, PIPE_MTE3>(4);
    } else {
        TBuf<TPosition::A1> a1;
        pipe.InitBuffer(a1, count * 2);
        auto x = a1.Get<half>();
        if (is(4)) CrossCoreSetFlag<1, PIPE_MTE3>(3);
        if (is(6)) CrossCoreWaitFlag(16);
        if (!is(1)) CrossCoreWaitFlag(is(2) ? 5 : 4);
        DataCopy(x, shared[pair * count], count);
        order<HardEvent::MTE2_MTE3>();
        order<HardEvent::MTE2_MTE1>();
    }
}

// 10: parts by tiling data, with a tail that is shorter.
struct Parts {
    uint32_t all, each, tile;
};
Parts parts;
void tail()
{
    jumar::ascendc::Core& self = jumar::ascendc::core();
    self.has_tiling = true;
    self.tiling = &parts;
    self.tiling_bytes = is(1) ? 8 : sizeof parts;
    GET_TILING_DATA_WITH_STRUCT(Parts, data, &parts);
    TPipe pipe;
    TQue<TPosition::VECIN, 2> xs;
    TQue<TPosition::VECOUT, 2> zs;
    TBuf<TPosition::VECCALC> flags;
    pipe.InitBuffer(xs, 2, data.tile * 4);
    pipe.InitBuffer(zs, 2, data.tile * 4);
    if (!is(5)) pipe.InitBuffer(flags, 64);
    const uint32_t begin = block() * data.each + (is(2) ? ELEMENTS : 0), end = std::min(begin + data.each, is(2) ? begin + data.each : data.all);
    GlobalTensor<float> in, out;
    in.SetGlobalBuffer(input.data(), ELEMENTS);
    out.SetGlobalBuffer(output.data(), data.all);
    auto flag = flags.Get<int32_t>();
    Duplicate(flag, 1, 16);
    for (uint32_t at = begin; at < end; at += data.tile) {
        const uint32_t count = is(3) ? data.tile : std::min(end - at, data.tile);
        const DataCopyExtParams bytes{1, static_cast<uint32_t>(count * 4), 0, 0, 0};
        auto x = xs.AllocTensor<float>();
        if (is(6) && at == begin) {
            GlobalTensor<float> first;
            first.SetGlobalBuffer(input.data(), ELEMENTS);
            first.SetValue(at, 1.0f);
        }
        DataCopyPad(x, in[at], bytes, DataCopyPadExtParams<float>{false, 0, 0, 0});
        if (!(is(4) && count < data.tile)) xs.EnQue(x);
        x = xs.DeQue<float>();
        auto z = zs.AllocTensor<float>();
        Muls(z, x, 2.0f, static_cast<int32_t>(count));
        xs.FreeTensor(x);
        zs.EnQue(z);
        z = zs.DeQue<float>();
        DataCopyPad(out[at], z, bytes);
        zs.FreeTensor(z);
    }
}

struct Kernel {
    const char* name;
    void (*run)();
    uint32_t blocks;
    bool together;
    // What the report of each mistake has to say.
    const char* wanted[6];
};
const Kernel kernels[] = {
    {"add", add, 4, false,
     {"DeQue: the queue (VECIN) is empty; EnQue is missing", "still in the queue; DeQue is missing", "FreeTensor is missing", "is used after FreeTensor",
      "are not a multiple of 32", "go to global memory that block 0 has written"}},
    {"scale", scale, 4, false,
     {"an event MTE2_V is missing", "an event MTE2_V is missing", "an event MTE2_V is missing", "an event V_MTE3 is missing", "an event V_MTE2 is missing",
      "is set already; WaitFlag is missing"}},
    {"sum_rows", sum_rows, 4, false,
     {"SetValue: block 0 has stored to the same 64 bytes", "were never written", "leaves its buffer", "leaves a GlobalTensor", "are not a multiple of 32",
      "has to be aligned to 32 bytes"}},
    {"exchange", exchange, 4, true,
     {"SyncAll is missing", "SyncAll is missing", "go to global memory that block 0 has written", "an event MTE3_MTE2 is missing", "a deadlock", "SyncAll is missing"}},
    {"accumulate", accumulate, 4, false,
     {"SyncAll or an atomic copy is missing", "SetAtomicNone is missing", "an event V_MTE3 is missing", "reaches bytes", "do not fit into UB", "leaves a GlobalTensor"}},
    {"select", select, 4, false,
     {"SetMaskNorm is missing", "reaches bytes", "were never written", "is not of this queue", "was freed already", "is in the queue already"}},
    {"strided", strided, 4, false,
     {"leaves a GlobalTensor", "reaches bytes", "reaches bytes", "PipeBarrier<PIPE_MTE2> is missing", "an event V_MTE3 is missing", "31 bytes are not a multiple of 32"}},
    {"product", product, 4, false,
     {"an event MTE2_MTE1 is missing", "an event MTE1_M is missing", "an event M_FIX is missing", "Mmad", "do not fit into L0A", "Fixpipe: src reaches bytes"}},
    {"transfer", transfer, 4, true,
     {"SyncAll is missing", "a deadlock", "a deadlock", "mode 1 is one of vector cores", "more than 15 times without a wait", "it has to be 0 to 15"}},
    {"tail", tail, 4, false,
     {"the tiling function has written 8", "leaves a GlobalTensor", "leaves a GlobalTensor", "DeQue: the queue (VECIN) is empty", "InitBuffer was not called",
      "DataCacheCleanAndInvalid is missing"}},
};

std::string report_of(const Kernel& kernel)
{
    std::fill(output.begin(), output.end(), 0.0f);
    std::fill(workspace.begin(), workspace.end(), 0.0f);
    const uint32_t tile = length() / 2;
    parts = {tile * 7 + 13 + static_cast<uint32_t>(variant), 2 * tile, tile};
    return check::run(kernel.run, kernel.blocks, kernel.together);
}

} // namespace

int main()
{
    for (uint32_t at = 0; at < ELEMENTS; at++) {
        input[at] = static_cast<float>(at % 977) * 0.5f - 100;
        other[at] = static_cast<float>(at % 613) - 300;
    }
    int found = 0, seeded = 0, clean = 0, correct = 0;
    for (const Kernel& kernel : kernels) {
        for (mistake = 1; mistake <= 6; mistake++) {
            variant = 0;
            seeded++;
            const std::string said = report_of(kernel), wanted = kernel.wanted[mistake - 1];
            if (said.find(wanted) != std::string::npos) found++;
            else std::fprintf(stderr, "%s, mistake %d: reported \"%s\", wanted \"%s\"\n", kernel.name, mistake, said.c_str(), wanted.c_str());
        }
        mistake = 0;
        for (variant = 0; variant < 12; variant++) {
            correct++;
            const std::string said = report_of(kernel);
            if (said.empty()) clean++;
            else std::fprintf(stderr, "%s, variant %d: reported \"%s\"\n", kernel.name, variant, said.c_str());
        }
    }
    std::printf("%d of %d mistakes found, %d of %d correct kernels without a report\n", found, seeded, clean, correct);
    return found < 57 || clean != correct;
}
