#include "operators.h"

#include "aclnnop/aclnn_add.h"

int main()
{
    set_up();
    {
        Stream stream;
        Memory values(1024, 0);
        for (int step = 0; step < 20; ++step) {
            const int64_t dim = 256;
            float one = 1;
            aclTensor *x = aclCreateTensor(&dim, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &dim, 1, values); // FINDS JMR-OP-012
            aclScalar *scalar = aclCreateScalar(&one, ACL_FLOAT); // FINDS JMR-OP-012
            RUN(aclnnInplaceAdds, stream, x, scalar, scalar);
#ifdef CLEAN
            MUST(aclDestroyTensor(x));
            MUST(aclDestroyScalar(scalar));
#endif
        }
        MUST(aclrtSynchronizeStream(stream));
    }
    tear_down();
}
