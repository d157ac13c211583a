# Custom operator projects: definitions in op_host, kernels in op_kernel, functions aclnn<Op> in libcust_opapi.so, installed below
# opp/vendors/<vendor> by the package's .run file.
include_guard(GLOBAL)

# Calls a function with an argument when all files of the project have been read. Deferred calls evaluate their arguments late.
function(jumar_op_defer function argument)
    cmake_language(EVAL CODE "cmake_language(DEFER DIRECTORY [==[${CMAKE_SOURCE_DIR}]==] CALL ${function} [==[${argument}]==])")
endfunction()

# npu_op_package(<vendor> TYPE RUN [CONFIG ...]): a package, and the targets `binary` and `package` that build it.
function(npu_op_package vendor)
    cmake_parse_arguments(PARSED "" "TYPE" "CONFIG" ${ARGN})
    cmake_parse_arguments(CONFIG "" "ENABLE_SOURCE_PACKAGE;ENABLE_BINARY_PACKAGE;INSTALL_PATH" "" ${PARSED_CONFIG})
    if(PARSED_TYPE AND NOT PARSED_TYPE STREQUAL "RUN")
        message(FATAL_ERROR "npu_op_package(${vendor} TYPE ${PARSED_TYPE}): only TYPE RUN is supported (docs/ascendc.md)")
    endif()
    if(NOT CONFIG_INSTALL_PATH)
        set(CONFIG_INSTALL_PATH "${CMAKE_BINARY_DIR}")
    endif()
    get_filename_component(folder "${CONFIG_INSTALL_PATH}" ABSOLUTE BASE_DIR "${CMAKE_BINARY_DIR}")
    set_property(GLOBAL PROPERTY JUMAR_OP_PACKAGE_${vendor}_FOLDER "${folder}")
    add_custom_target(binary ALL)
    # What the package has is known when the project's files have been read.
    jumar_op_defer(jumar_op_finish_package "${vendor}")
endfunction()

function(jumar_op_finish_package vendor)
    get_property(folder GLOBAL PROPERTY JUMAR_OP_PACKAGE_${vendor}_FOLDER)
    get_property(headers GLOBAL PROPERTY JUMAR_OP_PACKAGE_${vendor}_HEADERS)
    get_property(libraries GLOBAL PROPERTY JUMAR_OP_PACKAGE_${vendor}_LIBRARIES)
    get_property(api GLOBAL PROPERTY JUMAR_OP_PACKAGE_${vendor}_API)
    set(system unknown)
    if(EXISTS /etc/os-release)
        file(STRINGS /etc/os-release system REGEX "^ID=")
        string(REGEX REPLACE "^ID=\"?([^\"]*)\"?.*" "\\1" system "${system}")
    endif()
    set(run "${folder}/custom_opp_${system}_${CMAKE_HOST_SYSTEM_PROCESSOR}.run")
    set(stage "${CMAKE_BINARY_DIR}/jumar_package/${vendor}")
    set(copies)
    set(depends)
    foreach(library IN LISTS libraries)
        get_target_property(kind ${library} JUMAR_OP_LIBRARY)
        if(kind STREQUAL "ACLNN")
            set(into op_api/lib)
        elseif(kind STREQUAL "TILING")
            set(into op_impl/ai_core/tbe/op_tiling)
        elseif(kind STREQUAL "GRAPH")
            set(into op_proto)
        else()
            continue()
        endif()
        list(APPEND depends ${library})
        list(APPEND copies COMMAND "${CMAKE_COMMAND}" -E make_directory "${stage}/${into}")
        list(APPEND copies COMMAND "${CMAKE_COMMAND}" -E copy "$<TARGET_FILE:${library}>" "${stage}/${into}/")
    endforeach()
    foreach(header IN LISTS headers)
        list(APPEND copies COMMAND "${CMAKE_COMMAND}" -E copy "${header}" "${stage}/op_api/include/")
    endforeach()
    if(depends)
        add_dependencies(binary ${depends})
    endif()
    file(MAKE_DIRECTORY "${folder}")
    file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/jumar_package/install.sh" CONTENT [=[#!/bin/sh
# Installs the custom operators "@vendor@": opp/vendors/@vendor@ below --install-path, $ASCEND_OPP_PATH or $ASCEND_HOME_PATH/opp.
set -e
path="${ASCEND_OPP_PATH:-${ASCEND_HOME_PATH:+$ASCEND_HOME_PATH/opp}}"
for argument in "$@"; do
    case "$argument" in
    --install-path=*) path="${argument#*=}" ;;
    --quiet) ;;
    *) echo "$0: unknown option $argument; options are --install-path=FOLDER and --quiet" >&2; exit 1 ;;
    esac
done
if [ -z "$path" ]; then
    echo "$0: no folder to install to; give --install-path=FOLDER, or set ASCEND_OPP_PATH or ASCEND_HOME_PATH" >&2
    exit 1
fi
into="$path/vendors/@vendor@"
mkdir -p "$into"
sed '1,/^__PAYLOAD__$/d' "$0" | tar -xzf - -C "$into"
echo "load_priority=@vendor@" > "$path/vendors/config.ini"
mkdir -p "$into/bin"
root=$(cd "$into" && pwd)
cat > "$into/bin/set_env.bash" <<END
export ASCEND_CUSTOM_OPP_PATH=$root:\$ASCEND_CUSTOM_OPP_PATH
export LD_LIBRARY_PATH=$root/op_api/lib:\$LD_LIBRARY_PATH
END
echo "SUCCESS: $root"
exit 0
__PAYLOAD__
]=] @ONLY)
    file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/jumar_package/pack.cmake" CONTENT [=[
execute_process(COMMAND sh -c "cat '@CMAKE_BINARY_DIR@/jumar_package/install.sh' > '@run@' && tar -czf - -C '@stage@' . >> '@run@' && chmod 755 '@run@'" RESULT_VARIABLE status)
if(status)
    message(FATAL_ERROR "cannot write @run@")
endif()
]=] @ONLY)
    # With CPack a project has a target `package` already; its name is reserved then.
    if(NOT TARGET package)
        add_custom_target(package
            COMMAND "${CMAKE_COMMAND}" -E make_directory "${stage}/op_api/include" ${copies}
            COMMAND "${CMAKE_COMMAND}" -P "${CMAKE_BINARY_DIR}/jumar_package/pack.cmake"
            COMMENT "Packing ${run}" VERBATIM)
        if(depends)
            add_dependencies(package ${depends})
        endif()
    endif()
endfunction()

# npu_op_code_gen(SRC <op_host source>... PACKAGE <vendor> OUT_DIR <folder> [COMPILE_OPTIONS ...] [OPTIONS ...]): reads the definitions and
# writes aclnn_<op>.h and aclnn_<op>.cpp. It runs when the project is configured.
function(npu_op_code_gen)
    cmake_parse_arguments(PARSED "" "PACKAGE;OUT_DIR" "SRC;COMPILE_OPTIONS;OPTIONS" ${ARGN})
    if(NOT PARSED_SRC OR NOT PARSED_PACKAGE OR NOT PARSED_OUT_DIR)
        message(FATAL_ERROR "npu_op_code_gen needs SRC, PACKAGE and OUT_DIR")
    endif()
    file(MAKE_DIRECTORY "${PARSED_OUT_DIR}")
    set(sources)
    foreach(source IN LISTS PARSED_SRC)
        get_filename_component(source "${source}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
        list(APPEND sources "${source}")
    endforeach()
    set(main "${PARSED_OUT_DIR}/jumar_generate.cpp")
    file(WRITE "${main}" "#include \"ascendc/operator/generate.h\"\nint main(int, char** arguments) { return jumar::operators::Generator(arguments[1]).run() ? 0 : 1; }\n")
    execute_process(COMMAND "${JUMAR_ASCENDC_COMPILER}" -std=c++17 -O0 ${PARSED_COMPILE_OPTIONS} "${main}" ${sources} -o "${PARSED_OUT_DIR}/jumar_generate"
                    RESULT_VARIABLE status ERROR_VARIABLE text OUTPUT_VARIABLE text)
    if(status)
        message(FATAL_ERROR "the definitions of operators do not compile:\n${text}")
    endif()
    execute_process(COMMAND "${CMAKE_COMMAND}" -E env "LD_LIBRARY_PATH=${JUMAR_ASCENDC_ROOT}/lib64:$ENV{LD_LIBRARY_PATH}" "${PARSED_OUT_DIR}/jumar_generate" "${PARSED_OUT_DIR}"
                    RESULT_VARIABLE status ERROR_VARIABLE text OUTPUT_VARIABLE text)
    if(status)
        message(FATAL_ERROR "${text}")
    endif()
    # A changed definition changes what is generated.
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources})
    file(GLOB headers "${PARSED_OUT_DIR}/aclnn_*.h")
    set_property(GLOBAL APPEND PROPERTY JUMAR_OP_PACKAGE_${PARSED_PACKAGE}_HEADERS ${headers})
    set_property(GLOBAL APPEND PROPERTY JUMAR_OP_SOURCES ${sources})
    set_property(GLOBAL PROPERTY JUMAR_OP_GENERATED "${PARSED_OUT_DIR}")
    # Projects list a file with prototypes of the Graph Engine; graphs do not run custom operators.
    file(WRITE "${PARSED_OUT_DIR}/op_proto.cc" "")
endfunction()

# npu_op_library(<target> ACLNN|TILING|GRAPH <source>...): the library with the functions aclnn<Op>, or with the host's side alone.
function(npu_op_library target kind)
    if(NOT kind MATCHES "^(ACLNN|TILING|GRAPH)$")
        message(FATAL_ERROR "npu_op_library(${target} ${kind} ...): the second argument has to be ACLNN, TILING or GRAPH")
    endif()
    set(sources ${ARGN})
    if(kind STREQUAL "ACLNN")
        get_property(host GLOBAL PROPERTY JUMAR_OP_SOURCES)
        list(APPEND sources ${host})
        get_property(generated GLOBAL PROPERTY JUMAR_OP_GENERATED)
        list(APPEND sources "${generated}/aclnn_kernels.cpp")
        list(REMOVE_DUPLICATES sources)
    endif()
    add_library(${target} SHARED ${sources})
    set_target_properties(${target} PROPERTIES JUMAR_OP_LIBRARY ${kind} LINKER_LANGUAGE CXX CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON POSITION_INDEPENDENT_CODE ON
                                               CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    target_include_directories(${target} PRIVATE "${JUMAR_ASCENDC_ROOT}/include/ascendc" "${JUMAR_ASCENDC_ROOT}/include")
    target_link_libraries(${target} PRIVATE "${JUMAR_ASCENDC_ROOT}/lib64/libascendcl.so")
    # The kernels are part of the library.
    if(kind STREQUAL "ACLNN")
        set_property(GLOBAL PROPERTY JUMAR_OP_API ${target})
        jumar_op_defer(jumar_op_link_kernels ${target})
    endif()
endfunction()

# npu_op_kernel_library(<target> SRC_BASE <folder> [TILING_LIBRARY <target>]): the kernels, <op>.cpp for each operator in the folder.
function(npu_op_kernel_library target)
    cmake_parse_arguments(PARSED "" "SRC_BASE;TILING_LIBRARY" "" ${ARGN})
    get_filename_component(base "${PARSED_SRC_BASE}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    add_custom_target(${target})
    set_target_properties(${target} PROPERTIES JUMAR_OP_LIBRARY KERNEL JUMAR_OP_BASE "${base}")
    set_property(GLOBAL PROPERTY JUMAR_OP_KERNELS ${target})
endfunction()

# npu_op_kernel_sources(<target> OP_TYPE <type> [KERNEL_DIR <folder>] [KERNEL_FILE <file>] [COMPUTE_UNIT <chip>...]): where an operator's kernel is.
function(npu_op_kernel_sources target)
    cmake_parse_arguments(PARSED "" "OP_TYPE;KERNEL_DIR;KERNEL_FILE" "COMPUTE_UNIT" ${ARGN})
    if(NOT PARSED_OP_TYPE)
        message(FATAL_ERROR "npu_op_kernel_sources(${target}) needs OP_TYPE")
    endif()
    get_target_property(base ${target} JUMAR_OP_BASE)
    set_target_properties(${target} PROPERTIES JUMAR_OP_DIR_${PARSED_OP_TYPE} "${base}/${PARSED_KERNEL_DIR}" JUMAR_OP_FILE_${PARSED_OP_TYPE} "${PARSED_KERNEL_FILE}")
endfunction()

# npu_op_kernel_options(<target> ALL|<type> [COMPUTE_UNIT <chip>...] OPTIONS <option>...): options of the kernels' compilation.
function(npu_op_kernel_options target type)
    cmake_parse_arguments(PARSED "" "" "COMPUTE_UNIT;OPTIONS" ${ARGN})
    # These keep files of the card's compiler.
    list(FILTER PARSED_OPTIONS EXCLUDE REGEX "^--(save-temp-files|oom)$")
    set_property(TARGET ${target} APPEND PROPERTY JUMAR_OP_OPTIONS_${type} ${PARSED_OPTIONS})
endfunction()

# Projects of older samples give the options of all kernels by this.
function(add_ops_compile_options type)
    cmake_parse_arguments(PARSED "" "" "COMPUTE_UNIT;OPTIONS" ${ARGN})
    list(FILTER PARSED_OPTIONS EXCLUDE REGEX "^--(save-temp-files|oom)$")
    set_property(GLOBAL APPEND PROPERTY JUMAR_OP_OPTIONS_${type} ${PARSED_OPTIONS})
endfunction()

# npu_op_device_tiling_library(<target> ...): tiling on the device is the host's tiling here.
function(npu_op_device_tiling_library target)
    if(NOT TARGET ${target})
        add_custom_target(${target})
    endif()
    set_target_properties(${target} PROPERTIES JUMAR_OP_LIBRARY DEVICE)
endfunction()

# npu_op_package_add(<vendor> LIBRARY <target>...): what the package has.
function(npu_op_package_add vendor)
    cmake_parse_arguments(PARSED "" "" "LIBRARY;FILES" ${ARGN})
    set_property(GLOBAL APPEND PROPERTY JUMAR_OP_PACKAGE_${vendor}_LIBRARIES ${PARSED_LIBRARY})
endfunction()

# Compiles the kernels of all operators, once for each combination of types, and links them into the library.
function(jumar_op_link_kernels library)
    get_property(kernels GLOBAL PROPERTY JUMAR_OP_KERNELS)
    if(NOT kernels)
        return()
    endif()
    get_property(generated GLOBAL PROPERTY JUMAR_OP_GENERATED)
    include("${generated}/operators.cmake")
    get_target_property(base ${kernels} JUMAR_OP_BASE)
    jumar_ascendc_flags(flags)
    set(objects)
    foreach(operator IN LISTS JUMAR_OPERATORS)
        set(name "${JUMAR_OPERATOR_${operator}_NAME}")
        get_target_property(folder ${kernels} JUMAR_OP_DIR_${operator})
        get_target_property(file ${kernels} JUMAR_OP_FILE_${operator})
        if(NOT folder)
            set(folder "${base}")
        endif()
        if(NOT file)
            set(file "${name}.cpp")
        endif()
        set(source "${folder}/${file}")
        if(NOT EXISTS "${source}")
            set(source "${folder}/${name}/${file}")
        endif()
        if(NOT EXISTS "${source}")
            message(FATAL_ERROR "the kernel of ${operator} is missing: ${folder}/${file}")
        endif()
        get_property(all TARGET ${kernels} PROPERTY JUMAR_OP_OPTIONS_ALL)
        get_property(own TARGET ${kernels} PROPERTY JUMAR_OP_OPTIONS_${operator})
        get_property(older GLOBAL PROPERTY JUMAR_OP_OPTIONS_${operator})
        get_property(older_all GLOBAL PROPERTY JUMAR_OP_OPTIONS_ALL)
        math(EXPR last "${JUMAR_OPERATOR_${operator}_COMBINATIONS} - 1")
        foreach(number RANGE ${last})
            set(object "${CMAKE_BINARY_DIR}/jumar_kernels/${name}_${number}.o")
            set(depfile)
            if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.20 OR CMAKE_GENERATOR MATCHES "Ninja")
                set(depfile DEPFILE "${object}.d")
            endif()
            add_custom_command(
                OUTPUT "${object}"
                COMMAND "${CMAKE_COMMAND}" -E make_directory "${CMAKE_BINARY_DIR}/jumar_kernels"
                COMMAND "${JUMAR_ASCENDC_COMPILER}" -c -x asc ${flags} --jumar-operator=${name}:jumar_operator_${operator}_${number} -include
                        "${generated}/${name}_kernel.h" ${JUMAR_OPERATOR_${operator}_${number}} ${all} ${own} ${older} ${older_all} "-I${folder}" "-I${base}" -MD -MT "${object}" -MF
                        "${object}.d" "${source}" -o "${object}"
                DEPENDS "${source}" "${generated}/${name}_kernel.h" "${JUMAR_ASCENDC_COMPILER}"
                ${depfile}
                COMMENT "Building kernel ${number} of ${operator}"
                VERBATIM)
            list(APPEND objects "${object}")
        endforeach()
    endforeach()
    # The library may be a target of another folder, which does not know the commands of this one.
    add_custom_target(${library}_kernels DEPENDS ${objects})
    add_dependencies(${library} ${library}_kernels)
    target_link_libraries(${library} PRIVATE ${objects})
    set_property(TARGET ${library} APPEND PROPERTY LINK_DEPENDS ${objects})
endfunction()
