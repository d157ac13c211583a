/* Objects of each kind come and go by thousands: afterwards none is left, and the second half of the cycles takes no more memory
 * than the first. each_kind [cycles [a part of the name of the kinds to look at]]
 * KERNELS names a binary made from tests/behaviour/kernels.c; without it kernels are left out. What other processes share comes
 * from a second process of this program, which is started with the argument "shares". */
#include "program.h"

#include "acl/acl_prof.h"

#include "acl/acl_tdt.h"
#include "acl/acl_tdt_queue.h"
#include "acl/acl_rt_memory_soma.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

/* What an allocator may take or give back between two looks; in a short run it has not yet seen all that it keeps. */
enum { MANY_CYCLES = 5000, ALLOWED_KIB = 128, ALLOWED_KIB_SHORT = 512 };

static aclrtContext context;
static aclrtStream stream;
static void *memory;
static char *pages;

static long resident_kib(void)
{
    long all = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    REQUIRE(file != NULL && fscanf(file, "%ld %ld", &all, &resident) == 2);
    fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static void a_device_use(void)
{
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtResetDevice(0));
    CHECK(aclrtSetCurrentContext(context));
}

static void a_device(void)
{
    void *block;
    CHECK(aclrtSetDevice(1));
    CHECK(aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemsetAsync(block, 4096, 1, 4096, NULL));
    CHECK(aclrtResetDevice(1));
    CHECK(aclrtSetCurrentContext(context));
}

static void a_context(void)
{
    aclrtContext made;
    aclrtStream left;
    CHECK(aclrtCreateContext(&made, 0));
    CHECK(aclrtCreateStream(&left));
    CHECK(aclrtDestroyContext(made));
    CHECK(aclrtSetCurrentContext(context));
}

static void a_stream(void)
{
    aclrtStream made;
    CHECK(aclrtCreateStream(&made));
    CHECK(aclrtMemsetAsync(memory, 4096, 1, 64, made));
    CHECK(aclrtDestroyStream(made));
}

static void a_stream_that_waits(void)
{
    aclrtStream made;
    CHECK(aclrtCreateStream(&made));
    CHECK(aclrtMemset(memory, 4096, 0, 64));
    CHECK(aclrtValueWait(memory, 7, 1, made));
    CHECK(aclrtMemsetAsync(memory, 4096, 1, 64, made));
    CHECK(aclrtDestroyStreamForce(made));
}

static void an_event(void)
{
    aclrtEvent made[3];
    CHECK(aclrtCreateEvent(&made[0]));
    CHECK(aclrtCreateEventWithFlag(&made[1], ACL_EVENT_SYNC));
    CHECK(aclrtCreateEventExWithFlag(&made[2], ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE));
    for (int i = 0; i < 3; i++) {
        CHECK(aclrtRecordEvent(made[i], stream));
        CHECK(aclrtRecordEvent(made[i], stream));
        CHECK(aclrtStreamWaitEvent(stream, made[i]));
        CHECK(aclrtDestroyEvent(made[i]));
    }
}

/* The number of free notifies is unknown, but ten thousand cycles are more than there can be. */
static void a_notify(void)
{
    aclrtNotify made;
    CHECK(aclrtCreateNotify(&made, 0));
    CHECK(aclrtRecordNotify(made, stream));
    CHECK(aclrtWaitAndResetNotify(made, stream, 0));
    CHECK(aclrtDestroyNotify(made));
}

static void device_memory(void)
{
    void *small, *large;
    CHECK(aclrtMalloc(&small, 100, ACL_MEM_MALLOC_NORMAL_ONLY));
    CHECK(aclrtMalloc(&large, 4 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtFree(small));
    CHECK(aclrtFree(large));
}

static void host_memory(void)
{
    void *pinned;
    CHECK(aclrtMallocHost(&pinned, 4096));
    CHECK(aclrtMemcpyAsync(memory, 4096, pinned, 4096, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtFreeHost(pinned));
}

static void registered_memory(void)
{
    void *mapped;
    CHECK(aclrtHostRegister(pages, 4096, ACL_HOST_REGISTER_MAPPED, &mapped));
    CHECK(aclrtHostUnregister(pages));
}

static void mapped_memory(void)
{
    void *address;
    aclrtDrvMemHandle block;
    aclrtPhysicalMemProp properties;
    memset(&properties, 0, sizeof properties);
    properties.handleType = ACL_MEM_HANDLE_TYPE_NONE;
    properties.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
    properties.memAttr = ACL_HBM_MEM_HUGE;
    properties.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = 0;
    CHECK(aclrtReserveMemAddress(&address, 2 << 20, 0, NULL, 0));
    CHECK(aclrtMallocPhysical(&block, 2 << 20, &properties, 0));
    CHECK(aclrtMapMem(address, 2 << 20, 0, block, 0));
    CHECK(aclrtUnmapMem(address));
    CHECK(aclrtFreePhysical(block));
    CHECK(aclrtReleaseMemAddress(address));
}

static void nothing(void *argument)
{
    (void)argument;
}

static void a_subscription(void)
{
    uint64_t me = (uint64_t)pthread_self();
    CHECK(aclrtSubscribeReport(me, stream));
    CHECK(aclrtLaunchCallback(nothing, NULL, ACL_CALLBACK_BLOCK, stream));
    CHECK(aclrtProcessReport(5000));
    CHECK(aclrtUnSubscribeReport(me, stream));
}

static void a_host_function(void)
{
    aclrtStream made;
    CHECK(aclrtCreateStream(&made));
    CHECK(aclrtLaunchHostFunc(made, nothing, NULL));
    CHECK(aclrtDestroyStream(made));
}

static void descriptions(void)
{
    int64_t shape[2] = {2, 3};
    aclmdlDataset *dataset = aclmdlCreateDataset();
    aclDataBuffer *buffer = aclCreateDataBuffer(memory, 64);
    aclTensorDesc *tensor = aclCreateTensorDesc(ACL_FLOAT, 2, shape, ACL_FORMAT_ND);
    aclmdlDesc *model = aclmdlCreateDesc();
    REQUIRE(dataset != NULL && buffer != NULL && tensor != NULL && model != NULL);
    CHECK(aclmdlAddDatasetBuffer(dataset, buffer));
    aclDestroyTensorDesc(tensor);
    CHECK(aclmdlDestroyDataset(dataset));
    CHECK(aclDestroyDataBuffer(buffer));
    CHECK(aclmdlDestroyDesc(model));
}

static void a_graph(void)
{
    aclmdlRI made;
    CHECK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    CHECK(aclrtMemsetAsync(memory, 4096, 1, 64, stream));
    CHECK(aclmdlRICaptureEnd(stream, &made));
    CHECK(aclmdlRIExecuteAsync(made, stream));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclmdlRIDestroy(made));
}

static void a_count_notify(void)
{
    aclrtCntNotify made;
    aclrtCntNotifyRecordInfo record = {ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE, 3};
    aclrtCntNotifyWaitInfo wait;
    memset(&wait, 0, sizeof wait);
    wait.mode = ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE;
    wait.value = 3;
    CHECK(aclrtCntNotifyCreate(&made, 0));
    CHECK(aclrtCntNotifyRecord(made, stream, &record));
    CHECK(aclrtCntNotifyWaitWithTimeout(made, stream, &wait));
    CHECK(aclrtCntNotifyReset(made, stream));
    /* Otherwise what is queued grows, not what is kept. */
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtCntNotifyDestroy(made));
}

static void a_shared_event(void)
{
    aclrtEvent made;
    aclrtIpcEventHandle handle;
    CHECK(aclrtCreateEventExWithFlag(&made, ACL_EVENT_IPC));
    CHECK(aclrtIpcGetEventHandle(made, &handle));
    CHECK(aclrtRecordEvent(made, stream));
    CHECK(aclrtStreamWaitEvent(stream, made));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtDestroyEvent(made));
}

static void a_shared_notify(void)
{
    aclrtNotify made;
    char key[65];
    CHECK(aclrtCreateNotify(&made, 0));
    CHECK(aclrtNotifyGetExportKey(made, key, sizeof key, ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION));
    CHECK(aclrtRecordNotify(made, stream));
    CHECK(aclrtWaitAndResetNotify(made, stream, 0));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtDestroyNotify(made));
}

static void shared_memory(void)
{
    void *block;
    char key[65];
    CHECK(aclrtMalloc(&block, 1 << 16, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtIpcMemGetExportKey(block, 1 << 16, key, sizeof key, ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
    CHECK(aclrtIpcMemClose(key));
    CHECK(aclrtFree(block));
}

static void a_shareable_handle(void)
{
    aclrtDrvMemHandle block;
    aclrtPhysicalMemProp properties;
    uint64_t handle;
    memset(&properties, 0, sizeof properties);
    properties.handleType = ACL_MEM_HANDLE_TYPE_NONE;
    properties.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
    properties.memAttr = ACL_HBM_MEM_HUGE;
    properties.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    CHECK(aclrtMallocPhysical(&block, 2 << 20, &properties, 0));
    CHECK(aclrtMemExportToShareableHandle(block, ACL_MEM_HANDLE_TYPE_NONE, 0, &handle));
    CHECK(aclrtFreePhysical(block));
}

/* What the second process shares. */
typedef struct {
    char memory[65], notify[65];
    aclrtIpcEventHandle event;
} Shared;

static Shared shared;
static int hold[2];

/* The second process: shares an object of each kind until its input ends. */
static int share(void)
{
    Shared mine;
    void *block;
    aclrtEvent event;
    aclrtNotify notify;
    char rest;
    memset(&mine, 0, sizeof mine);
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtMalloc(&block, 1 << 16, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtIpcMemGetExportKey(block, 1 << 16, mine.memory, sizeof mine.memory, ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
    CHECK(aclrtCreateNotify(&notify, 0));
    CHECK(aclrtNotifyGetExportKey(notify, mine.notify, sizeof mine.notify, ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION));
    CHECK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC));
    CHECK(aclrtIpcGetEventHandle(event, &mine.event));
    REQUIRE(write(1, &mine, sizeof mine) == (ssize_t)sizeof mine);
    while (read(0, &rest, 1) > 0) {
    }
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}

/* Starts the second process, before this one uses the runtime. */
static pid_t start_sharing(const char *self)
{
    int answer[2];
    pid_t other;
    REQUIRE(pipe(hold) == 0 && pipe(answer) == 0);
    other = fork();
    REQUIRE(other >= 0);
    if (other == 0) {
        dup2(hold[0], 0);
        dup2(answer[1], 1);
        close(hold[0]);
        close(hold[1]);
        close(answer[0]);
        close(answer[1]);
        execl(self, self, "shares", (char *)NULL);
        _exit(127);
    }
    close(hold[0]);
    close(answer[1]);
    REQUIRE(read(answer[0], &shared, sizeof shared) == (ssize_t)sizeof shared);
    close(answer[0]);
    return other;
}

static void imported_memory(void)
{
    void *there;
    CHECK(aclrtIpcMemImportByKey(&there, shared.memory, 0));
    CHECK(aclrtMemsetAsync(there, 1 << 16, 1, 64, stream));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtIpcMemClose(shared.memory));
}

static void imported_notify(void)
{
    aclrtNotify there;
    CHECK(aclrtNotifyImportByKey(&there, shared.notify, 0));
    CHECK(aclrtRecordNotify(there, stream));
    CHECK(aclrtWaitAndResetNotify(there, stream, 0));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtDestroyNotify(there));
}

static void imported_event(void)
{
    aclrtEvent there;
    CHECK(aclrtIpcOpenEventHandle(shared.event, &there));
    CHECK(aclrtStreamWaitEvent(stream, there));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtDestroyEvent(there));
}

static const char *kernels;

static void a_kernel_binary(void)
{
    aclrtBinHandle made;
    aclrtFuncHandle blocks, fails;
    aclrtArgsHandle list;
    aclrtParamHandle parameter;
    aclrtFuncHandle same;
    CHECK(aclrtBinaryLoadFromFile(kernels, NULL, &made));
    CHECK(aclrtBinaryGetFunction(made, "blocks", &blocks));
    CHECK(aclrtBinaryGetFunction(made, "fails", &fails));
    CHECK(aclrtBinaryGetFunction(made, "blocks", &same));
    REQUIRE(same == blocks);
    CHECK(aclrtKernelArgsInit(blocks, &list));
    CHECK(aclrtKernelArgsAppend(list, &memory, sizeof memory, &parameter));
    CHECK(aclrtKernelArgsFinalize(list));
    CHECK(aclrtLaunchKernelWithConfig(blocks, 2, stream, NULL, list, NULL));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtBinaryUnLoad(made));
}

static aclrtFuncHandle kernel;

static void a_launch(void)
{
    void *arguments[] = {&memory};
    CHECK(aclrtLaunchKernelWithArgsArray(kernel, 3, stream, NULL, arguments));
    CHECK(aclrtSynchronizeStream(stream));
}

static void a_launch_that_fails(void)
{
    static aclrtFuncHandle fails;
    uint32_t from = 0;
    int32_t status = 3;
    void *arguments[] = {&from, &status};
    if (fails == NULL) {
        aclrtBinHandle binary;
        CHECK(aclrtFunctionGetBinary(kernel, &binary));
        CHECK(aclrtBinaryGetFunction(binary, "fails", &fails));
    }
    CHECK(aclrtLaunchKernelWithArgsArray(fails, 1, stream, NULL, arguments));
    EXPECT(ACL_ERROR_RT_AICORE_EXCEPTION, aclrtSynchronizeStream(stream));
    REQUIRE(aclGetRecentErrMsg() != NULL);
}

/* A launch that is captured, looked at, changed, and executed. */
static void a_kernel_graph(void)
{
    aclmdlRI made;
    aclrtStream captured;
    aclmdlRITask task;
    aclmdlRITaskParams parameters;
    uint32_t one = 1;
    void *arguments[] = {&memory};
    CHECK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    CHECK(aclrtLaunchKernelWithArgsArray(kernel, 3, stream, NULL, arguments));
    CHECK(aclmdlRICaptureEnd(stream, &made));
    CHECK(aclmdlRIGetStreams(made, &captured, &one));
    CHECK(aclmdlRIGetTasksByStream(captured, &task, &one));
    CHECK(aclmdlRITaskGetParams(task, &parameters));
    parameters.kernelTaskParams.numBlocks = 2;
    CHECK(aclmdlRITaskSetParams(task, &parameters));
    CHECK(aclmdlRIUpdate(made));
    CHECK(aclmdlRIExecuteAsync(made, stream));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclmdlRIDestroy(made));
}

static void objects_of_the_profiler(void)
{
    uint32_t device = 0;
    aclprofConfig *all = aclprofCreateConfig(&device, 1, ACL_AICORE_NONE, NULL, ACL_PROF_TASK_TIME);
    aclprofStepInfo *step = aclprofCreateStepInfo();
    aclprofSubscribeConfig *subscription = aclprofCreateSubscribeConfig(1, ACL_AICORE_NONE, &device);
    REQUIRE(all != NULL && step != NULL && subscription != NULL);
    CHECK(aclprofDestroyConfig(all));
    aclprofDestroyStepInfo(step);
    CHECK(aclprofDestroySubscribeConfig(subscription));
}

static void managed_memory(void)
{
    void *block;
    CHECK(aclrtMemAllocManaged(&block, 2 << 20, ACL_RT_MEM_ATTACH_GLOBAL));
    CHECK(aclrtFree(block));
}

static void a_memory_pool(void)
{
    aclrtMemPool pool;
    aclrtMemPoolProps properties;
    void *parts[2];
    memset(&properties, 0, sizeof properties);
    properties.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    CHECK(aclrtMemPoolCreate(&pool, &properties));
    CHECK(aclrtMemPoolMallocAsync(&parts[0], 1000, pool, stream));
    CHECK(aclrtMemPoolMallocAsync(&parts[1], 3 << 20, pool, stream));
    CHECK(aclrtMemsetAsync(parts[0], 1000, 1, 1000, stream));
    CHECK(aclrtMemPoolFreeAsync(parts[0], stream));
    CHECK(aclrtMemPoolFreeAsync(parts[1], stream));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtMemPoolDestroy(pool));
}

static void labels(void)
{
    aclrtLabel made[2];
    aclrtLabelList list;
    CHECK(aclrtCreateLabel(&made[0]));
    CHECK(aclrtCreateLabel(&made[1]));
    CHECK(aclrtCreateLabelList(made, 2, &list));
    CHECK(aclrtDestroyLabelList(list));
    CHECK(aclrtDestroyLabel(made[0]));
    CHECK(aclrtDestroyLabel(made[1]));
}

/* Two streams, a group of tasks, a condition, and a capture that is left in the middle. */
static void a_large_graph(void)
{
    aclmdlRI made, same;
    aclrtStream side;
    aclrtEvent fork, join;
    aclrtTaskGrp group;
    aclmdlRICondHandle condition;
    aclmdlRICaptureStatus status;
    aclrtContext own;

    CHECK(aclrtCreateStream(&side));
    CHECK(aclrtCreateEventExWithFlag(&fork, ACL_EVENT_SYNC));
    CHECK(aclrtCreateEventExWithFlag(&join, ACL_EVENT_SYNC));
    CHECK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    CHECK(aclmdlRICaptureGetInfo(stream, &status, &same));
    CHECK(aclmdlRICondHandleCreate(same, 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &condition));
    CHECK(aclrtRecordEvent(fork, stream));
    CHECK(aclrtStreamWaitEvent(side, fork));
    CHECK(aclrtMemsetAsync(memory, 4096, 1, 64, side));
    CHECK(aclrtRecordEvent(join, side));
    CHECK(aclrtStreamWaitEvent(stream, join));
    CHECK(aclmdlRICaptureTaskGrpBegin(stream));
    CHECK(aclrtMemsetAsync(memory, 4096, 2, 64, stream));
    CHECK(aclmdlRICaptureTaskGrpEnd(stream, &group));
    CHECK(aclmdlRICaptureEnd(stream, &made));
    CHECK(aclmdlRIExecuteAsync(made, stream));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclmdlRIDestroy(made));
    CHECK(aclrtDestroyStream(side));
    CHECK(aclrtDestroyEvent(fork));
    CHECK(aclrtDestroyEvent(join));
    CHECK(aclrtCreateContext(&own, 0));
    CHECK(aclrtCreateStream(&side));
    CHECK(aclmdlRICaptureBegin(side, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    CHECK(aclrtMemsetAsync(memory, 4096, 1, 64, side));
    CHECK(aclrtDestroyContext(own));
    CHECK(aclrtSetCurrentContext(context));
}

static void a_built_model(void)
{
    aclmdlRI made;
    aclrtStream bound;
    CHECK(aclrtCreateStreamWithConfig(&bound, 0, ACL_STREAM_PERSISTENT));
    CHECK(aclmdlRIBuildBegin(&made, 0));
    CHECK(aclmdlRIBindStream(made, bound, 0));
    CHECK(aclrtMemsetAsync(memory, 4096, 1, 64, bound));
    CHECK(aclmdlRIEndTask(made, bound));
    CHECK(aclmdlRIBuildEnd(made, NULL));
    CHECK(aclmdlRIExecuteAsync(made, stream));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclmdlRIUnbindStream(made, bound));
    CHECK(aclmdlRIDestroy(made));
    CHECK(aclrtDestroyStream(bound));
}

static void a_snapshot(void)
{
    int me = (int)getpid();
    CHECK(aclrtSnapShotProcessLock(me, NULL));
    CHECK(aclrtSnapShotProcessBackup(me, NULL));
    CHECK(aclrtSnapShotProcessRestore(me, NULL));
    CHECK(aclrtSnapShotProcessUnlock(me, NULL));
}

static void a_channel(void)
{
    int64_t dims[1] = {16};
    float data[16] = {0};
    acltdtChannelHandle *channel = acltdtCreateChannelWithCapacity(0, "numbers", 3);
    acltdtDataset *sent = acltdtCreateDataset(), *received = acltdtCreateDataset();
    acltdtDataItem *item = acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, dims, 1, ACL_FLOAT, data, sizeof data);
    REQUIRE(channel != NULL && sent != NULL && received != NULL && item != NULL);
    CHECK(acltdtAddDataItem(sent, item));
    CHECK(acltdtSendTensor(channel, sent, -1));
    CHECK(acltdtSendTensor(channel, sent, -1));
    CHECK(acltdtReceiveTensor(channel, received, -1));
    CHECK(acltdtDestroyDataItem(item));
    CHECK(acltdtDestroyDataset(sent));
    CHECK(acltdtDestroyDataset(received));
    CHECK(acltdtDestroyChannel(channel));
}

static void a_queue(void)
{
    uint32_t queue;
    char bytes[64] = "";
    acltdtQueueAttr *attributes = acltdtCreateQueueAttr();
    REQUIRE(attributes != NULL);
    CHECK(acltdtCreateQueue(attributes, &queue));
    CHECK(acltdtEnqueueData(queue, bytes, sizeof bytes, NULL, 0, 0, 0));
    CHECK(acltdtDestroyQueue(queue));
    CHECK(acltdtDestroyQueueAttr(attributes));
}

static void a_buffer(void)
{
    aclrtMbuf made;
    CHECK(aclrtAllocBuf(&made, 4096));
    CHECK(aclrtFreeBuf(made));
}

static void settings(void)
{
    aclmdlConfigHandle *load = aclmdlCreateConfigHandle();
    aclmdlExecConfigHandle *run = aclmdlCreateExecConfigHandle();
    aclrtStreamConfigHandle *made = aclrtCreateStreamConfigHandle();
    aclrtGroupInfo *groups = aclrtCreateGroupInfo();
    aclrtAllocatorDesc allocator = aclrtAllocatorCreateDesc();
    REQUIRE(load != NULL && run != NULL && made != NULL && groups != NULL && allocator != NULL);
    CHECK(aclmdlDestroyConfigHandle(load));
    CHECK(aclmdlDestroyExecConfigHandle(run));
    CHECK(aclrtDestroyStreamConfigHandle(made));
    CHECK(aclrtDestroyGroupInfo(groups));
    CHECK(aclrtAllocatorDestroyDesc(allocator));
}

static void *no_block(void *object, size_t bytes)
{
    (void)object, (void)bytes;
    return NULL;
}

static void no_free(void *object, void *block)
{
    (void)object, (void)block;
}

static void *no_address(void *block)
{
    return block;
}

/* Twice registered for a stream; every second one goes with its stream. */
static void a_registered_allocator(void)
{
    static int turn;
    aclrtStream made;
    aclrtAllocatorDesc found, allocator = aclrtAllocatorCreateDesc();
    aclrtAllocator object;
    aclrtAllocatorAllocFunc allocate;
    aclrtAllocatorFreeFunc release;
    aclrtAllocatorAllocAdviseFunc near;
    aclrtAllocatorGetAddrFromBlockFunc address_of;
    CHECK(aclrtCreateStream(&made));
    CHECK(aclrtAllocatorSetObjToDesc(allocator, &turn));
    CHECK(aclrtAllocatorSetAllocFuncToDesc(allocator, no_block));
    CHECK(aclrtAllocatorSetFreeFuncToDesc(allocator, no_free));
    CHECK(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(allocator, no_address));
    CHECK(aclrtAllocatorRegister(made, allocator));
    CHECK(aclrtAllocatorRegister(made, allocator));
    CHECK(aclrtAllocatorGetByStream(made, &found, &object, &allocate, &release, &near, &address_of));
    REQUIRE(found == allocator && object == &turn && allocate == no_block && near == NULL);
    CHECK(aclrtAllocatorDestroyDesc(allocator));
    if (turn++ % 2 == 0) {
        CHECK(aclrtAllocatorUnregister(made));
    }
    CHECK(aclrtDestroyStream(made));
}

/* A group of tasks whose launch is replaced between executions. */
static void an_updated_group(void)
{
    aclmdlRI made;
    aclrtStream side;
    aclrtTaskGrp group;
    void *arguments[] = {&memory};
    CHECK(aclrtCreateStream(&side));
    CHECK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    CHECK(aclmdlRICaptureTaskGrpBegin(stream));
    CHECK(aclrtLaunchKernelWithArgsArray(kernel, 3, stream, NULL, arguments));
    CHECK(aclmdlRICaptureTaskGrpEnd(stream, &group));
    CHECK(aclmdlRICaptureEnd(stream, &made));
    for (uint32_t blocks = 1; blocks < 3; blocks++) {
        CHECK(aclmdlRICaptureTaskUpdateBegin(side, group));
        CHECK(aclrtLaunchKernelWithArgsArray(kernel, blocks, side, NULL, arguments));
        CHECK(aclmdlRICaptureTaskUpdateEnd(side));
        CHECK(aclmdlRIExecuteAsync(made, stream));
        CHECK(aclrtSynchronizeStream(stream));
    }
    CHECK(aclmdlRIDestroy(made));
    CHECK(aclrtDestroyStream(side));
}

/* The whole runtime goes and comes again, with what was made in it. */
static void a_runtime(void)
{
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtFree(memory));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtGetCurrentContext(&context));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemsetAsync(memory, 4096, 1, 64, stream));
    CHECK(aclrtSynchronizeStream(stream));
}

static void an_error(void)
{
    EXPECT(107001, aclrtSetDevice(1000));
    REQUIRE(aclGetRecentErrMsg() != NULL);
}

typedef struct {
    uint32_t streams, events;
    size_t bytes;
} Left;

static Left left(void)
{
    Left now;
    size_t total;
    CHECK(aclrtGetStreamAvailableNum(&now.streams));
    CHECK(aclrtGetEventAvailNum(&now.events));
    CHECK(aclrtGetMemInfo(ACL_HBM_MEM, &now.bytes, &total));
    return now;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*cycle)(void);
        int share; /* one in so many of the cycles: some take long */
    } kinds[] = {
        {"use of a device", a_device_use, 1},
        {"device", a_device, 10},
        {"context", a_context, 1},
        {"stream", a_stream, 1},
        {"stream that waits for a value", a_stream_that_waits, 1},
        {"event", an_event, 1},
        {"notify", a_notify, 1},
        {"device memory", device_memory, 1},
        {"host memory", host_memory, 1},
        {"registered memory", registered_memory, 1},
        {"mapped memory", mapped_memory, 10},
        {"subscription", a_subscription, 1},
        {"stream with a host function", a_host_function, 5},
        {"descriptions", descriptions, 1},
        {"captured graph", a_graph, 1},
        {"graph of two streams", a_large_graph, 1},
        {"built model", a_built_model, 1},
        {"labels", labels, 1},
        {"counting notify", a_count_notify, 1},
        {"shared event", a_shared_event, 1},
        {"shared notify", a_shared_notify, 1},
        {"shared memory", shared_memory, 5},
        {"shareable handle", a_shareable_handle, 5},
        {"imported memory", imported_memory, 5},
        {"imported notify", imported_notify, 1},
        {"imported event", imported_event, 1},
        {"kernel binary", a_kernel_binary, 1},
        {"kernel's launch", a_launch, 1},
        {"kernel that fails", a_launch_that_fails, 1},
        {"graph of a kernel", a_kernel_graph, 1},
        {"group of kernels that is updated", an_updated_group, 1},
        {"objects of the profiler", objects_of_the_profiler, 1},
        {"managed memory", managed_memory, 1},
        {"memory pool", a_memory_pool, 1},
        {"snapshot", a_snapshot, 1},
        {"channel", a_channel, 1},
        {"queue", a_queue, 1},
        {"buffer", a_buffer, 1},
        {"settings", settings, 1},
        {"registered allocator", a_registered_allocator, 1},
        {"error", an_error, 1},
        {"runtime", a_runtime, 20},
    };
    int cycles = argc > 1 ? atoi(argv[1]) : 600;
    pid_t other;
    int status;

    if (argc > 1 && strcmp(argv[1], "shares") == 0) {
        return share();
    }
    setenv("JUMAR_DEVICES", "2", 1);
    other = start_sharing(argv[0]);
    kernels = getenv("KERNELS");
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtGetCurrentContext(&context));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    REQUIRE(posix_memalign((void **)&pages, 4096, 4096) == 0);
    if (kernels != NULL) {
        aclrtBinHandle binary;
        CHECK(aclrtBinaryLoadFromFile(kernels, NULL, &binary));
        CHECK(aclrtBinaryGetFunction(binary, "blocks", &kernel));
    }
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        int count = cycles / kinds[kind].share;
        long half, end;
        Left after, before;
        if (argc > 2 && strstr(kinds[kind].name, argv[2]) == NULL) {
            continue;
        }
        if (kernels == NULL && strstr(kinds[kind].name, "kernel") != NULL) {
            continue;
        }
        kinds[kind].cycle();
        CHECK(aclrtSynchronizeStream(stream));
        before = left();
        for (int i = 0; i < count / 2; i++) {
            kinds[kind].cycle();
        }
        half = resident_kib();
        for (int i = count / 2; i < count; i++) {
            kinds[kind].cycle();
        }
        CHECK(aclrtSynchronizeStream(stream));
        end = resident_kib();
        after = left();
        printf("%-30s %6d cycles, resident %ld KiB, then %+ld\n", kinds[kind].name, count, half, end - half);
        fflush(stdout);
        REQUIRE(before.streams == after.streams);
        REQUIRE(before.events == after.events);
        REQUIRE(before.bytes == after.bytes);
        REQUIRE(end - half < (count >= MANY_CYCLES ? ALLOWED_KIB : ALLOWED_KIB_SHORT));
    }
    CHECK(aclrtFree(memory));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    close(hold[1]);
    REQUIRE(waitpid(other, &status, 0) == other && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return 0;
}
