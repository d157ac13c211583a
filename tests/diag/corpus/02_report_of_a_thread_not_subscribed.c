#include "corpus.h"

int main(void)
{

    set_up();
#ifndef CLEAN
    TRY(aclrtProcessReport(1)); /* FINDS JMR-CB-009 */
#endif
    tear_down();
    return 0;
}
