// What the programs of Ascend C share. Each runs as it is, with a mistake, and with the argument "clean", without it.
#ifndef CORPUS_KERNELS_H
#define CORPUS_KERNELS_H

#include "corpus.h"
#include "kernel_operator.h"

constexpr int32_t TILE = 256;
constexpr size_t BYTES = 4 * TILE * sizeof(float);

// z = x + y, in tiles. Two buffers for each queue let copies and sums overlap.
__global__ __aicore__ void add(__gm__ float* x, __gm__ float* y, __gm__ float* z, int32_t tiles)
{
    using namespace AscendC;
    TPipe pipe;
    TQue<TPosition::VECIN, 2> xs, ys;
    TQue<TPosition::VECOUT, 2> zs;
    pipe.InitBuffer(xs, 2, TILE * sizeof(float));
    pipe.InitBuffer(ys, 2, TILE * sizeof(float));
    pipe.InitBuffer(zs, 2, TILE * sizeof(float));
    GlobalTensor<float> from_x, from_y, to_z;
    from_x.SetGlobalBuffer(x, tiles * TILE);
    from_y.SetGlobalBuffer(y, tiles * TILE);
    to_z.SetGlobalBuffer(z, tiles * TILE);
    for (int32_t at = GetBlockIdx(); at < tiles; at += GetBlockNum()) {
        LocalTensor<float> tile_x = xs.AllocTensor<float>(), tile_y = ys.AllocTensor<float>();
        DataCopy(tile_x, from_x[at * TILE], TILE);
        DataCopy(tile_y, from_y[at * TILE], TILE);
        xs.EnQue(tile_x);
        ys.EnQue(tile_y);
        tile_x = xs.DeQue<float>();
        tile_y = ys.DeQue<float>();
        LocalTensor<float> tile_z = zs.AllocTensor<float>();
        Add(tile_z, tile_x, tile_y, TILE);
        zs.EnQue(tile_z);
        xs.FreeTensor(tile_x);
        ys.FreeTensor(tile_y);
        tile_z = zs.DeQue<float>();
        DataCopy(to_z[at * TILE], tile_z, TILE);
        zs.FreeTensor(tile_z);
    }
}

// Fills tiles of memory with a value. Two pipes are ordered by an event.
__global__ __aicore__ void fill(__gm__ float* out, float value, int32_t tiles)
{
    using namespace AscendC;
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, TILE * sizeof(float));
    LocalTensor<float> tile = buffer.Get<float>();
    GlobalTensor<float> memory;
    memory.SetGlobalBuffer(out, tiles * TILE);
    Duplicate(tile, value, TILE);
    SetFlag<HardEvent::V_MTE3>(0);
    WaitFlag<HardEvent::V_MTE3>(0);
    for (int32_t at = GetBlockIdx(); at < tiles; at += GetBlockNum()) DataCopy(memory[at * TILE], tile, TILE);
}

static inline bool is_clean(int count, char** arguments)
{
    return count > 1 && strcmp(arguments[1], "clean") == 0;
}

static inline aclrtStream new_stream()
{
    aclrtStream stream = nullptr;
    MUST(aclrtCreateStream(&stream));
    return stream;
}

static inline float* new_memory()
{
    void* memory = nullptr;
    MUST(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMemset(memory, BYTES, 0, BYTES));
    return static_cast<float*>(memory);
}

#endif
