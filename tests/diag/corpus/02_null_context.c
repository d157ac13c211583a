#include "corpus.h"

int main(void)
{

    set_up();
#ifndef CLEAN
    TRY(aclrtSetCurrentContext(NULL)); /* FINDS JMR-CTX-006 */
#endif
    tear_down();
    return 0;
}
