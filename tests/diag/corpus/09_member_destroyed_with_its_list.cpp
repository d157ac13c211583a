#include "operators.h"

#include "aclnnop/aclnn_cat.h"

int main()
{
    set_up();
    {
        Stream stream;
        Memory values(1024, 0), result(2048);
        const int64_t dim = 256;
        aclTensor *parts[2];
        for (aclTensor *&part : parts) {
            part = aclCreateTensor(&dim, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &dim, 1, values);
        }
        Tensor both(result, {512});
        aclTensorList *list = aclCreateTensorList(parts, 2);
        RUN(aclnnCat, stream, list, 0, both);
        MUST(aclDestroyTensorList(list));
#ifndef CLEAN
        TRY(aclDestroyTensor(parts[0])); // FINDS JMR-OP-013
#endif
        MUST(aclrtSynchronizeStream(stream));
    }
    tear_down();
}
