# SPDX-License-Identifier: Apache-2.0
# weft_module(<name> [<source>...])
#     One directory of src/: its sources, compiled once, go into the core. Without sources it
#     does nothing. Call it once, with all sources of the module in one list.
# weft_choose(<variable> <condition variable> <source if true> <source if false>)
#     One of two implementations of one header, chosen by what was found.

function(weft_module name)
    set_property(GLOBAL APPEND PROPERTY WEFT_MODULES ${name})
    if(NOT ARGN)
        return()
    endif()
    add_library(weft_${name} OBJECT ${ARGN})
    weft_internal(weft_${name})
    set_property(GLOBAL APPEND PROPERTY WEFT_OBJECTS $<TARGET_OBJECTS:weft_${name}>)
endfunction()

# Compiles a target as part of weft: our flags, our headers, the headers of what we link.
function(weft_internal target)
    target_include_directories(${target} PRIVATE
        ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
    target_include_directories(${target} SYSTEM PRIVATE ${WEFT_XXHASH_INCLUDE_DIR})
    target_link_libraries(${target} PRIVATE weft_options ${WEFT_LINK_LIBRARIES})
endfunction()

function(weft_choose variable condition yes no)
    if(${condition} AND EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${yes})
        set(${variable} ${yes} PARENT_SCOPE)
    elseif(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${no})
        set(${variable} ${no} PARENT_SCOPE)
    else()
        set(${variable} "" PARENT_SCOPE)
    endif()
endfunction()
