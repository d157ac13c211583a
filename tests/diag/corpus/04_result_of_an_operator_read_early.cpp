#include "operators.h"

#include "aclnnop/aclnn_exp.h"

int main()
{
    set_up();
    {
        Stream stream;
        Memory values(64 * sizeof(float), 0), result(64 * sizeof(float));
        Tensor x(values, {64}), y(result, {64});
        float host[64];
        RUN(aclnnExp, stream, x, y);
#ifdef CLEAN
        MUST(aclrtSynchronizeStream(stream));
#endif
        MUST(aclrtMemcpy(host, sizeof host, result, sizeof host, ACL_MEMCPY_DEVICE_TO_HOST)); // FINDS JMR-SYNC-005
        MUST(aclrtSynchronizeStream(stream));
    }
    tear_down();
}
