// The C functions that print local and global memory.
#ifndef JUMAR_UTILS_DEBUG_ASC_DUMP_H
#define JUMAR_UTILS_DEBUG_ASC_DUMP_H

#include "../../c_api/asc_simd.h"

#endif
