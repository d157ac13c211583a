/* PROFILE small */
#include "corpus.h"

int main(void)
{
    aclrtEvent events[32];
    int made = 0;

    set_up();
    for (int number = 0; number < 32; number++) {
#ifdef CLEAN
        if (number >= 4) {
            break;
        }
#endif
        if (aclrtCreateEventWithFlag(&events[made], ACL_EVENT_SYNC) != ACL_SUCCESS) { /* FINDS JMR-EVENT-017 FINDS JMR-LIMIT-001 */
            break;
        }
        made++;
    }
    while (made > 0) {
        MUST(aclrtDestroyEvent(events[--made]));
    }
    tear_down();
    return 0;
}
