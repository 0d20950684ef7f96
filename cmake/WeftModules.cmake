# SPDX-License-Identifier: Apache-2.0
# weft_module(<name> [<generated source>...])
#     A folder of src/: every .c file in it and below it is compiled once and goes into the core.
# weft_choose(<condition variable> <source if true> <source if false>)
#     One of two implementations of one header, chosen by what was found; before weft_module().
# weft_sources(<variable>)
#     The .c files in and below the current folder, without those that weft_choose() left out.

function(weft_sources variable)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.c)
    get_directory_property(unused WEFT_UNUSED_SOURCES)
    if(unused)
        list(REMOVE_ITEM sources ${unused})
    endif()
    set(${variable} ${sources} PARENT_SCOPE)
endfunction()

function(weft_module name)
    weft_sources(sources)
    add_library(weft_${name} OBJECT ${sources} ${ARGN})
    weft_internal(weft_${name})
    set_property(GLOBAL APPEND PROPERTY WEFT_OBJECTS $<TARGET_OBJECTS:weft_${name}>)
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
