#include "operators.h"

#include "aclnnop/aclnn_mul.h"
#include "aclnnop/aclnn_sqrt.h"

int main()
{
    set_up();
    {
        Stream products, roots;
        Memory values(256 * sizeof(float), 0), squares(256 * sizeof(float)), result(256 * sizeof(float));
        Tensor x(values, {256}), y(squares, {256}), z(result, {256});
        RUN(aclnnMul, products, x, x, y);
#ifdef CLEAN
        order(products, roots);
#endif
        RUN(aclnnSqrt, roots, y, z); // FINDS JMR-SYNC-002
        MUST(aclrtSynchronizeStream(products));
        MUST(aclrtSynchronizeStream(roots));
    }
    tear_down();
}
