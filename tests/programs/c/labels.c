/* A process has 65535 labels; the next one is refused with an error code, and destroying one frees a slot. */
#include "program.h"

#define LABELS 65535

int main(void)
{
    static aclrtLabel labels[LABELS];
    aclrtLabel more = NULL;

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    for (int i = 0; i < LABELS; i++) {
        CHECK(aclrtCreateLabel(&labels[i]));
    }
    EXPECT(ACL_ERROR_RT_INTERNAL_ERROR, aclrtCreateLabel(&more));
    CHECK(aclrtDestroyLabel(labels[7]));
    CHECK(aclrtCreateLabel(&labels[7]));
    EXPECT(ACL_ERROR_RT_INTERNAL_ERROR, aclrtCreateLabel(&more));
    for (int i = 0; i < LABELS; i++) {
        CHECK(aclrtDestroyLabel(labels[i]));
    }
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
