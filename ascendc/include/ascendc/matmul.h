// The Matmul object: products of matrices in global or local memory, base block by base block.
#ifndef JUMAR_ASCENDC_MATMUL_H
#define JUMAR_ASCENDC_MATMUL_H

#include <algorithm>
#include <utility>

#include "fixpipe.h"
#include "matmul_types.h"
#include "../kernel_tiling/kernel_tiling.h"

#include "field_names_begin.h"

namespace jumar {
namespace ascendc {

// A matrix in memory: where element (row, column) lies.
struct MatrixLayout {
    bool is_fractal = false;
    bool is_transposed = false;
    uint64_t stride = 0; // elements from one stored row to the next, or stored rows of a column of fractals
    uint32_t c0 = 16;

    uint64_t index(uint64_t row, uint64_t column) const
    {
        if (is_transposed) std::swap(row, column);
        return is_fractal ? column / c0 * stride * c0 + row * c0 + column % c0 : row * stride + column;
    }
};

// An operand: a tensor in global or local memory, or a number that all elements have.
template <typename TypeT> struct MatrixSource {
    AscendC::GlobalTensor<TypeT> global;
    AscendC::LocalTensor<TypeT> local;
    TypeT scalar = TypeT{};
    enum Kind : uint8_t { UNSET, GLOBAL, LOCAL, SCALAR } kind = UNSET;
    bool is_transposed = false;

    // Returns the elements, and fails if the one furthest away is not inside of the tensor.
    const TypeT* elements(uint64_t last, const char* operand, const char* label, const Call& call) const
    {
        switch (kind) {
        case GLOBAL: global.check(0, last + 1, label, call.site); return global.raw();
        case LOCAL: check_access(local, bytes_of<TypeT>(last + 1 + (is_int4<TypeT> ? 1 : 0)), operand, call); return local.raw();
        case SCALAR: return nullptr;
        default: fail(call.site, "%s: %s was not set", call.name, operand);
        }
    }
};

constexpr bool is_fractal_format(CubeFormat format)
{
    return format == CubeFormat::NZ;
}
constexpr bool is_supported_format(CubeFormat format)
{
    return format == CubeFormat::ND || format == CubeFormat::NZ || format == CubeFormat::ND_ALIGN || format == CubeFormat::VECTOR ||
           format == CubeFormat::SCALAR;
}

// Where and how results are written.
struct MatrixTarget {
    MatrixLayout layout;
    uint32_t row = 0, column = 0;
};

} // namespace ascendc
} // namespace jumar

namespace AscendC {

template <TPosition position, CubeFormat cube_format, typename Type, bool is_trans = false, LayoutMode layout_mode = LayoutMode::NONE,
          bool ib_share = false>
struct MatmulType {
    static constexpr TPosition pos = position;
    static constexpr CubeFormat format = cube_format;
    using TypeT = Type;
    static constexpr bool isTrans = is_trans;
    static constexpr LayoutMode layout = layout_mode;
    static constexpr bool ibShare = ib_share;
};
template <TPosition position, CubeFormat cube_format, typename Type, TPosition = TPosition::GM, bool is_trans = false,
          LayoutMode layout_mode = LayoutMode::NONE, bool ib_share = false>
using MatmulTypeWithSource = MatmulType<position, cube_format, Type, is_trans, layout_mode, ib_share>;

// Functions of the program that copy operands. They are not supported.
template <auto copy_out = nullptr, auto copy_a = nullptr, auto copy_b = nullptr> struct MatmulCallBackFunc {
    static constexpr bool is_used = !std::is_same_v<decltype(copy_out), std::nullptr_t> || !std::is_same_v<decltype(copy_a), std::nullptr_t> ||
                                    !std::is_same_v<decltype(copy_b), std::nullptr_t>;
};

template <class TypeA, class TypeB, class TypeC, class Bias = TypeC, const auto& config = CFG_NORM, class Callback = MatmulCallBackFunc<>> class MatmulImpl {
    using AT = typename TypeA::TypeT;
    using BT = typename TypeB::TypeT;
    using CT = typename TypeC::TypeT;
    using BiasT = typename Bias::TypeT;
    static_assert(sizeof(AT) == sizeof(BT) && jumar::ascendc::is_float<AT> == jumar::ascendc::is_float<BT>,
                  "Matmul of matrices of different element sizes is not supported by Jumar; docs/ascendc.md lists what is");
    static_assert(jumar::ascendc::is_supported_format(TypeA::format) && jumar::ascendc::is_supported_format(TypeB::format) &&
                      jumar::ascendc::is_supported_format(TypeC::format),
                  "Matmul in this format is not supported by Jumar; docs/ascendc.md lists what is");
    static_assert(!Callback::is_used, "Matmul with MatmulCallBackFunc is not supported by Jumar; docs/ascendc.md lists what is");
    using Sum = std::conditional_t<jumar::ascendc::is_float<AT>, float, int32_t>;
    using Accumulator = std::conditional_t<jumar::ascendc::is_float<AT>, float, uint32_t>;

public:
    using AType = TypeA;
    using BType = TypeB;
    using CType = TypeC;
    using BiasType = Bias;

    void Init(const TCubeTiling* tiling, TPipe* = nullptr)
    {
        if (!tiling) return;
        tiling_ = *tiling;
        org_m_ = tiling->M;
        org_n_ = tiling->N;
        org_ka_ = tiling->Ka;
        org_kb_ = tiling->Kb;
        org_kc_ = 0;
        if (config.doBasicBlock || (config.basicM && config.basicN)) {
            tiling_.baseM = static_cast<int32_t>(config.basicM);
            tiling_.baseN = static_cast<int32_t>(config.basicN);
        }
        SetSingleShape(config.singleCoreM ? static_cast<int>(config.singleCoreM) : tiling->singleCoreM,
                       config.singleCoreN ? static_cast<int>(config.singleCoreN) : tiling->singleCoreN,
                       config.singleCoreK ? static_cast<int>(config.singleCoreK) : tiling->singleCoreK);
        is_ready_ = true;
    }

    void SetOrgShape(int m, int n, int k) { SetOrgShape(m, n, k, k); }
    void SetOrgShape(int m, int n, int ka, int kb, int kc = 0)
    {
        org_m_ = m;
        org_n_ = n;
        org_ka_ = ka;
        org_kb_ = kb;
        org_kc_ = kc;
    }
    void SetSingleShape(int m, int n, int k)
    {
        single_m_ = m;
        single_n_ = n;
        single_k_ = k;
        next_ = 0;
    }
    void SetTail(int m = -1, int n = -1, int k = -1)
    {
        SetSingleShape(m == -1 ? single_m_ : m, n == -1 ? single_n_ : n, k == -1 ? single_k_ : k);
    }

    void SetTensorA(const GlobalTensor<AT>& tensor, bool isTransposeA = false) { set_global(a_, tensor, isTransposeA); }
    void SetTensorA(const LocalTensor<AT>& tensor, bool isTransposeA = false) { set_local(a_, tensor, isTransposeA); }
    void SetTensorA(AT scalar) { set_scalar(a_, scalar); }
    void SetTensorB(const GlobalTensor<BT>& tensor, bool isTransposeB = false) { set_global(b_, tensor, isTransposeB); }
    void SetTensorB(const LocalTensor<BT>& tensor, bool isTransposeB = false) { set_local(b_, tensor, isTransposeB); }
    void SetTensorB(BT scalar) { set_scalar(b_, scalar); }
    void SetBias(const GlobalTensor<BiasT>& tensor) { set_global(bias_, tensor, false); }
    void SetBias(const LocalTensor<BiasT>& tensor) { set_local(bias_, tensor, false); }
    void ClearBias() { bias_.kind = bias_.UNSET; }
    void DisableBias() { ClearBias(); }

    void SetQuantScalar(const uint64_t scale)
    {
        scale_ = scale;
        scales_.kind = scales_.UNSET;
        is_quantised_ = true;
    }
    void SetQuantVector(const GlobalTensor<uint64_t>& scales)
    {
        set_global(scales_, scales, false);
        is_quantised_ = true;
    }
    void SetQuantVector(const LocalTensor<uint64_t>& scales)
    {
        set_local(scales_, scales, false);
        is_quantised_ = true;
    }

    // Computes the next base block. Returns false if all blocks of the core's part are computed.
    template <bool sync = true> bool Iterate(bool enPartialSum = false, jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        if (!is_ready_) return false;
        if constexpr (sync) {
            if (next_ >= blocks()) {
                next_ = 0;
                return false;
            }
            compute(next_++, enPartialSum, {"Iterate", site});
        } else {
            next_ = 0;
            is_partial_ = enPartialSum;
        }
        return true;
    }

    // Writes the base block. After Iterate<false> each call computes one.
    template <bool sync = true>
    void GetTensorC(const GlobalTensor<CT>& target, uint8_t enAtomic = 0, bool enSequentialWrite = false,
                    jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        if (!is_ready_) return;
        const jumar::ascendc::Call call{"GetTensorC", site};
        advance<sync>(call);
        write(target, enAtomic, target_of(enSequentialWrite, enSequentialWrite ? base_n() : stride_c(), enSequentialWrite ? base_m() : org_m_), call);
    }
    template <bool sync = true>
    void GetTensorC(const LocalTensor<CT>& target, uint8_t enAtomic = 0, bool enSequentialWrite = false,
                    jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        if (!is_ready_) return;
        const jumar::ascendc::Call call{"GetTensorC", site};
        advance<sync>(call);
        write(target, enAtomic, target_of(enSequentialWrite, enSequentialWrite ? base_n() : single_n_, enSequentialWrite ? base_m() : single_m_), call);
    }
    template <bool sync = true>
    void GetTensorC(const GlobalTensor<CT>& target, const LocalTensor<CT>& local, uint8_t enAtomic = 0, bool enSequentialWrite = false,
                    jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        if (!is_ready_) return;
        GetTensorC<sync>(target, enAtomic, enSequentialWrite, site);
        write(local, 0, target_of(true, base_n(), base_m()), {"GetTensorC", site});
    }

    template <bool sync = true>
    void IterateAll(const GlobalTensor<CT>& target, uint8_t enAtomic = 0, bool enSequentialWrite = false, bool = false, bool = false,
                    jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        if (!is_ready_) return;
        const jumar::ascendc::Call call{"IterateAll", site};
        for (uint32_t at = 0; at < blocks(); at++) {
            compute(at, false, call);
            if (enSequentialWrite) write(target[static_cast<uint64_t>(at) * base_m() * base_n()], enAtomic, target_of(true, base_n(), base_m()), call);
            else write(target, enAtomic, target_of(false, stride_c(), org_m_), call);
        }
        next_ = 0;
    }
    template <bool sync = true>
    void IterateAll(const LocalTensor<CT>& target, uint8_t enAtomic = 0, jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        if (!is_ready_) return;
        const jumar::ascendc::Call call{"IterateAll", site};
        for (uint32_t at = 0; at < blocks(); at++) {
            compute(at, false, call);
            write(target, enAtomic, target_of(false, single_n_, single_m_), call);
        }
        next_ = 0;
    }
    // Several products: matrices of A, B and C follow each other, at the strides or without gaps. If there are fewer of A or of B, each of them
    // belongs to as many neighbouring products.
    void SetBatchNum(int32_t batchA, int32_t batchB)
    {
        batch_a_ = batchA;
        batch_b_ = batchB;
    }
    template <bool sync = true, bool waitIterateBatch = false>
    void IterateBatch(const GlobalTensor<CT>& target, uint32_t batchA, uint32_t batchB, bool enSequentialWrite, const uint32_t matrixStrideA = 0,
                      const uint32_t matrixStrideB = 0, const uint32_t matrixStrideC = 0, const bool enPartialSum = false, const uint8_t enAtomic = 0,
                      jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        each_batch(batchA, batchB, matrixStrideA, matrixStrideB, matrixStrideC, enPartialSum, site,
                   [&](uint64_t offset) { IterateAll(target[offset], enAtomic, enSequentialWrite, false, false, site); });
    }
    template <bool sync = true>
    void IterateBatch(const LocalTensor<CT>& target, uint32_t batchA, uint32_t batchB, bool, const uint32_t matrixStrideA = 0, const uint32_t matrixStrideB = 0,
                      const uint32_t matrixStrideC = 0, const bool enPartialSum = false, const uint8_t enAtomic = 0,
                      jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        each_batch(batchA, batchB, matrixStrideA, matrixStrideB, matrixStrideC, enPartialSum, site,
                   [&](uint64_t offset) { IterateAll(target[static_cast<uint32_t>(offset)], enAtomic, site); });
    }
    // The numbers of matrices are those of SetBatchNum.
    template <typename Target>
    void IterateBatch(const Target& target, bool enPartialSum, uint8_t enAtomic, bool enSequentialWrite, const uint32_t matrixStrideA = 0,
                      const uint32_t matrixStrideB = 0, const uint32_t matrixStrideC = 0, jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        IterateBatch(target, static_cast<uint32_t>(batch_a_), static_cast<uint32_t>(batch_b_), enSequentialWrite, matrixStrideA, matrixStrideB, matrixStrideC,
                     enPartialSum, enAtomic, site);
    }
    void WaitIterateBatch() {}

    // Results are complete when a call returns, and need no workspace.
    void WaitIterateAll() {}
    void WaitGetTensorC() {}
    void End() { next_ = 0; }
    template <typename... Arguments> void SetWorkspace(const Arguments&...) {}
    void SetLocalWorkspace(const LocalTensor<uint8_t>&) {}
    void SetSubBlockIdx(uint8_t) {}
    uint8_t GetSubBlockIdx() const { return static_cast<uint8_t>(jumar::ascendc::core().sub_block); }
    void SetHF32(bool = false, int32_t = 0) {}
    void SetUserDefInfo(uint64_t) {}
    template <class Data> void SetSelfDefineData(Data) {}

private:
    template <typename TypeT> static void set_global(jumar::ascendc::MatrixSource<TypeT>& source, const GlobalTensor<TypeT>& tensor, bool is_transposed)
    {
        source.global = tensor;
        source.kind = source.GLOBAL;
        source.is_transposed = is_transposed;
    }
    template <typename TypeT> static void set_local(jumar::ascendc::MatrixSource<TypeT>& source, const LocalTensor<TypeT>& tensor, bool is_transposed)
    {
        source.local = tensor;
        source.kind = source.LOCAL;
        source.is_transposed = is_transposed;
    }
    template <typename TypeT> static void set_scalar(jumar::ascendc::MatrixSource<TypeT>& source, TypeT scalar)
    {
        source.scalar = scalar;
        source.kind = source.SCALAR;
    }

    template <typename Body>
    void each_batch(uint32_t batch_a, uint32_t batch_b, uint64_t stride_a, uint64_t stride_b, uint64_t stride_c, bool is_partial, jumar::ascendc::Site site, Body body)
    {
        using namespace jumar::ascendc;
        static_assert(TypeA::layout == LayoutMode::NONE || TypeA::layout == LayoutMode::NORMAL,
                      "Matmul::IterateBatch of other layouts than NORMAL is not supported by Jumar; docs/ascendc.md lists what is");
        if (!is_ready_) return;
        const uint32_t products = batch_a > batch_b ? batch_a : batch_b;
        if (batch_a == 0 || batch_b == 0 || products % batch_a != 0 || products % batch_b != 0)
            fail(site, "IterateBatch: %u matrices A and %u matrices B; one number has to be a multiple of the other", batch_a, batch_b);
        if (is_partial) fail(site, "IterateBatch: enPartialSum is not supported; docs/ascendc.md lists what is");
        if (stride_a == 0) stride_a = static_cast<uint64_t>(org_m_) * static_cast<uint64_t>(org_ka_);
        if (stride_b == 0) stride_b = static_cast<uint64_t>(org_n_) * static_cast<uint64_t>(org_kb_);
        if (stride_c == 0) stride_c = static_cast<uint64_t>(org_m_) * this->stride_c();
        const auto a = a_;
        const auto b = b_;
        const auto bias = bias_;
        for (uint32_t product = 0; product < products; product++) {
            const uint64_t at_a = product / (products / batch_a) * stride_a, at_b = product / (products / batch_b) * stride_b;
            a_.global = a.global[at_a];
            b_.global = b.global[at_b];
            if (a.kind == a.LOCAL) a_.local = a.local[static_cast<uint32_t>(at_a)];
            if (b.kind == b.LOCAL) b_.local = b.local[static_cast<uint32_t>(at_b)];
            body(product * stride_c);
        }
        a_ = a;
        b_ = b;
        bias_ = bias;
    }

    uint32_t base_m() const { return static_cast<uint32_t>(tiling_.baseM); }
    uint32_t base_n() const { return static_cast<uint32_t>(tiling_.baseN); }
    uint32_t blocks_m() const { return jumar::ascendc::divided_up(static_cast<uint32_t>(single_m_), base_m()); }
    uint32_t blocks_n() const { return jumar::ascendc::divided_up(static_cast<uint32_t>(single_n_), base_n()); }
    uint32_t blocks() const { return single_m_ > 0 && single_n_ > 0 && tiling_.baseM > 0 && tiling_.baseN > 0 ? blocks_m() * blocks_n() : 0; }
    uint32_t stride_c() const { return static_cast<uint32_t>(org_kc_ > 0 ? org_kc_ : org_n_); }

    template <typename TypeT, CubeFormat format>
    static jumar::ascendc::MatrixLayout layout_of(bool is_transposed, bool is_local, int org_rows, int org_columns, int rows, int columns)
    {
        // In memory a transposed matrix has rows and columns exchanged. A local tensor holds the core's part alone.
        const int stored_rows = is_transposed ? (is_local ? columns : org_columns) : (is_local ? rows : org_rows);
        const int stored_columns = is_transposed ? (is_local ? rows : org_rows) : (is_local ? columns : org_columns);
        jumar::ascendc::MatrixLayout layout;
        layout.is_fractal = jumar::ascendc::is_fractal_format(format);
        layout.is_transposed = is_transposed;
        layout.c0 = jumar::ascendc::fractal_columns<TypeT>;
        uint32_t stride = static_cast<uint32_t>(layout.is_fractal ? stored_rows : stored_columns);
        if (layout.is_fractal) stride = (stride + 15) / 16 * 16;
        if (format == CubeFormat::ND_ALIGN) stride = jumar::ascendc::divided_up(stride, layout.c0) * layout.c0;
        layout.stride = stride;
        return layout;
    }

    template <bool sync> void advance(const jumar::ascendc::Call& call)
    {
        if constexpr (!sync) {
            if (next_ >= blocks()) next_ = 0;
            compute(next_++, is_partial_, call);
        }
    }

    // Computes a base block: blocks follow each other along M, or along N in the other order of the tiling.
    void compute(uint32_t number, bool adds, const jumar::ascendc::Call& call)
    {
        using namespace jumar::ascendc;
        const bool along_m = config.iterateOrder == IterateOrder::UNDEF ? tiling_.iterateOrder == 0 : config.iterateOrder == IterateOrder::ORDER_M;
        row_ = (along_m ? number % blocks_m() : number / blocks_n()) * base_m();
        column_ = (along_m ? number / blocks_m() : number % blocks_n()) * base_n();
        rows_ = std::min(base_m(), static_cast<uint32_t>(single_m_) - row_);
        columns_ = std::min(base_n(), static_cast<uint32_t>(single_n_) - column_);
        const uint32_t k = static_cast<uint32_t>(single_k_);
        const MatrixLayout a_layout = layout_of<AT, TypeA::format>(a_.is_transposed, a_.kind == a_.LOCAL, org_m_, org_ka_, single_m_, single_k_);
        const MatrixLayout b_layout = layout_of<BT, TypeB::format>(b_.is_transposed, b_.kind == b_.LOCAL, org_kb_, org_n_, single_k_, single_n_);
        if (single_k_ <= 0) fail(call.site, "%s: the part of a core has a K of %d", call.name, single_k_);
        const AT* a = a_.elements(a_layout.index(row_ + rows_ - 1, k - 1), "the matrix A", "the read of A", call);
        const BT* b = b_.elements(b_layout.index(k - 1, column_ + columns_ - 1), "the matrix B", "the read of B", call);
        right_.resize(static_cast<size_t>(k) * columns_);
        for (uint32_t at = 0; at < k; at++)
            for (uint32_t column = 0; column < columns_; column++)
                right_[static_cast<size_t>(at) * columns_ + column] =
                    b ? factor<BT, Accumulator>(b, b_layout.index(at, column_ + column)) : factor<BT, Accumulator>(&b_.scalar, 0);
        if (!adds || sums_.size() != static_cast<size_t>(rows_) * columns_) {
            sums_.assign(static_cast<size_t>(rows_) * columns_, Accumulator(0));
            if (bias_.kind != bias_.UNSET) {
                const BiasT* bias = bias_.elements(column_ + columns_ - 1, "the bias", "the read of the bias", call);
                for (size_t at = 0; at < sums_.size(); at++) sums_[at] = static_cast<Accumulator>(static_cast<Sum>(bias[column_ + at % columns_]));
            }
        }
        for (uint32_t row = 0; row < rows_; row++) {
            Accumulator* line = sums_.data() + static_cast<size_t>(row) * columns_;
            for (uint32_t at = 0; at < k; at++) {
                const Accumulator value = a ? factor<AT, Accumulator>(a, a_layout.index(row_ + row, at)) : factor<AT, Accumulator>(&a_.scalar, 0);
                const Accumulator* other = right_.data() + static_cast<size_t>(at) * columns_;
                for (uint32_t column = 0; column < columns_; column++) line[column] += value * other[column];
            }
        }
    }

    // Where the base block goes: to its position in the core's part, or to the start of the target.
    jumar::ascendc::MatrixTarget target_of(bool is_sequential, uint64_t stride, uint64_t rows) const
    {
        jumar::ascendc::MatrixTarget target;
        target.layout.is_fractal = jumar::ascendc::is_fractal_format(TypeC::format);
        target.layout.c0 = sizeof(CT) == 1 ? 32 : 16;
        target.layout.stride = target.layout.is_fractal ? (rows + 15) / 16 * 16 : stride;
        if (TypeC::format == CubeFormat::ND_ALIGN) {
            constexpr uint64_t c0 = jumar::ascendc::fractal_columns<CT>;
            target.layout.stride = (stride + c0 - 1) / c0 * c0;
        }
        target.row = is_sequential ? 0 : row_;
        target.column = is_sequential ? 0 : column_;
        return target;
    }

    CT converted(Sum value, uint32_t column, const uint64_t* scales, const jumar::ascendc::Call& call) const
    {
        using namespace jumar::ascendc;
        if constexpr (std::is_same_v<CT, Sum>) {
            return value;
        } else if constexpr (std::is_same_v<Sum, float> && is_float<CT>) {
            return static_cast<CT>(value);
        } else {
            if (!is_quantised_) fail(call.site, "%s: %s is made of %s with SetQuantScalar or SetQuantVector", call.name, type_name<CT>(), type_name<Sum>());
            if constexpr (is_bfloat16<CT>) return static_cast<CT>(static_cast<float>(value) * Quantisation(scales ? scales[column] : scale_).scale);
            else return requantised<CT>(value, scales ? scales[column] : scale_, false);
        }
    }

    // Calls emit(index, values, count) for runs of elements that are contiguous in the target.
    template <typename Emit> void each_run(const jumar::ascendc::MatrixTarget& target, const jumar::ascendc::Call& call, Emit emit)
    {
        const uint64_t* scales = nullptr;
        if (scales_.kind != scales_.UNSET) scales = scales_.elements(column_ + columns_ - 1, "the vector of scales", "the read of the scales", call);
        line_.resize(columns_);
        for (uint32_t row = 0; row < rows_; row++) {
            for (uint32_t column = 0; column < columns_; column++)
                line_[column] = converted(static_cast<Sum>(sums_[static_cast<size_t>(row) * columns_ + column]), column_ + column, scales, call);
            const uint32_t width = target.layout.is_fractal ? target.layout.c0 : columns_;
            for (uint32_t column = 0; column < columns_; column += width)
                emit(target.layout.index(target.row + row, target.column + column), line_.data() + column, std::min(width, columns_ - column));
        }
    }
    void write(const GlobalTensor<CT>& target, uint8_t atomic, const jumar::ascendc::MatrixTarget& where, const jumar::ascendc::Call& call)
    {
        using namespace jumar::ascendc;
        static constexpr AtomicOperation operations[] = {AtomicOperation::NONE, AtomicOperation::ADD, AtomicOperation::MAX, AtomicOperation::MIN};
        if (atomic > 3) fail(call.site, "%s: enAtomic is %u; 0 writes, 1 adds, 2 and 3 take the maximum and minimum", call.name, atomic);
        AtomicOperation& set = core().registers.atomic;
        const AtomicOperation before = set;
        if (atomic != 0 || core().type == AIV) set = operations[atomic];
        each_run(where, call, [&](uint64_t at, const CT* values, uint32_t count) {
            target.check(at, count, call.name, call.site);
            store_global<CT>(bytes_at(target) + at * sizeof(CT), reinterpret_cast<const uint8_t*>(values), count * sizeof(CT), call);
        });
        set = before;
    }
    void write(const LocalTensor<CT>& target, uint8_t, const jumar::ascendc::MatrixTarget& where, const jumar::ascendc::Call& call)
    {
        using namespace jumar::ascendc;
        each_run(where, call, [&](uint64_t at, const CT* values, uint32_t count) {
            check_access(target, (at + count) * sizeof(CT), "C", call);
            std::memcpy(static_cast<void*>(target.raw() + at), static_cast<const void*>(values), count * sizeof(CT));
        });
    }

    TCubeTiling tiling_;
    jumar::ascendc::MatrixSource<AT> a_;
    jumar::ascendc::MatrixSource<BT> b_;
    jumar::ascendc::MatrixSource<BiasT> bias_;
    jumar::ascendc::MatrixSource<uint64_t> scales_;
    uint64_t scale_ = 0;
    bool is_quantised_ = false, is_ready_ = false, is_partial_ = false;
    int32_t batch_a_ = 1, batch_b_ = 1;
    int org_m_ = 0, org_n_ = 0, org_ka_ = 0, org_kb_ = 0, org_kc_ = 0;
    int single_m_ = 0, single_n_ = 0, single_k_ = 0;
    uint32_t next_ = 0, row_ = 0, column_ = 0, rows_ = 0, columns_ = 0;
    std::vector<Accumulator> right_, sums_;
    std::vector<CT> line_;
};

template <class TypeA, class TypeB, class TypeC, class Bias = TypeC, const auto& config = CFG_NORM, class Callback = MatmulCallBackFunc<>>
using Matmul = MatmulImpl<TypeA, TypeB, TypeC, Bias, config, Callback>;

} // namespace AscendC

// Older programs find all names here.
namespace matmul {
using namespace AscendC;
} // namespace matmul

namespace jumar {
namespace ascendc {

// Makes pairs of object and tiling ready. Without ASCENDC_CUBE_ONLY the vector cores call the object, and the cube core's block ends here;
// with it the cube core does, and objects of vector cores do nothing.
template <bool on_cube> struct MatmulRegistration {
    static void run(AscendC::TPipe*, const void*) {}
    template <typename Object, typename Tiling, typename... Rest>
    static void run(AscendC::TPipe* pipe, const void* workspace, Object& object, const Tiling& tiling, Rest&&... rest)
    {
        Core& self = core();
#if JUMAR_ASCENDC_CHIP != 2002
        if (self.layout_source == LayoutSource::UNKNOWN)
            use_layout(layout_of(on_cube ? AscendC::KERNEL_TYPE_AIC_ONLY : AscendC::KERNEL_TYPE_MIX_AIC_1_2), LayoutSource::USE);
        if (!on_cube && self.type == AscendC::AIC && self.layout.vectors > 0) throw Served{};
        if (on_cube && self.type == AscendC::AIV) return;
#endif
        if constexpr (!std::is_null_pointer_v<Tiling>) object.Init(tiling, pipe);
        static_cast<void>(self);
        run(pipe, workspace, rest...);
    }
};

} // namespace ascendc
} // namespace jumar

#ifdef ASCENDC_CUBE_ONLY
#define REGIST_MATMUL_OBJ(pipe, workspace, ...) jumar::ascendc::MatmulRegistration<true>::run(pipe, workspace, __VA_ARGS__)
#else
#define REGIST_MATMUL_OBJ(pipe, workspace, ...) jumar::ascendc::MatmulRegistration<false>::run(pipe, workspace, __VA_ARGS__)
#endif

#include "field_names_end.h"

#endif
