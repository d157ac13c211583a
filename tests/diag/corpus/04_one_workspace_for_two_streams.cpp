#include "operators.h"

#include "aclnnop/aclnn_softmax.h"

static void softmax(aclTensor *x, aclTensor *y, void *workspace, uint64_t most, aclrtStream stream)
{
    uint64_t size = 0;
    aclOpExecutor *executor = nullptr;
    MUST(aclnnSoftmaxGetWorkspaceSize(x, 0, y, &size, &executor));
    MUST(size == 0 || size > most);
    MUST(aclnnSoftmax(workspace, size, executor, stream)); // FINDS JMR-SYNC-001
}

int main()
{
    set_up();
    {
        Stream one, two;
        const uint64_t most = 1 << 20;
        Memory values(64 * 64 * 2, 0), first(64 * 64 * 2), second(64 * 64 * 2), workspace(most);
        // Over the first dimension of two-byte floats: intermediate results in float32.
        Tensor x(values, {64, 64}, {1, 64}, 0, ACL_FLOAT16), y(first, {64, 64}, {1, 64}, 0, ACL_FLOAT16);
        Tensor z(second, {64, 64}, {1, 64}, 0, ACL_FLOAT16);
        softmax(x, y, workspace, most, one);
#ifdef CLEAN
        order(one, two);
#endif
        softmax(x, z, workspace, most, two);
        MUST(aclrtSynchronizeStream(one));
        MUST(aclrtSynchronizeStream(two));
    }
    tear_down();
}
