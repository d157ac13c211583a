#include "corpus.h"

int main(void)
{
    const char *first = "first.json", *second = "second.json";
    FILE *file;

    file = fopen(first, "w");
    MUST(file == NULL);
    fputs("{\"one\": \"1\"}", file);
    fclose(file);
    file = fopen(second, "w");
    MUST(file == NULL);
    fputs("{\"two\": \"2\"}", file);
    fclose(file);
    MUST(aclInit(first));
    MUST(aclFinalize());
#ifdef CLEAN
    second = first;
#endif
    if (aclInit(second) == ACL_SUCCESS) { /* FINDS JMR-INIT-002 */
        MUST(aclFinalize());
    }
    return 0;
}
