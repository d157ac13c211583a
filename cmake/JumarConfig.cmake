# find_package(Jumar): the runtime as Jumar::ascendcl, and jumar_add_kernel for kernels. The tree can be moved.
get_filename_component(JUMAR_ROOT "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(JUMAR_INCLUDE_DIR "${JUMAR_ROOT}/include")

if(NOT TARGET Jumar::ascendcl)
    add_library(Jumar::ascendcl SHARED IMPORTED)
    set_target_properties(Jumar::ascendcl PROPERTIES
        IMPORTED_LOCATION "${JUMAR_ROOT}/lib64/libascendcl.so"
        INTERFACE_INCLUDE_DIRECTORIES "${JUMAR_INCLUDE_DIR}")
endif()

# jumar_add_kernel(<target> <source>...): builds a kernel binary, lib<target>.so, that aclrtBinaryLoadFromFile takes. It has
# debug information, and variables of its own in every load.
function(jumar_add_kernel target)
    add_library(${target} MODULE ${ARGN})
    target_include_directories(${target} PRIVATE "${JUMAR_INCLUDE_DIR}")
    set_target_properties(${target} PROPERTIES PREFIX lib SUFFIX .so)
    target_compile_options(${target} PRIVATE -g)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-gnu-unique>)
    endif()
endfunction()
