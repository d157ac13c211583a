#include "corpus.h"

/* WITH profiles all: one of them has no such events. */
int main(void)
{
    aclrtEvent event;

    set_up();
#ifdef CLEAN
    MUST(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
#else
    MUST(aclrtCreateEventWithFlag(&event, ACL_EVENT_DEVICE_USE_ONLY)); /* FINDS JMR-PORT-001 */
#endif
    MUST(aclrtDestroyEvent(event));
    tear_down();
    return 0;
}
