// DEVICES 2
#include "operators.h"

#include "aclnnop/aclnn_softmax.h"

int main()
{
    set_up();
    {
        const size_t most = 1 << 20;
        Memory first(most);
        MUST(aclrtSetDevice(1));
        {
            Stream stream;
            Memory second(most), values(64 * 64 * 2, 0), result(64 * 64 * 2);
            Tensor x(values, {64, 64}, {1, 64}, 0, ACL_FLOAT16), y(result, {64, 64}, {1, 64}, 0, ACL_FLOAT16);
            uint64_t size = 0;
            aclOpExecutor *executor = nullptr;
            MUST(aclnnSoftmaxGetWorkspaceSize(x, 0, y, &size, &executor));
#ifdef CLEAN
            void *workspace = second;
#else
            void *workspace = first;
#endif
            if (aclnnSoftmax(workspace, size, executor, stream) != 0) { // FINDS JMR-OP-003
                MUST(aclDestroyAclOpExecutor(executor));
            }
            MUST(aclrtSynchronizeStream(stream));
        }
        MUST(aclrtResetDevice(1));
        MUST(aclrtSetDevice(0));
    }
    tear_down();
}
