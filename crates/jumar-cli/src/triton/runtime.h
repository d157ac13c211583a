/* What the C file beside a kernel of Triton calls: defined in runtime.c, which the kernel's binary holds. */
#include <stdint.h>

#include "jumar/kernel.h"

/* Element types. */
enum { JT_I1, JT_I8, JT_I16, JT_I32, JT_I64, JT_F16, JT_BF16, JT_F32, JT_F64 };

/* A value to print: a tensor with `rank` axes, or a number if `rank` is -1. */
typedef struct jumar_triton_value {
    int32_t type;
    int32_t rank;
    const void *at;
} jumar_triton_value;

typedef void (*jumar_triton_program)(const void *arguments, int32_t x, int32_t y, int32_t z);

void jumar_triton_run(jumar_launch *launch, const char *name, jumar_triton_program program, uint32_t grid_at);
void jumar_triton_scan(void *result, const void *source, int rank, int type, int axis, int reverse, int product);
void jumar_triton_sort(void *result, const void *source, int rank, int type, int64_t axis, int descending);
void jumar_triton_flip(void *result, const void *source, int rank, int type, int64_t axis);
void jumar_triton_gather(void *result, const void *source, const void *index, int rank, int type, int index_type, int axis);
void jumar_triton_matmul(const void *a, const void *b, const void *c, int rank, int type, int result_type);
void jumar_triton_print(const char *prefix, int hex, const jumar_triton_value *values, int count);
void jumar_triton_assert(const char *message, const void *tensor, int rank);
void jumar_triton_assert_one(const char *message, int holds);

float tanf(float), log1pf(float), powf(float, float), roundf(float), atanf(float), rintf(float), nearbyintf(float), tanhf(float), sinhf(float),
    coshf(float), asinf(float), acosf(float), asinhf(float), acoshf(float), atanhf(float), atan2f(float, float), hypotf(float, float),
    copysignf(float, float), nextafterf(float, float), expm1f(float), log10f(float), lgammaf(float), truncf(float), fmodf(float, float);
float jt_relu(float), jt_reciprocal(float), jt_ldexp(float, float), jt_ilogb(float), jt_isnan(float), jt_isinf(float), jt_erfinv(float),
    jt_signbit(float), jt_div_rz(float, float), jt_bessel_i0(float);
int32_t jt_float_as_int(float);
