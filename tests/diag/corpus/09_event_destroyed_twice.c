#include "corpus.h"

int main(void)
{
    aclrtEvent event;

    set_up();
    MUST(aclrtCreateEvent(&event));
    MUST(aclrtDestroyEvent(event));
#ifndef CLEAN
    TRY(aclrtDestroyEvent(event)); /* FINDS JMR-EVENT-015 */
#endif
    tear_down();
    return 0;
}
