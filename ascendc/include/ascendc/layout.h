// Shapes, strides and coordinates as types, layouts of them, and the change of a tensor's format that takes them.
#ifndef JUMAR_ASCENDC_LAYOUT_H
#define JUMAR_ASCENDC_LAYOUT_H

#include <algorithm>
#include <cmath>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tensor.h"

namespace AscendC {

namespace Std {
using std::add_const;
using std::add_const_t;
using std::add_cv;
using std::add_cv_t;
using std::add_lvalue_reference;
using std::add_lvalue_reference_t;
using std::add_pointer;
using std::add_pointer_t;
using std::add_rvalue_reference;
using std::add_rvalue_reference_t;
using std::add_volatile;
using std::add_volatile_t;
using std::bool_constant;
using std::conditional;
using std::conditional_t;
using std::conjunction;
using std::conjunction_v;
using std::decay;
using std::decay_t;
using std::declval;
using std::disjunction;
using std::disjunction_v;
using std::enable_if;
using std::enable_if_t;
using std::false_type;
using std::forward;
using std::forward_as_tuple;
using std::get;
using std::ignore;
using std::index_sequence;
using std::index_sequence_for;
using std::integer_sequence;
using std::integral_constant;
using std::is_arithmetic;
using std::is_arithmetic_v;
using std::is_array;
using std::is_array_v;
using std::is_base_of;
using std::is_base_of_v;
using std::is_class;
using std::is_class_v;
using std::is_const;
using std::is_const_v;
using std::is_constructible;
using std::is_constructible_v;
using std::is_convertible;
using std::is_convertible_v;
using std::is_empty;
using std::is_empty_v;
using std::is_enum;
using std::is_enum_v;
using std::is_floating_point;
using std::is_floating_point_v;
using std::is_function;
using std::is_function_v;
using std::is_fundamental;
using std::is_fundamental_v;
using std::is_integral;
using std::is_integral_v;
using std::is_lvalue_reference;
using std::is_lvalue_reference_v;
using std::is_pointer;
using std::is_pointer_v;
using std::is_reference;
using std::is_reference_v;
using std::is_rvalue_reference;
using std::is_rvalue_reference_v;
using std::is_same;
using std::is_same_v;
using std::is_signed;
using std::is_signed_v;
using std::is_union;
using std::is_union_v;
using std::is_unsigned;
using std::is_unsigned_v;
using std::is_void;
using std::is_void_v;
using std::is_volatile;
using std::is_volatile_v;
using std::make_index_sequence;
using std::make_integer_sequence;
using std::make_tuple;
using std::move;
using std::negation;
using std::negation_v;
using std::remove_const;
using std::remove_const_t;
using std::remove_cv;
using std::remove_cv_t;
using std::remove_extent;
using std::remove_extent_t;
using std::remove_pointer;
using std::remove_pointer_t;
using std::remove_reference;
using std::remove_reference_t;
using std::remove_volatile;
using std::remove_volatile_t;
using std::tie;
using std::true_type;
using std::tuple;
using std::tuple_cat;
using std::tuple_element;
using std::tuple_element_t;
using std::tuple_size;
using std::tuple_size_v;
using std::underlying_type;
using std::underlying_type_t;
using std::void_t;
template <typename TypeT> using remove_cvref_t = std::remove_cv_t<std::remove_reference_t<TypeT>>;
template <typename TypeT> struct remove_cvref {
    using type = remove_cvref_t<TypeT>;
};

// The second operand becomes one of the first one's type.
template <typename TypeA, typename TypeB> constexpr TypeA max(const TypeA a, const TypeB b)
{
    return a > static_cast<TypeA>(b) ? a : static_cast<TypeA>(b);
}
template <typename TypeA, typename TypeB> constexpr TypeA min(const TypeA a, const TypeB b)
{
    return a > static_cast<TypeA>(b) ? static_cast<TypeA>(b) : a;
}
template <typename TypeT> TypeT sqrt(const TypeT value)
{
    return static_cast<TypeT>(std::sqrt(static_cast<std::conditional_t<jumar::ascendc::is_float<TypeT>, jumar::ascendc::Wide<TypeT>, double>>(value)));
}
template <typename TypeT> TypeT abs(const TypeT value)
{
    return value < TypeT(0) ? static_cast<TypeT>(-value) : value;
}

template <size_t value> using Int = std::integral_constant<size_t, value>;
} // namespace Std

template <typename... Ts> using Shape = Std::tuple<Ts...>;
template <typename... Ts> using Stride = Std::tuple<Ts...>;
template <typename... Ts> using Coord = Std::tuple<Ts...>;

} // namespace AscendC

namespace jumar {
namespace ascendc {

template <typename TypeT> constexpr bool is_tuple = false;
template <typename... Ts> constexpr bool is_tuple<std::tuple<Ts...>> = true;
template <typename TypeT> constexpr bool is_constant = false;
template <typename TypeT, TypeT value> constexpr bool is_constant<std::integral_constant<TypeT, value>> = true;

// Results of constants are constants.
#define JUMAR_ASCENDC_CONSTANT(name, symbol)                                                                                                         \
    template <typename TypeA, typename TypeB> constexpr auto name([[maybe_unused]] const TypeA& a, [[maybe_unused]] const TypeB& b)                  \
    {                                                                                                                                                \
        if constexpr (is_constant<TypeA> && is_constant<TypeB>) return AscendC::Std::Int<static_cast<size_t>(TypeA::value symbol TypeB::value)>{};   \
        else return a symbol b;                                                                                                                      \
    }
JUMAR_ASCENDC_CONSTANT(added, +)
JUMAR_ASCENDC_CONSTANT(times, *)
JUMAR_ASCENDC_CONSTANT(quotient, /)
JUMAR_ASCENDC_CONSTANT(remainder_of, %)
#undef JUMAR_ASCENDC_CONSTANT

template <size_t at = 0, typename TypeT> constexpr auto product_of(const TypeT& sizes)
{
    if constexpr (!is_tuple<TypeT>) return sizes;
    else if constexpr (at == std::tuple_size_v<TypeT>) return AscendC::Std::Int<1>{};
    else return times(product_of(std::get<at>(sizes)), product_of<at + 1>(sizes));
}

template <typename TypeC, typename TypeD, typename TypeS> constexpr auto index_of(const TypeC& coord, const TypeD& shape, const TypeS& stride);
// A coordinate for each dimension.
template <size_t at, typename TypeC, typename TypeD, typename TypeS> constexpr auto index_of_each(const TypeC& coord, const TypeD& shape, const TypeS& stride)
{
    if constexpr (at == std::tuple_size_v<TypeC>) return AscendC::Std::Int<0>{};
    else return added(index_of(std::get<at>(coord), std::get<at>(shape), std::get<at>(stride)), index_of_each<at + 1>(coord, shape, stride));
}
// One number for all dimensions, of which the first one runs fastest.
template <size_t at, typename TypeC, typename TypeD, typename TypeS> constexpr auto index_of_number(const TypeC& number, const TypeD& shape, const TypeS& stride)
{
    if constexpr (at + 1 == std::tuple_size_v<TypeD>) {
        return index_of(number, std::get<at>(shape), std::get<at>(stride));
    } else {
        const auto size = product_of(std::get<at>(shape));
        return added(index_of(remainder_of(number, size), std::get<at>(shape), std::get<at>(stride)), index_of_number<at + 1>(quotient(number, size), shape, stride));
    }
}
template <typename TypeC, typename TypeD, typename TypeS> constexpr auto index_of(const TypeC& coord, [[maybe_unused]] const TypeD& shape, const TypeS& stride)
{
    if constexpr (is_tuple<TypeC>) {
        static_assert(std::tuple_size_v<TypeC> == std::tuple_size_v<TypeD> && std::tuple_size_v<TypeC> == std::tuple_size_v<TypeS>,
                      "a coordinate has as many dimensions as the shape and the stride");
        return index_of_each<0>(coord, shape, stride);
    } else if constexpr (is_tuple<TypeD>) {
        return index_of_number<0>(coord, shape, stride);
    } else {
        return times(coord, stride);
    }
}

} // namespace ascendc
} // namespace jumar

namespace AscendC {

template <typename ShapeType, typename StrideType> class Layout {
public:
    constexpr Layout(const ShapeType& shape = {}, const StrideType& stride = {}) : shape_(shape), stride_(stride)
    {
        static_assert(jumar::ascendc::is_tuple<ShapeType> && jumar::ascendc::is_tuple<StrideType>, "a Layout has a Shape and a Stride");
    }

    constexpr Layout& layout() { return *this; }
    constexpr const Layout& layout() const { return *this; }
    constexpr ShapeType& GetShape() { return shape_; }
    constexpr const ShapeType& GetShape() const { return shape_; }
    constexpr StrideType& GetStride() { return stride_; }
    constexpr const StrideType& GetStride() const { return stride_; }
    template <typename CoordType> constexpr auto operator()(const CoordType& coord) const { return jumar::ascendc::index_of(coord, shape_, stride_); }

private:
    ShapeType shape_;
    StrideType stride_;
};

template <typename... Ts> constexpr Shape<Ts...> MakeShape(const Ts&... sizes)
{
    return {sizes...};
}
template <typename... Ts> constexpr Stride<Ts...> MakeStride(const Ts&... steps)
{
    return {steps...};
}
template <typename... Ts> constexpr Coord<Ts...> MakeCoord(const Ts&... values)
{
    return {values...};
}
template <typename ShapeType, typename StrideType> constexpr auto MakeLayout(const ShapeType& shape, const StrideType& stride)
{
    return Layout<ShapeType, StrideType>(shape, stride);
}

// The element that a coordinate means, counted in the strides' unit. A number in place of several coordinates is split along the shape.
template <typename CoordType, typename ShapeType, typename StrideType>
constexpr auto Crd2Idx(const CoordType& coord, const Layout<ShapeType, StrideType>& layout)
{
    return layout(coord);
}
template <typename CoordType, typename ShapeType, typename StrideType>
constexpr auto Crd2Idx(const CoordType& coord, const ShapeType& shape, const StrideType& stride)
{
    return jumar::ascendc::index_of(coord, shape, stride);
}

// A tensor's type, position and layout.
template <typename TypeT, TPosition pos = TPosition::GM, typename LayoutType = Layout<Shape<>, Stride<>>> struct TensorTrait {
    using LiteType = TypeT;
    using LiteLayoutType = LayoutType;
    static constexpr const TPosition tPos = pos;

    constexpr TensorTrait(const LayoutType& layout = {}) : layout_(layout) {}
    constexpr LayoutType& GetLayout() { return layout_; }
    constexpr const LayoutType& GetLayout() const { return layout_; }
    constexpr void SetLayout(const LayoutType& layout) { layout_ = layout; }

private:
    LayoutType layout_;
};
template <typename TypeT> struct is_tensorTrait : std::false_type {};
template <typename TypeT, TPosition pos, typename LayoutType> struct is_tensorTrait<TensorTrait<TypeT, pos, LayoutType>> : std::true_type {};

template <typename TypeT, TPosition pos, typename LayoutType> constexpr auto MakeTensorTrait(const LayoutType& layout)
{
    return TensorTrait<TypeT, pos, LayoutType>(layout);
}
template <typename TypeT, TPosition pos, typename LayoutType> class LocalTensor<TensorTrait<TypeT, pos, LayoutType>> {
    static_assert(sizeof(LayoutType) == 0, "LocalTensor of a TensorTrait is not supported by Jumar; docs/ascendc.md lists what is");
};
template <typename TypeT, TPosition pos, typename LayoutType> class GlobalTensor<TensorTrait<TypeT, pos, LayoutType>> {
    static_assert(sizeof(LayoutType) == 0, "GlobalTensor of a TensorTrait is not supported by Jumar; docs/ascendc.md lists what is");
};

struct TransDataConfig {
    DataFormat srcFormat;
    DataFormat dstFormat;
};
template <typename TypeT, typename TypeU> struct TransDataParams {
    TypeT srcLayout;
    TypeU dstLayout;
};

} // namespace AscendC

namespace jumar {
namespace ascendc {

template <typename TypeL> struct LayoutSizes;
template <typename... Ts, typename TypeS> struct LayoutSizes<AscendC::Layout<AscendC::Shape<Ts...>, TypeS>> {
    static constexpr size_t count = sizeof...(Ts);
    uint64_t sizes[count ? count : 1];

    explicit LayoutSizes(const AscendC::Layout<AscendC::Shape<Ts...>, TypeS>& layout) : sizes{}
    {
        std::apply([this](const Ts&... size) {
            size_t at = 0;
            ((sizes[at++] = static_cast<uint64_t>(size)), ...);
        }, layout.GetShape());
    }
};

// Copies between NCDHW, whose planes of H x W have a multiple of 32 bytes, and the format with blocks of 16 channels.
template <AscendC::DataFormat blocked, bool to_blocked, typename TypeT, typename Plain, typename Blocked>
inline void change_format(const AscendC::LocalTensor<TypeT>& dst, const AscendC::LocalTensor<TypeT>& src, const Plain& plain_layout, const Blocked& blocked_layout,
                          const Call& call)
{
    using AscendC::DataFormat;
    constexpr bool is_5d = blocked == DataFormat::NDC1HWC0;
    const LayoutSizes<Plain> plain(plain_layout);
    const LayoutSizes<Blocked> blocks(blocked_layout);
    static_assert(LayoutSizes<Plain>::count == 5, "TransData: a shape of NCDHW has five dimensions");
    static_assert(LayoutSizes<Blocked>::count == (is_5d ? 6 : 7), "TransData: a shape has the dimensions of its format");
    const uint64_t n = plain.sizes[0], c = plain.sizes[1], d = plain.sizes[2], h = plain.sizes[3], w = plain.sizes[4];
    const uint64_t c1 = (c + 15) / 16, n1 = (n + 15) / 16, plane = (h * w + 15) / 16 * 16;
    const uint64_t wanted[] = {is_5d ? n : d, is_5d ? d : c1, is_5d ? c1 : h, is_5d ? h : w, is_5d ? w : n1, 16, 16};
    for (size_t at = 0; at < LayoutSizes<Blocked>::count; at++)
        if (n == 0 || c == 0 || d == 0 || h == 0 || w == 0 || blocks.sizes[at] != wanted[at])
            fail(call.site, "TransData: dimension %zu of the shape with blocks of channels is %llu, and has to be %llu", at,
                 static_cast<unsigned long long>(blocks.sizes[at]), static_cast<unsigned long long>(wanted[at]));
    const uint64_t batches = is_5d ? n : n1 * 16;
    const uint64_t plain_elements = n * c * d * plane, blocked_elements = batches * d * c1 * h * w * 16;
    check_access(src, (to_blocked ? plain_elements : blocked_elements) * sizeof(TypeT), "src", call);
    check_access(dst, (to_blocked ? blocked_elements : plain_elements) * sizeof(TypeT), "dst", call);
    // Channels and batches that fill up blocks are zero.
    if (to_blocked) std::fill_n(dst.raw(), blocked_elements, TypeT{});
    for (uint64_t batch = 0; batch < n; batch++)
        for (uint64_t channel = 0; channel < c; channel++)
            for (uint64_t depth = 0; depth < d; depth++)
                for (uint64_t at = 0; at < h * w; at++) {
                    const uint64_t flat = ((batch * c + channel) * d + depth) * plane + at;
                    const uint64_t in_blocks = is_5d ? (((batch * d + depth) * c1 + channel / 16) * h * w + at) * 16 + channel % 16
                                                     : (((depth * c1 + channel / 16) * h * w + at) * n1 * 16 + batch) * 16 + channel % 16;
                    dst.raw()[to_blocked ? in_blocks : flat] = src.raw()[to_blocked ? flat : in_blocks];
                }
}

} // namespace ascendc
} // namespace jumar

namespace AscendC {

template <const TransDataConfig& config, typename TypeT, typename TypeU, typename TypeS>
void TransData(const LocalTensor<TypeT>& dstTensor, const LocalTensor<TypeT>& srcTensor, const TransDataParams<TypeU, TypeS>& params,
               jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    constexpr DataFormat plain = DataFormat::NCDHW;
    constexpr bool to_blocked = config.srcFormat == plain;
    constexpr DataFormat blocked = to_blocked ? config.dstFormat : config.srcFormat;
    static_assert((to_blocked || config.dstFormat == plain) && (blocked == DataFormat::NDC1HWC0 || blocked == DataFormat::FRACTAL_Z_3D),
                  "TransData changes NCDHW to NDC1HWC0 or FRACTAL_Z_3D, and back");
    static_assert(sizeof(TypeT) == 2, "TransData has elements of 16 bits");
    const jumar::ascendc::Call call{"TransData", site};
    if constexpr (to_blocked) jumar::ascendc::change_format<blocked, true>(dstTensor, srcTensor, params.srcLayout, params.dstLayout, call);
    else jumar::ascendc::change_format<blocked, false>(dstTensor, srcTensor, params.dstLayout, params.srcLayout, call);
}
template <const TransDataConfig& config, typename TypeT, typename TypeU, typename TypeS>
void TransData(const LocalTensor<TypeT>& dstTensor, const LocalTensor<TypeT>& srcTensor, const LocalTensor<uint8_t>&, const TransDataParams<TypeU, TypeS>& params,
               jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    TransData<config>(dstTensor, srcTensor, params, site);
}

} // namespace AscendC

#endif
