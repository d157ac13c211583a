#include "corpus.h"

int main(void)
{
    aclrtNotify notify;

    set_up();
    MUST(aclrtCreateNotify(&notify, 0)); /* FINDS JMR-NOTIFY-007 */
#ifdef CLEAN
    MUST(aclrtDestroyNotify(notify));
#else
    (void)notify;
#endif
    tear_down();
    return 0;
}
