// The tensor outlives the memory that it describes.
#include "operators.h"

#include "aclnnop/aclnn_abs.h"

int main()
{
    set_up();
    {
        Stream stream;
        Memory result(1024);
        void *values;
        MUST(aclrtMalloc(&values, 1024, ACL_MEM_MALLOC_HUGE_FIRST));
        MUST(aclrtMemset(values, 1024, 0, 1024));
        Tensor x(values, {256}), y(result, {256});
        uint64_t size = 0;
        aclOpExecutor *executor = nullptr;
        MUST(aclnnAbsGetWorkspaceSize(x, y, &size, &executor));
#ifndef CLEAN
        MUST(aclrtFree(values));
#endif
        int status = aclnnAbs(nullptr, 0, executor, stream); // FINDS JMR-MEM-007
        if (status != 0) {
            MUST(aclDestroyAclOpExecutor(executor));
        }
        MUST(aclrtSynchronizeStream(stream));
#ifdef CLEAN
        MUST(aclrtFree(values));
#endif
    }
    tear_down();
}
