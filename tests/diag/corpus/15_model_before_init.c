/* NEEDS model */
#include "corpus.h"

int main(void)
{
    uint32_t model;

#ifdef CLEAN
    set_up();
    MUST(aclmdlLoadFromFile(getenv("CORPUS_MODEL"), &model));
    MUST(aclmdlUnload(model));
    tear_down();
#else
    TRY(aclmdlLoadFromFile(getenv("CORPUS_MODEL"), &model)); /* FINDS JMR-MODEL-005 */
#endif
    return 0;
}
