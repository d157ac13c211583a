/* While one thread destroys a context, which waits for the work that is queued, another one that wants to destroy it too is told so. */
#include "program.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int let_go;

static void hold(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    while (!let_go) {
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
    let_go = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    REQUIRE(pthread_join(other, NULL) == 0);
    EXPECT(ACL_ERROR_RT_CONTEXT_NULL, aclrtDestroyContext(context));
    CHECK(aclFinalize());
    return 0;
}
