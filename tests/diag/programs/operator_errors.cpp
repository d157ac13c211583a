// Looks at what its first operator came to and not at the second one's.
#include "../corpus/operators.h"

#include "aclnnop/aclnn_exp.h"

static int exponential(aclTensor *x, aclTensor *y, aclrtStream stream)
{
    uint64_t size = 0;
    aclOpExecutor *executor = nullptr;
    int status = aclnnExpGetWorkspaceSize(x, y, &size, &executor);
    if (status != 0) {
        return status;
    }
    status = aclnnExp(nullptr, size, executor, stream);
    if (status != 0) {
        MUST(aclDestroyAclOpExecutor(executor));
    }
    return status;
}

int main()
{
    set_up();
    int failed = 0;
    {
        Memory values(1024, 0), result(1024);
        Tensor x(values, {256}), y(result, {256});
        aclrtStream stream;
        MUST(aclrtCreateStream(&stream));
        failed |= exponential(x, y, stream);
        failed |= aclrtSynchronizeStream(stream);
        TRY(exponential(x, y, stream));
        TRY(aclrtSynchronizeStream(stream));
        MUST(aclrtDestroyStream(stream));
    }
    tear_down();
    return failed == 0 ? 0 : 3;
}
