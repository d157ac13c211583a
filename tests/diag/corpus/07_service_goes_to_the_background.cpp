// A service initialises, and then becomes a daemon: the process that continues is a fork.
#include "corpus.h"

int main()
{
#ifndef CLEAN
    set_up();
#endif
    const pid_t child = fork();
    if (child != 0) {
        int status = 0;
        waitpid(child, &status, 0);
#ifndef CLEAN
        tear_down();
#endif
        return 0;
    }
    setsid();
#ifdef CLEAN
    set_up();
    tear_down();
    return 0;
#else
    aclrtStream stream = nullptr;
    TRY(aclrtCreateStream(&stream)); // FINDS JMR-FORK-001
    _exit(0);
#endif
}
