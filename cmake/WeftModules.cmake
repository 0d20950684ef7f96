# SPDX-License-Identifier: Apache-2.0
# weft_module(<name> [ALONE] [UNPROFILED] [<generated source>...])
#     A folder of src/: every .c file in it and below it, except in folders that are modules of
#     their own, goes into the core, compiled as machine code
#     for tests and libraries. With link-time optimisation it is compiled once more for the program,
#     as bytecode alone, which takes a third of the time; so the program does not wait for the others.
#     ALONE: no link-time optimisation, for modules that gain nothing by it: what they spend time in
#     is within a file, or they only set a run up.
#     UNPROFILED: never by a profile (WEFT_PROFILE).
# weft_cold_module(<name> [<generated source>...])
#     A module in which no simulation spends its time: see weft_cold().
# weft_choose(<condition variable> <source if true> <source if false>)
#     One of two implementations of one header, chosen by what was found; before weft_module().
# weft_sources(<variable>)
#     The .c files in and below the current folder, without those that weft_choose() left out and
#     without folders that have a CMakeLists.txt of their own.

function(weft_sources variable)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.c)
    file(GLOB_RECURSE others ${CMAKE_CURRENT_SOURCE_DIR}/CMakeLists.txt)
    foreach(other IN LISTS others)
        get_filename_component(folder ${other} DIRECTORY)
        if(NOT folder STREQUAL CMAKE_CURRENT_SOURCE_DIR)
            list(FILTER sources EXCLUDE REGEX "^${folder}/")
        endif()
    endforeach()
    get_directory_property(unused WEFT_UNUSED_SOURCES)
    if(unused)
        list(REMOVE_ITEM sources ${unused})
    endif()
    set(${variable} ${sources} PARENT_SCOPE)
endfunction()

function(weft_module name)
    cmake_parse_arguments(PARSE_ARGV 1 module "ALONE;UNPROFILED" "" "")
    weft_sources(sources)
    list(APPEND sources ${module_UNPARSED_ARGUMENTS})
    set(objects weft_${name})
    if(WEFT_LTO_APART AND NOT module_ALONE)
        set(objects weft_${name} weft_${name}_program)
    endif()
    foreach(target IN LISTS objects)
        add_library(${target} OBJECT ${sources})
        weft_internal(${target})
        target_compile_options(${target} PRIVATE -include base/guarded_free.h)
        if(CMAKE_CURRENT_SOURCE_DIR MATCHES "/src/(engine|model)(/|$)")
            set_target_properties(${target} PROPERTIES WEFT_HOT ON)
        endif()
        if(NOT module_UNPROFILED)
            target_link_libraries(${target} PRIVATE weft_profile)
        endif()
    endforeach()
    if(WEFT_LTO_APART OR module_ALONE)
        set_target_properties(weft_${name} PROPERTIES INTERPROCEDURAL_OPTIMIZATION_RELEASE OFF)
    endif()
    if(WEFT_LTO_APART AND NOT module_ALONE)
        target_compile_options(weft_${name}_program PRIVATE $<$<CONFIG:Release>:-fno-fat-lto-objects>)
    endif()
    list(GET objects -1 for_program)
    set_property(GLOBAL APPEND PROPERTY WEFT_OBJECTS $<TARGET_OBJECTS:weft_${name}>)
    set_property(GLOBAL APPEND PROPERTY WEFT_PROGRAM_OBJECTS $<TARGET_OBJECTS:${for_program}>)
endfunction()

# Saves time of builds where nobody misses the speed: no link-time optimisation, and no optimisation
# at all by clang with sanitizers, where it takes most of the time.
function(weft_cold target)
    set_target_properties(${target} PROPERTIES INTERPROCEDURAL_OPTIMIZATION_RELEASE OFF)
    if(WEFT_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL "Clang" AND NOT WEFT_FUZZ)
        target_compile_options(${target} PRIVATE -O0)
    endif()
endfunction()

function(weft_cold_module name)
    weft_module(${name} ALONE ${ARGN})
    weft_cold(weft_${name})
endfunction()

function(weft_choose condition yes no)
    set(unused ${no})
    if(NOT ${condition})
        set(unused ${yes})
    endif()
    set_property(DIRECTORY APPEND PROPERTY
        WEFT_UNUSED_SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/${unused})
endfunction()

# Compiles a target as part of weft: our flags, our headers, the headers of what we link.
function(weft_internal target)
    target_include_directories(${target} PRIVATE
        ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
    target_include_directories(${target} SYSTEM PRIVATE ${WEFT_XXHASH_INCLUDE_DIR})
    target_link_libraries(${target} PRIVATE weft_options ${WEFT_LINK_LIBRARIES})
endfunction()
