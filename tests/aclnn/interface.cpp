// Calls both phases of every operator with null and 0 for each argument: each answers, and what is not computed names itself.

#include "program.h"

#include "all.h"

static uint64_t workspace_size;
static aclOpExecutor *executor;

// No operator has parameters of the types of its last two.
template <class T> T argument() { return T{}; }
template <> uint64_t *argument<uint64_t *>() { return &workspace_size; }
template <> aclOpExecutor **argument<aclOpExecutor **>() { return &executor; }

template <class... T> aclnnStatus call(aclnnStatus (*first)(T...)) { return first(argument<T>()...); }

template <class... T> aclnnStatus call_with_nothing(aclnnStatus (*first)(T...)) { return first(T{}...); }

static int planned, refused, missing;

static void judge(const char *name, aclnnStatus status)
{
    const char *text = aclGetRecentErrMsg();
    const std::string message = text == nullptr ? "" : text;
    switch (status) {
        case 0:
            CHECK(executor != nullptr);
            CHECK(aclDestroyAclOpExecutor(executor) == 0);
            ++planned;
            return;
        case 161001:
        case 161002:
            ++refused;
            break;
        case 561003:
            CHECK(message.find(std::string(name) + " is not implemented") != std::string::npos);
            ++missing;
            break;
        default:
            std::fprintf(stderr, "%s answers %d: %s\n", name, status, message.c_str());
            std::exit(1);
    }
    if (message.find(name) == std::string::npos) {
        std::fprintf(stderr, "%s answers %d without its name: %s\n", name, status, message.c_str());
        std::exit(1);
    }
}

#define PAIR(name)                                                                                                  \
    executor = nullptr;                                                                                             \
    judge(#name, call(name##GetWorkspaceSize));                                                                     \
    REFUSED(call_with_nothing(name##GetWorkspaceSize), 161001, #name);                                              \
    REFUSED(name(nullptr, 0, nullptr, nullptr), 561103, #name);

int main()
{
    CHECK(aclInit(nullptr) == 0);
    CHECK(aclrtSetDevice(0) == 0);
    ALL_OPERATORS(PAIR)
    // The one operator whose second phase takes its arguments again.
    REFUSED(call(aclnnGaussianBlurGetWorkspaceSize), 561003, "aclnnGaussianBlur");
    REFUSED(aclnnGaussianBlur(nullptr, 0, nullptr, nullptr, nullptr, 0, 0, 0, nullptr, nullptr), 561103, "aclnnGaussianBlur");
    REFUSED(aclnnTransQuantParam(nullptr, 0, nullptr, 0, nullptr, nullptr), 561003, "aclnnTransQuantParam");
    std::printf("%d planned, %d refused, %d not implemented\n", planned, refused, missing);
    CHECK(aclFinalize() == 0);
}
