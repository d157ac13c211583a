// The size is asked once, for the first and smaller call.
#include "operators.h"

#include "aclnnop/aclnn_softmax.h"

int main()
{
    set_up();
    {
        Stream stream;
        Memory values(64 * 64 * 2, 0), result(64 * 64 * 2);
        void *workspace = nullptr;
        uint64_t bytes = 0;
        for (int64_t rows = 32; rows <= 64; rows *= 2) {
            Tensor x(values, {64, rows}, {1, 64}, 0, ACL_FLOAT16), y(result, {64, rows}, {1, 64}, 0, ACL_FLOAT16);
            uint64_t size = 0;
            aclOpExecutor *executor = nullptr;
            MUST(aclnnSoftmaxGetWorkspaceSize(x, 0, y, &size, &executor));
            if (workspace == nullptr) {
#ifdef CLEAN
                bytes = 2 * size;
#else
                bytes = size;
#endif
                MUST(aclrtMalloc(&workspace, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
            }
            if (aclnnSoftmax(workspace, size, executor, stream) != 0) { // FINDS JMR-OP-003
                MUST(aclDestroyAclOpExecutor(executor));
            }
        }
        MUST(aclrtSynchronizeStream(stream));
        MUST(aclrtFree(workspace));
    }
    tear_down();
}
