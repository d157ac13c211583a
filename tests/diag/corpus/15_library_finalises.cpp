// A library's clean-up finalises for the whole process; the program that still has work to do finalises again.
#include "corpus.h"

static void library_close()
{
#ifndef CLEAN
    MUST(aclFinalize());
#endif
}

int main()
{
    set_up();
    MUST(aclrtResetDevice(0));
    library_close();
    TRY(aclFinalize()); // FINDS JMR-INIT-010
    return 0;
}
