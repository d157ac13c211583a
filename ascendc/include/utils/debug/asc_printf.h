// printf in kernels.
#ifndef JUMAR_UTILS_DEBUG_ASC_PRINTF_H
#define JUMAR_UTILS_DEBUG_ASC_PRINTF_H

#include "../../kernel_operator.h"

#endif
