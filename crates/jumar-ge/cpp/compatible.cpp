/* Definitions of the standard library's that older systems lack, for this library alone: a library that was compiled with a new
 * compiler loads there too. The linker exports none of these. */
#include <new>

/* glibc 2.32 has it. 0 says that there may be several threads, which is always safe. */
extern "C" {
char __libc_single_threaded = 0;
}

namespace std {

/* libstdc++ of GCC 11 has it. */
[[noreturn]] void __throw_bad_array_new_length() { throw bad_array_new_length(); }

}  // namespace std
