// The last row of the view lies behind the memory, in what the allocator set aside beyond it.
#include "operators.h"

#include "aclnnop/aclnn_exp.h"

int main()
{
    set_up();
    {
        Stream stream;
        Memory values(1024, 0), result(1000);
#ifdef CLEAN
        const int64_t length = 250;
#else
        const int64_t length = 256;
#endif
        Tensor x(values, {length}), y(result, {length});
        RUN(aclnnExp, stream, x, y); // FINDS JMR-MEM-010
        MUST(aclrtSynchronizeStream(stream));
    }
    tear_down();
}
