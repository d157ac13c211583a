#include "corpus.h"

int main(void)
{
    aclmdlDataset *set;
    aclDataBuffer *buffer;
    char bytes[8];

    set_up();
    set = aclmdlCreateDataset();
    buffer = aclCreateDataBuffer(bytes, sizeof bytes);
    MUST(aclDestroyDataBuffer(buffer));
#ifndef CLEAN
    TRY(aclmdlAddDatasetBuffer(set, buffer)); /* FINDS JMR-DATASET-003 */
#endif
    MUST(aclmdlDestroyDataset(set));
    tear_down();
    return 0;
}
