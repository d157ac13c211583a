#include "corpus.h"

int main(void)
{
    aclTensorDesc *desc;

    set_up();
    desc = aclCreateTensorDesc(ACL_FLOAT, 0, NULL, ACL_FORMAT_ND); /* FINDS JMR-OP-012 */
#ifdef CLEAN
    aclDestroyTensorDesc(desc);
#else
    (void)desc;
#endif
    tear_down();
    return 0;
}
