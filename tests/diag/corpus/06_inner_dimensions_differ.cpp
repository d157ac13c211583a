#include "operators.h"

#include "aclnnop/aclnn_mm.h"

int main()
{
    set_up();
    {
        Stream stream;
        Memory left(8 * 4 * sizeof(float), 0), right(4 * 8 * sizeof(float), 0), result(8 * 8 * sizeof(float));
#ifdef CLEAN
        Tensor a(left, {8, 4}), b(right, {4, 8});
#else
        Tensor a(left, {8, 4}), b(right, {8, 4});
#endif
        Tensor c(result, {8, 8});
        uint64_t size = 0;
        aclOpExecutor *executor = nullptr;
        int status = aclnnMmGetWorkspaceSize(a, b, c, 0, &size, &executor); // FINDS JMR-OP-002
        if (status == 0) {
            Memory workspace(size + 1);
            MUST(aclnnMm(workspace, size, executor, stream));
            MUST(aclrtSynchronizeStream(stream));
        }
    }
    tear_down();
}
