// A comma too many in acl.json.
#include "corpus.h"

#include <fstream>
#include <string>

int main(int, char **argv)
{
    const std::string file = std::string(argv[0]) + ".json";
#ifdef CLEAN
    std::ofstream(file) << "{\"dump\": {}}\n";
#else
    std::ofstream(file) << "{\"dump\": {},}\n";
#endif
    if (aclInit(file.c_str()) != ACL_SUCCESS) { // FINDS JMR-INIT-004
        return 3;
    }
    MUST(aclFinalize());
    return 0;
}
