/* All headers of the transformer library. */
#ifndef ATB_ATB_INFER_H
#define ATB_ATB_INFER_H

#include "context.h"
#include "infer_op_params.h"
#include "operation.h"
#include "svector.h"
#include "types.h"
#include "utils.h"

#endif
