// The C functions of kernels. docs/ascendc.md lists them.
#ifndef JUMAR_C_API_ASC_SIMD_H
#define JUMAR_C_API_ASC_SIMD_H

#include "../kernel_operator.h"
#include "../ascendc/c_api.h"

#endif
