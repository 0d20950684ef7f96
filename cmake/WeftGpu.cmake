# SPDX-License-Identifier: Apache-2.0
# Kernels for GPUs: the same C as for the host, compiled to PTX by clang and made a part of the
# program as text (model/net/router/gpu/gpu.h). No kit of a vendor is needed, neither to build nor to run.
# docs/dev/decisions/0020-kernels.md tells why it is done this way.
#
# WEFT_GPU: ON demands it, OFF leaves it out. AUTO has it if a clang with the target is there, but not
# in builds with sanitizers: their tests run the kernels on the host, and kernels take long to compile.

set(WEFT_GPU_FOUND FALSE)
set(WEFT_GPU_WHY "off")
set(WEFT_GPU_TARGET --target=nvptx64-nvidia-cuda -Xclang -target-cpu -Xclang sm_70
    -Xclang -target-feature -Xclang +ptx63 -O2 -S)
set(WEFT_GPU_FLAGS ${WEFT_GPU_TARGET} -std=c11 -ffreestanding -ffp-contract=off -fno-vectorize
    -fno-slp-vectorize -emit-llvm)

set(weft_gpu_wanted ${WEFT_GPU})
if(WEFT_GPU STREQUAL "AUTO" AND WEFT_SANITIZE)
    set(weft_gpu_wanted FALSE)
    set(WEFT_GPU_WHY "off in builds with sanitizers (WEFT_GPU=AUTO)")
endif()
if(weft_gpu_wanted)
    find_program(WEFT_GPU_CC NAMES clang-14 clang)
    mark_as_advanced(WEFT_GPU_CC)
    set(WEFT_GPU_WHY "clang is not installed")
    if(WEFT_GPU_CC)
        set(dir ${PROJECT_BINARY_DIR}/gpu)
        file(MAKE_DIRECTORY ${dir})
        file(WRITE ${dir}/try.c "void f(unsigned *p)"
            "{ p[__nvvm_read_ptx_sreg_tid_x()] = 1; __syncthreads(); }\n")
        execute_process(
            COMMAND ${WEFT_GPU_CC} ${WEFT_GPU_TARGET} -ffreestanding ${dir}/try.c -o ${dir}/try.ptx
            RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE WEFT_GPU_WHY)
        if(failed EQUAL 0)
            set(WEFT_GPU_FOUND TRUE)
        endif()
    endif()
    if(WEFT_GPU STREQUAL "ON" AND NOT WEFT_GPU_FOUND)
        message(FATAL_ERROR "WEFT_GPU=ON, but no kernels for GPUs can be built (Debian: clang): "
            "${WEFT_GPU_WHY}")
    endif()
endif()

# weft_gpu_kernels(<variable> <symbol> <source> [<definition>...])
#     <variable> becomes the name of a C file that defines `const char *const <symbol>`: the PTX of
#     the source, or null in a build without clang.
function(weft_gpu_kernels variable symbol source)
    set(text ${PROJECT_BINARY_DIR}/gpu/${symbol})
    set(${variable} ${text}.c PARENT_SCOPE)
    if(NOT WEFT_GPU_FOUND)
        file(CONFIGURE OUTPUT ${text}.c
            CONTENT "extern const char *const ${symbol};\nconst char *const ${symbol} = 0;\n")
        return()
    endif()
    set(annotate ${PROJECT_SOURCE_DIR}/cmake/WeftAnnotate.cmake)
    add_custom_command(OUTPUT ${text}.ptx
        COMMAND ${WEFT_GPU_CC} ${WEFT_GPU_FLAGS} -Wall -Wextra $<$<BOOL:${WEFT_WERROR}>:-Werror>
                -I${PROJECT_SOURCE_DIR}/src ${ARGN} -MD -MF ${text}.d -MT ${text}.ptx
                ${source} -o ${text}.ll
        COMMAND ${CMAKE_COMMAND} -DINPUT=${text}.ll -DOUTPUT=${text}.kernels.ll -P ${annotate}
        COMMAND ${WEFT_GPU_CC} ${WEFT_GPU_TARGET} -x ir ${text}.kernels.ll -o ${text}.ptx
        DEPENDS ${source} ${annotate} DEPFILE ${text}.d
        COMMENT "Compiling ${symbol} for GPUs" VERBATIM)
    add_custom_command(OUTPUT ${text}.c
        COMMAND ${CMAKE_COMMAND} -DINPUT=${text}.ptx -DSYMBOL=${symbol} -DOUTPUT=${text}.c
                -P ${PROJECT_SOURCE_DIR}/cmake/WeftEmbedText.cmake
        DEPENDS ${text}.ptx ${PROJECT_SOURCE_DIR}/cmake/WeftEmbedText.cmake
        VERBATIM)
endfunction()
