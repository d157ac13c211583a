// z = alpha * x + y on vector cores, double-buffered. The build compiles it for each type of the definition.
#include "kernel_operator.h"

using namespace AscendC;

template <typename T> class AxpyKernel {
public:
    __aicore__ void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, const AxpyTilingData& tiling)
    {
        const uint64_t begin = GetBlockIdx() * tiling.elementsOfCore;
        elements_ = tiling.elements - begin < tiling.elementsOfCore ? tiling.elements - begin : tiling.elementsOfCore;
        tile_ = tiling.elementsOfTile;
        alpha_ = tiling.alpha;
        x_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(x) + begin, elements_);
        y_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(y) + begin, elements_);
        z_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(z) + begin, elements_);
        pipe_.InitBuffer(xs_, 2, tile_ * sizeof(T));
        pipe_.InitBuffer(ys_, 2, tile_ * sizeof(T));
        pipe_.InitBuffer(zs_, 2, tile_ * sizeof(T));
    }
    template <bool has_factor> __aicore__ void Process()
    {
        for (uint64_t done = 0; done < elements_; done += tile_) {
            const uint32_t count = static_cast<uint32_t>(elements_ - done < tile_ ? elements_ - done : tile_);
            Load(xs_, x_[done], count);
            Load(ys_, y_[done], count);
            LocalTensor<T> x = xs_.template DeQue<T>(), y = ys_.template DeQue<T>(), z = zs_.template AllocTensor<T>();
            if constexpr (has_factor) {
                Muls(z, x, static_cast<T>(alpha_), count);
                Add(z, z, y, count);
            } else {
                Add(z, x, y, count);
            }
            zs_.EnQue(z);
            xs_.FreeTensor(x);
            ys_.FreeTensor(y);
            z = zs_.template DeQue<T>();
            DataCopyPad(z_[done], z, DataCopyExtParams{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0});
            zs_.FreeTensor(z);
        }
    }

private:
    using Queue = TQue<TPosition::VECIN, 2>;
    __aicore__ void Load(Queue& queue, const GlobalTensor<T>& from, uint32_t count)
    {
        LocalTensor<T> tensor = queue.template AllocTensor<T>();
        DataCopyPad(tensor, from, DataCopyExtParams{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0}, DataCopyPadExtParams<T>{false, 0, 0, 0});
        queue.EnQue(tensor);
    }

    TPipe pipe_;
    Queue xs_, ys_;
    TQue<TPosition::VECOUT, 2> zs_;
    GlobalTensor<T> x_, y_, z_;
    uint64_t elements_ = 0;
    uint32_t tile_ = 0;
    float alpha_ = 0;
};

extern "C" __global__ __aicore__ void axpy_custom(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    AxpyKernel<DTYPE_X> kernel;
    kernel.Init(x, y, z, data);
    if (TILING_KEY_IS(1)) {
        kernel.Process<true>();
    } else if (TILING_KEY_IS(2)) {
        kernel.Process<false>();
    }
}
