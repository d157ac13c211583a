/* The part of the fake library that is written by hand: the notes, and functions that do a little of what they are for. */

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

/* What the next functions answer. */
EXPORT aclError fake_code = 0;

/* The last call that this thread made. */
static __thread char last_name[128];
static __thread int last_count;
static __thread uint64_t last_numbers[32];
static __thread double last_reals[32];
static __thread char last_texts[32][256];
/* 'n' number, 'r' real, 't' text, '0' null text, 'o' output */
static __thread char last_kinds[33];

static void begin(const char *name)
{
    snprintf(last_name, sizeof last_name, "%s", name);
    last_count = 0;
    memset(last_kinds, 0, sizeof last_kinds);
}

static int next(char kind)
{
    if (last_count >= 32) {
        abort();
    }
    last_kinds[last_count] = kind;
    return last_count++;
}

static void note(uint64_t value)
{
    int i = next('n');
    last_numbers[i] = value;
}

static void note_real(double value)
{
    int i = next('r');
    last_reals[i] = value;
}

static void note_text(const char *value)
{
    int i = next(value == NULL ? '0' : 't');
    snprintf(last_texts[i], sizeof last_texts[i], "%s", value == NULL ? "" : value);
}

static void note_out(uint64_t address)
{
    int i = next('o');
    last_numbers[i] = address;
}

EXPORT const char *fake_name(void) { return last_name; }
EXPORT const char *fake_kinds(void) { return last_kinds; }
EXPORT uint64_t fake_number(int i) { return last_numbers[i]; }
EXPORT double fake_real(int i) { return last_reals[i]; }
EXPORT const char *fake_text(int i) { return last_texts[i]; }
EXPORT void fake_forget(void) { begin(""); }

/* Memory: host memory throughout. */

aclError aclrtMalloc(void **devPtr, size_t size, aclrtMemMallocPolicy policy)
{
    begin("aclrtMalloc");
    note(size);
    note((uint64_t)policy);
    *devPtr = fake_code == 0 ? malloc(size) : NULL;
    return fake_code;
}

aclError aclrtFree(void *devPtr)
{
    begin("aclrtFree");
    free(devPtr);
    return fake_code;
}

aclError aclrtMemcpy(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind)
{
    begin("aclrtMemcpy");
    note((uintptr_t)dst);
    note(destMax);
    note((uintptr_t)src);
    note(count);
    note((uint64_t)kind);
    if (fake_code == 0 && count <= destMax && count < (1u << 30)) {
        memcpy(dst, src, count);
    }
    return fake_code;
}

/* Callbacks: one queue, served by aclrtProcessReport on the thread that calls it. */

struct task {
    struct task *next;
    aclrtCallback launched;
    aclvdecCallback decoded;
    aclvencCallback encoded;
    void *input;
    void *output;
    void *data;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct task *queue;
static int unfinished;
static aclvdecCallback decoder;
static aclvencCallback encoder;

static void push(struct task task)
{
    struct task *made = malloc(sizeof *made);
    *made = task;
    made->next = NULL;
    pthread_mutex_lock(&lock);
    struct task **end = &queue;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = made;
    unfinished++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* How often a launched callback is called: as often as a model is executed that captured it. */
int fake_repeats = 1;

aclError aclrtLaunchCallback(aclrtCallback fn, void *userData, aclrtCallbackBlockType blockType, aclrtStream stream)
{
    begin("aclrtLaunchCallback");
    note((uint64_t)blockType);
    note((uintptr_t)stream);
    if (fake_code == 0) {
        struct task task = {.launched = fn, .data = userData};
        int repeat;
        for (repeat = 0; repeat < fake_repeats; repeat++) push(task);
    }
    return fake_code;
}

aclError aclvdecSetChannelDescCallback(aclvdecChannelDesc *channelDesc, aclvdecCallback callback)
{
    decoder = callback;
    return fake_code;
}

aclError aclvencSetChannelDescCallback(aclvencChannelDesc *channelDesc, aclvencCallback callback)
{
    encoder = callback;
    return fake_code;
}

/* The description of a packet, and the configuration of a frame, that end a stream: such a send has no callback. */
#define END 0xE05

uint8_t acldvppGetStreamDescEos(const acldvppStreamDesc *streamDesc)
{
    return (uintptr_t)streamDesc == END;
}

uint8_t aclvencGetFrameConfigEos(const aclvencFrameConfig *config)
{
    return (uintptr_t)config == END;
}

aclError aclvdecSendFrame(aclvdecChannelDesc *channelDesc, acldvppStreamDesc *input, acldvppPicDesc *output,
                          aclvdecFrameConfig *config, void *userData)
{
    begin("aclvdecSendFrame");
    note((uintptr_t)channelDesc);
    note((uintptr_t)input);
    note((uintptr_t)output);
    note((uintptr_t)config);
    if (fake_code == 0 && !acldvppGetStreamDescEos(input)) {
        struct task task = {.decoded = decoder, .input = input, .output = output, .data = userData};
        push(task);
    }
    return fake_code;
}

aclError aclvencSendFrame(aclvencChannelDesc *channelDesc, acldvppPicDesc *input, void *reserve, aclvencFrameConfig *config,
                          void *userdata)
{
    begin("aclvencSendFrame");
    note((uintptr_t)channelDesc);
    note((uintptr_t)input);
    note((uintptr_t)reserve);
    note((uintptr_t)config);
    if (fake_code == 0 && !aclvencGetFrameConfigEos(config)) {
        struct task task = {.encoded = encoder, .input = input, .output = (void *)0x5550000, .data = userdata};
        push(task);
    }
    return fake_code;
}

aclError aclrtProcessReport(int32_t timeout)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += timeout / 1000;
    end.tv_nsec += (timeout % 1000) * 1000000L;
    if (end.tv_nsec >= 1000000000L) {
        end.tv_sec++;
        end.tv_nsec -= 1000000000L;
    }
    pthread_mutex_lock(&lock);
    while (queue == NULL) {
        int code = timeout < 0 ? pthread_cond_wait(&changed, &lock) : pthread_cond_timedwait(&changed, &lock, &end);
        if (code == ETIMEDOUT) {
            pthread_mutex_unlock(&lock);
            return 107012;
        }
    }
    struct task *task = queue;
    queue = task->next;
    pthread_mutex_unlock(&lock);
    if (task->launched != NULL) {
        task->launched(task->data);
    } else if (task->decoded != NULL) {
        task->decoded(task->input, task->output, task->data);
    } else if (task->encoded != NULL) {
        task->encoded(task->input, task->output, task->data);
    }
    free(task);
    pthread_mutex_lock(&lock);
    unfinished--;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return 0;
}

/* Each of these waits until every queued callback has run: with the interpreter held they would never return. */

static aclError wait_for_callbacks(const char *name)
{
    begin(name);
    pthread_mutex_lock(&lock);
    while (unfinished > 0) {
        pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
    return fake_code;
}

aclError aclrtSynchronizeStream(aclrtStream stream) { return wait_for_callbacks("aclrtSynchronizeStream"); }
aclError aclrtSynchronizeDevice(void) { return wait_for_callbacks("aclrtSynchronizeDevice"); }
aclError aclrtSynchronizeEvent(aclrtEvent event) { return wait_for_callbacks("aclrtSynchronizeEvent"); }
aclError aclrtDestroyStream(aclrtStream stream) { return wait_for_callbacks("aclrtDestroyStream"); }
aclError aclrtResetDevice(int32_t deviceId) { return wait_for_callbacks("aclrtResetDevice"); }
aclError aclFinalize(void) { return wait_for_callbacks("aclFinalize"); }
aclError aclmdlUnload(uint32_t modelId) { return wait_for_callbacks("aclmdlUnload"); }
aclError aclmdlExecute(uint32_t modelId, const aclmdlDataset *input, aclmdlDataset *output)
{
    return wait_for_callbacks("aclmdlExecute");
}
aclError aclmdlExecuteAsync(uint32_t modelId, const aclmdlDataset *input, aclmdlDataset *output, aclrtStream stream)
{
    return wait_for_callbacks("aclmdlExecuteAsync");
}
aclError aclrtMemcpyAsync(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind, aclrtStream stream)
{
    return wait_for_callbacks("aclrtMemcpyAsync");
}
aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) { return wait_for_callbacks("aclrtRecordEvent"); }
aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) { return wait_for_callbacks("aclrtStreamWaitEvent"); }

static aclrtExceptionInfoCallback exception_callback;

aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback)
{
    begin("aclrtSetExceptionInfoCallback");
    note(callback != NULL);
    if (fake_code == 0) {
        exception_callback = callback;
    }
    return fake_code;
}

static void *call_exception(void *info)
{
    if (exception_callback != NULL) {
        exception_callback(info);
    }
    return NULL;
}

/* Calls the callback on a thread of its own, as a runtime would, and waits for it. */
EXPORT void fake_exception(uintptr_t info)
{
    pthread_t thread;
    pthread_create(&thread, NULL, call_exception, (void *)info);
    pthread_join(thread, NULL);
}

/* Libraries are torn down after the interpreter: a callback that comes now has no function to call. */
__attribute__((destructor)) static void late(void)
{
    if (getenv("FAKE_LATE") != NULL) {
        fake_exception(1);
        printf("the late callback returned\n");
        fflush(stdout);
    }
}

static int32_t (*dump_callback)(const acldumpChunk *, int32_t);

aclError acldumpRegCallback(int32_t (*const messageCallback)(const acldumpChunk *, int32_t), int32_t flag)
{
    begin("acldumpRegCallback");
    note((uint64_t)flag);
    dump_callback = messageCallback;
    return fake_code;
}

void acldumpUnregCallback(void) { dump_callback = NULL; }

EXPORT int fake_dump(void)
{
    acldumpChunk *chunk = calloc(1, sizeof *chunk + 8);
    strcpy(chunk->fileName, "dump/layer.bin");
    chunk->bufLen = 5;
    chunk->isLastChunk = 1;
    chunk->offset = 70;
    chunk->flag = 3;
    memcpy(chunk->dataBuf, "12345", 5);
    int code = dump_callback == NULL ? -2 : dump_callback(chunk, (int32_t)(sizeof *chunk + 5));
    free(chunk);
    return code;
}

/* Texts */

EXPORT const char *fake_message = NULL;

const char *aclGetRecentErrMsg(void) { return fake_message; }

void aclAppLog(aclLogLevel logLevel, const char *func, const char *file, uint32_t line, const char *fmt, ...)
{
    char text[200];
    va_list list;
    va_start(list, fmt);
    vsnprintf(text, sizeof text, fmt, list);
    va_end(list);
    begin("aclAppLog");
    note((uint64_t)logLevel);
    note_text(func);
    note_text(file);
    note(line);
    note_text(text);
}

aclError aclsysGetVersionStr(char *pkgName, char *versionStr)
{
    begin("aclsysGetVersionStr");
    note_text(pkgName);
    if (fake_code == 0) {
        strcpy(versionStr, "8.1.RC1");
    }
    return fake_code;
}

aclError aclrtGetFunctionName(aclrtFuncHandle funcHandle, uint32_t maxLen, char *name)
{
    begin("aclrtGetFunctionName");
    note(maxLen);
    /* The complete buffer, without a terminating zero. */
    memset(name, 'x', maxLen);
    return fake_code;
}

aclError aclprofGetOpNameLen(const void *opInfo, size_t opInfoLen, uint32_t index, size_t *opNameLen)
{
    *opNameLen = 6;
    return fake_code;
}

aclError aclprofGetOpName(const void *opInfo, size_t opInfoLen, uint32_t index, char *opName, size_t opNameLen)
{
    if (fake_code == 0) {
        snprintf(opName, opNameLen, "Conv2");
    }
    return fake_code;
}

/* Structures */

static void fill(aclmdlIODims *dims, const char *name, size_t count)
{
    memset(dims, 0, sizeof *dims);
    snprintf(dims->name, sizeof dims->name, "%s", name);
    dims->dimCount = count;
    for (size_t i = 0; i < count && i < 128; i++) {
        dims->dims[i] = (int64_t)i - 1;
    }
}

aclError aclmdlGetInputDims(const aclmdlDesc *modelDesc, size_t index, aclmdlIODims *dims)
{
    fill(dims, "in", index);
    return fake_code;
}
aclError aclmdlGetInputDimsV2(const aclmdlDesc *modelDesc, size_t index, aclmdlIODims *dims)
{
    fill(dims, "v2", index);
    return fake_code;
}
aclError aclmdlGetOutputDims(const aclmdlDesc *modelDesc, size_t index, aclmdlIODims *dims)
{
    fill(dims, "out", index);
    return fake_code;
}
aclError aclmdlGetCurOutputDims(const aclmdlDesc *modelDesc, size_t index, aclmdlIODims *dims)
{
    fill(dims, "cur", index);
    return fake_code;
}
aclError aclmdlGetInputDynamicDims(const aclmdlDesc *modelDesc, size_t index, aclmdlIODims *dims, size_t gearCount)
{
    begin("aclmdlGetInputDynamicDims");
    note(index);
    for (size_t i = 0; i < gearCount; i++) {
        fill(&dims[i], "", i + 1);
    }
    return fake_code;
}
aclError aclmdlSetInputDynamicDims(uint32_t modelId, aclmdlDataset *dataset, size_t index, const aclmdlIODims *dims)
{
    begin("aclmdlSetInputDynamicDims");
    note(modelId);
    note(index);
    note(dims->dimCount);
    note((uint64_t)dims->dims[0]);
    note((uint64_t)dims->dims[1]);
    note_text(dims->name);
    return fake_code;
}
aclError aclmdlGetDynamicBatch(const aclmdlDesc *modelDesc, aclmdlBatch *batch)
{
    batch->batchCount = 3;
    batch->batch[0] = 1;
    batch->batch[1] = 2;
    batch->batch[2] = 8;
    return fake_code;
}
aclError aclmdlGetDynamicHW(const aclmdlDesc *modelDesc, size_t index, aclmdlHW *hw)
{
    hw->hwCount = 2;
    hw->hw[0][0] = 224;
    hw->hw[0][1] = 224;
    hw->hw[1][0] = 448;
    hw->hw[1][1] = 640;
    return fake_code;
}
aclError aclmdlGetInputDimsRange(const aclmdlDesc *modelDesc, size_t index, aclmdlIODimsRange *dimsRange)
{
    dimsRange->rangeCount = 2;
    dimsRange->range[0][0] = 1;
    dimsRange->range[0][1] = -1;
    dimsRange->range[1][0] = 3;
    dimsRange->range[1][1] = 4;
    return fake_code;
}
aclError aclmdlGetFirstAippInfo(uint32_t modelId, size_t index, aclAippInfo *aippInfo)
{
    memset(aippInfo, 0, sizeof *aippInfo);
    aippInfo->cropSwitch = 1;
    aippInfo->matrixR2C2 = 22;
    aippInfo->matrixR1C2 = 12;
    aippInfo->bottomPaddingSize = 9;
    aippInfo->inputBias2 = 7;
    aippInfo->meanChn3 = 4;
    aippInfo->minChn0 = 0.5f;
    aippInfo->varReciChn3 = 0.25f;
    aippInfo->srcDimNum = 4;
    aippInfo->shapeCount = 1;
    fill(&aippInfo->outDims[0].srcDims, "src", 2);
    aippInfo->outDims[0].srcSize = 11;
    fill(&aippInfo->outDims[0].aippOutdims, "aipp", 1);
    aippInfo->outDims[0].aippOutSize = 13;
    return fake_code;
}
aclError aclrtPointerGetAttributes(const void *ptr, aclrtPtrAttributes *attributes)
{
    memset(attributes, 0, sizeof *attributes);
    attributes->location.id = 2;
    attributes->location.type = 1;
    attributes->pageSize = 4096;
    attributes->rsv[3] = 5;
    return fake_code;
}
aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion *version)
{
    memset(version, 0, sizeof *version);
    strcpy(version->version, "8.1");
    strcpy(version->majorVersion, "8");
    strcpy(version->patchVersion, "p");
    return fake_code;
}
aclError aclrtGetMemUceInfo(int32_t deviceId, aclrtMemUceInfo *memUceInfoArray, size_t arraySize, size_t *retSize)
{
    for (size_t i = 0; i < arraySize; i++) {
        memset(&memUceInfoArray[i], 0, sizeof memUceInfoArray[i]);
        memUceInfoArray[i].addr = (void *)(0x1000 * (i + 1));
        memUceInfoArray[i].len = i + 1;
    }
    *retSize = arraySize < 2 ? arraySize : 2;
    return fake_code;
}
aclError aclrtMallocWithCfg(void **devPtr, size_t size, aclrtMemMallocPolicy policy, aclrtMallocConfig *cfg)
{
    begin("aclrtMallocWithCfg");
    note(cfg->numAttrs);
    for (size_t i = 0; i < cfg->numAttrs; i++) {
        note((uint64_t)cfg->attrs[i].attr);
        note(cfg->attrs[i].attr == ACL_RT_MEM_ATTR_MODULE_ID ? cfg->attrs[i].value.moduleId : cfg->attrs[i].value.deviceId);
    }
    *devPtr = (void *)0x4440000;
    return fake_code;
}
aclError aclrtMallocPhysical(aclrtDrvMemHandle *handle, size_t size, const aclrtPhysicalMemProp *prop, uint64_t flags)
{
    begin("aclrtMallocPhysical");
    note((uint64_t)prop->handleType);
    note((uint64_t)prop->allocationType);
    note((uint64_t)prop->memAttr);
    note(prop->location.id);
    note((uint64_t)prop->location.type);
    note(prop->reserve);
    *handle = (void *)0x4450000;
    return fake_code;
}
aclError aclrtBinaryLoadFromFile(const char *binPath, aclrtBinaryLoadOptions *options, aclrtBinHandle *binHandle)
{
    begin("aclrtBinaryLoadFromFile");
    note_text(binPath);
    note(options == NULL ? 0 : options->numOpt);
    if (options != NULL) {
        note((uint64_t)options->options[0].type);
        note(options->options[0].value.magic);
    }
    *binHandle = (void *)0x4460000;
    return fake_code;
}
aclError aclmdlSetConfigOpt(aclmdlConfigHandle *handle, aclmdlConfigAttr attr, const void *attrValue, size_t valueSize)
{
    begin("aclmdlSetConfigOpt");
    note((uint64_t)attr);
    note(valueSize);
    if (attr == ACL_MDL_PATH_PTR) {
        note_text(*(const char *const *)attrValue);
    } else if (valueSize == 4) {
        note((uint64_t)*(const int32_t *)attrValue);
    } else {
        note(*(const uint64_t *)attrValue);
    }
    return fake_code;
}
aclError aclrtGetGroupInfoDetail(const aclrtGroupInfo *groupInfo, int32_t groupIndex, aclrtGroupAttr attr, void *attrValue,
                                 size_t valueLen, size_t *paramRetSize)
{
    ((int32_t *)attrValue)[0] = 8;
    ((int32_t *)attrValue)[1] = -1;
    *paramRetSize = 8;
    return fake_code;
}

/* Lists */

aclTensorDesc *aclCreateTensorDesc(aclDataType dataType, int numDims, const int64_t *dims, aclFormat format)
{
    begin("aclCreateTensorDesc");
    note((uint64_t)dataType);
    note((uint64_t)format);
    note((uint64_t)numDims);
    for (int i = 0; i < numDims; i++) {
        note((uint64_t)dims[i]);
    }
    return (aclTensorDesc *)0x4470000;
}
aclError aclopExecuteV2(const char *opType, int numInputs, aclTensorDesc *inputDesc[], aclDataBuffer *inputs[], int numOutputs,
                        aclTensorDesc *outputDesc[], aclDataBuffer *outputs[], aclopAttr *attr, aclrtStream stream)
{
    begin("aclopExecuteV2");
    note_text(opType);
    note((uint64_t)numInputs);
    note((uint64_t)numOutputs);
    note((uintptr_t)inputDesc[numInputs - 1]);
    note((uintptr_t)inputs[numInputs - 1]);
    note((uintptr_t)outputDesc[numOutputs - 1]);
    note((uintptr_t)outputs[numOutputs - 1]);
    note((uintptr_t)attr);
    note((uintptr_t)stream);
    return fake_code;
}
aclError aclopSetAttrListString(aclopAttr *attr, const char *attrName, int numValues, const char **values)
{
    begin("aclopSetAttrListString");
    note_text(attrName);
    for (int i = 0; i < numValues; i++) {
        note_text(values[i]);
    }
    return fake_code;
}
aclError aclopSetAttrListListInt(aclopAttr *attr, const char *attrName, int numLists, const int *numValues,
                                 const int64_t *const values[])
{
    begin("aclopSetAttrListListInt");
    for (int i = 0; i < numLists; i++) {
        note((uint64_t)numValues[i]);
        for (int j = 0; j < numValues[i]; j++) {
            note((uint64_t)values[i][j]);
        }
    }
    return fake_code;
}
aclError aclSetTensorShapeRange(aclTensorDesc *desc, size_t dimsCount, int64_t dimsRange[][ACL_TENSOR_SHAPE_RANGE_NUM])
{
    begin("aclSetTensorShapeRange");
    for (size_t i = 0; i < dimsCount; i++) {
        note((uint64_t)dimsRange[i][0]);
        note((uint64_t)dimsRange[i][1]);
    }
    return fake_code;
}
aclError aclGetTensorDescDimRange(const aclTensorDesc *desc, size_t index, size_t dimRangeNum, int64_t *dimRange)
{
    for (size_t i = 0; i < dimRangeNum; i++) {
        dimRange[i] = (int64_t)i - 1;
    }
    return fake_code;
}
aclprofConfig *aclprofCreateConfig(uint32_t *deviceIdList, uint32_t deviceNums, aclprofAicoreMetrics aicoreMetrics,
                                   const aclprofAicoreEvents *aicoreEvents, uint64_t dataTypeConfig)
{
    begin("aclprofCreateConfig");
    note(deviceNums);
    for (uint32_t i = 0; i < deviceNums; i++) {
        note(deviceIdList[i]);
    }
    note((uint64_t)aicoreMetrics);
    note(dataTypeConfig);
    return (aclprofConfig *)0x4480000;
}
aclError aclGetCannAttributeList(const aclCannAttr **cannAttrList, size_t *num)
{
    static const aclCannAttr list[] = {(aclCannAttr)1, (aclCannAttr)2};
    *cannAttrList = list;
    *num = 2;
    return fake_code;
}
