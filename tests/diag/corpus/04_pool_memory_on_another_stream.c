#include "corpus.h"

#include "acl/acl_rt_memory_soma.h"

int main(void)
{
    aclrtStream first, second;
    aclrtEvent there, used;
    aclrtMemPool pool;
    aclrtMemPoolProps properties;
    void *block;

    set_up();
    memset(&properties, 0, sizeof properties);
    properties.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    MUST(aclrtMemPoolCreate(&pool, &properties));
    MUST(aclrtCreateStream(&first));
    MUST(aclrtCreateStream(&second));
    MUST(aclrtCreateEvent(&there));
    MUST(aclrtCreateEvent(&used));
    MUST(aclrtMemPoolMallocAsync(&block, 4096, pool, first));
    MUST(aclrtRecordEvent(there, first));
#ifdef CLEAN
    MUST(aclrtStreamWaitEvent(second, there));
#endif
    MUST(aclrtMemsetAsync(block, 4096, 1, 4096, second)); /* FINDS JMR-SYNC-009 */
    MUST(aclrtRecordEvent(used, second));
    MUST(aclrtStreamWaitEvent(first, used));
    MUST(aclrtMemPoolFreeAsync(block, first));
    MUST(aclrtSynchronizeDevice());
    MUST(aclrtDestroyEvent(used));
    MUST(aclrtDestroyEvent(there));
    MUST(aclrtDestroyStream(second));
    MUST(aclrtDestroyStream(first));
    MUST(aclrtMemPoolDestroy(pool));
    tear_down();
    return 0;
}
