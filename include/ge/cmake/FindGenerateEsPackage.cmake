# find_package(GenerateEsPackage): add_es_library, which builds a library of functions that build graphs.
include("${CMAKE_CURRENT_LIST_DIR}/generate_es_package.cmake")
set(GenerateEsPackage_FOUND TRUE)
