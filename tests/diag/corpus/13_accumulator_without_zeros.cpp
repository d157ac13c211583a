#include "operators.h"

#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_zero.h"

int main()
{
    set_up();
    {
        Stream stream;
        Memory values(1024, 0), total(1024);
        Tensor x(values, {256}), sum(total, {256});
        Scalar one(1);
#ifdef CLEAN
        RUN(aclnnInplaceZero, stream, sum);
#endif
        RUN(aclnnInplaceAdd, stream, sum, x, one); // FINDS JMR-MEM-009
        MUST(aclrtSynchronizeStream(stream));
    }
    tear_down();
}
