#include "operators.h"

#include "aclnnop/aclnn_neg.h"

int main()
{
    set_up();
    {
        Stream stream;
        Memory values(1024, 0), result(1024);
        Tensor x(values, {256}), y(result, {256});
        uint64_t size = 0;
        aclOpExecutor *executor = nullptr;
        MUST(aclnnNegGetWorkspaceSize(x, y, &size, &executor));
        MUST(aclnnNeg(nullptr, 0, executor, stream));
#ifndef CLEAN
        TRY(aclDestroyAclOpExecutor(executor)); // FINDS JMR-OP-004
#endif
        MUST(aclrtSynchronizeStream(stream));
    }
    tear_down();
}
