# SPDX-License-Identifier: Apache-2.0
# The options, and weft_options: the interface target that carries every flag our own targets
# are compiled with, so that nothing leaks into a project that includes this one.

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release or RelWithDebInfo" FORCE)
endif()

option(WEFT_WERROR "Treat warnings as errors: for those who change weft" OFF)
option(WEFT_LTO "Optimise across files in the Release configuration (GCC)" ON)
option(WEFT_HARDEN "Check stacks and buffers in optimised builds, and protect tables of addresses (Linux)" ON)
option(WEFT_NATIVE "Compile for the machine that builds (-march=native)" OFF)
set(WEFT_PROFILE "" CACHE STRING
    "Optimise for a profile (GCC): 'record' writes one when weft runs, 'use' compiles by it; tools/make_fast does both")
set_property(CACHE WEFT_PROFILE PROPERTY STRINGS "" record use)
option(WEFT_CAPTURE "Build the libraries that record running programs" ON)
option(BUILD_SHARED_LIBS "Build libweft as a shared library" OFF)
set(WEFT_SANITIZE "" CACHE STRING "Value for -fsanitize=, or empty")
set(WEFT_MPI AUTO CACHE STRING "Runs over several processes by MPI: AUTO, ON or OFF")
set(WEFT_HWLOC AUTO CACHE STRING "Thread placement by hwloc: AUTO, ON or OFF")
set(WEFT_OTF2 AUTO CACHE STRING "OTF2 archives by the OTF2 library: AUTO, ON or OFF")
set(WEFT_LIVE AUTO CACHE STRING "Pages with the simulator in them, by WebAssembly: AUTO, ON or OFF")
set(WEFT_GPU AUTO CACHE STRING "Kernels for GPUs, by clang: AUTO, ON or OFF")
set_property(CACHE WEFT_MPI WEFT_HWLOC WEFT_OTF2 WEFT_LIVE WEFT_GPU PROPERTY STRINGS AUTO ON OFF)

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# The objects are in a shared library too. The program is not slower: link-time optimisation
# compiles them again, for an executable.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

add_library(weft_options INTERFACE)
target_compile_definitions(weft_options INTERFACE _GNU_SOURCE)
# -ffp-contract=off: a fused multiply-add rounds once where two operations round twice, and a
# result must not depend on the compiler or the instruction set.
# -Wno-unused-parameter: functions of a table need not use all parameters of its contract.
target_compile_options(weft_options INTERFACE
    -Wall -Wextra -Wno-unused-parameter -Wpedantic -Wconversion -Wsign-conversion -Wshadow
    -Wstrict-prototypes -Wmissing-prototypes -Wcast-qual -Wpointer-arith -Wundef -Wvla -Wformat=2
    -Wdouble-promotion -Wswitch-enum -ffp-contract=off
    $<$<BOOL:${WEFT_WERROR}>:-Werror>
    $<$<BOOL:${WEFT_NATIVE}>:-march=native>)
if(WEFT_SANITIZE)
    target_compile_options(weft_options INTERFACE
        -fsanitize=${WEFT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(weft_options INTERFACE -fsanitize=${WEFT_SANITIZE})
endif()

# Mistakes that overwrite a stack or a buffer end the program. Modules in which simulations spend their
# time have the property WEFT_HOT and no checks of stacks, which took 3 % of all instructions there; what
# reads files is elsewhere. Results that glibc marks as not to be ignored are checked in debug builds.
set(WEFT_HARDEN_USED OFF)
if(WEFT_HARDEN AND NOT WEFT_SANITIZE AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
    set(WEFT_HARDEN_USED ON)
    target_compile_options(weft_options INTERFACE
        $<$<NOT:$<BOOL:$<TARGET_PROPERTY:WEFT_HOT>>>:-fstack-protector-strong>
        "$<$<NOT:$<CONFIG:Debug>>:SHELL:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -Wno-unused-result>")
    target_link_options(weft_options INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)
endif()

# Link-time optimisation only with GCC, whose objects can hold machine code as well: the
# installed static library then links with any compiler. Clang's would be bitcode.
set(WEFT_LTO_USED "no")
if(WEFT_LTO AND NOT WEFT_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
    include(CheckIPOSupported)
    check_ipo_supported(RESULT weft_ipo OUTPUT weft_ipo_why LANGUAGES C)
    if(weft_ipo)
        set(CMAKE_INTERPROCEDURAL_OPTIMIZATION_RELEASE ON)
        set(CMAKE_C_COMPILE_OPTIONS_IPO -flto=auto -ffat-lto-objects)
        set(WEFT_LTO_USED "in Release")
    endif()
endif()

# With it, the program has objects of its own: see weft_module(). A profile is of objects, so that a
# build by one has those of the program everywhere.
set(WEFT_LTO_APART FALSE)
if(CMAKE_INTERPROCEDURAL_OPTIMIZATION_RELEASE AND CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT WEFT_PROFILE)
    set(WEFT_LTO_APART TRUE)
endif()

# Profile-guided optimisation, of the modules alone: libraries that programs load are not trained.
# What training did not reach is compiled as without a profile, not for size.
add_library(weft_profile INTERFACE)
if(WEFT_PROFILE AND NOT CMAKE_C_COMPILER_ID STREQUAL "GNU")
    message(FATAL_ERROR "WEFT_PROFILE needs GCC; this is ${CMAKE_C_COMPILER_ID}")
elseif(WEFT_PROFILE STREQUAL "record")
    target_compile_options(weft_profile INTERFACE -fprofile-generate -fprofile-update=prefer-atomic)
    target_link_options(weft_profile INTERFACE -fprofile-generate)
elseif(WEFT_PROFILE STREQUAL "use")
    target_compile_options(weft_profile INTERFACE -fprofile-use -fprofile-partial-training
        -fprofile-correction -Wno-missing-profile)
elseif(WEFT_PROFILE)
    message(FATAL_ERROR "WEFT_PROFILE is '${WEFT_PROFILE}'; expected: record, use, or nothing")
endif()
