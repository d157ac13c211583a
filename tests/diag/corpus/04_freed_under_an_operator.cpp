#include "operators.h"

#include "aclnnop/aclnn_sqrt.h"

int main()
{
    set_up();
    {
        Stream stream;
        Memory values(1024, 0);
        void *result;
        MUST(aclrtMalloc(&result, 1024, ACL_MEM_MALLOC_HUGE_FIRST));
        Tensor x(values, {256}), y(result, {256});
        RUN(aclnnSqrt, stream, x, y);
#ifdef CLEAN
        MUST(aclrtSynchronizeStream(stream));
#endif
        MUST(aclrtFree(result)); // FINDS JMR-SYNC-007
        MUST(aclrtSynchronizeStream(stream));
    }
    tear_down();
}
