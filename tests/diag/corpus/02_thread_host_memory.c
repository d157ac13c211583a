#include "corpus.h"

static aclrtContext context;

static void *work(void *unused)
{
    void *memory = NULL;
    (void)unused;
#ifdef CLEAN
    MUST(aclrtSetCurrentContext(context));
#endif
    TRY(aclrtMallocHost(&memory, 64)); /* FINDS JMR-HOST-001 */
    if (memory != NULL) {
        MUST(aclrtFreeHost(memory));
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;

    set_up();
    MUST(aclrtGetCurrentContext(&context));
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    tear_down();
    return 0;
}
