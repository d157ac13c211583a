/* Destroying a model while it is executed waits for it, ten seconds at most, and says then that it runs; it works once the execution ended. */
#include "program.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int released;

static void hold(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    while (!released) {
        pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
}

int main(void)
{
    aclrtStream stream;
    aclmdlRI model;
    double begin, took;

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    CHECK(aclrtLaunchHostFunc(stream, hold, NULL));
    CHECK(aclmdlRICaptureEnd(stream, &model));
    CHECK(aclmdlRIExecuteAsync(model, stream));
    begin = now_s();
    EXPECT(ACL_ERROR_RT_MODEL_RUNNING, aclmdlRIDestroy(model));
    took = now_s() - begin;
    REQUIRE(took >= 9.9);
    pthread_mutex_lock(&lock);
    released = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    CHECK(aclmdlRIDestroy(model));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
