/* A request for more than there is returns an error code, again and again; a request that fits still succeeds
 * afterwards. */
#include "program.h"

#define BLOCKS 4

int main(void)
{
    size_t free_bytes, total, before;
    void *block = NULL;
    void *blocks[BLOCKS];

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtGetMemInfo(ACL_HBM_MEM, &before, &total));
    REQUIRE(before > 0 && before <= total);
    for (int i = 0; i < 100; i++) {
        EXPECT(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMalloc(&block, total + 1, ACL_MEM_MALLOC_HUGE_FIRST));
        REQUIRE(block == NULL);
    }
    /* Sizes near the end of the address space must not wrap round to small ones. */
    for (size_t gap = 0; gap < 64; gap++) {
        EXPECT(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMalloc(&block, SIZE_MAX - gap, ACL_MEM_MALLOC_HUGE_FIRST));
    }
    /* A quarter four times does not fit, because each allocation is a little larger than what was asked for. */
    for (int i = 0; i < BLOCKS; i++) {
        aclError ret = aclrtMalloc(&blocks[i], before / BLOCKS, ACL_MEM_MALLOC_HUGE_FIRST);
        REQUIRE(ret == (i < BLOCKS - 1 ? ACL_SUCCESS : ACL_ERROR_RT_MEMORY_ALLOCATION));
    }
    CHECK(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total));
    REQUIRE(free_bytes < before / 2);
    for (int i = 0; i < BLOCKS - 1; i++) {
        CHECK(aclrtFree(blocks[i]));
    }
    CHECK(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total));
    REQUIRE(free_bytes == before);
    CHECK(aclrtMalloc(&block, before / 2, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtFree(block));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
