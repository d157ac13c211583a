// Each block takes every second tensor of the lists.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void scale_list(GM_ADDR x, GM_ADDR bias, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    ListTensorDesc from((__gm__ void*)x), to((__gm__ void*)z);
    if (from.GetSize() != data.count || to.GetSize() != data.count) Trap();
    GlobalTensor<float> added;
    added.SetGlobalBuffer((__gm__ float*)bias, 1);
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 1, 1024);
    pipe.InitBuffer(out, 1, 1024);
    for (uint32_t at = GetBlockIdx(); at < data.count; at += GetBlockNum()) {
        uint64_t dims[4];
        TensorDesc<DTYPE_X> desc;
        desc.SetShapeAddr(dims);
        from.GetDesc(desc, at);
        uint32_t elements = 1;
        for (uint32_t dim = 0; dim < desc.GetDim(); dim++) elements *= static_cast<uint32_t>(desc.GetShape(dim));
        if (elements != data.elements[at] || desc.GetIndex() != at) Trap();
        if (elements == 0) continue;
        GlobalTensor<DTYPE_X> source, target;
        source.SetGlobalBuffer(from.GetDataPtr<DTYPE_X>(at), elements);
        target.SetGlobalBuffer(to.GetDataPtr<DTYPE_X>(at), elements);
        const uint32_t bytes = elements * static_cast<uint32_t>(sizeof(DTYPE_X));
        LocalTensor<DTYPE_X> tensor = in.AllocTensor<DTYPE_X>();
        DataCopyPad(tensor, source, DataCopyExtParams{1, bytes, 0, 0, 0}, DataCopyPadExtParams<DTYPE_X>{false, 0, 0, 0});
        in.EnQue(tensor);
        tensor = in.DeQue<DTYPE_X>();
        LocalTensor<DTYPE_X> result = out.AllocTensor<DTYPE_X>();
        Muls(result, tensor, static_cast<DTYPE_X>(data.factors[at]), static_cast<int32_t>(elements));
        Adds(result, result, static_cast<DTYPE_X>(data.shifts[at] + added.GetValue(0)), static_cast<int32_t>(elements));
        out.EnQue(result);
        in.FreeTensor(tensor);
        result = out.DeQue<DTYPE_X>();
        DataCopyPad(target, result, DataCopyExtParams{1, bytes, 0, 0, 0});
        out.FreeTensor(result);
    }
}
