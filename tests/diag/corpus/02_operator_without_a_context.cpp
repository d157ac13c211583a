#include "operators.h"

#include <thread>

#include "aclnnop/aclnn_floor.h"

int main()
{
    set_up();
    {
        Memory values(1024, 0), result(1024);
        Tensor x(values, {256}), y(result, {256});
        std::thread([&] {
            uint64_t size = 0;
            aclOpExecutor *executor = nullptr;
#ifdef CLEAN
            MUST(aclrtSetDevice(0));
#endif
            MUST(aclnnFloorGetWorkspaceSize(x, y, &size, &executor));
            if (aclnnFloor(nullptr, 0, executor, nullptr) != 0) { // FINDS JMR-CTX-001
                MUST(aclDestroyAclOpExecutor(executor));
                return;
            }
            MUST(aclrtSynchronizeStream(nullptr));
            MUST(aclrtResetDevice(0));
        }).join();
        MUST(aclrtSetDevice(0));
    }
    tear_down();
}
