#include "corpus.h"

#include <signal.h>

/* WITH protect: a program that handles faults itself keeps doing so. */
static char *page;
static volatile int faults;

static void on_fault(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context;
    faults += (char *)info->si_addr == page;
    page = NULL;
    static const char lost[] = "a fault at another address\n";
    if (faults != 1)
        _exit((int)write(2, lost, sizeof lost - 1) ? 98 : 98);
    extern void open_page(void *);
    open_page(info->si_addr);
}

#include <sys/mman.h>

void open_page(void *at)
{
    mprotect(at, 4096, PROT_READ | PROT_WRITE);
}

int main(void)
{
    struct sigaction own = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    aclrtStream stream;
    void *device;
    char *host;

    sigaction(SIGSEGV, &own, NULL);
    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc(&device, 256, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMallocHost((void **)&host, 256));
    memset(host, 1, 256);
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(aclrtMemcpyAsync(device, 256, host, 256, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    *(volatile char *)page = 1;
#ifndef CLEAN
    memset(host + 100, 2, 100); /* FINDS JMR-SYNC-003 */
#endif
    MUST(aclrtSynchronizeStream(stream));
    MUST(aclrtFreeHost(host));
    MUST(aclrtFree(device));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return faults == 1 ? 0 : 1;
}
