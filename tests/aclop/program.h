// What the programs of single operators share: checks, and tensors with their data buffers.

#pragma once

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "acl/acl_op.h"
#include "acl/acl_op_compiler.h"

static int failures = 0;

#define CHECK(condition)                                                                                      \
  do {                                                                                                        \
    if (!(condition)) {                                                                                       \
      const char *recent = aclGetRecentErrMsg();                                                              \
      fprintf(stderr, "%s:%d: %s is false: %s\n", __FILE__, __LINE__, #condition, recent ? recent : "");      \
      ++failures;                                                                                             \
    }                                                                                                         \
  } while (0)

// The call returns this code, and the sentence has these words.
#define REFUSED(call, code, words)                                                                            \
  do {                                                                                                        \
    const int answer_ = (int)(call);                                                                          \
    const char *recent_ = aclGetRecentErrMsg();                                                               \
    if (answer_ != (code) || recent_ == NULL || strstr(recent_, (words)) == NULL) {                           \
      fprintf(stderr, "%s:%d: %s answers %d: %s\n", __FILE__, __LINE__, #call, answer_, recent_ ? recent_ : ""); \
      ++failures;                                                                                             \
    }                                                                                                         \
  } while (0)

#define OK(call) CHECK((call) == ACL_SUCCESS)

// A tensor in device memory.
typedef struct {
  aclTensorDesc *desc;
  aclDataBuffer *buffer;
  void *data;
  size_t bytes;
} Tensor;

__attribute__((unused)) static Tensor tensor(aclDataType type, int rank, const int64_t *dims, const void *content) {
  Tensor made = {0};
  made.desc = aclCreateTensorDesc(type, rank, dims, ACL_FORMAT_ND);
  made.bytes = aclGetTensorDescSize(made.desc);
  if (made.bytes > 0) {
    OK(aclrtMalloc(&made.data, made.bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  }
  if (content != NULL) {
    OK(aclrtMemcpy(made.data, made.bytes, content, made.bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  } else if (made.bytes > 0) {
    OK(aclrtMemset(made.data, made.bytes, 0xEE, made.bytes));
  }
  made.buffer = aclCreateDataBuffer(made.data, made.bytes);
  return made;
}

__attribute__((unused)) static void release(Tensor *one) {
  aclDestroyTensorDesc(one->desc);
  OK(aclDestroyDataBuffer(one->buffer));
  if (one->data != NULL) {
    OK(aclrtFree(one->data));
  }
}

__attribute__((unused)) static void fetch(const Tensor *one, void *to) {
  OK(aclrtMemcpy(to, one->bytes, one->data, one->bytes, ACL_MEMCPY_DEVICE_TO_HOST));
}

static int finish(void) {
  if (failures == 0) {
    printf("done\n");
  }
  return failures == 0 ? 0 : 1;
}
