# find_package(ASC): the language ASC for project() and enable_language(), and ascendc_library.
list(INSERT CMAKE_MODULE_PATH 0 "${CMAKE_CURRENT_LIST_DIR}")
get_filename_component(ASC_ROOT "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(ASC_INCLUDE_DIRS "${ASC_ROOT}/include" "${ASC_ROOT}/include/ascendc")
set(CMAKE_ASC_COMPILER_HINT "${ASC_ROOT}/bin/bisheng" CACHE INTERNAL "compiler driver of Ascend C")
include("${CMAKE_CURRENT_LIST_DIR}/ascendc.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/custom_operators.cmake")
# After project() the language is enabled here.
if(PROJECT_NAME AND NOT CMAKE_ASC_COMPILER_LOADED)
    enable_language(ASC)
endif()
set(ASC_FOUND TRUE)
