# SPDX-License-Identifier: Apache-2.0
# Tests, one line each in tests/CMakeLists.txt. All take
#     [LABELS <label>...] [TIMEOUT <seconds>] [PROCESSORS <n>]
# besides the label of their kind; those that are programs take [CLI] to link src/ui/cli as well.
# The label `threads` makes a test run under ThreadSanitizer; no other C program is built for it.
#
# weft_unit_test(<module>/<name> ...) tests/unit/<module>/test_<name>.c  unit/<module>/<name>
# weft_conformance_test(<name> ...)   tests/conformance/test_<name>.c    conformance/<name>
# weft_equivalence_test(<name> ...)   tests/equivalence/test_<name>.c    equivalence/<name>
# weft_fuzz_target(<name> ...)        tests/fuzz/fuzz_<name>.c           fuzz/<name>
#     With the preset `fuzz` a libFuzzer program; otherwise a program that replays
#     tests/fuzz/corpus/<name>/ as a plain test.
# weft_script_test(<kind>/<name> <script> [ARGS <arg>...] ...)
#     A script under tests/ (.py by WEFT_PYTHON, anything else by bash) with WEFT (the
#     program), WEFT_SOURCE_DIR, WEFT_BUILD_DIR, WEFT_MPIEXEC (empty without MPI), CC and
#     PYTHON in its environment and a fresh, empty working directory of its own. Exit code 77
#     means skipped.
# weft_benchmark(<name>)              tests/bench/bench_<name>.c         target bench_<name>
#     A program in bench/ of the build directory that prints rates; the target `benchmarks` is all.

option(WEFT_FUZZ "Build the fuzz targets as libFuzzer programs (Clang)" OFF)
if(WEFT_FUZZ)
    target_compile_definitions(weft_options INTERFACE FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION)
endif()

# What every test runs with; sanitizers must end a test at their first report. The PCI part
# of hwloc, which MPI loads, leaks in a library that is gone when LeakSanitizer looks. Open MPI
# wants to be asked nicely to run as root, or more processes than cores. Devices are nothing that
# weft asks hwloc for, and looking for them is a sixth of what starting an MPI process costs.
set(WEFT_TEST_ENVIRONMENT
    OMPI_ALLOW_RUN_AS_ROOT=1
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    OMPI_MCA_rmaps_base_oversubscribe=1
    PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe # Open MPI 5
    ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1
    LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/lsan.supp:print_suppressions=0
    TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:suppressions=${PROJECT_SOURCE_DIR}/tests/tsan.supp
    UBSAN_OPTIONS=print_stacktrace=1
    HWLOC_COMPONENTS=-pci,-linuxio)
# As WF_TEST_ONE_IN of tests/harness/wf_test.h, for scripts that go through thousands of files.
if(WEFT_SANITIZE)
    list(APPEND WEFT_TEST_ENVIRONMENT WEFT_TEST_ONE_IN=20)
endif()

# Sets the properties common to all tests from the keyword arguments given in ARGN.
function(weft_test_properties test kind)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "TIMEOUT;PROCESSORS" "LABELS;ENVIRONMENT")
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 120)
    endif()
    # Sanitizers slow a test down by 2 to 15.
    if(WEFT_SANITIZE)
        math(EXPR arg_TIMEOUT "${arg_TIMEOUT} * 4")
    endif()
    if(NOT arg_PROCESSORS)
        set(arg_PROCESSORS 1)
    endif()
    # Tests that want all cores run first, then long ones: short ones fill the gaps at the end.
    math(EXPR cost "${arg_TIMEOUT} * ${arg_PROCESSORS}")
    # Processes that wait for each other on all cores take several times as long beside others.
    set(alone OFF)
    if(arg_PROCESSORS GREATER 1 AND "mpi" IN_LIST arg_LABELS)
        set(alone ON)
    endif()
    set_tests_properties(${test} PROPERTIES
        RUN_SERIAL ${alone}
        LABELS "${kind};${arg_LABELS}"
        TIMEOUT ${arg_TIMEOUT}
        PROCESSORS ${arg_PROCESSORS}
        COST ${cost}
        SKIP_RETURN_CODE 77
        ENVIRONMENT "${WEFT_TEST_ENVIRONMENT};${arg_ENVIRONMENT}")
endfunction()

# A program that uses the internals of weft.
function(weft_core_program target)
    add_executable(${target} ${ARGN})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
    weft_internal(${target})
    target_link_libraries(${target} PRIVATE weft_core)
    # Tests link the machine code in the objects: repeating link-time optimisation for every
    # test program would take longer than the tests. The program itself is linked with it.
    set_target_properties(${target} PROPERTIES INTERPROCEDURAL_OPTIMIZATION_RELEASE OFF)
    if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
        target_link_options(${target} PRIVATE -fno-lto)
    endif()
endfunction()

# A test spends its time in what it tests, which is compiled as the preset says. Optimising the
# test itself would take longer than it could save: clang with AddressSanitizer takes three times
# as long for -O1 as for -O0. GCC has some of its warnings from -O1 on only. Tests that are so long
# that they have a TIMEOUT compute much themselves, and are compiled as the preset says too.
function(weft_test_program target)
    weft_core_program(${target} ${ARGN})
    weft_optimise_less(${target})
    add_dependencies(test_programs ${target})
endfunction()

function(weft_optimise_less target)
    if(WEFT_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL "Clang" AND NOT WEFT_FUZZ)
        target_compile_options(${target} PRIVATE -O0)
    elseif(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
        target_compile_options(${target} PRIVATE -O1)
    endif()
endfunction()

# The programs of all tests. Tests that are scripts need `all` as well.
add_custom_target(test_programs)

function(weft_program_test kind name)
    if(WEFT_SANITIZE STREQUAL "thread" AND NOT "threads" IN_LIST ARGN)
        return()
    endif()
    string(REPLACE "/" "_" target ${kind}_${name})
    string(REGEX REPLACE "([^/]+)$" "test_\\1.c" source ${kind}/${name})
    weft_core_program(${target} ${PROJECT_SOURCE_DIR}/tests/${source})
    if(NOT TIMEOUT IN_LIST ARGN)
        weft_optimise_less(${target})
    endif()
    add_dependencies(test_programs ${target})
    if(CLI IN_LIST ARGN)
        list(REMOVE_ITEM ARGN CLI)
        target_link_libraries(${target} PRIVATE weft_cli weft_core)
    endif()
    add_test(NAME ${kind}/${name} COMMAND ${target})
    weft_test_properties(${kind}/${name} ${kind} ${ARGN})
endfunction()

# Definitions for a test program, if this build has it.
function(weft_test_definitions target)
    if(TARGET ${target})
        target_compile_definitions(${target} PRIVATE ${ARGN})
    endif()
endfunction()

function(weft_unit_test name)
    weft_program_test(unit ${name} ${ARGN})
endfunction()

# They check plug-ins too, which find the functions that are for them in the program.
function(weft_conformance_test name)
    weft_program_test(conformance ${name} ${ARGN})
    string(REPLACE "/" "_" target conformance_${name})
    if(TARGET ${target})
        target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests/harness/load_plugins.c)
        set_target_properties(${target} PROPERTIES ENABLE_EXPORTS ON)
    endif()
endfunction()

function(weft_equivalence_test name)
    weft_program_test(equivalence ${name} ${ARGN})
endfunction()

set(WEFT_FUZZ_WRAPPED strcmp strcasecmp strncmp strtod strtol strtoul strtoll strtoull
    wf_lookup wf_lookup_row wf_param_set wf_doc_check_schema
    wf_parse_count wf_parse_size wf_parse_time wf_parse_span wf_parse_rate wf_parse_real)

add_custom_target(fuzz_targets)

function(weft_fuzz_target name)
    if(WEFT_SANITIZE STREQUAL "thread")
        return()
    endif()
    set(source ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_${name}.c)
    weft_test_program(fuzz_${name} ${source} ${PROJECT_SOURCE_DIR}/tests/fuzz/replay_main.c
                      ${PROJECT_SOURCE_DIR}/tests/fuzz/described.c)
    # What described.c stands before.
    list(TRANSFORM WEFT_FUZZ_WRAPPED PREPEND "-Wl,--wrap=" OUTPUT_VARIABLE wrapped)
    target_link_options(fuzz_${name} PRIVATE ${wrapped})
    add_dependencies(fuzz_targets fuzz_${name})
    if(WEFT_FUZZ)
        target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
        target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
        return()
    endif()
    add_test(NAME fuzz/${name}
        COMMAND fuzz_${name} ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name})
    weft_test_properties(fuzz/${name} fuzz ${ARGN})
endfunction()

function(weft_script_test name script)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "TIMEOUT;PROCESSORS" "ARGS;LABELS")
    get_filename_component(kind ${name} DIRECTORY)
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 120)
    endif()
    if(NOT arg_PROCESSORS)
        set(arg_PROCESSORS 1)
    endif()
    set(interpreter bash)
    if(script MATCHES "\\.py$")
        set(interpreter ${WEFT_PYTHON} -B)
    endif()
    set(directory ${PROJECT_BINARY_DIR}/tests/run/${name})
    add_test(NAME ${name}
        COMMAND ${PROJECT_SOURCE_DIR}/tools/in_fresh_directory ${directory}
                ${interpreter} ${CMAKE_CURRENT_SOURCE_DIR}/${script} ${arg_ARGS})
    set(mpiexec)
    if(WEFT_MPI_FOUND)
        set(mpiexec ${MPIEXEC_EXECUTABLE})
    endif()
    weft_test_properties(${name} ${kind}
        LABELS ${arg_LABELS} TIMEOUT ${arg_TIMEOUT} PROCESSORS ${arg_PROCESSORS}
        ENVIRONMENT
            WEFT=$<TARGET_FILE:weft> WEFT_SOURCE_DIR=${PROJECT_SOURCE_DIR}
            WEFT_BUILD_DIR=${PROJECT_BINARY_DIR} WEFT_MPIEXEC=${mpiexec}
            CC=${CMAKE_C_COMPILER} PYTHON=${WEFT_PYTHON})
endfunction()

function(weft_benchmark name)
    weft_core_program(bench_${name} ${PROJECT_SOURCE_DIR}/tests/bench/bench_${name}.c)
    set_target_properties(bench_${name} PROPERTIES
        EXCLUDE_FROM_ALL ON RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
    if(NOT TARGET benchmarks)
        add_custom_target(benchmarks)
    endif()
    add_dependencies(benchmarks bench_${name})
endfunction()
