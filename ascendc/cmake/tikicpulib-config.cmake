# find_package(tikicpulib): tests of kernels on the CPU. tikicpulib::<chip> has what kernels and their launches are compiled and linked with,
# by the C++ compiler alone.
get_filename_component(JUMAR_TIKICPULIB_ROOT "${CMAKE_CURRENT_LIST_FILE}" REALPATH)
while(NOT EXISTS "${JUMAR_TIKICPULIB_ROOT}/bin/bisheng")
    get_filename_component(JUMAR_TIKICPULIB_ROOT "${JUMAR_TIKICPULIB_ROOT}" DIRECTORY)
    if(JUMAR_TIKICPULIB_ROOT STREQUAL "/")
        message(FATAL_ERROR "${CMAKE_CURRENT_LIST_FILE} does not lie in an install tree of Jumar: bin/bisheng is in no folder above it")
    endif()
endwhile()

foreach(chip Ascend910B Ascend910B1 Ascend910B2 Ascend910B2C Ascend910B3 Ascend910B4 Ascend910B4-1 Ascend910_9391 Ascend910_9381 Ascend910_9392
        Ascend910_9382 Ascend910_9372 Ascend910_9362 Ascend310P Ascend310P1 Ascend310P3 Ascend310P5 Ascend310P7 ascend910B1 ascend310p)
    if(NOT TARGET tikicpulib::${chip})
        if(chip MATCHES "310[Pp]")
            set(JUMAR_TIKICPULIB_ARCH 2002)
        else()
            set(JUMAR_TIKICPULIB_ARCH 2201)
        endif()
        add_library(tikicpulib::${chip} INTERFACE IMPORTED GLOBAL)
        set_target_properties(tikicpulib::${chip} PROPERTIES
            INTERFACE_INCLUDE_DIRECTORIES "${JUMAR_TIKICPULIB_ROOT}/include;${JUMAR_TIKICPULIB_ROOT}/include/ascendc"
            INTERFACE_COMPILE_DEFINITIONS "ASCENDC_CPU_DEBUG=1;__CCE_KT_TEST__=1;__NPU_ARCH__=${JUMAR_TIKICPULIB_ARCH}"
            INTERFACE_COMPILE_FEATURES cxx_std_17
            INTERFACE_LINK_LIBRARIES "${JUMAR_TIKICPULIB_ROOT}/lib64/libascendcl.so")
    endif()
endforeach()
set(tikicpulib_FOUND TRUE)
