#include "corpus.h"

/* WITH profiles 910B1,310P3: the smaller of the two has 1024 streams, default streams included. */
#ifdef CLEAN
#define COUNT 1023
#else
#define COUNT 1024
#endif

int main(void)
{
    static aclrtStream streams[COUNT];

    set_up();
    for (int number = 0; number < COUNT; number++)
        MUST(aclrtCreateStream(&streams[number])); /* FINDS JMR-PORT-002 */
    for (int number = 0; number < COUNT; number++)
        MUST(aclrtDestroyStream(streams[number]));
    tear_down();
    return 0;
}
