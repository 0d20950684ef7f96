# SPDX-License-Identifier: Apache-2.0
# The simulator for pages that run it in a browser: most modules, compiled for WebAssembly, packed
# with gzip, and made a part of the program (ui/report/page.h). docs/dev/decisions/0016-live-pages.md
# tells why it is done this way.
#
# WEFT_LIVE: ON demands it, OFF leaves it out. AUTO has it in optimised builds without sanitizers
# if the compiler is there (Debian: clang, lld, wasi-libc, libclang-rt-14-dev-wasm32): a second
# compilation of most of weft is of no use where its speed is not.

set(WEFT_LIVE_FOUND FALSE)
set(WEFT_LIVE_WHY "off")

# Tries to build a module. The versions of the compiler and of its libraries must fit.
function(weft_live_try compiler)
    set(dir ${PROJECT_BINARY_DIR}/wasm/try)
    file(MAKE_DIRECTORY ${dir})
    file(WRITE ${dir}/try.c "#include <stdio.h>\n__attribute__((export_name(\"f\"))) int f(int n)"
        "{ __extension__ __int128 a = n; printf(\"%d\", n); return (int)(a * a / 3); }\n")
    execute_process(COMMAND ${compiler} ${WEFT_LIVE_TARGET} -mexec-model=reactor -O1 ${dir}/try.c -o ${dir}/try.wasm
        RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE why)
    set(WEFT_LIVE_FOUND FALSE PARENT_SCOPE)
    if(failed EQUAL 0)
        set(WEFT_LIVE_FOUND TRUE PARENT_SCOPE)
    endif()
    set(WEFT_LIVE_WHY "${why}" PARENT_SCOPE)
endfunction()

set(WEFT_LIVE_TARGET --target=wasm32-wasi)
set(weft_live_wanted ${WEFT_LIVE})
if(WEFT_LIVE STREQUAL "AUTO")
    set(weft_live_wanted FALSE)
    set(WEFT_LIVE_WHY "off in this kind of build (WEFT_LIVE=AUTO)")
    if(PROJECT_IS_TOP_LEVEL AND CMAKE_BUILD_TYPE MATCHES "^Rel|^MinSize" AND NOT WEFT_SANITIZE)
        set(weft_live_wanted TRUE)
    endif()
endif()
if(weft_live_wanted)
    find_program(WEFT_LIVE_CC NAMES clang-14 clang)
    find_program(WEFT_GZIP NAMES gzip)
    mark_as_advanced(WEFT_LIVE_CC WEFT_GZIP)
    set(WEFT_LIVE_WHY "clang or gzip is not installed")
    if(WEFT_LIVE_CC AND WEFT_GZIP)
        weft_live_try(${WEFT_LIVE_CC})
    endif()
    if(WEFT_LIVE STREQUAL "ON" AND NOT WEFT_LIVE_FOUND)
        message(FATAL_ERROR "WEFT_LIVE=ON, but no module for WebAssembly can be built (Debian: "
            "clang, lld, wasi-libc, libclang-rt-14-dev-wasm32): ${WEFT_LIVE_WHY}")
    endif()
endif()

# weft_live_module(<variable>): builds the module; <variable> becomes the name of the packed file.
function(weft_live_module variable)
    # Replaced by src/ui/wasm: what needs the system, or a library that there is not for WebAssembly.
    set(unused
        base/call_site.c base/clock.c base/host_noise.c base/imports.c base/install.c base/os_watch.c base/temp.c
        ui/draw/canvas_png.c
        engine/hosts/barrier.c engine/hosts/comm.c engine/hosts/comm_mpi.c engine/hosts/pin_hwloc.c engine/hosts/place.c
        model/net/router/lockstep/device.c model/net/router/lockstep/kernels.c model/net/router/lockstep/program.c
        base/result/json.c
        run/execute/exec_gpu.c run/execute/orders.c run/program/program_crash.c run/program/program_libraries.c run/program/source_line.c
        run/machine/yaml.c
        model/topo/graph_graphml.c
        program/trace/otf2/out.c program/trace/weft/pack.c)
    set(sources ui/study/page.c ui/study/picture.c)
    foreach(module IN ITEMS base engine model/topo model/net model/coll model/ranks model/storage model/traffic
            program run ui/draw ui/wasm)
        file(GLOB_RECURSE found CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/src
            ${PROJECT_SOURCE_DIR}/src/${module}/*.c)
        list(APPEND sources ${found})
    endforeach()
    list(REMOVE_ITEM sources ${unused})
    list(FILTER sources EXCLUDE REGEX "^model/net/router/gpu/")
    # Machine files become settings before they get into a page.
    list(FILTER sources EXCLUDE REGEX "^run/(machine/|import/codes)")
    list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/src/)

    set(compile ${CMAKE_C_COMPILER_LAUNCHER} ${WEFT_LIVE_CC} ${WEFT_LIVE_TARGET} -std=c11 -O2
        -msign-ext -mnontrapping-fptoint
        -ffp-contract=off -Wall -Wextra -Wno-unused-parameter
        $<$<BOOL:${WEFT_WERROR}>:-Werror> -D_GNU_SOURCE -D_WASI_EMULATED_SIGNAL
        -D_WASI_EMULATED_MMAN -D_WASI_EMULATED_PROCESS_CLOCKS -D_WASI_EMULATED_GETPID
        -isystem ${PROJECT_SOURCE_DIR}/cmake/wasm -include system.h -I${PROJECT_SOURCE_DIR}/src
        -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_BINARY_DIR}/include)
    set(objects)
    foreach(source IN LISTS sources)
        file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR}/src ${source})
        string(REPLACE "/" "_" name ${name})
        set(object ${PROJECT_BINARY_DIR}/wasm/${name}.o)
        add_custom_command(OUTPUT ${object}
            COMMAND ${compile} -MD -MF ${object}.d -c ${source} -o ${object}
            DEPENDS ${source} DEPFILE ${object}.d
            COMMENT "Compiling ${name} for WebAssembly" VERBATIM)
        list(APPEND objects ${object})
    endforeach()

    set(module ${PROJECT_BINARY_DIR}/wasm/weft.wasm)
    file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/wasm/objects CONTENT "$<JOIN:${objects},\n>\n")
    add_custom_command(OUTPUT ${module}
        COMMAND ${WEFT_LIVE_CC} ${WEFT_LIVE_TARGET} -mexec-model=reactor -O2 @${PROJECT_BINARY_DIR}/wasm/objects
                -o ${module} -Wl,--strip-all,--gc-sections,--stack-first,-z,stack-size=4194304
                -lwasi-emulated-signal -lwasi-emulated-mman -lwasi-emulated-process-clocks
                -lwasi-emulated-getpid -lm
        DEPENDS ${objects} COMMENT "Linking the simulator for pages" VERBATIM)
    add_custom_command(OUTPUT ${module}.gz
        COMMAND ${WEFT_GZIP} -9 -n -k -f ${module}
        DEPENDS ${module} VERBATIM)
    set(${variable} ${module}.gz PARENT_SCOPE)
endfunction()
