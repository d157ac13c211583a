// assert in kernels, also with a text.
#ifndef JUMAR_UTILS_DEBUG_ASC_ASSERT_H
#define JUMAR_UTILS_DEBUG_ASC_ASSERT_H

#include "../../kernel_operator.h"

#endif
