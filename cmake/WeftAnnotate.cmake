# SPDX-License-Identifier: Apache-2.0
# cmake -DINPUT=<file.ll> -DOUTPUT=<file.ll> -P WeftAnnotate.cmake
#     Marks the functions wf_gpu_*, each of which has one struct as its parameter, as kernels.
#     C has a word for this only since clang 16.

file(READ ${INPUT} text)
string(REGEX MATCHALL "define [^@\n]*void @wf_gpu_[a-z_0-9]+\\((%struct\\.[A-Za-z0-9_.]+\\*|ptr)"
    kernels "${text}")
if(NOT kernels)
    message(FATAL_ERROR "${INPUT} has no kernels")
endif()
set(numbers "")
set(nodes "")
set(number 100000)
foreach(kernel IN LISTS kernels)
    string(REGEX REPLACE ".*@(wf_gpu_[a-z_0-9]+)\\((.*)" "\\1" name "${kernel}")
    string(REGEX REPLACE ".*@(wf_gpu_[a-z_0-9]+)\\((.*)" "\\2" type "${kernel}")
    set(function "void (${type})*")
    if(type STREQUAL "ptr")
        set(function "ptr")
    endif()
    string(APPEND nodes "!${number} = !{${function} @${name}, !\"kernel\", i32 1}\n")
    list(APPEND numbers "!${number}")
    math(EXPR number "${number} + 1")
endforeach()
list(JOIN numbers ", " numbers)
file(WRITE ${OUTPUT} "${text}\n!nvvm.annotations = !{${numbers}}\n${nodes}")
