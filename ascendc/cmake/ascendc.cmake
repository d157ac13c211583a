# Kernel libraries of Ascend C: ascendc_library and its relatives. Kernels are compiled by bin/bisheng with the system's compiler.
include_guard(GLOBAL)

# The file lies in several folders of the install tree, which may be links or copies. The root is the folder above that has the driver.
get_filename_component(JUMAR_ASCENDC_ROOT "${CMAKE_CURRENT_LIST_FILE}" REALPATH)
while(NOT EXISTS "${JUMAR_ASCENDC_ROOT}/bin/bisheng")
    get_filename_component(JUMAR_ASCENDC_PARENT "${JUMAR_ASCENDC_ROOT}" DIRECTORY)
    if(JUMAR_ASCENDC_PARENT STREQUAL JUMAR_ASCENDC_ROOT)
        message(FATAL_ERROR "${CMAKE_CURRENT_LIST_FILE} does not lie in an install tree of Jumar: bin/bisheng is in no folder above it")
    endif()
    set(JUMAR_ASCENDC_ROOT "${JUMAR_ASCENDC_PARENT}")
endwhile()
set(JUMAR_ASCENDC_ROOT "${JUMAR_ASCENDC_ROOT}" CACHE INTERNAL "root of the install tree")
set(JUMAR_ASCENDC_COMPILER "${JUMAR_ASCENDC_ROOT}/bin/bisheng" CACHE INTERNAL "compiler driver of Ascend C")

# What host programs of kernels link: headers and the runtime.
if(NOT TARGET host_intf_pub)
    add_library(host_intf_pub INTERFACE IMPORTED GLOBAL)
    set_target_properties(host_intf_pub PROPERTIES
        INTERFACE_INCLUDE_DIRECTORIES "${JUMAR_ASCENDC_ROOT}/include;${JUMAR_ASCENDC_ROOT}/include/ascendc"
        INTERFACE_LINK_LIBRARIES "${JUMAR_ASCENDC_ROOT}/lib64/libascendcl.so")
endif()

# Collects what each target's sources are compiled with, as options of the driver.
function(jumar_ascendc_append target)
    if(NOT TARGET ${target})
        message(FATAL_ERROR "${target} was not made by ascendc_library or ascendc_fatbin_library")
    endif()
    set_property(TARGET ${target} APPEND PROPERTY JUMAR_ASCENDC_OPTIONS ${ARGN})
endfunction()

function(ascendc_compile_definitions target)
    set(options)
    foreach(definition IN LISTS ARGN)
        if(NOT definition MATCHES "^(PRIVATE|PUBLIC|INTERFACE)$")
            string(REGEX REPLACE "^-D" "" definition "${definition}")
            list(APPEND options "-D${definition}")
        endif()
    endforeach()
    jumar_ascendc_append(${target} ${options})
endfunction()

function(ascendc_compile_options target)
    set(options ${ARGN})
    list(REMOVE_ITEM options PRIVATE PUBLIC INTERFACE)
    jumar_ascendc_append(${target} ${options})
endfunction()

function(ascendc_include_directories target)
    set(options)
    foreach(folder IN LISTS ARGN)
        if(NOT folder MATCHES "^(PRIVATE|PUBLIC|INTERFACE)$")
            get_filename_component(folder "${folder}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
            list(APPEND options "-I${folder}")
        endif()
    endforeach()
    jumar_ascendc_append(${target} ${options})
endfunction()

# The options that every kernel of this project gets.
function(jumar_ascendc_flags result)
    set(flags -fPIC)
    if(DEFINED SOC_VERSION)
        list(APPEND flags "--npu-soc=${SOC_VERSION}")
    endif()
    if(CMAKE_BUILD_TYPE STREQUAL "Debug")
        list(APPEND flags -g -O0)
    else()
        list(APPEND flags -g -O2)
    endif()
    set(${result} "${flags}" PARENT_SCOPE)
endfunction()

# Adds the commands that compile kernel sources to objects.
function(jumar_ascendc_objects target result)
    jumar_ascendc_flags(flags)
    set(objects)
    set(number 0)
    foreach(source IN LISTS ARGN)
        get_filename_component(source "${source}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
        get_filename_component(name "${source}" NAME_WE)
        set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}.ascendc")
        set(object "${folder}/${number}_${name}.o")
        math(EXPR number "${number} + 1")
        file(MAKE_DIRECTORY "${folder}")
        set(depfile)
        if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.20 OR CMAKE_GENERATOR MATCHES "Ninja")
            set(depfile DEPFILE "${object}.d")
        endif()
        add_custom_command(
            OUTPUT "${object}"
            COMMAND "${JUMAR_ASCENDC_COMPILER}" -c -x asc ${flags} --jumar-entries --jumar-headers "${CMAKE_CURRENT_BINARY_DIR}/include/${target}"
                    "$<TARGET_PROPERTY:${target},JUMAR_ASCENDC_OPTIONS>" -MD -MT "${object}" -MF "${object}.d" "${source}" -o "${object}"
            DEPENDS "${source}" "${JUMAR_ASCENDC_COMPILER}"
            ${depfile}
            COMMENT "Building Ascend C object ${target}.ascendc/${name}.o"
            COMMAND_EXPAND_LISTS VERBATIM)
        set_source_files_properties("${object}" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
        list(APPEND objects "${object}")
    endforeach()
    set(${result} "${objects}" PARENT_SCOPE)
endfunction()

# ascendc_library(<target> STATIC|SHARED <source>...): a library with aclrtlaunch_<kernel> for each kernel.
function(ascendc_library target type)
    if(NOT type MATCHES "^(STATIC|SHARED)$")
        message(FATAL_ERROR "ascendc_library(${target} ${type} ...): the second argument has to be STATIC or SHARED")
    endif()
    set(headers "${CMAKE_CURRENT_BINARY_DIR}/include/${target}")
    file(MAKE_DIRECTORY "${headers}")
    jumar_ascendc_objects(${target} objects ${ARGN})
    add_library(${target} ${type} ${objects})
    # An order of targets: programs that link the library include headers that its build writes.
    add_custom_target(${target}_headers DEPENDS ${objects})
    add_dependencies(${target} ${target}_headers)
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX POSITION_INDEPENDENT_CODE ON JUMAR_ASCENDC_OPTIONS "")
    target_include_directories(${target} PUBLIC "${headers}" "${JUMAR_ASCENDC_ROOT}/include" "${JUMAR_ASCENDC_ROOT}/include/ascendc")
    target_link_libraries(${target} PUBLIC "${JUMAR_ASCENDC_ROOT}/lib64/libascendcl.so")
    install(TARGETS ${target} DESTINATION "${CMAKE_INSTALL_PREFIX}/lib")
    install(DIRECTORY "${headers}" DESTINATION "${CMAKE_INSTALL_PREFIX}/include")
endfunction()

# ascendc_fatbin_library(<target> <source>...): a kernel binary that aclrtBinaryLoadFromFile takes.
function(ascendc_fatbin_library target)
    jumar_ascendc_flags(flags)
    set(sources)
    foreach(source IN LISTS ARGN)
        get_filename_component(source "${source}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
        list(APPEND sources "${source}")
    endforeach()
    set(binary "${CMAKE_INSTALL_PREFIX}/fatbin/${target}/${target}.o")
    add_custom_target(${target} ALL DEPENDS "${binary}")
    set_target_properties(${target} PROPERTIES JUMAR_ASCENDC_OPTIONS "")
    add_custom_command(
        OUTPUT "${binary}"
        COMMAND "${CMAKE_COMMAND}" -E make_directory "${CMAKE_INSTALL_PREFIX}/fatbin/${target}"
        COMMAND "${JUMAR_ASCENDC_COMPILER}" -shared -x asc ${flags} --jumar-binary "$<TARGET_PROPERTY:${target},JUMAR_ASCENDC_OPTIONS>" ${sources}
                -o "${binary}"
        DEPENDS ${sources} "${JUMAR_ASCENDC_COMPILER}"
        COMMENT "Building Ascend C kernel binary ${target}.o"
        COMMAND_EXPAND_LISTS VERBATIM)
endfunction()
