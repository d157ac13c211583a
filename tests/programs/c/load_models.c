/* Tries to load each file named, and prints the codes: load_models <file>...
 *
 *     <load> <size query> <file>
 *     <what the library said about the load>
 *
 * What cannot be loaded must not disturb what can: the first file is loaded before all others and after them.
 */
#include "program.h"

int main(int argc, char **argv)
{
    uint32_t id = 0;
    size_t work, weight;

    if (argc < 2) {
        return 2;
    }
    EXPECT(ACL_ERROR_GE_EXEC_NOT_INIT, aclmdlLoadFromFile(argv[1], &id));
    CHECK(aclInit(NULL));
    EXPECT(ACL_ERROR_RT_CONTEXT_NULL, aclmdlLoadFromFile(argv[1], &id));
    CHECK(aclrtSetDevice(0));
    EXPECT(ACL_ERROR_INVALID_PARAM, aclmdlLoadFromFile(NULL, &id));
    EXPECT(ACL_ERROR_INVALID_PARAM, aclmdlLoadFromFile(argv[1], NULL));
    EXPECT(ACL_ERROR_GE_EXEC_MODEL_ID_INVALID, aclmdlUnload(4000000000u));

    for (int i = 1; i <= argc; i++) {
        const char *path = argv[i < argc ? i : 1];
        const char *text;
        int load, size;
        while (aclGetRecentErrMsg() != NULL) {
        }
        id = 0;
        load = (int)aclmdlLoadFromFile(path, &id);
        text = aclGetRecentErrMsg();
        size = (int)aclmdlQuerySize(path, &work, &weight);
        printf("%d %d %s\n", load, size, path);
        for (const char *c = text != NULL && load != 0 ? text : ""; *c != '\0'; c++) {
            putchar(*c == '\n' ? ' ' : *c);
        }
        printf("\n");
        if (load == ACL_SUCCESS) {
            CHECK(aclmdlUnload(id));
            EXPECT(ACL_ERROR_GE_EXEC_MODEL_ID_INVALID, aclmdlUnload(id));
        }
    }
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
