#include "operators.h"

#include "aclnnop/aclnn_cos.h"
#include "aclnnop/aclnn_sin.h"

int main()
{
    set_up();
    {
        Stream stream;
        Memory values(1024, 0), result(1024);
        Tensor x(values, {256}), y(result, {256});
        uint64_t size = 0;
        aclOpExecutor *executor = nullptr;
        MUST(aclnnSinGetWorkspaceSize(x, y, &size, &executor));
#ifdef CLEAN
        MUST(aclnnSin(nullptr, 0, executor, stream));
#else
        TRY(aclnnCos(nullptr, 0, executor, stream)); // FINDS JMR-OP-004
        MUST(aclDestroyAclOpExecutor(executor));
#endif
        MUST(aclrtSynchronizeStream(stream));
    }
    tear_down();
}
