// Of four columns, three are written. A look at the range from the first byte to the last would miss it.
#include "operators.h"

#include "aclnnop/aclnn_exp.h"
#include "aclnnop/aclnn_fill_scalar.h"

int main()
{
    set_up();
    {
        Stream stream;
        Memory matrix(16 * 4 * sizeof(float)), result(16 * 4 * sizeof(float));
        Tensor whole(matrix, {16, 4}), out(result, {16, 4});
#ifdef CLEAN
        const int64_t columns = 4;
#else
        const int64_t columns = 3;
#endif
        for (int64_t column = 0; column < columns; ++column) {
            Tensor one_column(matrix, {16}, {4}, column);
            Scalar value((float)column);
            RUN(aclnnInplaceFillScalar, stream, one_column, value);
        }
        RUN(aclnnExp, stream, whole, out); // FINDS JMR-MEM-009
        MUST(aclrtSynchronizeStream(stream));
    }
    tear_down();
}
