#include "corpus.h"

int main(void)
{
    aclrtNotify notify;

    set_up();
#ifdef CLEAN
    MUST(aclrtCreateNotify(&notify, 0));
    MUST(aclrtDestroyNotify(notify));
#else
    TRY(aclrtCreateNotify(&notify, 2)); /* FINDS JMR-NOTIFY-001 */
    (void)notify;
#endif
    tear_down();
    return 0;
}
