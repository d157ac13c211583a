// Single operators by type: queued in order, with descriptions that die at once, constants, host inputs, dynamic shapes, updated
// inputs, shared memory, handles, several streams, capture; and every misuse.

#include "program.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static const int64_t kTwoThree[] = {2, 3};

static aclError run(const char *kind, int inputs, Tensor *const in[], int outputs, Tensor *const out[], aclopAttr *attr, aclrtStream stream) {
  aclTensorDesc *in_desc[8], *out_desc[8];
  aclDataBuffer *in_data[8], *out_data[8];
  for (int i = 0; i < inputs; ++i) {
    in_desc[i] = in[i]->desc;
    in_data[i] = in[i]->buffer;
  }
  for (int i = 0; i < outputs; ++i) {
    out_desc[i] = out[i]->desc;
    out_data[i] = out[i]->buffer;
  }
  return aclopCompileAndExecuteV2(kind, inputs, in_desc, in_data, outputs, out_desc, out_data, attr, ACL_ENGINE_SYS, ACL_COMPILE_SYS, NULL, stream);
}

static void arithmetic(aclrtStream stream) {
  const float a[] = {1, 2, 3, 4, 5, 6}, b[] = {10, 20, 30};
  const int64_t three[] = {3};
  Tensor x = tensor(ACL_FLOAT, 2, kTwoThree, a), y = tensor(ACL_FLOAT, 1, three, b), z = tensor(ACL_FLOAT, 2, kTwoThree, NULL);
  const aclTensorDesc *in_desc[] = {x.desc, y.desc}, *out_desc[] = {z.desc};
  const aclDataBuffer *in[] = {x.buffer, y.buffer};
  aclDataBuffer *out[] = {z.buffer};
  // Nothing was compiled: a look-up finds nothing, and a compilation makes it available.
  REFUSED(aclopExecute("Add", 2, in_desc, in, 1, out_desc, out, NULL, stream), ACL_ERROR_OP_NOT_FOUND, "Add was neither compiled nor loaded");
  aclopHandle *handle = NULL;
  REFUSED(aclopCreateHandle("Add", 2, in_desc, 1, out_desc, NULL, &handle), ACL_ERROR_OP_NOT_FOUND, "Add was neither compiled nor loaded");
  CHECK(handle == NULL);
  OK(aclopCompile("Add", 2, in_desc, 1, out_desc, NULL, ACL_ENGINE_AICORE, ACL_COMPILE_SYS, NULL));
  OK(aclopExecute("Add", 2, in_desc, in, 1, out_desc, out, NULL, stream));
  OK(aclrtSynchronizeStream(stream));
  float got[6];
  fetch(&z, got);
  for (int i = 0; i < 6; ++i) {
    CHECK(got[i] == a[i] + b[i % 3]);
  }
  // Other descriptions are another operator.
  const aclTensorDesc *swapped[] = {y.desc, x.desc};
  REFUSED(aclopExecute("Add", 2, swapped, in, 1, out_desc, out, NULL, stream), ACL_ERROR_OP_NOT_FOUND, "float32[3], float32[2, 3]");
  // A handle does the look-up once.
  OK(aclopCreateHandle("Add", 2, in_desc, 1, out_desc, NULL, &handle));
  OK(aclrtMemset(z.data, z.bytes, 0, z.bytes));
  OK(aclopExecWithHandle(handle, 2, in, 1, out, stream));
  OK(aclrtSynchronizeStream(stream));
  fetch(&z, got);
  CHECK(got[5] == 36);
  REFUSED(aclopExecWithHandle(handle, 1, in, 1, out, stream), ACL_ERROR_INVALID_PARAM, "Add: 1 data buffers of inputs are given, and 2");
  aclopDestroyHandle(handle);
  REFUSED(aclopExecWithHandle(handle, 2, in, 1, out, stream), ACL_ERROR_RT_INVALID_HANDLE, "operator handle");
  REFUSED(aclopExecWithHandle(NULL, 2, in, 1, out, stream), ACL_ERROR_INVALID_PARAM, "null");
  release(&x);
  release(&y);
  release(&z);
}

// A program destroys descriptions and buffers as soon as the call has returned; the stream is blocked until then.
static void queued(aclrtStream stream) {
  aclrtEvent gate;
  OK(aclrtCreateEventWithFlag(&gate, ACL_EVENT_SYNC));
  OK(aclrtStreamWaitEvent(stream, gate));
  const float a[] = {-1, 2, -3, 4, -5, 6};
  Tensor x = tensor(ACL_FLOAT, 2, kTwoThree, a), y = tensor(ACL_FLOAT, 2, kTwoThree, NULL);
  Tensor *in[] = {&x}, *out[] = {&y};
  OK(run("Relu", 1, in, 1, out, NULL, stream));
  // In place, and in the order of the stream.
  OK(run("Neg", 1, out, 1, out, NULL, stream));
  aclDestroyTensorDesc(x.desc);
  aclDestroyTensorDesc(y.desc);
  OK(aclDestroyDataBuffer(x.buffer));
  OK(aclDestroyDataBuffer(y.buffer));
  float got[6];
  fetch(&y, got);
  uint32_t word;
  memcpy(&word, got, 4);
  CHECK(word == 0xEEEEEEEEu);
  aclrtStream other;
  OK(aclrtCreateStream(&other));
  OK(aclrtRecordEvent(gate, other));
  OK(aclrtSynchronizeStream(stream));
  fetch(&y, got);
  for (int i = 0; i < 6; ++i) {
    CHECK(got[i] == (a[i] > 0 ? -a[i] : 0));
  }
  OK(aclrtDestroyStream(other));
  OK(aclrtDestroyEvent(gate));
  OK(aclrtFree(x.data));
  OK(aclrtFree(y.data));
}

// Executions of one operator on two streams do not wait for each other.
static void streams(void) {
  aclrtStream one, two;
  aclrtEvent gate;
  OK(aclrtCreateStream(&one));
  OK(aclrtCreateStream(&two));
  OK(aclrtCreateEventWithFlag(&gate, ACL_EVENT_SYNC));
  const float a[] = {0, 1, 2, 3, 4, 5};
  Tensor x = tensor(ACL_FLOAT, 2, kTwoThree, a), y = tensor(ACL_FLOAT, 2, kTwoThree, NULL), z = tensor(ACL_FLOAT, 2, kTwoThree, NULL);
  Tensor *in[] = {&x}, *first[] = {&y}, *second[] = {&z};
  OK(aclrtStreamWaitEvent(one, gate));
  OK(run("SoftmaxV2", 1, in, 1, first, NULL, one));
  OK(run("SoftmaxV2", 1, in, 1, second, NULL, two));
  OK(aclrtRecordEvent(gate, two));
  OK(aclrtSynchronizeStream(one));
  OK(aclrtSynchronizeStream(two));
  float left[6], right[6];
  fetch(&y, left);
  fetch(&z, right);
  CHECK(memcmp(left, right, sizeof left) == 0);
  CHECK(fabsf(left[0] + left[1] + left[2] - 1) < 1e-6f);
  OK(aclrtDestroyEvent(gate));
  OK(aclrtDestroyStream(one));
  OK(aclrtDestroyStream(two));
  release(&x);
  release(&y);
  release(&z);
}

static void attributes(aclrtStream stream) {
  const float a[] = {1, 2, 3, 4, 5, 6};
  const int64_t dims[] = {2, 1};
  Tensor x = tensor(ACL_FLOAT, 2, kTwoThree, a), y = tensor(ACL_FLOAT, 2, dims, NULL);
  Tensor *in[] = {&x}, *out[] = {&y};
  aclopAttr *attr = aclopCreateAttr();
  CHECK(attr != NULL);
  REFUSED(run("ReduceSumD", 1, in, 1, out, attr, stream), ACL_ERROR_GE_FAILURE, "ReduceSumD: its attribute axes is missing");
  const int64_t axes[] = {1};
  OK(aclopSetAttrListInt(attr, "axes", 1, axes));
  OK(aclopSetAttrBool(attr, "keep_dims", 1));
  // A name that the operator does not know is ignored.
  OK(aclopSetAttrString(attr, "_some_hint", "value"));
  OK(run("ReduceSumD", 1, in, 1, out, attr, stream));
  // A set is copied with the call, and serves several.
  OK(aclopSetAttrBool(attr, "keep_dims", 0));
  OK(aclopSetAttrString(attr, "axes", "one"));
  REFUSED(run("ReduceSumD", 1, in, 1, out, attr, stream), ACL_ERROR_GE_FAILURE, "axes");
  aclopDestroyAttr(attr);
  OK(aclrtSynchronizeStream(stream));
  float got[2];
  fetch(&y, got);
  CHECK(got[0] == 6 && got[1] == 15);
  REFUSED(run("ReduceSumD", 1, in, 1, out, attr, stream), ACL_ERROR_RT_INVALID_HANDLE, "set of attributes");
  REFUSED(aclopSetAttrInt(attr, "axis", 1), ACL_ERROR_RT_INVALID_HANDLE, "set of attributes");
  REFUSED(aclopSetAttrInt(NULL, "axis", 1), ACL_ERROR_INVALID_PARAM, "attr");
  attr = aclopCreateAttr();
  REFUSED(aclopSetAttrInt(attr, NULL, 1), ACL_ERROR_INVALID_PARAM, "attrName");
  REFUSED(aclopSetAttrInt(attr, "", 1), ACL_ERROR_INVALID_PARAM, "attrName");
  REFUSED(aclopSetAttrString(attr, "text", NULL), ACL_ERROR_INVALID_PARAM, "attrValue");
  REFUSED(aclopSetAttrListInt(attr, "axes", 1, NULL), ACL_ERROR_INVALID_PARAM, "values");
  REFUSED(aclopSetAttrListFloat(attr, "axes", -1, NULL), ACL_ERROR_INVALID_PARAM, "-1");
  OK(aclopSetAttrListFloat(attr, "empty", 0, NULL));
  const int lengths[] = {2, 1};
  const int64_t *lists[] = {axes, NULL};
  REFUSED(aclopSetAttrListListInt(attr, "lists", 2, lengths, lists), ACL_ERROR_INVALID_PARAM, "values");
  aclopDestroyAttr(attr);
  aclopDestroyAttr(NULL);
  release(&x);
  release(&y);
}

// The axes of a sum as a constant, as host memory, and in device memory that an earlier task writes.
static void values(aclrtStream stream) {
  const float a[] = {1, 2, 3, 4, 5, 6};
  const int64_t one[] = {1}, two[] = {2};
  Tensor x = tensor(ACL_FLOAT, 2, kTwoThree, a), y = tensor(ACL_FLOAT, 1, two, NULL);
  int64_t axis = 1;
  float got[2];
  for (int way = 0; way < 3; ++way) {
    aclTensorDesc *axes = aclCreateTensorDesc(ACL_INT64, 1, one, ACL_FORMAT_ND);
    aclDataBuffer *data = aclCreateDataBuffer(&axis, sizeof axis);
    Tensor device = tensor(ACL_INT64, 1, one, NULL);
    int64_t given = axis;
    if (way == 0) {
      OK(aclSetTensorConst(axes, &given, sizeof given));
    } else if (way == 1) {
      OK(aclSetTensorPlaceMent(axes, ACL_MEMTYPE_HOST));
    } else {
      OK(aclDestroyDataBuffer(data));
      data = aclCreateDataBuffer(device.data, device.bytes);
      // The call is made before the value is there.
      OK(aclrtMemcpyAsync(device.data, 8, &axis, 8, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    }
    const aclTensorDesc *in_desc[] = {x.desc, axes}, *out_desc[] = {y.desc};
    const aclDataBuffer *in[] = {x.buffer, data};
    aclDataBuffer *out[] = {y.buffer};
    OK(aclrtMemset(y.data, y.bytes, 0, y.bytes));
    OK(aclopCompileAndExecute("ReduceSum", 2, in_desc, in, 1, out_desc, out, NULL, ACL_ENGINE_SYS, ACL_COMPILE_SYS, NULL, stream));
    // Host values were read when the call was made.
    if (way < 2) {
      given = 0;
    }
    OK(aclrtSynchronizeStream(stream));
    fetch(&y, got);
    CHECK(got[0] == 6 && got[1] == 15);
    aclDestroyTensorDesc(axes);
    OK(aclDestroyDataBuffer(data));
    release(&device);
  }
  // Host memory that is not there is refused.
  aclTensorDesc *axes = aclCreateTensorDesc(ACL_INT64, 1, one, ACL_FORMAT_ND);
  OK(aclSetTensorPlaceMent(axes, ACL_MEMTYPE_HOST));
  aclDataBuffer *data = aclCreateDataBuffer((void *)64, sizeof axis);
  aclTensorDesc *in_desc[] = {x.desc, axes}, *out_desc[] = {y.desc};
  aclDataBuffer *in[] = {x.buffer, data}, *out[] = {y.buffer};
  REFUSED(aclopCompileAndExecuteV2("ReduceSum", 2, in_desc, in, 1, out_desc, out, NULL, ACL_ENGINE_SYS, ACL_COMPILE_SYS, NULL, stream),
          ACL_ERROR_INVALID_PARAM, "ReduceSum: input 1 lies in host memory");
  aclDestroyTensorDesc(axes);
  OK(aclDestroyDataBuffer(data));
  release(&x);
  release(&y);
}

// The shape of a result that depends on data is written into its description.
static void found_shapes(aclrtStream stream) {
  const float a[] = {0, 2, 0, 4, 5, 0};
  const int64_t open[] = {2, -1};
  Tensor x = tensor(ACL_FLOAT, 2, kTwoThree, a);
  aclTensorDesc *found = aclCreateTensorDesc(ACL_INT64, 2, open, ACL_FORMAT_ND);
  int64_t range[][2] = {{2, 2}, {0, 6}};
  OK(aclSetTensorShapeRange(found, 2, range));
  void *data = NULL;
  OK(aclrtMalloc(&data, 12 * sizeof(int64_t), ACL_MEM_MALLOC_HUGE_FIRST));
  aclDataBuffer *buffer = aclCreateDataBuffer(data, 12 * sizeof(int64_t));
  aclTensorDesc *in_desc[] = {x.desc}, *out_desc[] = {found};
  aclDataBuffer *in[] = {x.buffer}, *out[] = {buffer};
  aclopAttr *attr = aclopCreateAttr();
  OK(aclopSetAttrBool(attr, "transpose", 1));
  REFUSED(aclopCompileAndExecute("NonZero", 1, (const aclTensorDesc *const *)in_desc, (const aclDataBuffer *const *)in, 1,
                                 (const aclTensorDesc *const *)out_desc, out, attr, ACL_ENGINE_SYS, ACL_COMPILE_SYS, NULL, stream),
          ACL_ERROR_INVALID_PARAM, "NonZero: output 0 has dynamic dimensions");
  OK(aclopCompileAndExecuteV2("NonZero", 1, in_desc, in, 1, out_desc, out, attr, ACL_ENGINE_SYS, ACL_COMPILE_SYS, NULL, stream));
  int64_t dim = 0;
  CHECK(aclGetTensorDescNumDims(found) == 2);
  OK(aclGetTensorDescDimV2(found, 1, &dim));
  CHECK(dim == 3);
  int64_t got[6];
  OK(aclrtMemcpy(got, sizeof got, data, sizeof got, ACL_MEMCPY_DEVICE_TO_HOST));
  const int64_t want[] = {0, 1, 1, 1, 0, 1};
  CHECK(memcmp(got, want, sizeof want) == 0);
  aclopDestroyAttr(attr);
  aclDestroyTensorDesc(found);
  OK(aclDestroyDataBuffer(buffer));
  OK(aclrtFree(data));
  release(&x);
}

// An operator that updates an input in place, with the same description and buffer as its output, and with others.
static void updates(aclrtStream stream) {
  const float a[] = {1, 2, 3, 4, 5, 6}, b[] = {30, 20, 10};
  const int64_t one[] = {1}, row[] = {1, 3};
  const int32_t at[] = {1};
  for (int own = 0; own < 2; ++own) {
    Tensor var = tensor(ACL_FLOAT, 2, kTwoThree, a), to = tensor(ACL_FLOAT, 2, kTwoThree, NULL);
    Tensor index = tensor(ACL_INT32, 1, one, at), new = tensor(ACL_FLOAT, 2, row, b);
    Tensor *in[] = {&var, &index, &new}, *out[] = {own ? &to : &var};
    OK(run("ScatterUpdate", 3, in, 1, out, NULL, stream));
    OK(aclrtSynchronizeStream(stream));
    float got[6];
    const float want[] = {1, 2, 3, 30, 20, 10};
    fetch(&var, got);
    CHECK(memcmp(got, want, sizeof want) == 0);
    fetch(out[0], got);
    CHECK(memcmp(got, want, sizeof want) == 0);
    release(&var);
    release(&to);
    release(&index);
    release(&new);
  }
}

// A captured call is replayed, and its memory is its own.
static void captured(aclrtStream stream) {
  const float a[] = {1, 2, 3, 4, 5, 6};
  Tensor x = tensor(ACL_FLOAT, 2, kTwoThree, a);
  Tensor *in[] = {&x};
  aclmdlRI graph;
  OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  OK(run("Add", 2, (Tensor *[]){&x, &x}, 1, in, NULL, stream));
  OK(aclmdlRICaptureEnd(stream, &graph));
  for (int i = 0; i < 3; ++i) {
    OK(aclmdlRIExecuteAsync(graph, stream));
  }
  OK(aclrtSynchronizeStream(stream));
  float got[6];
  fetch(&x, got);
  for (int i = 0; i < 6; ++i) {
    CHECK(got[i] == 8 * a[i]);
  }
  OK(aclmdlRIDestroy(graph));
  release(&x);
}

static void inferred(void) {
  const int64_t open[] = {-1, 3}, three[] = {3}, nothing[] = {-2};
  aclTensorDesc *x = aclCreateTensorDesc(ACL_FLOAT16, 2, kTwoThree, ACL_FORMAT_ND), *y = aclCreateTensorDesc(ACL_FLOAT16, 1, three, ACL_FORMAT_ND);
  aclTensorDesc *z = aclCreateTensorDesc(ACL_FLOAT, 1, nothing, ACL_FORMAT_ND);
  aclDataBuffer *none = aclCreateDataBuffer(NULL, 0);
  aclTensorDesc *in_desc[] = {x, y}, *out_desc[] = {z};
  aclDataBuffer *in[] = {none, none};
  OK(aclopInferShape("Add", 2, in_desc, in, 1, out_desc, NULL));
  CHECK(aclGetTensorDescType(z) == ACL_FLOAT16);
  CHECK(aclGetTensorDescNumDims(z) == 2);
  CHECK(aclGetTensorDescSize(z) == 12);
  // An dynamic dimension stays open, and has a range.
  aclTensorDesc *half = aclCreateTensorDesc(ACL_FLOAT, 2, open, ACL_FORMAT_ND);
  in_desc[0] = half;
  OK(aclopInferShape("Relu", 1, in_desc, in, 1, out_desc, NULL));
  int64_t dim = 0, range[2] = {7, 7};
  OK(aclGetTensorDescDimV2(z, 0, &dim));
  CHECK(dim == -1);
  OK(aclGetTensorDescDimRange(z, 0, 2, range));
  CHECK(range[0] == 0 && range[1] == -1);
  // A value that decides a shape is read from host memory.
  int64_t shape[] = {3, 2};
  const int64_t two[] = {2};
  aclTensorDesc *dims = aclCreateTensorDesc(ACL_INT64, 1, two, ACL_FORMAT_ND);
  aclDataBuffer *values = aclCreateDataBuffer(shape, sizeof shape);
  in_desc[0] = x;
  in_desc[1] = dims;
  in[1] = values;
  OK(aclopInferShape("Reshape", 2, in_desc, in, 1, out_desc, NULL));
  OK(aclGetTensorDescDimV2(z, 0, &dim));
  CHECK(dim == 3);
  REFUSED(aclopInferShape("NoSuchOperator", 2, in_desc, in, 1, out_desc, NULL), ACL_ERROR_GE_FAILURE, "NoSuchOperator: no operator has this type");
  REFUSED(aclopInferShape(NULL, 2, in_desc, in, 1, out_desc, NULL), ACL_ERROR_INVALID_PARAM, "opType");
  OK(aclDestroyDataBuffer(none));
  OK(aclDestroyDataBuffer(values));
  aclDestroyTensorDesc(x);
  aclDestroyTensorDesc(y);
  aclDestroyTensorDesc(z);
  aclDestroyTensorDesc(half);
  aclDestroyTensorDesc(dims);
}

static void casts(aclrtStream stream) {
  const float a[] = {1.5f, -2.5f, 3, 400, 5, -6};
  Tensor x = tensor(ACL_FLOAT, 2, kTwoThree, a), y = tensor(ACL_INT32, 2, kTwoThree, NULL);
  OK(aclopCast(x.desc, x.buffer, y.desc, y.buffer, 0, stream));
  aclopHandle *handle = NULL;
  OK(aclopCreateHandleForCast(x.desc, y.desc, 0, &handle));
  const aclDataBuffer *in[] = {x.buffer};
  aclDataBuffer *out[] = {y.buffer};
  OK(aclopExecWithHandle(handle, 1, in, 1, out, stream));
  OK(aclrtSynchronizeStream(stream));
  int32_t got[6];
  fetch(&y, got);
  for (int i = 0; i < 6; ++i) {
    CHECK(got[i] == (int32_t)a[i]);
  }
  aclopDestroyHandle(handle);
  REFUSED(aclopCast(NULL, x.buffer, y.desc, y.buffer, 0, stream), ACL_ERROR_INVALID_PARAM, "null");
  release(&x);
  release(&y);
}

static void misuse(aclrtStream stream) {
  const float a[6] = {0};
  const int64_t three[] = {3}, two[] = {2};
  Tensor x = tensor(ACL_FLOAT, 2, kTwoThree, a), y = tensor(ACL_FLOAT, 1, three, a), z = tensor(ACL_FLOAT, 2, kTwoThree, NULL);
  Tensor short_one = tensor(ACL_FLOAT, 1, two, a);
  Tensor *in[] = {&x, &y}, *out[] = {&z}, *wrong[] = {&x, &short_one};
  const int ge = ACL_ERROR_GE_FAILURE, bad = ACL_ERROR_INVALID_PARAM;
  REFUSED(run(NULL, 2, in, 1, out, NULL, stream), bad, "opType");
  REFUSED(run("", 2, in, 1, out, NULL, stream), ge, "no operator has this type");
  REFUSED(run("NoSuchOperator", 2, in, 1, out, NULL, stream), ge, "NoSuchOperator: no operator has this type");
  REFUSED(run("DeformableConv2D", 2, in, 1, out, NULL, stream), ge, "DeformableConv2D");
  REFUSED(run("Add", 1, in, 1, out, NULL, stream), ge, "Add: its input x2 is missing");
  REFUSED(run("Relu", 2, in, 1, out, NULL, stream), ge, "Relu: its inputs are (x), and 2 are given");
  REFUSED(run("Add", 2, in, 0, out, NULL, stream), ge, "Add: its outputs are (y), and 0 are given");
  REFUSED(run("Add", 2, wrong, 1, out, NULL, stream), ge, "Add: ");
  REFUSED(run("Add", 2, in, 1, (Tensor *[]){&y}, NULL, stream), ge, "Add: its output 0 is described as");
  REFUSED(run("Add", -1, in, 1, out, NULL, stream), bad, "the number of inputDesc is -1");
  const aclTensorDesc *descs[] = {x.desc, y.desc}, *results[] = {z.desc};
  const aclDataBuffer *data[] = {x.buffer, y.buffer};
  aclDataBuffer *to[] = {z.buffer};
#define CALL(n, d, b, m, r, t) aclopCompileAndExecute("Add", n, d, b, m, r, t, NULL, ACL_ENGINE_SYS, ACL_COMPILE_SYS, NULL, stream)
  REFUSED(CALL(2, NULL, data, 1, results, to), bad, "inputDesc");
  REFUSED(CALL(2, descs, NULL, 1, results, to), bad, "inputs");
  REFUSED(CALL(2, descs, data, 1, NULL, to), bad, "outputDesc");
  REFUSED(CALL(2, descs, data, 1, results, NULL), bad, "outputs");
  const aclTensorDesc *holes[] = {x.desc, NULL};
  REFUSED(CALL(2, holes, data, 1, results, to), bad, "inputDesc[1]");
  const aclDataBuffer *gaps[] = {x.buffer, NULL};
  REFUSED(CALL(2, descs, gaps, 1, results, to), bad, "inputs[1]");
  // Buffers that are too small, nowhere, on the host, or empty.
  aclDataBuffer *small = aclCreateDataBuffer(x.data, x.bytes - 1), *nowhere = aclCreateDataBuffer((void *)4096, x.bytes);
  aclDataBuffer *empty = aclCreateDataBuffer(NULL, x.bytes), *host = aclCreateDataBuffer((void *)a, x.bytes);
  aclDataBuffer *long_one = aclCreateDataBuffer(x.data, SIZE_MAX);
  const struct {
    aclDataBuffer *buffer;
    const char *words;
  } cases[] = {
      {small, "has 23 bytes, and 24 are needed"},
      {nowhere, "input 0 is at 0x1000"},
      {empty, "null address"},
      {host, "input 0 is at"},
  };
  for (int i = 0; i < COUNT(cases); ++i) {
    const aclDataBuffer *given[] = {cases[i].buffer, y.buffer};
    REFUSED(CALL(2, descs, given, 1, results, to), bad, cases[i].words);
  }
  const aclDataBuffer *longer[] = {long_one, y.buffer};
  OK(CALL(2, descs, longer, 1, results, to));
  aclDataBuffer *target[] = {small};
  REFUSED(CALL(2, descs, data, 1, results, target), bad, "output 0 has 23 bytes, and 24 are needed");
  OK(aclDestroyDataBuffer(small));
  REFUSED(CALL(2, descs, data, 1, results, target), ACL_ERROR_RT_INVALID_HANDLE, "outputs[0]");
  OK(aclDestroyDataBuffer(nowhere));
  OK(aclDestroyDataBuffer(empty));
  OK(aclDestroyDataBuffer(host));
  OK(aclDestroyDataBuffer(long_one));
  aclTensorDesc *gone = aclCreateTensorDesc(ACL_FLOAT, 1, three, ACL_FORMAT_ND);
  aclDestroyTensorDesc(gone);
  const aclTensorDesc *dead[] = {x.desc, gone};
  REFUSED(CALL(2, dead, data, 1, results, to), ACL_ERROR_RT_INVALID_HANDLE, "Add: input 1");
  // Dynamic dimensions where the call runs, blocked formats, unknown types.
  const int64_t open[] = {-1};
  aclTensorDesc *unknown = aclCreateTensorDesc(ACL_FLOAT, 1, open, ACL_FORMAT_ND);
  const aclTensorDesc *half[] = {x.desc, unknown};
  REFUSED(CALL(2, half, data, 1, results, to), bad, "input 1 is described as");
  aclDestroyTensorDesc(unknown);
  OK(aclSetTensorFormat(y.desc, ACL_FORMAT_NC1HWC0));
  REFUSED(CALL(2, descs, data, 1, results, to), ACL_ERROR_API_NOT_SUPPORT, "Add: input 1 is stored in ACL_FORMAT_NC1HWC0");
  OK(aclSetTensorFormat(y.desc, ACL_FORMAT_ND));
  OK(CALL(2, descs, data, 1, results, to));
  aclTensorDesc *packed = aclCreateTensorDesc(ACL_INT4, 1, three, ACL_FORMAT_ND);
  const aclTensorDesc *narrow[] = {x.desc, packed};
  REFUSED(CALL(2, narrow, data, 1, results, to), ge, "int4");
  aclDestroyTensorDesc(packed);
  // Constants as long as their shapes say.
  float value[3] = {1, 2, 3};
  OK(aclSetTensorConst(y.desc, value, 8));
  REFUSED(CALL(2, descs, data, 1, results, to), bad, "Add: input 1 is");
  OK(aclSetTensorConst(y.desc, value, 12));
  OK(CALL(2, descs, data, 1, results, to));
  REFUSED(aclopCompile("Add", 2, descs, 1, results, NULL, (aclopEngineType)9, ACL_COMPILE_SYS, NULL), bad, "engineType: 9 is not");
  REFUSED(aclopCompile("Add", 2, descs, 1, results, NULL, ACL_ENGINE_SYS, (aclopCompileType)9, NULL), bad, "compileFlag: 9 is not");
  REFUSED(aclopCompile("Add", 2, descs, 1, results, NULL, ACL_ENGINE_SYS, ACL_COMPILE_UNREGISTERED, "/tmp"), ACL_ERROR_API_NOT_SUPPORT, "opPath");
  aclrtStream destroyed;
  OK(aclrtCreateStream(&destroyed));
  OK(aclrtDestroyStream(destroyed));
  REFUSED(run("Add", 2, in, 1, out, NULL, destroyed), ACL_ERROR_RT_INVALID_HANDLE, "stream");
  REFUSED(aclopSetMaxOpQueueNum(0), bad, "maxOpNum");
  OK(aclopSetMaxOpQueueNum(1));
  for (int i = 0; i < 4; ++i) {
    OK(run("Neg", 1, in, 1, out, NULL, stream));
    OK(run("Abs", 1, in, 1, out, NULL, stream));
  }
  OK(aclopSetMaxOpQueueNum(20000));
  REFUSED(aclopSetCompileFlag((aclOpCompileFlag)7), bad, "flag is 7");
  OK(aclopSetCompileFlag(ACL_OP_COMPILE_FUZZ));
  // What needs a card's kernels is refused by its name.
  REFUSED(aclopUpdateParams("Add", 2, descs, 1, results, NULL), ACL_ERROR_API_NOT_SUPPORT, "aclopUpdateParams");
  REFUSED(aclopUnregisterCompileFunc("Add"), ACL_ERROR_API_NOT_SUPPORT, "aclopUnregisterCompileFunc");
  OK(aclrtSynchronizeStream(stream));
  release(&x);
  release(&y);
  release(&z);
  release(&short_one);
}

// A tensor of 2 x 17 x 20 elements is stored as blocks of 16 x 16: element [i, row, column] at [i, column / 16, row / 16, row % 16, column % 16].
static void blocks(aclrtStream stream) {
  enum { OUTER = 2, ROWS = 17, COLUMNS = 20, STORED = OUTER * 2 * 2 * 16 * 16 };
  const int64_t dims[] = {OUTER, ROWS, COLUMNS}, stored[] = {OUTER, 2, 2, 16, 16}, short_dims[] = {OUTER, 2, 1, 16, 16};
  float plain[OUTER * ROWS * COLUMNS], in_blocks[STORED], wanted[STORED], found[STORED], back[OUTER * ROWS * COLUMNS];
  memset(wanted, 0, sizeof wanted);
  for (int i = 0; i < STORED; ++i) in_blocks[i] = 1000;
  for (int i = 0; i < OUTER; ++i) {
    for (int row = 0; row < ROWS; ++row) {
      for (int column = 0; column < COLUMNS; ++column) {
        const int at = (i * ROWS + row) * COLUMNS + column;
        const int block = ((i * 2 + column / 16) * 2 + row / 16) * 256 + row % 16 * 16 + column % 16;
        plain[at] = (float)(at + 1);
        in_blocks[block] = plain[at];
        wanted[block] = -plain[at];
      }
    }
  }
  Tensor x = tensor(ACL_FLOAT, 3, dims, plain), y = tensor(ACL_FLOAT, 3, dims, NULL);
  Tensor from = tensor(ACL_FLOAT, 5, stored, in_blocks), to = tensor(ACL_FLOAT, 5, stored, NULL);
  aclTensorDesc *described = aclCreateTensorDesc(ACL_FLOAT, 3, dims, ACL_FORMAT_ND);
  OK(aclSetTensorStorageFormat(described, ACL_FORMAT_FRACTAL_NZ));
  OK(aclSetTensorStorageShape(described, 5, stored));
  const aclTensorDesc *as_blocks[] = {described}, *as_plain[] = {x.desc};
  const aclDataBuffer *of_x[] = {x.buffer}, *of_from[] = {from.buffer};
  aclDataBuffer *into_y[] = {y.buffer}, *into_to[] = {to.buffer};
#define NEG(in, data, out, target) \
  aclopCompileAndExecute("Neg", 1, in, data, 1, out, target, NULL, ACL_ENGINE_SYS, ACL_COMPILE_SYS, NULL, stream)
  // Into blocks; out of them, whatever fills them up; and both.
  OK(NEG(as_plain, of_x, as_blocks, into_to));
  OK(aclrtSynchronizeStream(stream));
  fetch(&to, found);
  CHECK(memcmp(found, wanted, sizeof wanted) == 0);
  OK(NEG(as_blocks, of_from, as_plain, into_y));
  OK(aclrtSynchronizeStream(stream));
  fetch(&y, back);
  for (int i = 0; i < OUTER * ROWS * COLUMNS; ++i) CHECK(back[i] == -plain[i]);
  OK(aclrtMemset(to.data, to.bytes, 0xEE, to.bytes));
  OK(NEG(as_blocks, of_from, as_blocks, into_to));
  OK(aclrtSynchronizeStream(stream));
  fetch(&to, found);
  CHECK(memcmp(found, wanted, sizeof wanted) == 0);
  // A buffer that holds the plain elements is too short for the blocks, and storage dimensions have to be those of the shape.
  REFUSED(NEG(as_blocks, of_x, as_plain, into_y), ACL_ERROR_INVALID_PARAM, "input 0 has 2720 bytes, and 8192 are needed");
  OK(aclSetTensorStorageShape(described, 5, short_dims));
  REFUSED(NEG(as_blocks, of_from, as_plain, into_y), ACL_ERROR_API_NOT_SUPPORT, "Neg: input 0 is stored in ACL_FORMAT_FRACTAL_NZ");
#undef NEG
  aclDestroyTensorDesc(described);
  release(&x);
  release(&y);
  release(&from);
  release(&to);
}

int main(void) {
  OK(aclInit(NULL));
  OK(aclrtSetDevice(0));
  aclrtStream stream;
  OK(aclrtCreateStream(&stream));
  arithmetic(stream);
  queued(stream);
  streams();
  attributes(stream);
  values(stream);
  found_shapes(stream);
  updates(stream);
  captured(stream);
  inferred();
  casts(stream);
  blocks(stream);
  misuse(stream);
  OK(aclrtDestroyStream(stream));
  OK(aclrtResetDevice(0));
  OK(aclFinalize());
  return finish();
}
