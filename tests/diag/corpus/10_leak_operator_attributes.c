#include "corpus.h"

#include "acl/acl_op.h"

int main(void)
{
    aclopAttr *attr;

    set_up();
    attr = aclopCreateAttr(); /* FINDS JMR-OP-012 */
    MUST(aclopSetAttrInt(attr, "axis", 1));
#ifdef CLEAN
    aclopDestroyAttr(attr);
#endif
    tear_down();
    return 0;
}
