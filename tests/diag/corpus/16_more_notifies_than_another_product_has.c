#include "corpus.h"

/* WITH profiles 310B1: it has 2048 notifies. */
#ifdef CLEAN
#define COUNT 2048
#else
#define COUNT 2049
#endif

int main(void)
{
    static aclrtNotify notifies[COUNT];

    set_up();
    for (int number = 0; number < COUNT; number++)
        MUST(aclrtCreateNotify(&notifies[number], 0)); /* FINDS JMR-PORT-002 */
    for (int number = 0; number < COUNT; number++)
        MUST(aclrtDestroyNotify(notifies[number]));
    tear_down();
    return 0;
}
