// The library above the vector unit: functions of tensors. Temporary buffers are accepted and not needed.
#ifndef JUMAR_ASCENDC_MATH_H
#define JUMAR_ASCENDC_MATH_H

#include "arithmetic.h"
#include "convert.h"

namespace jumar {
namespace ascendc {

// The functions calculate in the wider type, and the result is rounded once.
template <typename TypeW> inline TypeW sigmoid(TypeW x)
{
    return 1 / (1 + std::exp(-x));
}
template <typename TypeW> inline TypeW gelu(TypeW x)
{
    return x / (1 + std::exp(TypeW(-1.5957691216057308) * (x + TypeW(0.044715) * x * x * x)));
}
template <typename TypeW> inline TypeW sign(TypeW x)
{
    return x != x ? x : TypeW((x > 0) - (x < 0));
}
template <typename TypeW> inline TypeW power(TypeW x, TypeW y)
{
    if constexpr (std::is_integral_v<TypeW>) {
        if (y < 0) return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
        TypeW result = 1;
        for (; y > 0; y >>= 1) {
            if (y & 1) result = wrapping_mul(result, x);
            x = wrapping_mul(x, x);
        }
        return result;
    } else {
        return std::pow(x, y);
    }
}

} // namespace ascendc
} // namespace jumar

namespace AscendC {

// The forms of a function of one tensor: with and without a temporary buffer, and with and without a count. `w` is the element.
#define JUMAR_ASCENDC_FUNCTION(Name, result)                                                                                                         \
    template <typename TypeT, bool isReuseSource = false>                                                                                            \
    void Name(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const uint32_t count, jumar::ascendc::Site site = jumar::ascendc::Site::here()) \
    {                                                                                                                                                \
        using namespace jumar::ascendc;                                                                                                              \
        unary(dst, src, count, Call{#Name, site}, [](TypeT x) -> TypeT {                                                                             \
            const Wide<TypeT> w = static_cast<Wide<TypeT>>(x);                                                                                       \
            return static_cast<TypeT>(result);                                                                                                       \
        });                                                                                                                                          \
    }                                                                                                                                                \
    template <typename TypeT, bool isReuseSource = false>                                                                                            \
    void Name(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, jumar::ascendc::Site site = jumar::ascendc::Site::here())                \
    {                                                                                                                                                \
        Name(dst, src, src.GetSize(), site);                                                                                                         \
    }                                                                                                                                                \
    template <typename TypeT, bool isReuseSource = false>                                                                                            \
    void Name(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const LocalTensor<uint8_t>&, const uint32_t count,                       \
              jumar::ascendc::Site site = jumar::ascendc::Site::here())                                                                              \
    {                                                                                                                                                \
        Name(dst, src, count, site);                                                                                                                 \
    }                                                                                                                                                \
    template <typename TypeT, bool isReuseSource = false>                                                                                            \
    void Name(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const LocalTensor<uint8_t>&,                                             \
              jumar::ascendc::Site site = jumar::ascendc::Site::here())                                                                              \
    {                                                                                                                                                \
        Name(dst, src, src.GetSize(), site);                                                                                                         \
    }

JUMAR_ASCENDC_FUNCTION(Ceil, std::ceil(w))
JUMAR_ASCENDC_FUNCTION(Floor, std::floor(w))
JUMAR_ASCENDC_FUNCTION(Round, std::nearbyint(w))
JUMAR_ASCENDC_FUNCTION(Rint, std::nearbyint(w))
JUMAR_ASCENDC_FUNCTION(Trunc, std::trunc(w))
JUMAR_ASCENDC_FUNCTION(Frac, w - std::trunc(w))
JUMAR_ASCENDC_FUNCTION(Sign, sign(w))
JUMAR_ASCENDC_FUNCTION(Sigmoid, sigmoid(w))
JUMAR_ASCENDC_FUNCTION(Silu, w* sigmoid(w))
JUMAR_ASCENDC_FUNCTION(Gelu, gelu(w))
JUMAR_ASCENDC_FUNCTION(FasterGelu, w* sigmoid(Wide<TypeT>(1.702) * w))
JUMAR_ASCENDC_FUNCTION(Sin, std::sin(w))
JUMAR_ASCENDC_FUNCTION(Cos, std::cos(w))
JUMAR_ASCENDC_FUNCTION(Tan, std::tan(w))
JUMAR_ASCENDC_FUNCTION(Asin, std::asin(w))
JUMAR_ASCENDC_FUNCTION(Acos, std::acos(w))
JUMAR_ASCENDC_FUNCTION(Atan, std::atan(w))
JUMAR_ASCENDC_FUNCTION(Sinh, std::sinh(w))
JUMAR_ASCENDC_FUNCTION(Cosh, std::cosh(w))
JUMAR_ASCENDC_FUNCTION(Tanh, std::tanh(w))
JUMAR_ASCENDC_FUNCTION(Asinh, std::asinh(w))
JUMAR_ASCENDC_FUNCTION(Acosh, std::acosh(w))
JUMAR_ASCENDC_FUNCTION(Atanh, std::atanh(w))
JUMAR_ASCENDC_FUNCTION(Erf, std::erf(w))
JUMAR_ASCENDC_FUNCTION(Erfc, std::erfc(w))
JUMAR_ASCENDC_FUNCTION(Lgamma, std::lgamma(w))
JUMAR_ASCENDC_FUNCTION(Log, std::log(w))
JUMAR_ASCENDC_FUNCTION(Log2, std::log2(w))
JUMAR_ASCENDC_FUNCTION(Log10, std::log10(w))

// The forms of a function of two tensors. `w` and `v` are their elements.
#define JUMAR_ASCENDC_FUNCTION_OF_TWO(Name, result)                                                                                                  \
    template <typename TypeT, bool isReuseSource = false>                                                                                            \
    void Name(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src0, const LocalTensor<TypeT>& src1, const uint32_t count,                   \
              jumar::ascendc::Site site = jumar::ascendc::Site::here())                                                                              \
    {                                                                                                                                                \
        using namespace jumar::ascendc;                                                                                                              \
        binary(dst, src0, src1, count, Call{#Name, site}, [](TypeT x, TypeT y, TypeT) -> TypeT {                                                     \
            const Wide<TypeT> w = static_cast<Wide<TypeT>>(x), v = static_cast<Wide<TypeT>>(y);                                                      \
            return static_cast<TypeT>(result);                                                                                                       \
        });                                                                                                                                          \
    }                                                                                                                                                \
    template <typename TypeT, bool isReuseSource = false>                                                                                            \
    void Name(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src0, const LocalTensor<TypeT>& src1,                                         \
              jumar::ascendc::Site site = jumar::ascendc::Site::here())                                                                              \
    {                                                                                                                                                \
        Name<TypeT>(dst, src0, src1, src0.GetSize(), site);                                                                                          \
    }                                                                                                                                                \
    template <typename TypeT, bool isReuseSource = false>                                                                                            \
    void Name(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src0, const LocalTensor<TypeT>& src1, const LocalTensor<uint8_t>&,            \
              const uint32_t count, jumar::ascendc::Site site = jumar::ascendc::Site::here())                                                        \
    {                                                                                                                                                \
        Name<TypeT>(dst, src0, src1, count, site);                                                                                                   \
    }                                                                                                                                                \
    template <typename TypeT, bool isReuseSource = false>                                                                                            \
    void Name(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src0, const LocalTensor<TypeT>& src1, const LocalTensor<uint8_t>&,            \
              jumar::ascendc::Site site = jumar::ascendc::Site::here())                                                                              \
    {                                                                                                                                                \
        Name<TypeT>(dst, src0, src1, src0.GetSize(), site);                                                                                          \
    }

JUMAR_ASCENDC_FUNCTION_OF_TWO(Power, power(w, v))
JUMAR_ASCENDC_FUNCTION_OF_TWO(Fmod, std::fmod(w, v))
JUMAR_ASCENDC_FUNCTION_OF_TWO(Xor, w ^ v)

// Powers with a scalar on one side.
template <typename TypeT, bool isReuseSource = false>
void Power(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src0, const jumar::ascendc::AsIs<TypeT>& src1, const uint32_t count,
           jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    unary(dst, src0, count, Call{"Power", site}, [src1](TypeT x) -> TypeT { return static_cast<TypeT>(power(static_cast<Wide<TypeT>>(x), static_cast<Wide<TypeT>>(src1))); });
}
template <typename TypeT, bool isReuseSource = false>
void Power(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src0, const jumar::ascendc::AsIs<TypeT>& src1, const LocalTensor<uint8_t>&,
           const uint32_t count, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    Power<TypeT>(dst, src0, src1, count, site);
}
template <typename TypeT, bool isReuseSource = false>
void Power(const LocalTensor<TypeT>& dst, const jumar::ascendc::AsIs<TypeT>& src0, const LocalTensor<TypeT>& src1, const uint32_t count,
           jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    unary(dst, src1, count, Call{"Power", site}, [src0](TypeT y) -> TypeT { return static_cast<TypeT>(power(static_cast<Wide<TypeT>>(src0), static_cast<Wide<TypeT>>(y))); });
}
template <typename TypeT, bool isReuseSource = false>
void Power(const LocalTensor<TypeT>& dst, const jumar::ascendc::AsIs<TypeT>& src0, const LocalTensor<TypeT>& src1, const LocalTensor<uint8_t>&,
           const uint32_t count, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    Power<TypeT>(dst, src0, src1, count, site);
}

// ClampMax limits from above, ClampMin from below.
#define JUMAR_ASCENDC_CLAMP(Name, result)                                                                                                            \
    template <typename TypeT, bool isReuseSource = false>                                                                                            \
    void Name(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const jumar::ascendc::AsIs<TypeT> scalar, const uint32_t count,          \
              jumar::ascendc::Site site = jumar::ascendc::Site::here())                                                                              \
    {                                                                                                                                                \
        using namespace jumar::ascendc;                                                                                                              \
        unary(dst, src, count, Call{#Name, site}, [scalar](TypeT x) -> TypeT { return result; });                                                    \
    }                                                                                                                                                \
    template <typename TypeT, bool isReuseSource = false>                                                                                            \
    void Name(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const LocalTensor<uint8_t>&, const jumar::ascendc::AsIs<TypeT> scalar,   \
              const uint32_t count, jumar::ascendc::Site site = jumar::ascendc::Site::here())                                                        \
    {                                                                                                                                                \
        Name<TypeT>(dst, src, scalar, count, site);                                                                                                  \
    }
JUMAR_ASCENDC_CLAMP(ClampMax, smaller(x, scalar))
JUMAR_ASCENDC_CLAMP(ClampMin, larger(x, scalar))

// dst = src0 * src1 / (1 + e^(-beta * src1)).
template <typename TypeT, bool isReuseSource = false>
void SwiGLU(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src0, const LocalTensor<TypeT>& src1, const float& beta, const uint32_t count,
            jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    binary(dst, src0, src1, count, Call{"SwiGLU", site}, [beta](TypeT x, TypeT y, TypeT) -> TypeT {
        const Wide<TypeT> w = static_cast<Wide<TypeT>>(y);
        return static_cast<TypeT>(static_cast<Wide<TypeT>>(x) * w * sigmoid(static_cast<Wide<TypeT>>(beta) * w));
    });
}
template <typename TypeT, bool isReuseSource = false>
void SwiGLU(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src0, const LocalTensor<TypeT>& src1, const float& beta,
            jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    SwiGLU(dst, src0, src1, beta, src0.GetSize(), site);
}
template <typename TypeT, bool isReuseSource = false>
void SwiGLU(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src0, const LocalTensor<TypeT>& src1, const float& beta, const LocalTensor<uint8_t>&,
            const uint32_t count, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    SwiGLU(dst, src0, src1, beta, count, site);
}
template <typename TypeT, bool isReuseSource = false>
void SwiGLU(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src0, const LocalTensor<TypeT>& src1, const float& beta, const LocalTensor<uint8_t>&,
            jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    SwiGLU(dst, src0, src1, beta, src0.GetSize(), site);
}
template <typename TypeT, bool isReuseSource = false>
void Swish(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, uint32_t count, const jumar::ascendc::AsIs<TypeT> beta,
           jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    unary(dst, src, count, Call{"Swish", site}, [beta](TypeT x) -> TypeT {
        const Wide<TypeT> w = static_cast<Wide<TypeT>>(x);
        return static_cast<TypeT>(w * sigmoid(static_cast<Wide<TypeT>>(beta) * w));
    });
}

// Repeats a tensor of one or two dimensions along an axis of size 1.
template <typename TypeT, int32_t dim, int32_t axis, bool isReuseSource = false>
void Broadcast(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const uint32_t dstShape[dim], const uint32_t srcShape[dim],
               jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    static_assert(dim == 1 || dim == 2, "Broadcast takes one or two dimensions");
    const Call call{"Broadcast", site};
    const uint64_t rows = dim == 2 ? dstShape[0] : 1, columns = dstShape[dim - 1];
    const uint64_t from_rows = dim == 2 ? srcShape[0] : 1, from_columns = srcShape[dim - 1];
    if ((from_rows != rows && from_rows != 1) || (from_columns != columns && from_columns != 1))
        fail(site, "Broadcast: %llu x %llu elements to %llu x %llu; a dimension has to be equal or 1", static_cast<unsigned long long>(from_rows),
             static_cast<unsigned long long>(from_columns), static_cast<unsigned long long>(rows), static_cast<unsigned long long>(columns));
    check_access(dst, rows * columns * sizeof(TypeT), "dst", call);
    check_access(src, from_rows * from_columns * sizeof(TypeT), "src", call);
    for (uint64_t row = 0; row < rows; row++)
        for (uint64_t column = 0; column < columns; column++)
            dst.raw()[row * columns + column] =
                src.raw()[(from_rows == 1 ? 0 : row) * from_columns + (from_columns == 1 ? 0 : column)];
}
template <typename TypeT, int32_t dim, int32_t axis, bool isReuseSource = false>
void Broadcast(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const uint32_t dstShape[dim], const uint32_t srcShape[dim],
               const LocalTensor<uint8_t>&, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    Broadcast<TypeT, dim, axis>(dst, src, dstShape, srcShape, site);
}
template <typename TypeT, int32_t dim, int32_t axis, bool isReuseSource = false>
void BroadCast(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const uint32_t dstShape[dim], const uint32_t srcShape[dim],
               jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    Broadcast<TypeT, dim, axis>(dst, src, dstShape, srcShape, site);
}
template <typename TypeT, int32_t dim, int32_t axis, bool isReuseSource = false>
void BroadCast(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const uint32_t dstShape[dim], const uint32_t srcShape[dim],
               const LocalTensor<uint8_t>&, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    Broadcast<TypeT, dim, axis>(dst, src, dstShape, srcShape, site);
}

// The sum of the first n elements of each row. Rows are `inner` elements apart.
struct SumParams {
    uint32_t outter = 1;
    uint32_t inner;
    uint32_t n;
};
template <typename TypeT, int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
void Sum(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const SumParams& params, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"Sum", site};
    if (params.outter == 0) return;
    if (params.n > params.inner) fail(site, "Sum: n is %u, and a row has %u elements", params.n, params.inner);
    check_access(dst, params.outter * sizeof(TypeT), "dst", call);
    check_access(src, ((params.outter - 1ull) * params.inner + params.n) * sizeof(TypeT), "src", call);
    for (uint64_t row = 0; row < params.outter; row++) {
        Wide<TypeT> sum = 0;
        for (uint64_t at = 0; at < params.n; at++) sum += static_cast<Wide<TypeT>>(src.raw()[row * params.inner + at]);
        dst.raw()[row] = static_cast<TypeT>(sum);
    }
}
template <typename TypeT, int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
void Sum(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const LocalTensor<uint8_t>&, const SumParams& params,
         jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    Sum<TypeT>(dst, src, params, site);
}

} // namespace AscendC

#endif
