#include "corpus.h"

int main(void)
{
    aclrtStream stream;

    set_up();
    MUST(aclrtCreateStream(&stream)); /* FINDS JMR-STREAM-023 */
#ifdef CLEAN
    MUST(aclrtDestroyStream(stream));
#else
    (void)stream;
#endif
    MUST(aclFinalize());
    return 0;
}
