/* NEEDS model */
#include "zoo.h"

int main(void)
{
    uint32_t model;

#ifdef CLEAN
    set_up();
    MUST(aclmdlLoadFromFile(getenv("ZOO_MODEL"), &model));
    MUST(aclmdlUnload(model));
    tear_down();
#else
    TRY(aclmdlLoadFromFile(getenv("ZOO_MODEL"), &model)); /* FINDS JMR-MODEL-005 */
#endif
    return 0;
}
