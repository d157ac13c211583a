/* Calls that are refused, and whose results the program does not look at: a batch of copies whose list of attributes does not fit, an operator that
 * does not exist, a wait with a limit below zero. In the correct form each result is compared, or the thread asks for its error. */
#include "acl/acl_op.h"
#include "corpus.h"

#define BYTES 4096

#ifdef CLEAN
#define LOOK(call)                                                                       \
    do {                                                                                 \
        if ((call) != ACL_SUCCESS) printf("refused: %s\n", aclGetRecentErrMsg());        \
    } while (0)
#else
#define LOOK(call) (void)(call)
#endif

int main(void)
{
    aclrtStream stream;
    void *host, *device;
    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMallocHost(&host, BYTES));
    MUST(aclrtMalloc(&device, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    void *targets[1] = {device}, *sources[1] = {host};
    size_t sizes[1] = {BYTES}, failed;
    aclrtMemcpyBatchAttr attribute = {{0, ACL_MEM_LOCATION_TYPE_DEVICE}, {0, ACL_MEM_LOCATION_TYPE_HOST}, {0}};
    size_t begins[1] = {7};
    memset(host, 1, BYTES);
    LOOK(aclrtMemcpyBatch(targets, sizes, sources, sizes, 1, &attribute, begins, 1, &failed)); /* FINDS JMR-CALL-001 */
    LOOK(aclopExecuteV2("NoOperatorOfThisName", 0, NULL, NULL, 0, NULL, NULL, NULL, stream));  /* FINDS JMR-CALL-001 */
    for (int round = 0; round < 2; round++) {
        LOOK(aclrtSetOpExecuteTimeOutV2(1, NULL)); /* FINDS JMR-CALL-001 */
    }
    /* Asked for later, as programs do behind launches. */
    int unknown = aclrtSetStreamFailureMode(stream, 77);
    (void)unknown;
    MUST(aclrtSynchronizeStream(stream));
    MUST(aclrtFree(device));
    MUST(aclrtFreeHost(host));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
