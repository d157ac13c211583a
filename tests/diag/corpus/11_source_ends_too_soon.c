#include "corpus.h"

#include <sys/mman.h>

/* A file of 1 KiB, mapped at the end of a page: what is behind it is not there. */
int main(void)
{
    enum { PAGE = 4096, THERE = 1024 };
    void *device;
    char *pages;

    set_up();
    pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || munmap(pages + PAGE, PAGE) != 0) {
        return 2;
    }
    MUST(aclrtMalloc(&device, PAGE, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef CLEAN
    MUST(aclrtMemcpy(device, PAGE, pages + PAGE - THERE, THERE, ACL_MEMCPY_HOST_TO_DEVICE));
#else
    MUST(aclrtMemcpy(device, PAGE, pages + PAGE - THERE, PAGE, ACL_MEMCPY_HOST_TO_DEVICE)); /* FINDS JMR-COPY-010 */
#endif
    MUST(aclrtFree(device));
    tear_down();
    return 0;
}
