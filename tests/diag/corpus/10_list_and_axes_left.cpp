// A list that is left is one finding: its members go with it.
#include "operators.h"

#include "aclnnop/aclnn_flip.h"
#include "aclnnop/aclnn_stack.h"

int main()
{
    set_up();
    {
        Stream stream;
        Memory values(1024, 0), stacked(2048), flipped(2048);
        const int64_t dim = 256, axis = 0;
        aclTensor *parts[2];
        for (aclTensor *&part : parts) {
            part = aclCreateTensor(&dim, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &dim, 1, values);
        }
        Tensor both(stacked, {2, 256}), turned(flipped, {2, 256});
        aclTensorList *list = aclCreateTensorList(parts, 2); // FINDS JMR-OP-012
        aclIntArray *axes = aclCreateIntArray(&axis, 1); // FINDS JMR-OP-012
        RUN(aclnnStack, stream, list, 0, both);
        RUN(aclnnFlip, stream, both, axes, turned);
#ifdef CLEAN
        MUST(aclDestroyTensorList(list));
        MUST(aclDestroyIntArray(axes));
#endif
        MUST(aclrtSynchronizeStream(stream));
    }
    tear_down();
}
