// Functions of Ascend C that are not supported. A use stops the compilation with the function's name.
#ifndef JUMAR_ASCENDC_MISSING_H
#define JUMAR_ASCENDC_MISSING_H

#include "core.h"

namespace jumar {
namespace ascendc {
template <typename...> constexpr bool never = false;
template <auto...> constexpr bool never_of = false;
} // namespace ascendc
} // namespace jumar

namespace AscendC {

#define JUMAR_ASCENDC_MISSING(Name)                                                                                                                  \
    template <typename... Arguments> void Name(const Arguments&...)                                                                                  \
    {                                                                                                                                                \
        static_assert(jumar::ascendc::never<Arguments...>, "AscendC::" #Name " is not supported by Jumar; docs/ascendc.md lists what is");           \
    }                                                                                                                                                \
    template <auto First, auto... Rest, typename... Arguments> void Name(const Arguments&...)                                                        \
    {                                                                                                                                                \
        static_assert(jumar::ascendc::never_of<First, Rest...>, "AscendC::" #Name " is not supported by Jumar; docs/ascendc.md lists what is");      \
    }

// Matrix products on the cube cores.
JUMAR_ASCENDC_MISSING(MmadMx)
JUMAR_ASCENDC_MISSING(LoadDataWithStride)
JUMAR_ASCENDC_MISSING(SetLoadDataRepeatWithStride)

// The library above the vector unit.
JUMAR_ASCENDC_MISSING(SoftmaxFlashV3)
JUMAR_ASCENDC_MISSING(Quantize)
JUMAR_ASCENDC_MISSING(Dequantize)
JUMAR_ASCENDC_MISSING(AntiQuantize)
JUMAR_ASCENDC_MISSING(DeepNorm)
JUMAR_ASCENDC_MISSING(BatchNorm)
JUMAR_ASCENDC_MISSING(GroupNorm)
JUMAR_ASCENDC_MISSING(ConfusionTranspose)
JUMAR_ASCENDC_MISSING(SelectWithBytesMask)
JUMAR_ASCENDC_MISSING(Digamma)
JUMAR_ASCENDC_MISSING(PhiloxRandom)
JUMAR_ASCENDC_MISSING(IsFinite)

// Vector functions.
JUMAR_ASCENDC_MISSING(CastDeq)
JUMAR_ASCENDC_MISSING(CastDequant)
JUMAR_ASCENDC_MISSING(AddDeqRelu)
JUMAR_ASCENDC_MISSING(AddReluCast)
JUMAR_ASCENDC_MISSING(SubReluCast)
JUMAR_ASCENDC_MISSING(BilinearInterpolation)
JUMAR_ASCENDC_MISSING(Interleave)
JUMAR_ASCENDC_MISSING(DeInterleave)

// Cores and tasks.
JUMAR_ASCENDC_MISSING(AllocMutexID)
JUMAR_ASCENDC_MISSING(ReleaseMutexID)
JUMAR_ASCENDC_MISSING(GetHcclContext)
JUMAR_ASCENDC_MISSING(AtomicAdd)
JUMAR_ASCENDC_MISSING(AtomicCas)

// Collectives inside of kernels.
template <auto... parameters> class Hccl {
    static_assert(jumar::ascendc::never_of<parameters...>, "AscendC::Hccl is not supported by Jumar; docs/ascendc.md lists what is");
};

} // namespace AscendC

// The C functions that kernels for 910B use (c_api.h has the others).
#define JUMAR_ASCENDC_MISSING_C(Name)                                                                                                                \
    template <typename... Arguments> void Name(const Arguments&...)                                                                                  \
    {                                                                                                                                                \
        static_assert(jumar::ascendc::never<Arguments...>, #Name " is not supported by Jumar; docs/ascendc.md lists what is");                       \
    }
JUMAR_ASCENDC_MISSING_C(asc_fill_l1)
JUMAR_ASCENDC_MISSING_C(asc_sync_block_arrive)
JUMAR_ASCENDC_MISSING_C(asc_sync_block_wait)

#endif
