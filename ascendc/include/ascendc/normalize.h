// Normalisation with given statistics, statistics in parts, and the gradients of LayerNorm.
#ifndef JUMAR_ASCENDC_NORMALIZE_H
#define JUMAR_ASCENDC_NORMALIZE_H

#include <vector>

#include "norm.h"

namespace AscendC {

using tiling::LayerNormGradBetaTiling;
using tiling::LayerNormGradTiling;

struct NormalizeConfig {
    ReducePattern reducePattern = ReducePattern::AR;
    int32_t aLength = -1;
    bool isNoBeta = false;
    bool isNoGamma = false;
    bool isOnlyOutput = false;
};
inline constexpr NormalizeConfig NLCFG_NORM{};
// aLength rows of rLengthWithPadding elements, of which rLength hold values.
struct NormalizePara {
    uint32_t aLength = 0;
    uint32_t rLength = 0;
    uint32_t rLengthWithPadding = 0;

    NormalizePara() = default;
    NormalizePara(uint32_t rows, uint32_t columns, uint32_t stride) : aLength(rows), rLength(columns), rLengthWithPadding(stride) {}
};

// outputRstd = 1 / sqrt(variance + epsilon), output = (x - mean) * outputRstd * gamma + beta for each row.
template <typename TypeU, typename TypeT, bool isReuseSource = false, const NormalizeConfig& config = NLCFG_NORM>
void Normalize(const LocalTensor<TypeT>& output, const LocalTensor<float>& outputRstd, const LocalTensor<float>& inputMean,
               const LocalTensor<float>& inputVariance, const LocalTensor<TypeT>& inputX, const LocalTensor<TypeU>& gamma, const LocalTensor<TypeU>& beta,
               const float epsilon, const NormalizePara& para, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    static_assert(config.reducePattern == ReducePattern::AR && !config.isOnlyOutput, "Normalize has the pattern AR, and writes both results");
    const Call call{"Normalize", site};
    const uint64_t rows = para.aLength, columns = para.rLength, stride = para.rLengthWithPadding;
    if (rows == 0 || columns == 0 || columns > stride || stride * sizeof(TypeT) % 32 != 0)
        fail(site, "Normalize: %u rows have %u elements of %u; wanted are rows of a multiple of 32 bytes, and no more elements than that", para.aLength, para.rLength,
             para.rLengthWithPadding);
    if (config.aLength != -1 && static_cast<uint32_t>(config.aLength) != para.aLength)
        fail(site, "Normalize: aLength is %d in config and %u in para", config.aLength, para.aLength);
    check_access(inputX, rows * stride * sizeof(TypeT), "inputX", call);
    check_access(inputMean, rows * sizeof(float), "inputMean", call);
    check_access(inputVariance, rows * sizeof(float), "inputVariance", call);
    if constexpr (!config.isNoGamma) check_access(gamma, columns * sizeof(TypeU), "gamma", call);
    if constexpr (!config.isNoBeta) check_access(beta, columns * sizeof(TypeU), "beta", call);
    check_access(output, rows * stride * sizeof(TypeT), "dst", call);
    check_access(outputRstd, rows * sizeof(float), "dst", call);
    for (uint64_t row = 0; row < rows; row++) {
        const TypeT* line = inputX.raw() + row * stride;
        TypeT* result = output.raw() + row * stride;
        const double middle = static_cast<double>(inputMean.raw()[row]);
        const double factor = 1 / std::sqrt(static_cast<double>(inputVariance.raw()[row]) + static_cast<double>(epsilon));
        for (uint64_t at = 0; at < columns; at++) {
            double value = (static_cast<double>(line[at]) - middle) * factor;
            if constexpr (!config.isNoGamma) value *= static_cast<double>(gamma.raw()[at]);
            if constexpr (!config.isNoBeta) value += static_cast<double>(beta.raw()[at]);
            result[at] = static_cast<TypeT>(value);
        }
        outputRstd.raw()[row] = static_cast<float>(factor);
    }
}
template <typename TypeU, typename TypeT, bool isReuseSource = false, const NormalizeConfig& config = NLCFG_NORM>
void Normalize(const LocalTensor<TypeT>& output, const LocalTensor<float>& outputRstd, const LocalTensor<float>& inputMean,
               const LocalTensor<float>& inputVariance, const LocalTensor<TypeT>& inputX, const LocalTensor<TypeU>& gamma, const LocalTensor<TypeU>& beta,
               const LocalTensor<uint8_t>& sharedTmpBuffer, const float epsilon, const NormalizePara& para,
               jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    jumar::ascendc::check_temporary(sharedTmpBuffer, {"Normalize", site});
    Normalize<TypeU, TypeT, isReuseSource, config>(output, outputRstd, inputMean, inputVariance, inputX, gamma, beta, epsilon, para, site);
}

struct WelfordUpdateConfig {
    bool isInplace = false;
};
inline constexpr WelfordUpdateConfig WFUPDATE_DEFAULT_CFG{};
struct WelfordUpdateParam {
    uint32_t rnLength = 0;
    uint32_t abLength = 0;
    uint32_t abComputeLength = 0;
    float nRec = 0;
};

// Takes one more part into running means and sums of squared distances. nRec is 1 / the number of parts so far. Elements behind
// abComputeLength keep the input's values with isInplace; otherwise they are not written.
template <typename TypeT, typename TypeU, bool isReuseSource = false, const WelfordUpdateConfig& config = WFUPDATE_DEFAULT_CFG>
void WelfordUpdate(const LocalTensor<TypeU>& outputMean, const LocalTensor<TypeU>& outputVariance, const LocalTensor<TypeU>& inputMean,
                   const LocalTensor<TypeU>& inputVariance, const LocalTensor<TypeT>& inputX, const WelfordUpdateParam& para,
                   jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"WelfordUpdate", site};
    const uint64_t length = para.abLength, used = para.abComputeLength;
    if (para.rnLength != 1 || length * sizeof(TypeT) % 32 != 0 || used == 0 || used > length)
        fail(site, "WelfordUpdate: rnLength is %u, abLength %u and abComputeLength %u; wanted are 1, a multiple of 32 bytes, and 1 to abLength", para.rnLength,
             para.abLength, para.abComputeLength);
    const uint64_t written = config.isInplace ? length : used;
    check_access(inputX, used * sizeof(TypeT), "inputX", call);
    check_access(inputMean, written * sizeof(TypeU), "inputMean", call);
    check_access(inputVariance, written * sizeof(TypeU), "inputVariance", call);
    check_access(outputMean, written * sizeof(TypeU), "dst", call);
    check_access(outputVariance, written * sizeof(TypeU), "dst", call);
    for (uint64_t at = 0; at < used; at++) {
        const double value = static_cast<double>(inputX.raw()[at]), before = static_cast<double>(inputMean.raw()[at]);
        const double after = before + (value - before) * static_cast<double>(para.nRec);
        const double spread = static_cast<double>(inputVariance.raw()[at]) + (value - before) * (value - after);
        outputMean.raw()[at] = static_cast<TypeU>(after);
        outputVariance.raw()[at] = static_cast<TypeU>(spread);
    }
    for (uint64_t at = used; at < written; at++) {
        outputMean.raw()[at] = inputMean.raw()[at];
        outputVariance.raw()[at] = inputVariance.raw()[at];
    }
}
template <typename TypeT, typename TypeU, bool isReuseSource = false, const WelfordUpdateConfig& config = WFUPDATE_DEFAULT_CFG>
void WelfordUpdate(const LocalTensor<TypeU>& outputMean, const LocalTensor<TypeU>& outputVariance, const LocalTensor<TypeU>& inputMean,
                   const LocalTensor<TypeU>& inputVariance, const LocalTensor<TypeT>& inputX, const LocalTensor<uint8_t>& sharedTmpBuffer,
                   const WelfordUpdateParam& para, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    jumar::ascendc::check_temporary(sharedTmpBuffer, {"WelfordUpdate", site});
    WelfordUpdate<TypeT, TypeU, isReuseSource, config>(outputMean, outputVariance, inputMean, inputVariance, inputX, para, site);
}

struct WelfordFinalizeConfig {
    bool isCorrection = false;
};
inline constexpr WelfordFinalizeConfig WFFINALIZE_DEFAULT_CFG{};
struct WelfordFinalizePara {
    uint32_t rnLength = 0;
    uint32_t abLength = 0;
    uint32_t headCount = 0;
    uint32_t headCountLength = 0;
    uint32_t tailCount = 0;
    uint32_t tailCountLength = 0;
    float abRec = 0;
    float rRec = 0;
    float rRecWithCorrection = 0;
};

} // namespace AscendC

namespace jumar {
namespace ascendc {

// Merges abLength means and sums of squared distances. Each has a count; rRec is 1 / their sum.
template <typename Count>
inline void merge_statistics(const AscendC::LocalTensor<float>& mean, const AscendC::LocalTensor<float>& variance, const AscendC::LocalTensor<float>& means,
                             const AscendC::LocalTensor<float>& spreads, const AscendC::WelfordFinalizePara& para, const Call& call, Count count)
{
    const uint64_t length = para.abLength;
    if (length == 0 || length % 8 != 0) fail(call.site, "%s: abLength is %u, and has to be a multiple of 8", call.name, para.abLength);
    check_access(means, length * sizeof(float), "inputMean", call);
    check_access(spreads, length * sizeof(float), "inputVariance", call);
    check_access(mean, sizeof(float), "dst", call);
    check_access(variance, sizeof(float), "dst", call);
    double middle = 0, spread = 0;
    for (uint64_t at = 0; at < length; at++) middle += count(at) * static_cast<double>(means.raw()[at]);
    middle *= static_cast<double>(para.rRec);
    for (uint64_t at = 0; at < length; at++) {
        const double distance = static_cast<double>(means.raw()[at]) - middle;
        spread += static_cast<double>(spreads.raw()[at]) + count(at) * distance * distance;
    }
    mean.raw()[0] = static_cast<float>(middle);
    variance.raw()[0] = static_cast<float>(spread * static_cast<double>(para.rRec));
}

} // namespace ascendc
} // namespace jumar

namespace AscendC {

// The first headCountLength elements have headCount values each, the others tailCount.
template <bool isReuseSource = false, const WelfordFinalizeConfig& config = WFFINALIZE_DEFAULT_CFG>
void WelfordFinalize(const LocalTensor<float>& outputMean, const LocalTensor<float>& outputVariance, const LocalTensor<float>& inputMean,
                     const LocalTensor<float>& inputVariance, const WelfordFinalizePara& para, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    static_assert(!config.isCorrection, "WelfordFinalize: isCorrection is of the 950");
    if (static_cast<uint64_t>(para.headCountLength) + para.tailCountLength != para.abLength || (para.tailCount == 0 && para.tailCountLength != 0))
        fail(site, "WelfordFinalize: headCountLength is %u, tailCountLength %u with tailCount %u; their sum has to be abLength, %u, and tailCount above 0",
             para.headCountLength, para.tailCountLength, para.tailCount, para.abLength);
    merge_statistics(outputMean, outputVariance, inputMean, inputVariance, para, Call{"WelfordFinalize", site},
                     [&](uint64_t at) { return static_cast<double>(at < para.headCountLength ? para.headCount : para.tailCount); });
}
template <bool isReuseSource = false, const WelfordFinalizeConfig& config = WFFINALIZE_DEFAULT_CFG>
void WelfordFinalize(const LocalTensor<float>& outputMean, const LocalTensor<float>& outputVariance, const LocalTensor<float>& inputMean,
                     const LocalTensor<float>& inputVariance, const LocalTensor<uint8_t>& sharedTmpBuffer, const WelfordFinalizePara& para,
                     jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    jumar::ascendc::check_temporary(sharedTmpBuffer, {"WelfordFinalize", site});
    WelfordFinalize<isReuseSource, config>(outputMean, outputVariance, inputMean, inputVariance, para, site);
}
template <bool isReuseSource = false, const WelfordFinalizeConfig& config = WFFINALIZE_DEFAULT_CFG>
void WelfordFinalize(const LocalTensor<float>& outputMean, const LocalTensor<float>& outputVariance, const LocalTensor<float>& inputMean,
                     const LocalTensor<float>& inputVariance, const LocalTensor<int32_t>& counts, const WelfordFinalizePara& para,
                     jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    static_assert(!config.isCorrection, "WelfordFinalize: isCorrection is of the 950");
    const Call call{"WelfordFinalize", site};
    check_access(counts, uint64_t(para.abLength) * sizeof(int32_t), "counts", call);
    merge_statistics(outputMean, outputVariance, inputMean, inputVariance, para, call, [&](uint64_t at) { return static_cast<double>(counts.raw()[at]); });
}
template <bool isReuseSource = false, const WelfordFinalizeConfig& config = WFFINALIZE_DEFAULT_CFG>
void WelfordFinalize(const LocalTensor<float>& outputMean, const LocalTensor<float>& outputVariance, const LocalTensor<float>& inputMean,
                     const LocalTensor<float>& inputVariance, const LocalTensor<int32_t>& counts, const LocalTensor<uint8_t>& sharedTmpBuffer,
                     const WelfordFinalizePara& para, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    jumar::ascendc::check_temporary(sharedTmpBuffer, {"WelfordFinalize", site});
    WelfordFinalize<isReuseSource, config>(outputMean, outputVariance, inputMean, inputVariance, counts, para, site);
}

// The gradient of LayerNorm to its input, and (x - mean) / sqrt(variance + epsilon) for that to gamma. Results may lie over the operands.
struct LayerNormGradShapeInfo {
    DataFormat dataFormat = DataFormat::ND;
};
template <typename TypeT, bool isReuseSource = false>
void LayerNormGrad(const LocalTensor<TypeT>& outputPdX, const LocalTensor<TypeT>& resForGamma, const LocalTensor<TypeT>& inputDy, const LocalTensor<TypeT>& inputX,
                   const LocalTensor<TypeT>& inputVariance, const LocalTensor<TypeT>& inputMean, const LocalTensor<TypeT>& inputGamma,
                   const jumar::ascendc::AsIs<TypeT> epsilon, const LayerNormGradTiling& tiling, const LayerNormGradShapeInfo& shapeInfo = {},
                   jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"LayerNormGrad", site};
    const NormRows shape(tiling, call);
    if (shapeInfo.dataFormat != DataFormat::ND) fail(site, "LayerNormGrad: the format is %u, and has to be ND", static_cast<unsigned>(shapeInfo.dataFormat));
    check_access(inputDy, shape.rows * shape.stride * sizeof(TypeT), "inputDy", call);
    check_access(inputX, shape.rows * shape.stride * sizeof(TypeT), "inputX", call);
    check_access(inputVariance, shape.rows * sizeof(TypeT), "inputVariance", call);
    check_access(inputMean, shape.rows * sizeof(TypeT), "inputMean", call);
    check_access(inputGamma, shape.columns * sizeof(TypeT), "inputGamma", call);
    check_access(outputPdX, shape.rows * shape.stride * sizeof(TypeT), "dst", call);
    check_access(resForGamma, shape.rows * shape.stride * sizeof(TypeT), "dst", call);
    for (uint64_t row = 0; row < shape.rows; row++) {
        const uint64_t begin = row * shape.stride;
        const double middle = static_cast<double>(inputMean.raw()[row]);
        const double factor = 1 / std::sqrt(static_cast<double>(inputVariance.raw()[row]) + static_cast<double>(epsilon));
        auto scaled = [&](uint32_t at) { return static_cast<double>(inputDy.raw()[begin + at]) * static_cast<double>(inputGamma.raw()[at]); };
        auto distance = [&](uint32_t at) { return static_cast<double>(inputX.raw()[begin + at]) - middle; };
        double to_variance = 0, to_mean = 0, distances = 0;
        for (uint32_t at = 0; at < shape.columns; at++) {
            to_variance -= 0.5 * scaled(at) * distance(at) * factor * factor * factor;
            to_mean -= scaled(at) * factor;
            distances += distance(at);
        }
        to_mean -= 2 * to_variance / shape.columns * distances;
        for (uint32_t at = 0; at < shape.columns; at++) {
            const double gradient = scaled(at) * factor + 2 * to_variance / shape.columns * distance(at) + to_mean / shape.columns;
            const double normal = distance(at) * factor;
            outputPdX.raw()[begin + at] = static_cast<TypeT>(gradient);
            resForGamma.raw()[begin + at] = static_cast<TypeT>(normal);
        }
    }
}
template <typename TypeT, bool isReuseSource = false>
void LayerNormGrad(const LocalTensor<TypeT>& outputPdX, const LocalTensor<TypeT>& resForGamma, const LocalTensor<TypeT>& inputDy, const LocalTensor<TypeT>& inputX,
                   const LocalTensor<TypeT>& inputVariance, const LocalTensor<TypeT>& inputMean, const LocalTensor<TypeT>& inputGamma,
                   const LocalTensor<uint8_t>& sharedTmpBuffer, const jumar::ascendc::AsIs<TypeT> epsilon, const LayerNormGradTiling& tiling,
                   const LayerNormGradShapeInfo& shapeInfo = {}, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    jumar::ascendc::check_temporary(sharedTmpBuffer, {"LayerNormGrad", site});
    LayerNormGrad<TypeT, isReuseSource>(outputPdX, resForGamma, inputDy, inputX, inputVariance, inputMean, inputGamma, epsilon, tiling, shapeInfo, site);
}

// The gradients to gamma and beta: sums over the rows of dy * resForGamma and of dy.
template <typename TypeT, bool isReuseSource = false>
void LayerNormGradBeta(const LocalTensor<TypeT>& outputPdGamma, const LocalTensor<TypeT>& outputPdBeta, const LocalTensor<TypeT>& resForGamma,
                       const LocalTensor<TypeT>& inputDy, const LayerNormGradBetaTiling& tiling, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"LayerNormGradBeta", site};
    const NormRows shape(tiling, call);
    check_access(resForGamma, shape.rows * shape.stride * sizeof(TypeT), "resForGamma", call);
    check_access(inputDy, shape.rows * shape.stride * sizeof(TypeT), "inputDy", call);
    check_access(outputPdGamma, shape.columns * sizeof(TypeT), "dst", call);
    check_access(outputPdBeta, shape.columns * sizeof(TypeT), "dst", call);
    std::vector<double> gamma(shape.columns), beta(shape.columns);
    for (uint64_t row = 0; row < shape.rows; row++)
        for (uint32_t at = 0; at < shape.columns; at++) {
            const double gradient = static_cast<double>(inputDy.raw()[row * shape.stride + at]);
            gamma[at] += gradient * static_cast<double>(resForGamma.raw()[row * shape.stride + at]);
            beta[at] += gradient;
        }
    for (uint32_t at = 0; at < shape.columns; at++) {
        outputPdGamma.raw()[at] = static_cast<TypeT>(gamma[at]);
        outputPdBeta.raw()[at] = static_cast<TypeT>(beta[at]);
    }
}
template <typename TypeT, bool isReuseSource = false>
void LayerNormGradBeta(const LocalTensor<TypeT>& outputPdGamma, const LocalTensor<TypeT>& outputPdBeta, const LocalTensor<TypeT>& resForGamma,
                       const LocalTensor<TypeT>& inputDy, const LocalTensor<uint8_t>& sharedTmpBuffer, const LayerNormGradBetaTiling& tiling,
                       jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    jumar::ascendc::check_temporary(sharedTmpBuffer, {"LayerNormGradBeta", site});
    LayerNormGradBeta<TypeT, isReuseSource>(outputPdGamma, outputPdBeta, resForGamma, inputDy, tiling, site);
}

} // namespace AscendC

#endif
