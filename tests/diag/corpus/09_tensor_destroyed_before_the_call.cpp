#include "operators.h"

#include "aclnnop/aclnn_relu.h"

int main()
{
    set_up();
    {
        Stream stream;
        Memory values(1024, 0), result(1024);
        const int64_t dim = 256;
        aclTensor *x = aclCreateTensor(&dim, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &dim, 1, values);
        Tensor y(result, {256});
        uint64_t size = 0;
        aclOpExecutor *executor = nullptr;
#ifndef CLEAN
        MUST(aclDestroyTensor(x));
#endif
        TRY(aclnnReluGetWorkspaceSize(x, y, &size, &executor)); // FINDS JMR-OP-013
#ifdef CLEAN
        MUST(aclDestroyTensor(x));
        MUST(aclnnRelu(nullptr, size, executor, stream));
#endif
        MUST(aclrtSynchronizeStream(stream));
    }
    tear_down();
}
