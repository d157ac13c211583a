// The workspace of the largest call is found by planning all of them; the plans are left.
#include "operators.h"

#include "aclnnop/aclnn_tanh.h"

int main()
{
    set_up();
    {
        Memory values(1024, 0), result(1024);
        for (int64_t length = 16; length <= 256; length *= 4) {
            Tensor x(values, {length}), y(result, {length});
            uint64_t size = 0;
            aclOpExecutor *executor = nullptr;
            MUST(aclnnTanhGetWorkspaceSize(x, y, &size, &executor)); // FINDS JMR-OP-012
#ifdef CLEAN
            MUST(aclDestroyAclOpExecutor(executor));
#endif
        }
    }
    tear_down();
}
