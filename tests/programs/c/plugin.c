/* A program that loads the library as a plugin, leaves work queued in it and closes it: nothing that still runs is pulled away. */
#include "program.h"

#include <dlfcn.h>

typedef aclError (*SetDevice)(int32_t);
typedef aclError (*CreateStream)(aclrtStream *);
typedef aclError (*LaunchHostFunc)(aclrtStream, aclrtHostFunc, void *);
typedef aclError (*SynchronizeStream)(aclrtStream);

static volatile int ran;

static void slow(void *argument)
{
    sleep_ms(5);
    ran += *(int *)argument;
}

int main(void)
{
    int one = 1;

    for (int turn = 1; turn <= 3; turn++) {
        aclrtStream stream;
        SetDevice set;
        CreateStream create;
        LaunchHostFunc launch;
        SynchronizeStream synchronize;
        void *library = dlopen("libascendcl.so", RTLD_NOW | RTLD_LOCAL);
        REQUIRE(library != NULL);
        *(void **)&set = dlsym(library, "aclrtSetDevice");
        *(void **)&create = dlsym(library, "aclrtCreateStream");
        *(void **)&launch = dlsym(library, "aclrtLaunchHostFunc");
        *(void **)&synchronize = dlsym(library, "aclrtSynchronizeStream");
        CHECK(set(0));
        CHECK(create(&stream));
        CHECK(launch(stream, slow, &one));
        REQUIRE(dlclose(library) == 0);
        /* The addresses stay valid: the library is marked as never to be unloaded. */
        CHECK(synchronize(stream));
        REQUIRE(ran == turn);
    }
    return 0;
}
