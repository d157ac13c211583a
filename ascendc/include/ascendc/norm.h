// Normalisation of rows, and the gradient of softmax.
#ifndef JUMAR_ASCENDC_NORM_H
#define JUMAR_ASCENDC_NORM_H

#include "softmax.h"

namespace jumar {
namespace ascendc {

// Rows of `stride` elements, of which the first ones hold values.
struct NormRows {
    uint64_t rows;
    uint32_t columns, stride;

    template <typename Tiling>
    NormRows(const Tiling& tiling, const Call& call)
        : rows(static_cast<uint64_t>(tiling.bLength) * tiling.sLength), columns(tiling.originalHLength ? tiling.originalHLength : tiling.hLength),
          stride(tiling.hLength)
    {
        if (rows == 0 || columns == 0 || columns > stride)
            fail(call.site, "%s: the tiling has bLength %u, sLength %u, hLength %u and originalHLength %u; a function of the host fills it", call.name,
                 tiling.bLength, tiling.sLength, tiling.hLength, tiling.originalHLength);
    }
};

} // namespace ascendc
} // namespace jumar

namespace AscendC {

using tiling::LayerNormTiling;
using tiling::RmsNormTiling;

// output = gamma * (x - mean) / sqrt(variance + epsilon) + beta for each row.
template <typename TypeT, bool isReuseSource = false>
void LayerNorm(const LocalTensor<TypeT>& output, const LocalTensor<TypeT>& mean, const LocalTensor<TypeT>& variance, const LocalTensor<TypeT>& x,
               const LocalTensor<TypeT>& gamma, const LocalTensor<TypeT>& beta, const jumar::ascendc::AsIs<TypeT> epsilon, const LayerNormTiling& tiling,
               jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"LayerNorm", site};
    const NormRows shape(tiling, call);
    check_access(x, shape.rows * shape.stride * sizeof(TypeT), "inputX", call);
    check_access(gamma, shape.columns * sizeof(TypeT), "gamma", call);
    check_access(beta, shape.columns * sizeof(TypeT), "beta", call);
    check_access(output, shape.rows * shape.stride * sizeof(TypeT), "dst", call);
    check_access(mean, shape.rows * sizeof(TypeT), "dst", call);
    check_access(variance, shape.rows * sizeof(TypeT), "dst", call);
    for (uint64_t row = 0; row < shape.rows; row++) {
        const TypeT* line = x.raw() + row * shape.stride;
        TypeT* result = output.raw() + row * shape.stride;
        double sum = 0, squares = 0;
        for (uint32_t at = 0; at < shape.columns; at++) sum += static_cast<double>(line[at]);
        const double middle = sum / shape.columns;
        for (uint32_t at = 0; at < shape.columns; at++) squares += (static_cast<double>(line[at]) - middle) * (static_cast<double>(line[at]) - middle);
        const double spread = squares / shape.columns, factor = 1 / std::sqrt(spread + static_cast<double>(epsilon));
        for (uint32_t at = 0; at < shape.columns; at++)
            result[at] = static_cast<TypeT>((static_cast<double>(line[at]) - middle) * factor * static_cast<double>(gamma.raw()[at]) +
                                        static_cast<double>(beta.raw()[at]));
        mean.raw()[row] = static_cast<TypeT>(middle);
        variance.raw()[row] = static_cast<TypeT>(spread);
    }
}
template <typename TypeT, bool isReuseSource = false>
void LayerNorm(const LocalTensor<TypeT>& output, const LocalTensor<TypeT>& mean, const LocalTensor<TypeT>& variance, const LocalTensor<TypeT>& x,
               const LocalTensor<TypeT>& gamma, const LocalTensor<TypeT>& beta, const LocalTensor<uint8_t>& sharedTmpBuffer,
               const jumar::ascendc::AsIs<TypeT> epsilon, const LayerNormTiling& tiling, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    jumar::ascendc::check_temporary(sharedTmpBuffer, {"LayerNorm", site});
    LayerNorm<TypeT, isReuseSource>(output, mean, variance, x, gamma, beta, epsilon, tiling, site);
}

// dst = gamma * src / sqrt(mean of squares + epsilon) for each row.
template <typename TypeT, bool isBasicBlock = false>
void RmsNorm(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const LocalTensor<TypeT>& gamma, const jumar::ascendc::AsIs<TypeT> epsilon,
             const RmsNormTiling& tiling, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"RmsNorm", site};
    const NormRows shape(tiling, call);
    check_access(src, shape.rows * shape.stride * sizeof(TypeT), "src", call);
    check_access(gamma, shape.columns * sizeof(TypeT), "gamma", call);
    check_access(dst, shape.rows * shape.stride * sizeof(TypeT), "dst", call);
    for (uint64_t row = 0; row < shape.rows; row++) {
        const TypeT* line = src.raw() + row * shape.stride;
        TypeT* result = dst.raw() + row * shape.stride;
        double squares = 0;
        for (uint32_t at = 0; at < shape.columns; at++) squares += static_cast<double>(line[at]) * static_cast<double>(line[at]);
        const double factor = 1 / std::sqrt(squares / shape.columns + static_cast<double>(epsilon));
        for (uint32_t at = 0; at < shape.columns; at++)
            result[at] = static_cast<TypeT>(static_cast<double>(line[at]) * factor * static_cast<double>(gamma.raw()[at]));
    }
}
template <typename TypeT, bool isBasicBlock = false>
void RmsNorm(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const LocalTensor<TypeT>& gamma, const LocalTensor<uint8_t>& sharedTmpBuffer,
             const jumar::ascendc::AsIs<TypeT> epsilon, const RmsNormTiling& tiling, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    jumar::ascendc::check_temporary(sharedTmpBuffer, {"RmsNorm", site});
    RmsNorm<TypeT, isBasicBlock>(dst, src, gamma, epsilon, tiling, site);
}

// A block of 32 bytes for each row with the sum of grad * src.
template <typename TypeT, bool isBasicBlock = false, bool isDataFormatNZ = false>
void SoftmaxGradFront(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& grad, const LocalTensor<TypeT>& src, const SoftMaxTiling& tiling,
                      const SoftMaxShapeInfo& info = {}, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    static_assert(!isDataFormatNZ, "SoftmaxGradFront of fractals is not supported by Jumar; docs/ascendc.md lists what is");
    const Call call{"SoftmaxGradFront", site};
    const SoftmaxRows rows(tiling, info, call);
    const TypeT *gradients = rows.source(grad, "grad", call), *values = rows.source(src, "src", call);
    TypeT* sums = rows.blocks(dst, "dst", call);
    for (uint32_t row = 0; row < rows.rows; row++) {
        double sum = 0;
        for (uint64_t at = static_cast<uint64_t>(row) * rows.stride; at < static_cast<uint64_t>(row) * rows.stride + rows.columns; at++)
            sum += static_cast<double>(gradients[at]) * static_cast<double>(values[at]);
        SoftmaxRows::fill(sums, row, sum);
    }
}
// dst = (grad - sum of grad * src) * src for each row.
template <typename TypeT, bool isReuseSource = false, bool isDataFormatNZ = false>
void SoftmaxGrad(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& grad, const LocalTensor<TypeT>& src, const SoftMaxTiling& tiling, bool isFront = false,
                 const SoftMaxShapeInfo& info = {}, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    static_assert(!isDataFormatNZ, "SoftmaxGrad of fractals is not supported by Jumar; docs/ascendc.md lists what is");
    if (isFront) return SoftmaxGradFront<TypeT>(dst, grad, src, tiling, info, site);
    const Call call{"SoftmaxGrad", site};
    const SoftmaxRows rows(tiling, info, call);
    const TypeT *gradients = rows.source(grad, "grad", call), *values = rows.source(src, "src", call);
    TypeT* to = rows.target(dst, "dst", call);
    for (uint32_t row = 0; row < rows.rows; row++) {
        const uint64_t begin = static_cast<uint64_t>(row) * rows.stride;
        double sum = 0;
        for (uint64_t at = begin; at < begin + rows.columns; at++) sum += static_cast<double>(gradients[at]) * static_cast<double>(values[at]);
        for (uint64_t at = begin; at < begin + rows.columns; at++)
            to[at] = static_cast<TypeT>((static_cast<double>(gradients[at]) - sum) * static_cast<double>(values[at]));
    }
}
template <typename TypeT, bool isReuseSource = false, bool isDataFormatNZ = false>
void SoftmaxGrad(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& grad, const LocalTensor<TypeT>& src, const LocalTensor<uint8_t>& sharedTmpBuffer,
                 const SoftMaxTiling& tiling, bool isFront = false, const SoftMaxShapeInfo& info = {},
                 jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    jumar::ascendc::check_temporary(sharedTmpBuffer, {"SoftmaxGrad", site});
    SoftmaxGrad<TypeT, isReuseSource, isDataFormatNZ>(dst, grad, src, tiling, isFront, info, site);
}
template <typename TypeT, bool isBasicBlock = false, bool isDataFormatNZ = false>
void SoftmaxGradFront(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& grad, const LocalTensor<TypeT>& src, const LocalTensor<uint8_t>& sharedTmpBuffer,
                      const SoftMaxTiling& tiling, const SoftMaxShapeInfo& info = {}, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    jumar::ascendc::check_temporary(sharedTmpBuffer, {"SoftmaxGradFront", site});
    SoftmaxGradFront<TypeT, isBasicBlock, isDataFormatNZ>(dst, grad, src, tiling, info, site);
}

} // namespace AscendC

#endif
