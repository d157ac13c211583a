// Ascend C for Jumar: what kernels include. docs/ascendc.md lists the functions.
#ifndef JUMAR_KERNEL_OPERATOR_H
#define JUMAR_KERNEL_OPERATOR_H

// Host programs expect it of this header.
#include <iostream>

#include "ascendc/language.h"
#include "ascendc/numbers.h"
#include "ascendc/constants.h"
#include "ascendc/core.h"
#include "ascendc/tensor.h"
#include "ascendc/local_array.h"
#include "ascendc/pipe.h"
#include "ascendc/copy.h"
#include "ascendc/vector.h"
#include "ascendc/arithmetic.h"
#include "ascendc/convert.h"
#include "ascendc/compare.h"
#include "ascendc/reduce.h"
#include "ascendc/move.h"
#include "ascendc/sort.h"
#include "ascendc/sync.h"
#include "ascendc/cube.h"
#include "ascendc/sparse.h"
#include "ascendc/fixpipe.h"
#include "ascendc/math.h"
#include "ascendc/softmax.h"
#include "ascendc/quantize.h"
#include "ascendc/norm.h"
#include "ascendc/normalize.h"
#include "ascendc/rows.h"
#include "ascendc/layout.h"
#include "ascendc/tensor_list.h"
#include "ascendc/intrinsics.h"
#include "ascendc/missing.h"
#include "ascendc/print.h"
#include "ascendc/tiling.h"
#include "ascendc/fibers.h"

// The namespace's name in older kernels.
namespace tik2 = AscendC;

#endif
