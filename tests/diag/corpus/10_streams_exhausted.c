/* PROFILE small */
#include "corpus.h"

int main(void)
{
    aclrtStream streams[8];
    int made = 0;

    set_up();
    for (int number = 0; number < 8; number++) {
#ifdef CLEAN
        if (number >= 3) {
            break;
        }
#endif
        if (aclrtCreateStream(&streams[made]) != ACL_SUCCESS) { /* FINDS JMR-STREAM-010 FINDS JMR-LIMIT-001 */
            break;
        }
        made++;
    }
    while (made > 0) {
        MUST(aclrtDestroyStream(streams[--made]));
    }
    tear_down();
    return 0;
}
