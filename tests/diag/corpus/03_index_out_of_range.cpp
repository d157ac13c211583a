#include "operators.h"

#include "aclnnop/aclnn_embedding.h"

int main()
{
    set_up();
    {
        Stream stream;
        Memory table(16 * 4 * sizeof(float), 0), rows(2 * 4 * sizeof(float)), indices(2 * sizeof(int64_t));
#ifdef CLEAN
        const int64_t words[2] = {3, 15};
#else
        const int64_t words[2] = {3, 16};
#endif
        MUST(aclrtMemcpy(indices, sizeof words, words, sizeof words, ACL_MEMCPY_HOST_TO_DEVICE));
        Tensor weight(table, {16, 4}), index(indices, {2}, {}, 0, ACL_INT64), out(rows, {2, 4});
        RUN(aclnnEmbedding, stream, weight, index, out);
        TRY(aclrtSynchronizeStream(stream)); // FINDS JMR-SYNC-012
    }
    tear_down();
}
