#include "corpus.h"

int main(void)
{
    aclrtEvent event = NULL;

    set_up();
#ifndef CLEAN
    TRY(aclrtCreateEventWithFlag(&event, 0xffff0000u)); /* FINDS JMR-EVENT-008 */
#endif
    (void)event;
    tear_down();
    return 0;
}
