/* While one thread destroys a context and waits for its queued work, a second destroy from another thread returns an error. */
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

static void *destroy(void *context)
{
    CHECK(aclrtDestroyContext(context));
    return NULL;
}

int main(void)
{
    aclrtContext context;
    aclrtStream stream;
    aclrtEvent event;
    pthread_t other;
    double start;
    int answer;

    CHECK(aclInit(NULL));
    CHECK(aclrtCreateContext(&context, 0));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtLaunchHostFunc(stream, hold, NULL));
    REQUIRE(pthread_create(&other, NULL, destroy, context) == 0);
    /* From the moment when its teardown begins the context makes nothing new. */
    start = now_s();
    while ((answer = aclrtCreateEvent(&event)) == ACL_SUCCESS) {
        CHECK(aclrtDestroyEvent(event));
        REQUIRE(now_s() - start < PATIENCE_S);
    }
    REQUIRE(answer == ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtDestroyContext(context));
    pthread_mutex_lock(&lock);
    released = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    REQUIRE(pthread_join(other, NULL) == 0);
    EXPECT(ACL_ERROR_RT_CONTEXT_NULL, aclrtDestroyContext(context));
    CHECK(aclFinalize());
    return 0;
}
