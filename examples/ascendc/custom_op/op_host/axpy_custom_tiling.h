// What the tiling function computes and the kernel reads.
#ifndef AXPY_CUSTOM_TILING_H
#define AXPY_CUSTOM_TILING_H

#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(AxpyTilingData)
TILING_DATA_FIELD_DEF(uint64_t, elements)
TILING_DATA_FIELD_DEF(uint64_t, elementsOfCore)
TILING_DATA_FIELD_DEF(uint32_t, elementsOfTile)
TILING_DATA_FIELD_DEF(float, alpha)
END_TILING_DATA_DEF

REGISTER_TILING_DATA_CLASS(AxpyCustom, AxpyTilingData)
} // namespace optiling

#endif
