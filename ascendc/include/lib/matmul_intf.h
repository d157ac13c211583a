// The Matmul object. ASCENDC_CUBE_ONLY in front of it makes the cube cores call the object.
#ifndef JUMAR_LIB_MATMUL_INTF_H
#define JUMAR_LIB_MATMUL_INTF_H

#include "../kernel_operator.h"

#include "../ascendc/matmul.h"

#endif
