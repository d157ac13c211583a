// Shapes and element types that the tiling functions of the library take.
#ifndef JUMAR_TILING_TENSOR_SHAPE_H
#define JUMAR_TILING_TENSOR_SHAPE_H

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace AscendC {

// A shape with the functions of the Graph Engine's one. Shapes of the Graph Engine convert to it.
class TensorShape {
public:
    TensorShape() = default;
    TensorShape(std::initializer_list<int64_t> dims) : dims_(dims) {}
    explicit TensorShape(const std::vector<int64_t>& dims) : dims_(dims) {}
    template <typename Shape, typename = decltype(std::declval<const Shape&>().GetDimNum(), std::declval<const Shape&>().GetDim(0))>
    TensorShape(const Shape& shape)
    {
        for (size_t at = 0; at < shape.GetDimNum(); at++) dims_.push_back(shape.GetDim(at));
    }

    size_t GetDimNum() const { return dims_.size(); }
    int64_t GetDim(size_t at) const { return at < dims_.size() ? dims_[at] : 0; }
    bool SetDim(size_t at, int64_t value)
    {
        if (at >= dims_.size()) return false;
        dims_[at] = value;
        return true;
    }
    std::vector<int64_t> GetDims() const { return dims_; }
    // The number of elements. Without dimensions it is 0, as that of the Graph Engine.
    int64_t GetShapeSize() const
    {
        int64_t elements = dims_.empty() ? 0 : 1;
        for (const int64_t dim : dims_) elements *= dim;
        return elements;
    }

private:
    std::vector<int64_t> dims_;
};

// Element types, with the numbers of the Graph Engine's ones.
enum class TensorDataType {
    DT_FLOAT = 0,
    DT_FLOAT16 = 1,
    DT_INT8 = 2,
    DT_INT32 = 3,
    DT_UINT8 = 4,
    DT_INT16 = 6,
    DT_UINT16 = 7,
    DT_UINT32 = 8,
    DT_INT64 = 9,
    DT_UINT64 = 10,
    DT_DOUBLE = 11,
    DT_BOOL = 12,
    DT_BF16 = 27,
    DT_INT4 = 29,
};

} // namespace AscendC

#endif
