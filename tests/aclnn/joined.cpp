// Operators that are joined with collectives: ranks as threads or as processes, queued one behind the other, captured, and what
// happens when ranks disagree. Values are small integers, so that float16 and the sums over ranks are exact; what must come out is
// computed in double on the data of all ranks.
//
//     joined threads 4
//     joined processes 2

#include "program.h"

#include <functional>
#include <thread>

#include "../../examples/collectives/carry.h"
#include "aclnnop/aclnn_all_gather_matmul.h"
#include "aclnnop/aclnn_distribute_barrier.h"
#include "aclnnop/aclnn_matmul_all_reduce_v2.h"
#include "aclnnop/aclnn_matmul_reduce_scatter.h"
#include "aclnnop/aclnn_moe_distribute_combine_v2.h"
#include "aclnnop/aclnn_moe_distribute_dispatch_v2.h"
#include "hccl/hccl.h"

using Values = std::vector<double>;

static uint32_t ranks = 0;

// Integers up to 2048 are exact in float16.
static uint16_t to_half(double value)
{
    if (value == 0) {
        return 0;
    }
    const uint16_t sign = value < 0 ? 0x8000 : 0;
    double rest = value < 0 ? -value : value;
    int exponent = 15;
    for (; rest >= 2; rest /= 2) {
        ++exponent;
    }
    for (; rest < 1; rest *= 2) {
        --exponent;
    }
    return static_cast<uint16_t>(sign | exponent << 10 | static_cast<int>((rest - 1) * 1024));
}

static double from_half(uint16_t bits)
{
    const int exponent = bits >> 10 & 31;
    if (exponent == 0) {
        return 0;
    }
    double value = 1 + (bits & 1023) / 1024.0;
    for (int step = exponent; step > 15; --step) {
        value *= 2;
    }
    for (int step = exponent; step < 15; ++step) {
        value /= 2;
    }
    return bits & 0x8000 ? -value : value;
}

// The values of a tensor, which differ between ranks.
static Values values_of(uint32_t rank, int which, size_t count)
{
    Values values(count);
    uint32_t state = rank * 7919 + which * 104729 + 1;
    for (double &value : values) {
        state = state * 1664525 + 1013904223;
        value = static_cast<int>(state >> 24) % 5 - 2;
    }
    return values;
}

// A tensor in device memory.
struct Tensor {
    void *address = nullptr;
    aclTensor *tensor = nullptr;
    std::vector<int64_t> dims;
    aclDataType type;
    size_t bytes = 0;

    Tensor(aclDataType type, std::vector<int64_t> dims, const void *from = nullptr) : dims(dims), type(type)
    {
        size_t count = 1;
        for (int64_t dim : dims) {
            count *= static_cast<size_t>(dim);
        }
        bytes = count * aclDataTypeSize(type);
        CHECK(aclrtMalloc(&address, bytes, ACL_MEM_MALLOC_HUGE_FIRST) == 0);
        CHECK(aclrtMemset(address, bytes, 0, bytes) == 0);
        if (from != nullptr) {
            CHECK(aclrtMemcpy(address, bytes, from, bytes, ACL_MEMCPY_HOST_TO_DEVICE) == 0);
        }
        tensor = aclCreateTensor(dims.data(), dims.size(), type, nullptr, 0, ACL_FORMAT_ND, dims.data(), dims.size(), address);
        CHECK(tensor != nullptr);
    }
    Tensor(const Tensor &) = delete;
    Tensor &operator=(const Tensor &) = delete;
    ~Tensor()
    {
        CHECK(aclDestroyTensor(tensor) == 0);
        CHECK(aclrtFree(address) == 0);
    }

    static std::vector<uint16_t> halves(const Values &values)
    {
        std::vector<uint16_t> bits;
        for (double value : values) {
            bits.push_back(to_half(value));
        }
        return bits;
    }

    Tensor(std::vector<int64_t> dims, const Values &values) : Tensor(ACL_FLOAT16, std::move(dims), halves(values).data()) {}

    Values read() const
    {
        std::vector<uint16_t> bits(bytes / 2);
        CHECK(aclrtMemcpy(bits.data(), bytes, address, bytes, ACL_MEMCPY_DEVICE_TO_HOST) == 0);
        Values values;
        for (uint16_t one : bits) {
            values.push_back(from_half(one));
        }
        return values;
    }
};

static Values product(const Values &one, const Values &two, size_t rows, size_t depth, size_t columns)
{
    Values out(rows * columns, 0);
    for (size_t row = 0; row < rows; ++row) {
        for (size_t column = 0; column < columns; ++column) {
            for (size_t at = 0; at < depth; ++at) {
                out[row * columns + column] += one[row * depth + at] * two[at * columns + column];
            }
        }
    }
    return out;
}

// One rank: its communicator, stream, and the memory of its calls.
struct Rank {
    uint32_t rank;
    HcclComm comm;
    aclrtStream stream = nullptr;
    char group[128] = {};
    std::vector<void *> workspaces;

    Rank(uint32_t rank, HcclComm comm) : rank(rank), comm(comm)
    {
        CHECK(aclrtCreateStream(&stream) == 0);
        CHECK(HcclGetCommName(comm, group) == 0);
    }
    ~Rank()
    {
        for (void *workspace : workspaces) {
            CHECK(aclrtFree(workspace) == 0);
        }
        CHECK(aclrtDestroyStream(stream) == 0);
    }

    void *workspace(uint64_t size)
    {
        void *address = nullptr;
        if (size > 0) {
            CHECK(aclrtMalloc(&address, size, ACL_MEM_MALLOC_HUGE_FIRST) == 0);
            workspaces.push_back(address);
        }
        return address;
    }

    void synchronize() { CHECK(aclrtSynchronizeStream(stream) == 0); }
};

using Second = aclnnStatus (*)(void *, uint64_t, aclOpExecutor *, aclrtStream);

// Both phases.
template <typename First, typename... Args>
static int call(Rank &own, First first, Second second, Args... args)
{
    uint64_t size = 0;
    aclOpExecutor *executor = nullptr;
    const int planned = first(args..., &size, &executor);
    return planned != 0 ? planned : second(own.workspace(size), size, executor, own.stream);
}

#define CALL(own, name, ...) call(own, name##GetWorkspaceSize, name, __VA_ARGS__)

static constexpr int64_t ROWS = 3, DEPTH = 8, COLUMNS = 5;

// Products before and behind a collective, queued without waiting.
static void products(Rank &own)
{
    const int64_t all = ROWS * ranks;
    Tensor x1({ROWS, DEPTH}, values_of(own.rank, 1, ROWS * DEPTH)), x2({DEPTH, COLUMNS}, values_of(own.rank, 2, DEPTH * COLUMNS));
    Tensor bias({COLUMNS}, values_of(0, 3, COLUMNS)), gathered(ACL_FLOAT16, {all, DEPTH}), out(ACL_FLOAT16, {all, COLUMNS});
    Tensor tall({all, DEPTH}, values_of(own.rank, 4, all * DEPTH)), part(ACL_FLOAT16, {ROWS, COLUMNS});
    // The addend is also the result.
    Tensor sum({ROWS, COLUMNS}, values_of(own.rank, 5, ROWS * COLUMNS));
    CHECK(CALL(own, aclnnAllGatherMatmul, x1.tensor, x2.tensor, bias.tensor, own.group, int64_t(0), int64_t(0), int64_t(1), out.tensor, gathered.tensor) == 0);
    CHECK(CALL(own, aclnnMatmulAllReduceV2, x1.tensor, x2.tensor, bias.tensor, sum.tensor, own.group, "sum", int64_t(0), int64_t(1), sum.tensor) == 0);
    CHECK(CALL(own, aclnnDistributeBarrier, x1.tensor, own.group, int64_t(ranks)) == 0);
    CHECK(CALL(own, aclnnMatmulReduceScatter, tall.tensor, x2.tensor, nullptr, own.group, "sum", int64_t(0), int64_t(1), part.tensor) == 0);
    own.synchronize();

    Values joined, total(ROWS * COLUMNS, 0), scattered(all * COLUMNS, 0);
    const Values row = values_of(0, 3, COLUMNS), weight = values_of(own.rank, 2, DEPTH * COLUMNS);
    for (uint32_t rank = 0; rank < ranks; ++rank) {
        const Values one = values_of(rank, 1, ROWS * DEPTH), two = values_of(rank, 2, DEPTH * COLUMNS);
        joined.insert(joined.end(), one.begin(), one.end());
        const Values own_product = product(one, two, ROWS, DEPTH, COLUMNS), other = values_of(rank, 5, ROWS * COLUMNS);
        for (size_t at = 0; at < total.size(); ++at) {
            total[at] += own_product[at] + row[at % COLUMNS] + other[at];
        }
        const Values long_product = product(values_of(rank, 4, all * DEPTH), two, all, DEPTH, COLUMNS);
        for (size_t at = 0; at < scattered.size(); ++at) {
            scattered[at] += long_product[at];
        }
    }
    Values wanted = product(joined, weight, all, DEPTH, COLUMNS);
    for (size_t at = 0; at < wanted.size(); ++at) {
        wanted[at] += row[at % COLUMNS];
    }
    CHECK(gathered.read() == joined);
    CHECK(out.read() == wanted);
    CHECK(sum.read() == total);
    const auto first = scattered.begin() + own.rank * ROWS * COLUMNS;
    CHECK(part.read() == Values(first, first + ROWS * COLUMNS));
}

// Tokens go to experts on other ranks and come back: each expert's result is its token, so that a sum is the token times the sum of
// its weights.
static void experts(Rank &own)
{
    const int64_t each = 2, local = 2, tokens = ROWS, all = tokens * ranks * each, total = local * ranks;
    std::vector<int32_t> chosen;
    std::vector<float> weights;
    for (int64_t index = 0; index < tokens * each; ++index) {
        chosen.push_back(static_cast<int32_t>((own.rank + index * 3 + index / each) % total));
        weights.push_back(static_cast<float>(1 + index % 3));
    }
    for (int64_t token = 0; token < tokens; ++token) {
        if (chosen[token * each] == chosen[token * each + 1]) {
            chosen[token * each + 1] = static_cast<int32_t>((chosen[token * each] + 1) % total);
        }
    }
    Tensor x({tokens, DEPTH}, values_of(own.rank, 6, tokens * DEPTH)), ids(ACL_INT32, {tokens, each}, chosen.data());
    Tensor scales(ACL_FLOAT, {tokens, each}, weights.data()), expanded(ACL_FLOAT16, {all, DEPTH}), info(ACL_INT32, {all * 128});
    Tensor counts(ACL_INT64, {local}), ends(ACL_INT32, {local * ranks}), result(ACL_FLOAT16, {tokens, DEPTH});
    const int64_t zero = 0;
    CHECK(CALL(own, aclnnMoeDistributeDispatchV2, x.tensor, ids.tensor, nullptr, nullptr, nullptr, own.group, int64_t(ranks), int64_t(own.rank), total,
              "", zero, zero, zero, zero, zero, zero, zero, int64_t(1), "", expanded.tensor, nullptr, info.tensor, counts.tensor, ends.tensor, nullptr, nullptr) == 0);
    CHECK(CALL(own, aclnnMoeDistributeCombineV2, expanded.tensor, ids.tensor, info.tensor, ends.tensor, scales.tensor, nullptr, nullptr, nullptr, nullptr, nullptr,
              nullptr, nullptr, own.group, int64_t(ranks), int64_t(own.rank), total, "", zero, zero, zero, zero, zero, zero, zero, zero, zero, "", result.tensor) == 0);
    own.synchronize();
    Values wanted = values_of(own.rank, 6, tokens * DEPTH);
    for (size_t at = 0; at < wanted.size(); ++at) {
        const size_t token = at / DEPTH;
        wanted[at] *= weights[token * each] + weights[token * each + 1];
    }
    CHECK(result.read() == wanted);
}

// A captured call runs again with whatever its tensors hold.
static void captured(Rank &own)
{
    Tensor x1({ROWS, DEPTH}, values_of(own.rank, 1, ROWS * DEPTH)), x2({DEPTH, COLUMNS}, values_of(own.rank, 2, DEPTH * COLUMNS));
    Tensor sum({ROWS, COLUMNS}, Values(ROWS * COLUMNS, 0));
    aclmdlRI graph = nullptr;
    CHECK(aclmdlRICaptureBegin(own.stream, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL) == 0);
    CHECK(CALL(own, aclnnMatmulAllReduceV2, x1.tensor, x2.tensor, nullptr, nullptr, own.group, "sum", int64_t(0), int64_t(1), sum.tensor) == 0);
    CHECK(aclmdlRICaptureEnd(own.stream, &graph) == 0);
    CHECK(sum.read() == Values(ROWS * COLUMNS, 0));
    Values total(ROWS * COLUMNS, 0);
    for (uint32_t rank = 0; rank < ranks; ++rank) {
        const Values one = product(values_of(rank, 1, ROWS * DEPTH), values_of(rank, 2, DEPTH * COLUMNS), ROWS, DEPTH, COLUMNS);
        for (size_t at = 0; at < total.size(); ++at) {
            total[at] += one[at];
        }
    }
    for (int run = 0; run < 2; ++run) {
        CHECK(aclrtMemsetAsync(sum.address, sum.bytes, 0, sum.bytes, own.stream) == 0);
        CHECK(aclmdlRIExecuteAsync(graph, own.stream) == 0);
        own.synchronize();
        CHECK(sum.read() == total);
    }
    CHECK(aclmdlRIDestroy(graph) == 0);
}

static void refused(Rank &own)
{
    Tensor x1({ROWS, DEPTH}, values_of(own.rank, 1, ROWS * DEPTH)), x2({DEPTH, COLUMNS}, values_of(own.rank, 2, DEPTH * COLUMNS));
    Tensor sum(ACL_FLOAT16, {ROWS, COLUMNS});
    const int64_t zero = 0, one = 1;
    REFUSED(CALL(own, aclnnMatmulAllReduceV2, x1.tensor, x2.tensor, nullptr, nullptr, "nothing", "sum", zero, one, sum.tensor), 161002, "HcclGetCommName");
    REFUSED(CALL(own, aclnnMatmulAllReduceV2, x1.tensor, x2.tensor, nullptr, nullptr, nullptr, "sum", zero, one, sum.tensor), 161001, "group");
    // What is gathered would lie over the matrix that it is multiplied with.
    const int64_t dims[] = {ROWS * ranks, DEPTH};
    Tensor both(ACL_FLOAT16, {64, 64}), out(ACL_FLOAT16, {ROWS * ranks, COLUMNS});
    aclTensor *gathered = aclCreateTensor(dims, 2, ACL_FLOAT16, nullptr, 0, ACL_FORMAT_ND, dims, 2, both.address);
    const int64_t small[] = {DEPTH, COLUMNS};
    aclTensor *weight = aclCreateTensor(small, 2, ACL_FLOAT16, nullptr, 0, ACL_FORMAT_ND, small, 2, both.address);
    REFUSED(CALL(own, aclnnAllGatherMatmul, x1.tensor, weight, nullptr, own.group, zero, zero, one, out.tensor, gathered), 161002, "share memory");
    CHECK(aclDestroyTensor(gathered) == 0 && aclDestroyTensor(weight) == 0);
}

// The last rank passes one row more: all ranks fail, and name both calls.
static void disagree(Rank &own)
{
    const int64_t rows = own.rank + 1 == ranks ? ROWS + 1 : ROWS;
    Tensor x1({rows, DEPTH}, values_of(own.rank, 1, rows * DEPTH)), x2({DEPTH, COLUMNS}, values_of(own.rank, 2, DEPTH * COLUMNS));
    Tensor sum(ACL_FLOAT16, {rows, COLUMNS});
    const int status = CALL(own, aclnnMatmulAllReduceV2, x1.tensor, x2.tensor, nullptr, nullptr, own.group, "sum", int64_t(0), int64_t(1), sum.tensor);
    // Where the others have found it before this rank calls, the call itself is refused.
    if (status == 0) REFUSED(aclrtSynchronizeStream(own.stream), 507048, "EI0005");
    else REFUSED(status, 361001, "disagree about operation");
}

static void run(uint32_t rank, HcclComm comm)
{
    {
        Rank own(rank, comm);
        products(own);
        experts(own);
        refused(own);
        captured(own);
        disagree(own);
    }
    CHECK(HcclCommDestroy(comm) == 0);
}

static int rank_main(uint32_t rank, int in, int out)
{
    HcclRootInfo info;
    HcclComm comm = nullptr;
    CHECK(aclInit(nullptr) == 0 && aclrtSetDevice(static_cast<int32_t>(rank)) == 0);
    if (rank == 0) {
        CHECK(HcclGetRootInfo(&info) == 0);
        move(-1, out, &info, sizeof info);
    }
    move(in, -1, &info, sizeof info);
    CHECK(HcclCommInitRootInfo(ranks, &info, rank, &comm) == 0);
    run(rank, comm);
    CHECK(aclFinalize() == 0);
    return 0;
}

int main(int, char **words)
{
    ranks = static_cast<uint32_t>(std::atoi(words[2]));
    if (std::string(words[1]) == "processes") {
        CHECK(run_processes(ranks, rank_main) == 0);
        std::puts("done");
        return 0;
    }
    std::vector<HcclComm> comms(ranks);
    std::vector<int32_t> devices(ranks);
    CHECK(aclInit(nullptr) == 0);
    for (uint32_t rank = 0; rank < ranks; ++rank) {
        devices[rank] = static_cast<int32_t>(rank);
        CHECK(aclrtSetDevice(devices[rank]) == 0);
    }
    CHECK(HcclCommInitAll(ranks, devices.data(), comms.data()) == 0);
    std::vector<std::thread> threads;
    for (uint32_t rank = 0; rank < ranks; ++rank) {
        threads.emplace_back([rank, &comms] {
            CHECK(aclrtSetDevice(static_cast<int32_t>(rank)) == 0);
            run(rank, comms[rank]);
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    CHECK(aclFinalize() == 0);
    std::puts("done");
    return 0;
}
