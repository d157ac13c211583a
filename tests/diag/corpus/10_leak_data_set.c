#include "corpus.h"

int main(void)
{
    aclmdlDataset *set;

    set_up();
    set = aclmdlCreateDataset(); /* FINDS JMR-LEAK-002 */
#ifdef CLEAN
    MUST(aclmdlDestroyDataset(set));
#else
    (void)set;
#endif
    tear_down();
    return 0;
}
