/* Reads handwritten digits on a device, one image after the other.
 *
 *     sync <model.om> <images> <labels>
 */
#include <stdio.h>
#include <string.h>

#include "acl/acl.h"
#include "images.h"

#define DEVICE_ID 0

/* Leaves the calling function with -1 when a call fails, and says which call it was. */
#define CHECK(call)                                                                          \
    do {                                                                                     \
        aclError ret_ = (call);                                                              \
        if (ret_ != ACL_SUCCESS) {                                                           \
            failed(#call, ret_);                                                             \
            return -1;                                                                       \
        }                                                                                    \
    } while (0)

static void failed(const char *call, aclError ret)
{
    const char *message = aclGetRecentErrMsg();
    fprintf(stderr, "%s failed with %d\n%s\n", call, (int)ret, message != NULL ? message : "");
}

/* What was set up; the release goes through it from the bottom to the top. */
typedef struct {
    int initialised;
    int device_set;
    aclrtRunMode run_mode;
    int model_loaded;
    uint32_t model_id;
    aclmdlDesc *desc;
    size_t input_size;
    size_t output_size;
    void *device_input;
    void *device_output;
    aclDataBuffer *input_buffer;
    aclDataBuffer *output_buffer;
    aclmdlDataset *input;
    aclmdlDataset *output;
} Session;

static int session_open(Session *s, const char *model_path)
{
    CHECK(aclInit(NULL));
    s->initialised = 1;
    CHECK(aclrtSetDevice(DEVICE_ID));
    s->device_set = 1;
    CHECK(aclrtGetRunMode(&s->run_mode));

    CHECK(aclmdlLoadFromFile(model_path, &s->model_id));
    s->model_loaded = 1;
    s->desc = aclmdlCreateDesc();
    if (s->desc == NULL) {
        fprintf(stderr, "aclmdlCreateDesc failed\n");
        return -1;
    }
    CHECK(aclmdlGetDesc(s->desc, s->model_id));
    if (aclmdlGetNumInputs(s->desc) != 1 || aclmdlGetNumOutputs(s->desc) != 1) {
        fprintf(stderr, "the model should have one input and one output\n");
        return -1;
    }
    s->input_size = aclmdlGetInputSizeByIndex(s->desc, 0);
    s->output_size = aclmdlGetOutputSizeByIndex(s->desc, 0);
    if (s->input_size != PIXELS * sizeof(float) || s->output_size != DIGITS * sizeof(float)) {
        fprintf(stderr, "the model takes %zu bytes and returns %zu; expected %zu and %zu\n", s->input_size,
                s->output_size, PIXELS * sizeof(float), DIGITS * sizeof(float));
        return -1;
    }

    CHECK(aclrtMalloc(&s->device_input, s->input_size, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc(&s->device_output, s->output_size, ACL_MEM_MALLOC_HUGE_FIRST));
    s->input_buffer = aclCreateDataBuffer(s->device_input, s->input_size);
    s->output_buffer = aclCreateDataBuffer(s->device_output, s->output_size);
    s->input = aclmdlCreateDataset();
    s->output = aclmdlCreateDataset();
    if (s->input_buffer == NULL || s->output_buffer == NULL || s->input == NULL || s->output == NULL) {
        fprintf(stderr, "the datasets could not be created\n");
        return -1;
    }
    CHECK(aclmdlAddDatasetBuffer(s->input, s->input_buffer));
    CHECK(aclmdlAddDatasetBuffer(s->output, s->output_buffer));
    return 0;
}

static int session_read(Session *s, Images *images, size_t index)
{
    float floats[PIXELS];
    float scores[DIGITS];
    int on_device = s->run_mode == ACL_DEVICE;
    aclrtMemcpyKind up = on_device ? ACL_MEMCPY_DEVICE_TO_DEVICE : ACL_MEMCPY_HOST_TO_DEVICE;
    aclrtMemcpyKind down = on_device ? ACL_MEMCPY_DEVICE_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST;

    image_to_floats(images, index, floats);
    CHECK(aclrtMemcpy(s->device_input, s->input_size, floats, sizeof(floats), up));
    CHECK(aclmdlExecute(s->model_id, s->input, s->output));
    CHECK(aclrtMemcpy(scores, sizeof(scores), s->device_output, s->output_size, down));
    image_set_scores(images, index, scores);
    return 0;
}

/* Releases in the opposite order of session_open. One failure does not stop the rest. */
static int session_close(Session *s)
{
    int result = 0;
#define RELEASE(present, call)               \
    do {                                     \
        if (present) {                       \
            aclError ret_ = (call);          \
            if (ret_ != ACL_SUCCESS) {       \
                failed(#call, ret_);         \
                result = -1;                 \
            }                                \
        }                                    \
    } while (0)

    RELEASE(s->output != NULL, aclmdlDestroyDataset(s->output));
    RELEASE(s->input != NULL, aclmdlDestroyDataset(s->input));
    RELEASE(s->output_buffer != NULL, aclDestroyDataBuffer(s->output_buffer));
    RELEASE(s->input_buffer != NULL, aclDestroyDataBuffer(s->input_buffer));
    RELEASE(s->device_output != NULL, aclrtFree(s->device_output));
    RELEASE(s->device_input != NULL, aclrtFree(s->device_input));
    RELEASE(s->desc != NULL, aclmdlDestroyDesc(s->desc));
    RELEASE(s->model_loaded, aclmdlUnload(s->model_id));
    RELEASE(s->device_set, aclrtResetDevice(DEVICE_ID));
    RELEASE(s->initialised, aclFinalize());
#undef RELEASE
    return result;
}

int main(int argc, char **argv)
{
    Session session;
    Images images;
    int result;

    if (argc != 4) {
        fprintf(stderr, "usage: %s <model.om> <images> <labels>\n", argv[0]);
        return 2;
    }
    memset(&session, 0, sizeof(session));
    result = images_load(&images, argv[2], argv[3]);
    if (result == 0) {
        result = session_open(&session, argv[1]);
        for (size_t i = 0; result == 0 && i < images.count; i++) {
            result = session_read(&session, &images, i);
        }
        if (session_close(&session) != 0) {
            result = -1;
        }
    }
    if (result == 0) {
        images_report(&images);
    }
    images_free(&images);
    return result == 0 ? 0 : 1;
}
