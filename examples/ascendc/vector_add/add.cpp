// z = x + y. Each block adds its part, tile by tile; two buffers for each queue let copies and additions overlap.
#include "kernel_operator.h"

constexpr int32_t BUFFERS = 2;

class Add {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t length, uint32_t tile)
    {
        const uint32_t part = (length + AscendC::GetBlockNum() - 1) / AscendC::GetBlockNum();
        const uint32_t begin = part * AscendC::GetBlockIdx();
        length_ = begin >= length ? 0 : (length - begin < part ? length - begin : part);
        tile_ = tile;
        x_.SetGlobalBuffer((__gm__ half*)x + begin, length_);
        y_.SetGlobalBuffer((__gm__ half*)y + begin, length_);
        z_.SetGlobalBuffer((__gm__ half*)z + begin, length_);
        pipe_.InitBuffer(queue_x_, BUFFERS, tile * sizeof(half));
        pipe_.InitBuffer(queue_y_, BUFFERS, tile * sizeof(half));
        pipe_.InitBuffer(queue_z_, BUFFERS, tile * sizeof(half));
    }

    __aicore__ inline void Process()
    {
        for (uint32_t at = 0; at < length_; at += tile_) {
            const uint32_t count = length_ - at < tile_ ? length_ - at : tile_;
            CopyIn(at, count);
            Compute(count);
            CopyOut(at, count);
        }
    }

private:
    __aicore__ inline void CopyIn(uint32_t at, uint32_t count)
    {
        AscendC::LocalTensor<half> x = queue_x_.AllocTensor<half>();
        AscendC::LocalTensor<half> y = queue_y_.AllocTensor<half>();
        const AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(half)), 0, 0, 0};
        const AscendC::DataCopyPadExtParams<half> pad{true, 0, 0, 0};
        AscendC::DataCopyPad(x, x_[at], row, pad);
        AscendC::DataCopyPad(y, y_[at], row, pad);
        queue_x_.EnQue(x);
        queue_y_.EnQue(y);
    }

    __aicore__ inline void Compute(uint32_t count)
    {
        AscendC::LocalTensor<half> x = queue_x_.DeQue<half>();
        AscendC::LocalTensor<half> y = queue_y_.DeQue<half>();
        AscendC::LocalTensor<half> z = queue_z_.AllocTensor<half>();
        AscendC::Add(z, x, y, count);
        queue_z_.EnQue(z);
        queue_x_.FreeTensor(x);
        queue_y_.FreeTensor(y);
    }

    __aicore__ inline void CopyOut(uint32_t at, uint32_t count)
    {
        AscendC::LocalTensor<half> z = queue_z_.DeQue<half>();
        AscendC::DataCopyPad(z_[at], z, AscendC::DataCopyExtParams{1, static_cast<uint32_t>(count * sizeof(half)), 0, 0, 0});
        queue_z_.FreeTensor(z);
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, BUFFERS> queue_x_, queue_y_;
    AscendC::TQue<AscendC::TPosition::VECOUT, BUFFERS> queue_z_;
    AscendC::GlobalTensor<half> x_, y_, z_;
    uint32_t length_ = 0;
    uint32_t tile_ = 0;
};

extern "C" __global__ __aicore__ void add(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t length, uint32_t tile)
{
    Add op;
    op.Init(x, y, z, length, tile);
    op.Process();
}
