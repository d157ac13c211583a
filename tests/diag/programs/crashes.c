/* Writes through a null pointer behind a call of the interface. */
#include "acl/acl.h"

static __attribute__((noinline)) void work(volatile int *target)
{
    *target = 7;
}

int main(int count, char **arguments)
{
    (void)arguments;
    if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) {
        return 1;
    }
    /* The compiler does not see that it is null. */
    work(count == 1 ? NULL : &count);
    return 0;
}
