/* A process that may not reserve address space cannot open a device: a code, a sentence that says why, and no crash, however often it asks. */
#include "program.h"

#include <sys/resource.h>
#include <unistd.h>

/* The address space that this process has taken, in bytes. */
static rlim_t taken(void)
{
    unsigned long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");

    REQUIRE(statm != NULL);
    REQUIRE(fscanf(statm, "%lu", &pages) == 1);
    fclose(statm);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

int main(void)
{
    struct rlimit before, little;
    const char *said;

    CHECK(aclInit(NULL));
    REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
    little = before;
    little.rlim_cur = taken() + (1 << 20);
    REQUIRE(setrlimit(RLIMIT_AS, &little) == 0);
    EXPECT(ACL_ERROR_RT_DEV_SETUP_ERROR, aclrtSetDevice(0));
    said = aclGetRecentErrMsg();
    REQUIRE(said != NULL);
    REQUIRE(strstr(said, "device 0") != NULL);
    REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);
    /* What could not be had at first is not asked for again: the process keeps its answer. */
    EXPECT(ACL_ERROR_RT_DEV_SETUP_ERROR, aclrtSetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
