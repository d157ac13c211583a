/*
 * What OpenH264 needs of the C++ runtime: operator new and operator delete, by their names in the C++ ABI. The runtime library must not
 * need libstdc++, which a program may bring in another version. Nothing of this is visible outside of the library.
 */
#include <stdlib.h>

#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN void *_Znwm(size_t size);
HIDDEN void *_Znam(size_t size);
HIDDEN void _ZdlPv(void *memory);
HIDDEN void _ZdlPvm(void *memory, size_t size);
HIDDEN void _ZdaPv(void *memory);
HIDDEN void _ZdaPvm(void *memory, size_t size);
HIDDEN void __cxa_pure_virtual(void);

/* The objects are small, and built without exceptions: as Rust's allocator, it ends the process when there is no memory. */
void *_Znwm(size_t size)
{
    void *memory = malloc(size == 0 ? 1 : size);
    if (memory == NULL) {
        abort();
    }
    return memory;
}

void *_Znam(size_t size)
{
    return _Znwm(size);
}

void _ZdlPv(void *memory)
{
    free(memory);
}

void _ZdlPvm(void *memory, size_t size)
{
    (void)size;
    free(memory);
}

void _ZdaPv(void *memory)
{
    free(memory);
}

void _ZdaPvm(void *memory, size_t size)
{
    (void)size;
    free(memory);
}

void __cxa_pure_virtual(void)
{
    abort();
}
