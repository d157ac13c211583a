#include "corpus.h"

int main(void)
{
    aclrtEvent event;

    set_up();
    MUST(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC)); /* FINDS JMR-EVENT-018 */
#ifdef CLEAN
    MUST(aclrtDestroyEvent(event));
#else
    (void)event;
#endif
    MUST(aclFinalize());
    return 0;
}
