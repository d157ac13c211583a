/* A careful program, but for two things: the error path of the second allocation forgets the first one, and the status of the
 * fill is ignored. */
#include "../corpus/corpus.h"

int main(void)
{
    void *first = NULL, *second = NULL;
    char host[64];
    int done = 1;

    if (aclInit(NULL) != 0) {
        return 2;
    }
    if (aclrtSetDevice(0) != 0) {
        aclFinalize();
        return 3;
    }
    if (aclrtMalloc(&first, 64, ACL_MEM_MALLOC_HUGE_FIRST) != 0) {
        done = 4;
    } else if (aclrtMalloc(&second, 64, ACL_MEM_MALLOC_HUGE_FIRST) != 0) {
        first = NULL;
        done = 5;
    } else {
        (void)aclrtMemset(first, 64, 7, 64);
        (void)aclrtMemset(second, 64, 7, 64);
        done = aclrtMemcpy(host, 64, first, 64, ACL_MEMCPY_DEVICE_TO_HOST) != 0 ? 6 : 0;
    }
    if (second != NULL) {
        aclrtFree(second);
    }
    if (first != NULL) {
        aclrtFree(first);
    }
    /* Memory goes with the device: a leak has to be seen before. */
    if (done != 5) {
        aclrtResetDevice(0);
    }
    aclFinalize();
    return done;
}
