// Files of single operators: a folder of them, one from memory, and files that are damaged. The arguments are the folder that
// `atc --singleop` wrote, and the file of the operator Relu in another folder.

#include "program.h"

static unsigned char *content(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    perror(path);
    exit(2);
  }
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  unsigned char *bytes = malloc(*size);
  if (fread(bytes, 1, *size, file) != *size) {
    exit(2);
  }
  fclose(file);
  return bytes;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    return 2;
  }
  OK(aclInit(NULL));
  OK(aclrtSetDevice(0));
  REFUSED(aclopSetModelDir(NULL), ACL_ERROR_INVALID_PARAM, "modelDir");
  REFUSED(aclopSetModelDir("/no/such/folder"), ACL_ERROR_INVALID_FILE, "/no/such/folder");
  REFUSED(aclopSetModelDir(argv[2]), ACL_ERROR_INVALID_FILE, "is not a folder");
  OK(aclopSetModelDir(argv[1]));
  REFUSED(aclopSetModelDir(argv[1]), ACL_ERROR_REPEAT_INITIALIZE, argv[1]);

  const int64_t dims[] = {2, 3};
  const float a[] = {1, -2, 3, -4, 5, -6};
  Tensor x = tensor(ACL_FLOAT, 2, dims, a), y = tensor(ACL_FLOAT, 2, dims, NULL);
  const aclTensorDesc *in_desc[] = {x.desc, x.desc}, *out_desc[] = {y.desc};
  const aclDataBuffer *in[] = {x.buffer, x.buffer};
  aclDataBuffer *out[] = {y.buffer};
  float got[6];
  // The folder has Add of these shapes; Mul with dynamic dimensions; ReduceSumD with an attribute.
  OK(aclopExecute("Add", 2, in_desc, in, 1, out_desc, out, NULL, NULL));
  OK(aclrtSynchronizeStream(NULL));
  fetch(&y, got);
  CHECK(got[3] == -8);
  OK(aclopExecute("Mul", 2, in_desc, in, 1, out_desc, out, NULL, NULL));
  OK(aclrtSynchronizeStream(NULL));
  fetch(&y, got);
  CHECK(got[3] == 16);
  REFUSED(aclopExecute("Sub", 2, in_desc, in, 1, out_desc, out, NULL, NULL), ACL_ERROR_OP_NOT_FOUND, "Sub was neither compiled nor loaded");
  aclopAttr *attr = aclopCreateAttr();
  OK(aclopSetAttrInt(attr, "extra", 1));
  REFUSED(aclopExecute("Add", 2, in_desc, in, 1, out_desc, out, attr, NULL), ACL_ERROR_OP_NOT_FOUND, "other descriptions or attributes");
  aclopDestroyAttr(attr);
  const int64_t two[] = {2}, axes[] = {1};
  Tensor sums = tensor(ACL_FLOAT, 1, two, NULL);
  const aclTensorDesc *sums_desc[] = {sums.desc};
  aclDataBuffer *sums_out[] = {sums.buffer};
  attr = aclopCreateAttr();
  OK(aclopSetAttrListInt(attr, "axes", 1, axes));
  OK(aclopExecute("ReduceSumD", 1, in_desc, in, 1, sums_desc, sums_out, attr, NULL));
  OK(aclrtSynchronizeStream(NULL));
  fetch(&sums, got);
  CHECK(got[0] == 2 && got[1] == -5);
  aclopDestroyAttr(attr);

  // From memory, which the program may free.
  REFUSED(aclopExecute("Relu", 1, in_desc, in, 1, out_desc, out, NULL, NULL), ACL_ERROR_OP_NOT_FOUND, "Relu was neither");
  size_t size = 0;
  unsigned char *bytes = content(argv[2], &size);
  REFUSED(aclopLoad(NULL, size), ACL_ERROR_INVALID_PARAM, "model");
  REFUSED(aclopLoad(bytes, 0), ACL_ERROR_INVALID_PARAM, "modelSize");
  for (size_t length = 1; length < size; ++length) {
    if (aclopLoad(bytes, length) != ACL_ERROR_OP_LOAD_FAILED) {
      fprintf(stderr, "a file of %zu of %zu bytes is not refused\n", length, size);
      ++failures;
      break;
    }
  }
  OK(aclopLoad(bytes, size));
  free(bytes);
  OK(aclopExecute("Relu", 1, in_desc, in, 1, out_desc, out, NULL, NULL));
  OK(aclrtSynchronizeStream(NULL));
  fetch(&y, got);
  CHECK(got[2] == 3 && got[3] == 0);
  release(&x);
  release(&y);
  release(&sums);
  OK(aclrtResetDevice(0));
  OK(aclFinalize());
  return finish();
}
