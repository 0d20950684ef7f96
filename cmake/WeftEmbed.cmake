# SPDX-License-Identifier: Apache-2.0
# cmake -DOUTPUT=<file.c> -P WeftEmbed.cmake -- <machine.yaml>...
#     Writes a C source with the texts of machine files, as run/machine/machine.h declares them.

set(files)
set(seen FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
    if(seen)
        list(APPEND files ${CMAKE_ARGV${i}})
    elseif(CMAKE_ARGV${i} STREQUAL "--")
        set(seen TRUE)
    endif()
endforeach()

set(texts "")
set(table "")
foreach(file IN LISTS files)
    get_filename_component(name ${file} NAME_WE)
    string(MAKE_C_IDENTIFIER ${name} symbol)
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    string(REPLACE "0x0a," "0x0a,\n" bytes "${bytes}")
    string(APPEND texts "static const unsigned char text_${symbol}[] = {\n${bytes}};\n\n")
    string(APPEND table "    {\"${name}\", text_${symbol}, sizeof(text_${symbol})},\n")
endforeach()

file(WRITE ${OUTPUT} "/* Written by cmake/WeftEmbed.cmake from share/machines. */
#include \"run/machine/machine.h\"

${texts}static const struct wf_machine_text library[] = {
${table}    {NULL, NULL, 0},
};

const struct wf_machine_text *wf_machine_library(void)
{
    return library;
}
")
