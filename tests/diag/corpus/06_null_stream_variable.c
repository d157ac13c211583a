#include "corpus.h"

int main(void)
{

    set_up();
#ifndef CLEAN
    TRY(aclrtCreateStream(NULL)); /* FINDS JMR-STREAM-025 */
#endif
    tear_down();
    return 0;
}
