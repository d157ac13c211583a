#include "corpus.h"

int main(void)
{
    void *memory = NULL;
    pid_t child;
    int status;

    set_up();
    MUST(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtFree(memory));
    memory = NULL;
    child = fork();
    if (child == 0) {
#ifndef CLEAN
        TRY(aclrtSetDevice(0)); /* FINDS JMR-FORK-001 */
#endif
        _exit(0);
    }
    waitpid(child, &status, 0);
    tear_down();
    return 0;
}
