#include "corpus.h"

int main(void)
{

    set_up();
#ifndef CLEAN
    TRY(aclrtDestroyStream(NULL)); /* FINDS JMR-STREAM-003 */
#endif
    tear_down();
    return 0;
}
