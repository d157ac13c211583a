/* What a prebuilt framework adapter asks before its first tensor: versions, options of the operator compiler, determinism, an option of
 * collective communication, a hash for its profiler. Each answer is one that it can continue with. */
#include "program.h"

#include "acl/acl_op_compiler.h"
#include "hccl/hccl.h"
#include "toolchain/prof_api.h"

static int32_t on_command(uint32_t type, void *data, uint32_t length)
{
    (void)type;
    (void)data;
    (void)length;
    return 0;
}

int main(void)
{
    CHECK(aclInit(NULL));

    aclCANNPackageVersion release;
    CHECK(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, &release));
    static char *const packages[] = {(char *)"ops_math", (char *)"ops_nn", (char *)"ops_transformer", (char *)"ops_cv", (char *)"ops_legacy",
                                     (char *)"RUNTIME"};
    for (size_t i = 0; i < sizeof packages / sizeof *packages; ++i) {
        char text[128];
        CHECK(aclsysGetVersionStr(packages[i], text));
        REQUIRE(strcmp(text, release.version) == 0);
    }

    char value[64];
    REQUIRE(aclGetCompileoptSize(ACL_OP_JIT_COMPILE) == sizeof "disable");
    CHECK(aclGetCompileopt(ACL_OP_JIT_COMPILE, value, sizeof value));
    REQUIRE(strcmp(value, "disable") == 0);
    CHECK(aclSetCompileopt(ACL_PRECISION_MODE, "must_keep_origin_dtype"));
    CHECK(aclGetCompileopt(ACL_PRECISION_MODE, value, sizeof value));
    REQUIRE(strcmp(value, "must_keep_origin_dtype") == 0);

    int64_t deterministic = -1;
    CHECK(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &deterministic));
    REQUIRE(deterministic == 0);

    HcclConfigValue option;
    option.value = 1;
    CHECK(HcclSetConfig(HCCL_DETERMINISTIC, option));
    option.value = -1;
    CHECK(HcclGetConfig(HCCL_DETERMINISTIC, &option));
    REQUIRE(option.value == 1);
    option.value = 3;
    EXPECT(HCCL_E_PARA, HcclSetConfig(HCCL_DETERMINISTIC, option));
    EXPECT(HCCL_E_PARA, HcclSetConfig(HCCL_CONFIG_RESERVED, option));
    EXPECT(HCCL_E_PARA, HcclGetConfig(HCCL_CONFIG_RESERVED, &option));
    EXPECT(HCCL_E_PTR, HcclGetConfig(HCCL_DETERMINISTIC, NULL));

    HcclCommConfig config;
    HcclCommConfigInit(&config);
    REQUIRE(config.hcclBufferSize == HCCL_COMM_BUFFSIZE_CONFIG_NOT_SET && config.hcclCommName[0] == 0);

    CHECK(MsprofRegisterCallback(45, on_command));
    REQUIRE(MsprofGetHashId("aclnnAdd", 8) != MsprofGetHashId("aclnnMul", 8));
    CHECK(aclFinalize());
    return 0;
}
