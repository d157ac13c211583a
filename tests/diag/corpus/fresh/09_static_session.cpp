// A process-wide session object, as used by plugin-like code.
#include <cstdio>
#include <memory>

#include "acl/acl.h"

#define WARN_IF(call)                                                         \
    do {                                                                      \
        aclError e = (call);                                                  \
        if (e != ACL_SUCCESS) {                                               \
            std::fprintf(stderr, "warning: %s returned %d\n", #call, e);      \
        }                                                                     \
    } while (0)

class Session {
public:
    explicit Session(size_t workspace) : size_(workspace)
    {
        WARN_IF(aclrtMalloc(&workspace_, size_, ACL_MEM_MALLOC_HUGE_FIRST));
    }

    ~Session()
    {
        if (workspace_ != nullptr) {
            WARN_IF(aclrtFree(workspace_));
        }
    }

    Session(const Session &) = delete;
    Session &operator=(const Session &) = delete;

    bool Run()
    {
        WARN_IF(aclrtMemset(workspace_, size_, 0, size_));
        unsigned char probe = 0xff;
        WARN_IF(aclrtMemcpy(&probe, 1, workspace_, 1, ACL_MEMCPY_DEVICE_TO_HOST));
        return probe == 0;
    }

private:
    size_t size_;
    void *workspace_ = nullptr;
};

static std::unique_ptr<Session> g_session;

static Session &GetSession()
{
    if (!g_session) {
        g_session = std::make_unique<Session>(1 << 20);
    }
    return *g_session;
}

int main()
{
    if (aclInit(nullptr) != ACL_SUCCESS) {
        return 1;
    }
    if (aclrtSetDevice(0) != ACL_SUCCESS) {
        (void)aclFinalize();
        return 1;
    }
    const bool ok = GetSession().Run();
    std::printf("session run: %s\n", ok ? "ok" : "bad");
    WARN_IF(aclrtResetDevice(0));
    WARN_IF(aclFinalize());
    return ok ? 0 : 1;
}
