# The driver uses the system's compiler, which CMake tests with the language CXX.
set(CMAKE_ASC_COMPILER_WORKS TRUE CACHE INTERNAL "")
