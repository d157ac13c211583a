// Two operators on two streams write columns of one matrix. Columns of their own need no order; shared ones do.
#include "operators.h"

#include "aclnnop/aclnn_fill_scalar.h"

int main()
{
    set_up();
    {
        Stream left, right;
        Memory matrix(64 * 8 * sizeof(float));
        Scalar one(1), two(2);
        Tensor first(matrix, {64, 4}, {8, 1});
#ifdef CLEAN
        Tensor second(matrix, {64, 4}, {8, 1}, 4);
#else
        Tensor second(matrix, {64, 4}, {8, 1}, 3);
#endif
        RUN(aclnnInplaceFillScalar, left, first, one);
        RUN(aclnnInplaceFillScalar, right, second, two); // FINDS JMR-SYNC-001
        MUST(aclrtSynchronizeStream(left));
        MUST(aclrtSynchronizeStream(right));
    }
    tear_down();
}
