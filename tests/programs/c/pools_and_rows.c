/* Memory of a pool carries a pipeline of rows: allocated, filled, copied row by row, summed and freed in stream order. */
#include "program.h"
#include "acl/acl_rt_memory_soma.h"

#define ROWS 100
#define WIDTH 40
#define PITCH 64
#define ROUNDS 50
#define NUMBERS 100000

static void pipeline(void)
{
    aclrtStream stream;
    aclrtMemPool pool;
    aclrtMemPoolProps properties;
    void *total;
    int32_t *host, *result;
    uint64_t used = 1;

    CHECK(aclrtCreateStream(&stream));
    memset(&properties, 0, sizeof(properties));
    properties.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    CHECK(aclrtMemPoolCreate(&pool, &properties));
    CHECK(aclrtMalloc(&total, ROWS * WIDTH, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemsetD32(total, ROWS * WIDTH, 0, ROWS * WIDTH / 4));
    CHECK(aclrtMallocHost((void **)&host, ROWS * PITCH));
    CHECK(aclrtMallocHost((void **)&result, ROWS * WIDTH));
    for (int i = 0; i < ROWS * PITCH / 4; i++) {
        host[i] = i;
    }
    for (int round = 0; round < ROUNDS; round++) {
        void *part = NULL;
        CHECK(aclrtMemPoolMallocAsync(&part, ROWS * WIDTH, pool, stream));
        CHECK(aclrtMemcpy2dAsync(part, WIDTH, host, PITCH, WIDTH, ROWS, ACL_MEMCPY_HOST_TO_DEVICE, stream));
        CHECK(aclrtReduceAsync(total, part, ROWS * WIDTH, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT32, stream, NULL));
        CHECK(aclrtMemPoolFreeAsync(part, stream));
    }
    CHECK(aclrtMemcpyAsync(result, ROWS * WIDTH, total, ROWS * WIDTH, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    CHECK(aclrtSynchronizeStream(stream));
    for (int row = 0; row < ROWS; row++) {
        for (int i = 0; i < WIDTH / 4; i++) {
            REQUIRE(result[row * WIDTH / 4 + i] == ROUNDS * (row * PITCH / 4 + i));
        }
    }
    CHECK(aclrtMemPoolGetAttr(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT, &used));
    REQUIRE(used == 0);
    CHECK(aclrtMemPoolDestroy(pool));
    CHECK(aclrtDestroyStream(stream));
}

static void parameter(aclrtRandomParaInfo *to, const void *value, uint8_t size)
{
    memset(to, 0, sizeof(*to));
    memcpy(to->valueOrAddr, value, size);
    to->size = size;
}

/* Numbers of the normal distribution have its moments, and the truncated ones lie within two deviations. */
static void numbers(aclrtRandomNumFuncType function, double least_spread, double most_spread, double limit)
{
    static float host[NUMBERS];
    aclrtRandomNumTaskInfo task;
    void *device;
    float mean = 3.0f, deviation = 2.0f;
    uint64_t seed = 11, count = NUMBERS;
    double sum = 0, squares = 0, spread;

    CHECK(aclrtMalloc(&device, sizeof(host), ACL_MEM_MALLOC_HUGE_FIRST));
    memset(&task, 0, sizeof(task));
    task.dataType = ACL_FLOAT;
    task.randomNumFuncParaInfo.funcType = function;
    parameter(&task.randomNumFuncParaInfo.paramInfo.normalDisInfo.mean, &mean, 4);
    parameter(&task.randomNumFuncParaInfo.paramInfo.normalDisInfo.stddev, &deviation, 4);
    parameter(&task.randomSeed, &seed, 8);
    parameter(&task.randomNum, &count, 8);
    task.randomResultAddr = device;
    CHECK(aclrtRandomNumAsync(&task, NULL, NULL));
    CHECK(aclrtSynchronizeStream(NULL));
    CHECK(aclrtMemcpy(host, sizeof(host), device, sizeof(host), ACL_MEMCPY_DEVICE_TO_HOST));
    for (int i = 0; i < NUMBERS; i++) {
        double away = host[i] - 3.0;
        REQUIRE(away <= limit && away >= -limit);
        sum += away;
        squares += away * away;
    }
    spread = squares / NUMBERS;
    REQUIRE(sum / NUMBERS < 0.03 && sum / NUMBERS > -0.03);
    REQUIRE(spread > least_spread && spread < most_spread);
    CHECK(aclrtFree(device));
}

int main(void)
{
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    pipeline();
    /* Variances of the distributions: 4, and 4 * 0.7737 for the one cut at two deviations. */
    numbers(ACL_RT_RANDOM_NUM_FUNC_TYPE_NORMAL_DIS, 3.9, 4.1, 14.0);
    numbers(ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS, 3.02, 3.17, 4.0001);
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
