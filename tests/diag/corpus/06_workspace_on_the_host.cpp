#include "operators.h"

#include "aclnnop/aclnn_softmax.h"

int main()
{
    set_up();
    {
        Stream stream;
        Memory values(64 * 64 * 2, 0), result(64 * 64 * 2);
        Tensor x(values, {64, 64}, {1, 64}, 0, ACL_FLOAT16), y(result, {64, 64}, {1, 64}, 0, ACL_FLOAT16);
        uint64_t size = 0;
        aclOpExecutor *executor = nullptr;
        MUST(aclnnSoftmaxGetWorkspaceSize(x, 0, y, &size, &executor));
        MUST(size == 0);
        void *workspace = nullptr;
#ifdef CLEAN
        MUST(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
        MUST(aclnnSoftmax(workspace, size, executor, stream));
        MUST(aclrtSynchronizeStream(stream));
        MUST(aclrtFree(workspace));
#else
        workspace = malloc(size);
        TRY(aclnnSoftmax(workspace, size, executor, stream)); // FINDS JMR-OP-003
        MUST(aclDestroyAclOpExecutor(executor));
        free(workspace);
#endif
    }
    tear_down();
}
