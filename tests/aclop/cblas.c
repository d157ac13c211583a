// Products of matrices and vectors: each combination of types and transposes against sums in double, in the documented order of
// roundings; handles; capture; every misuse.

#include "acl/ops/acl_cblas.h"

#include "program.h"

enum { kRows = 3, kColumns = 4, kInner = 5 };

static void *device(const void *content, size_t bytes) {
  void *data = NULL;
  OK(aclrtMalloc(&data, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMemcpy(data, bytes, content, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  return data;
}

// Writes a number in a type.
static void put(void *to, aclDataType type, int at, double value) {
  switch (type) {
    case ACL_FLOAT16:
      ((aclFloat16 *)to)[at] = aclFloatToFloat16((float)value);
      break;
    case ACL_FLOAT:
      ((float *)to)[at] = (float)value;
      break;
    case ACL_INT8:
      ((int8_t *)to)[at] = (int8_t)value;
      break;
    default:
      ((int32_t *)to)[at] = (int32_t)value;
  }
}

static double get(const void *from, aclDataType type, int at) {
  switch (type) {
    case ACL_FLOAT16:
      return aclFloat16ToFloat(((const aclFloat16 *)from)[at]);
    case ACL_FLOAT:
      return ((const float *)from)[at];
    case ACL_INT8:
      return ((const int8_t *)from)[at];
    default:
      return ((const int32_t *)from)[at];
  }
}

// How a product is asked for.
typedef enum { kGeneral, kNamed, kHandle, kHostFactors } Way;

typedef struct {
  aclDataType in, out;
  bool turn_a, turn_b;
  int columns;
  double alpha, beta;
  Way way;
} Case;

static aclError queue(const Case *one, void *const at[5], aclrtStream stream) {
  const aclTransType a = one->turn_a ? ACL_TRANS_T : ACL_TRANS_N, b = one->turn_b ? ACL_TRANS_T : ACL_TRANS_N;
  const aclComputeType compute = ACL_COMPUTE_HIGH_PRECISION;
  const bool vector = one->columns == 1;
  const int m = kRows, n = one->columns, k = kInner;
  const bool half = one->in == ACL_FLOAT16 && one->out == ACL_FLOAT16, int8 = one->in == ACL_INT8 && one->out == ACL_INT32;
  if (one->way == kHandle) {
    aclopHandle *handle = NULL;
    if (vector) {
      OK(half    ? aclblasCreateHandleForHgemv(a, m, k, compute, &handle)
         : int8 ? aclblasCreateHandleForS8gemv(a, m, k, compute, &handle)
                 : aclblasCreateHandleForGemvEx(a, m, k, one->in, one->in, one->out, compute, &handle));
    } else {
      OK(half    ? aclblasCreateHandleForHgemm(a, b, ACL_TRANS_N, m, n, k, compute, &handle)
         : int8 ? aclblasCreateHandleForS8gemm(a, b, ACL_TRANS_N, m, n, k, compute, &handle)
                 : aclblasCreateHandleForGemmEx(a, b, ACL_TRANS_N, m, n, k, one->in, one->in, one->out, compute, &handle));
    }
    aclDataBuffer *buffers[5];
    for (int i = 0; i < 5; ++i) {
      buffers[i] = aclCreateDataBuffer(at[i], 1024);
    }
    // An allocation is longer than its matrix.
    aclDataBuffer *out[] = {buffers[2]};
    const aclError answer = aclopExecWithHandle(handle, 5, (const aclDataBuffer *const *)buffers, 1, out, stream);
    for (int i = 0; i < 5; ++i) {
      OK(aclDestroyDataBuffer(buffers[i]));
    }
    aclopDestroyHandle(handle);
    return answer;
  }
  if (one->way == kNamed && half) {
    return vector ? aclblasHgemv(a, m, k, at[3], at[0], -1, at[1], -1, at[4], at[2], -1, compute, stream)
                  : aclblasHgemm(a, b, ACL_TRANS_N, m, n, k, at[3], at[0], -1, at[1], -1, at[4], at[2], -1, compute, stream);
  }
  if (one->way == kNamed && int8) {
    return vector ? aclblasS8gemv(a, m, k, at[3], at[0], -1, at[1], -1, at[4], at[2], -1, compute, stream)
                  : aclblasS8gemm(a, b, ACL_TRANS_N, m, n, k, at[3], at[0], -1, at[1], -1, at[4], at[2], -1, compute, stream);
  }
  return vector ? aclblasGemvEx(a, m, k, at[3], at[0], -1, one->in, at[1], -1, one->in, at[4], at[2], -1, one->out, compute, stream)
                : aclblasGemmEx(a, b, ACL_TRANS_N, m, n, k, at[3], at[0], -1, one->in, at[1], -1, one->in, at[4], at[2], -1, one->out, compute, stream);
}

static void product(Case one, aclrtStream stream) {
  unsigned char a[1024], b[1024], c[1024], alpha[8], beta[8];
  const int n = one.columns;
  memset(c, 0xFF, sizeof c);
  for (int i = 0; i < kRows * kInner; ++i) {
    put(a, one.in, i, (i * 7) % 11 - 5);
  }
  for (int i = 0; i < kInner * n; ++i) {
    put(b, one.in, i, (i * 5) % 13 - 6);
  }
  double before[kRows * kColumns] = {0};
  for (int i = 0; i < kRows * n; ++i) {
    // With beta 0 the result may hold what is not a number: all bits are set above.
    if (one.beta != 0) {
      put(c, one.out, i, i - 4);
      before[i] = get(c, one.out, i);
    }
  }
  put(alpha, one.out, 0, one.alpha);
  put(beta, one.out, 0, one.beta);
  const bool host = one.way == kHostFactors;
  void *at[5] = {device(a, sizeof a), device(b, sizeof b), device(c, sizeof c), host ? alpha : device(alpha, 8), host ? beta : device(beta, 8)};
  if (one.way == kHandle) {
    // A data buffer says how long its memory is.
    for (int i = 3; i < 5; ++i) {
      OK(aclrtFree(at[i]));
      unsigned char wide[1024] = {0};
      memcpy(wide, i == 3 ? alpha : beta, 8);
      at[i] = device(wide, sizeof wide);
    }
  }
  OK(queue(&one, at, stream));
  memset(alpha, 0xFF, sizeof alpha);
  memset(beta, 0xFF, sizeof beta);
  OK(aclrtSynchronizeStream(stream));
  OK(aclrtMemcpy(c, sizeof c, at[2], sizeof c, ACL_MEMCPY_DEVICE_TO_HOST));
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < n; ++column) {
      double sum = 0;
      for (int i = 0; i < kInner; ++i) {
        const int left = one.turn_a ? i * kRows + row : row * kInner + i, right = one.turn_b ? column * kInner + i : i * n + column;
        sum += get(a, one.in, left) * get(b, one.in, right);
      }
      unsigned char wanted[8];
      put(wanted, one.out, 0, one.alpha * sum + one.beta * before[row * n + column]);
      const double got = get(c, one.out, row * n + column), want = get(wanted, one.out, 0);
      if (got != want) {
        fprintf(stderr, "types %d %d, transposed %d %d, columns %d, beta %g, way %d: [%d, %d] is %g, not %g\n", one.in, one.out, one.turn_a,
                one.turn_b, n, one.beta, one.way, row, column, got, want);
        ++failures;
        row = kRows;
        break;
      }
    }
  }
  for (int i = 0; i < (host ? 3 : 5); ++i) {
    OK(aclrtFree(at[i]));
  }
}

static double half(double value) { return aclFloat16ToFloat(aclFloatToFloat16((float)value)); }

// In float16 a product equals the operators MatMul, Muls and Add to the last bit: each rounds its result. The sums are exact in float32.
static void rounded_at_each_step(aclrtStream stream) {
  enum { kM = 3, kN = 5, kK = 16 };
  aclFloat16 a[kM * kK], b[kK * kN], c[kM * kN];
  double before[kM * kN];
  for (int i = 0; i < kM * kK; ++i) {
    a[i] = aclFloatToFloat16((float)(i * 7 % 32));
  }
  for (int i = 0; i < kK * kN; ++i) {
    b[i] = aclFloatToFloat16((float)(i * 11 % 32));
  }
  for (int i = 0; i < kM * kN; ++i) {
    before[i] = i * 3 + 1;
    c[i] = aclFloatToFloat16((float)before[i]);
  }
  aclFloat16 alpha = aclFloatToFloat16(1.75F), beta = aclFloatToFloat16(2.0F);
  void *at[] = {device(a, sizeof a), device(b, sizeof b), device(c, sizeof c)};
  OK(aclblasGemmEx(ACL_TRANS_N, ACL_TRANS_N, ACL_TRANS_N, kM, kN, kK, &alpha, at[0], -1, ACL_FLOAT16, at[1], -1, ACL_FLOAT16, &beta, at[2], -1,
                   ACL_FLOAT16, ACL_COMPUTE_HIGH_PRECISION, stream));
  OK(aclrtSynchronizeStream(stream));
  OK(aclrtMemcpy(c, sizeof c, at[2], sizeof c, ACL_MEMCPY_DEVICE_TO_HOST));
  for (int row = 0; row < kM; ++row) {
    for (int column = 0; column < kN; ++column) {
      double sum = 0;
      for (int i = 0; i < kK; ++i) {
        sum += (double)aclFloat16ToFloat(a[row * kK + i]) * aclFloat16ToFloat(b[i * kN + column]);
      }
      const double want = half(half(half(sum) * 1.75) + half(before[row * kN + column] * 2)), got = aclFloat16ToFloat(c[row * kN + column]);
      if (got != want) {
        fprintf(stderr, "rounded at each step: [%d, %d] is %g, not %g\n", row, column, got, want);
        ++failures;
      }
    }
  }
  for (int i = 0; i < 3; ++i) {
    OK(aclrtFree(at[i]));
  }
}

static void misuse(aclrtStream stream) {
  const unsigned char zeros[1024] = {0};
  void *a = device(zeros, 1024), *c = device(zeros, 1024);
  float one = 1;
  const aclComputeType compute = ACL_COMPUTE_HIGH_PRECISION;
  const int bad = ACL_ERROR_INVALID_PARAM, api = ACL_ERROR_API_NOT_SUPPORT;
#define GEMM(ta, tb, tc, m, n, k, alpha, a, lda, type_a, b, c, type_c, compute) \
  aclblasGemmEx(ta, tb, tc, m, n, k, alpha, a, lda, type_a, b, -1, type_a, &one, c, -1, type_c, compute, stream)
  const aclTransType N = ACL_TRANS_N;
  REFUSED(GEMM(N, N, N, 0, 2, 2, &one, a, -1, ACL_FLOAT16, a, c, ACL_FLOAT, compute), bad, "aclblasGemmEx: m is 0");
  REFUSED(GEMM(N, N, N, 2, -1, 2, &one, a, -1, ACL_FLOAT16, a, c, ACL_FLOAT, compute), bad, "n is -1");
  REFUSED(GEMM(N, N, N, 2, 2, 0, &one, a, -1, ACL_FLOAT16, a, c, ACL_FLOAT, compute), bad, "k is 0");
  REFUSED(GEMM(N, N, N, 2, 2, 2, &one, a, 2, ACL_FLOAT16, a, c, ACL_FLOAT, compute), bad, "lda is 2");
  REFUSED(GEMM(N, N, ACL_TRANS_T, 2, 2, 2, &one, a, -1, ACL_FLOAT16, a, c, ACL_FLOAT, compute), bad, "transC");
  REFUSED(GEMM(ACL_TRANS_NZ, N, N, 2, 2, 2, &one, a, -1, ACL_FLOAT16, a, c, ACL_FLOAT, compute), api, "transA is ACL_TRANS_NZ");
  REFUSED(GEMM((aclTransType)9, N, N, 2, 2, 2, &one, a, -1, ACL_FLOAT16, a, c, ACL_FLOAT, compute), bad, "transA is 9");
  REFUSED(GEMM(N, N, N, 2, 2, 2, &one, a, -1, ACL_FLOAT, a, c, ACL_FLOAT, compute), bad, "(float32, float32, float32)");
  REFUSED(GEMM(N, N, N, 2, 2, 2, &one, a, -1, ACL_FLOAT16, a, c, ACL_INT32, compute), bad, "(float16, float16, int32)");
  REFUSED(GEMM(N, N, N, 2, 2, 2, NULL, a, -1, ACL_FLOAT16, a, c, ACL_FLOAT, compute), bad, "alpha");
  REFUSED(GEMM(N, N, N, 2, 2, 2, &one, NULL, -1, ACL_FLOAT16, a, c, ACL_FLOAT, compute), bad, "the address of A");
  REFUSED(GEMM(N, N, N, 2, 2, 2, &one, a, -1, ACL_FLOAT16, a, NULL, ACL_FLOAT, compute), bad, "the address of C");
  REFUSED(GEMM(N, N, N, 2, 2, 2, (void *)64, a, -1, ACL_FLOAT16, a, c, ACL_FLOAT, compute), bad, "input 3");
  REFUSED(GEMM(N, N, N, 100, 100, 100, &one, a, -1, ACL_FLOAT16, a, c, ACL_FLOAT, compute), bad, "20000 bytes");
  REFUSED(GEMM(N, N, N, 2147483647, 2147483647, 2147483647, &one, a, -1, ACL_FLOAT16, a, c, ACL_FLOAT, compute), ACL_ERROR_GE_FAILURE, "GEMM");
  REFUSED(GEMM(N, N, N, 2, 2, 2, &one, zeros, -1, ACL_FLOAT16, a, c, ACL_FLOAT, compute), bad, "input 0 is at");
  REFUSED(GEMM(N, N, N, 2, 2, 2, &one, a, -1, ACL_FLOAT16, a, c, ACL_FLOAT, (aclComputeType)5), bad, "type is 5");
  aclopHandle *handle = NULL;
  REFUSED(aclblasCreateHandleForHgemv(N, 0, 1, compute, &handle), bad, "m is 0");
  REFUSED(aclblasCreateHandleForHgemv(N, 1, 1, compute, NULL), bad, "handle");
  CHECK(handle == NULL);
  OK(aclrtFree(a));
  OK(aclrtFree(c));
}

int main(void) {
  OK(aclInit(NULL));
  OK(aclrtSetDevice(0));
  aclrtStream stream;
  OK(aclrtCreateStream(&stream));
  const aclDataType types[][2] = {{ACL_FLOAT16, ACL_FLOAT16}, {ACL_FLOAT16, ACL_FLOAT}, {ACL_INT8, ACL_FLOAT}, {ACL_INT8, ACL_INT32}};
  for (int type = 0; type < 4; ++type) {
    for (int turned = 0; turned < 4; ++turned) {
      for (int beta = 0; beta < 2; ++beta) {
        for (int way = kGeneral; way <= kHostFactors; ++way) {
          Case one = {types[type][0], types[type][1], turned & 1, turned & 2, kColumns, 2, beta * 3, (Way)way};
          product(one, stream);
          if ((turned & 2) == 0) {
            one.columns = 1;
            product(one, stream);
          }
        }
      }
    }
  }
  rounded_at_each_step(stream);
  misuse(stream);
  OK(aclrtDestroyStream(stream));
  OK(aclrtResetDevice(0));
  OK(aclFinalize());
  return finish();
}
