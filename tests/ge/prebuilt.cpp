// A client that was compiled against other headers: it declares what it uses, with the sizes that the toolkit's headers give
// objects, and includes none of Jumar's headers. It makes the calls of ONNX Runtime's CANN provider, in its order.
//
// Usage: prebuilt MODEL.onnx INPUT OUTPUT, with raw float32 files. The model has one input and one output of fixed shapes.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ge {
class AscendString {
 public:
  AscendString() = default;
  ~AscendString() = default;
  AscendString(const char *const name);
  bool operator<(const AscendString &other) const;

 private:
  std::shared_ptr<std::string> name_;
};
class Graph {
 public:
  explicit Graph(const char *name);
  ~Graph() = default;

 private:
  std::shared_ptr<void> impl_;
};
struct ModelBufferData {
  std::shared_ptr<uint8_t> data = nullptr;
  uint64_t length;
};
typedef std::map<AscendString, AscendString> Options;
uint32_t aclgrphBuildInitialize(Options &global_options);
void aclgrphBuildFinalize();
uint32_t aclgrphParseONNXFromMem(const char *buffer, size_t size, const Options &parser_params, Graph &graph);
uint32_t aclgrphBuildModel(const Graph &graph, const Options &build_options, ModelBufferData &model);
uint32_t aclgrphSaveModel(const char *output_file, const ModelBufferData &model);
}  // namespace ge

extern "C" {
int aclInit(const char *);
int aclFinalize();
int aclrtSetDevice(int32_t);
const char *aclrtGetSocName();
const char *aclGetRecentErrMsg();
int aclmdlLoadFromMem(const void *, size_t, uint32_t *);
int aclmdlLoadFromFile(const char *, uint32_t *);
void *aclmdlCreateDesc();
int aclmdlGetDesc(void *, uint32_t);
size_t aclmdlGetInputSizeByIndex(void *, size_t);
size_t aclmdlGetOutputSizeByIndex(void *, size_t);
int aclmdlDestroyDesc(const void *);
void *aclmdlCreateDataset();
int aclmdlAddDatasetBuffer(void *, void *);
int aclmdlDestroyDataset(const void *);
void *aclCreateDataBuffer(void *, size_t);
int aclDestroyDataBuffer(const void *);
int aclrtMalloc(void **, size_t, int);
int aclrtFree(void *);
int aclrtMemcpy(void *, size_t, const void *, size_t, int);
int aclrtCreateStream(void **);
int aclrtDestroyStream(void *);
int aclrtSynchronizeStream(void *);
int aclmdlExecuteAsync(uint32_t, const void *, void *, void *);
int aclmdlUnload(uint32_t);
}

#define CHECK(condition)                                                                             \
  do {                                                                                               \
    if (!(condition)) {                                                                              \
      const char *text = aclGetRecentErrMsg();                                                       \
      std::printf("%d: %s\n%s\n", __LINE__, #condition, text == nullptr ? "" : text);                \
      return 1;                                                                                      \
    }                                                                                                \
  } while (0)

static std::vector<char> Read(const char *path) {
  std::ifstream file(path, std::ios::binary);
  return std::vector<char>(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

static int Run(uint32_t model, const std::vector<char> &input, const char *out) {
  void *desc = aclmdlCreateDesc();
  CHECK(aclmdlGetDesc(desc, model) == 0 && aclmdlGetInputSizeByIndex(desc, 0) == input.size());
  std::vector<char> output(aclmdlGetOutputSizeByIndex(desc, 0));
  void *stream = nullptr, *from = nullptr, *to = nullptr;
  CHECK(aclrtCreateStream(&stream) == 0);
  CHECK(aclrtMalloc(&from, input.size(), 0) == 0 && aclrtMalloc(&to, output.size(), 0) == 0);
  CHECK(aclrtMemcpy(from, input.size(), input.data(), input.size(), 1) == 0);
  void *inputs = aclmdlCreateDataset(), *outputs = aclmdlCreateDataset();
  void *first = aclCreateDataBuffer(from, input.size()), *second = aclCreateDataBuffer(to, output.size());
  CHECK(aclmdlAddDatasetBuffer(inputs, first) == 0 && aclmdlAddDatasetBuffer(outputs, second) == 0);
  CHECK(aclmdlExecuteAsync(model, inputs, outputs, stream) == 0 && aclrtSynchronizeStream(stream) == 0);
  CHECK(aclrtMemcpy(output.data(), output.size(), to, output.size(), 2) == 0);
  CHECK(aclDestroyDataBuffer(first) == 0 && aclDestroyDataBuffer(second) == 0);
  CHECK(aclmdlDestroyDataset(inputs) == 0 && aclmdlDestroyDataset(outputs) == 0);
  CHECK(aclrtFree(from) == 0 && aclrtFree(to) == 0 && aclrtDestroyStream(stream) == 0);
  CHECK(aclmdlDestroyDesc(desc) == 0 && aclmdlUnload(model) == 0);
  std::ofstream(out, std::ios::binary).write(output.data(), static_cast<std::streamsize>(output.size()));
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 4) {
    return 2;
  }
  const std::vector<char> onnx = Read(argv[1]), input = Read(argv[2]);
  CHECK(aclInit(nullptr) == 0 && aclrtSetDevice(0) == 0);
  const char *const soc = aclrtGetSocName();
  CHECK(soc != nullptr);
  ge::Options global;
  global["ge.socVersion"] = soc;
  CHECK(ge::aclgrphBuildInitialize(global) == 0);
  ge::ModelBufferData made;
  {
    const ge::Graph graph("main");
    const ge::Options none;
    CHECK(ge::aclgrphParseONNXFromMem(onnx.data(), onnx.size(), none, const_cast<ge::Graph &>(graph)) == 0);
    ge::Options options;
    options["ge.exec.precision_mode"] = "must_keep_origin_dtype";
    CHECK(ge::aclgrphBuildModel(graph, options, made) == 0 && made.length > 0);
  }
  CHECK(ge::aclgrphSaveModel("prebuilt", made) == 0);
  ge::aclgrphBuildFinalize();
  uint32_t model = 0;
  CHECK(aclmdlLoadFromMem(made.data.get(), made.length, &model) == 0 && Run(model, input, argv[3]) == 0);
  // The file is the same model: the second run writes the same bytes.
  const std::vector<char> once = Read(argv[3]);
  CHECK(aclmdlLoadFromFile("prebuilt.om", &model) == 0 && Run(model, input, argv[3]) == 0 && Read(argv[3]) == once);
  CHECK(aclFinalize() == 0);
  std::printf("prebuilt: ok\n");
  return 0;
}
