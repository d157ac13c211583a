#include "operators.h"

#include "aclnnop/aclnn_add.h"

int main()
{
    set_up();
    {
        Stream stream;
        Memory values(1024, 0);
        Tensor x(values, {256});
        Scalar one(1);
        uint64_t size = 0;
        aclOpExecutor *executor = nullptr;
        MUST(aclnnInplaceAddsGetWorkspaceSize(x, one, one, &size, &executor));
#ifdef CLEAN
        MUST(aclSetAclOpExecutorRepeatable(executor));
#endif
        MUST(aclnnInplaceAdds(nullptr, 0, executor, stream));
        TRY(aclnnInplaceAdds(nullptr, 0, executor, stream)); // FINDS JMR-OP-004
        MUST(aclrtSynchronizeStream(stream));
#ifdef CLEAN
        MUST(aclDestroyAclOpExecutor(executor));
#endif
    }
    tear_down();
}
