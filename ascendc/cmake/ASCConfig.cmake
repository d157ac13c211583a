# find_package(ASC): the language ASC for project() and enable_language(), and ascendc_library.
# The file is linked into other folders of the install tree.
get_filename_component(ASC_MODULES "${CMAKE_CURRENT_LIST_FILE}" REALPATH)
get_filename_component(ASC_MODULES "${ASC_MODULES}" DIRECTORY)
list(INSERT CMAKE_MODULE_PATH 0 "${ASC_MODULES}")
get_filename_component(ASC_ROOT "${ASC_MODULES}/../../.." ABSOLUTE)
set(ASC_INCLUDE_DIRS "${ASC_ROOT}/include" "${ASC_ROOT}/include/ascendc")
set(CMAKE_ASC_COMPILER_HINT "${ASC_ROOT}/bin/bisheng" CACHE INTERNAL "compiler driver of Ascend C")
include("${ASC_MODULES}/ascendc.cmake")
include("${ASC_MODULES}/custom_operators.cmake")
# After project() the language is enabled here.
if(PROJECT_NAME AND NOT CMAKE_ASC_COMPILER_LOADED)
    enable_language(ASC)
endif()
set(ASC_FOUND TRUE)
