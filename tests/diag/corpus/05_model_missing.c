#include "corpus.h"

int main(void)
{
    uint32_t model = 0;

    set_up();
#ifndef CLEAN
    TRY(aclmdlLoadFromFile("no/such/model.om", &model)); /* FINDS JMR-MODEL-002 */
#endif
    (void)model;
    tear_down();
    return 0;
}
