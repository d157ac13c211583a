// Each step makes a description of its tensor; none is destroyed.
#include "corpus.h"

#include <vector>

static size_t step(const std::vector<int64_t> &shape)
{
    aclTensorDesc *description = aclCreateTensorDesc(ACL_FLOAT, static_cast<int>(shape.size()), shape.data(), ACL_FORMAT_ND); // FINDS JMR-OP-012
    const size_t bytes = aclGetTensorDescSize(description);
#ifdef CLEAN
    aclDestroyTensorDesc(description);
#endif
    return bytes;
}

int main()
{
    size_t bytes = 0;

    set_up();
    for (int count = 0; count < 36; count++) {
        bytes += step({1, 3, 8, 8});
    }
    tear_down();
    return bytes == 36 * 768 ? 0 : 1;
}
