# SPDX-License-Identifier: Apache-2.0
# cmake -DOUTPUT=<file.c> -DPAGES=<directory> -DTIMES=<times.def> -P WeftEmbedPage.cmake
#     Puts the files of share/report together and writes a C source with the page in five
#     parts, as ui/report/page.h declares them: before the report without scripts, before the
#     document, between it and what else is known, before the simulator, and the rest. The page
#     gets the words for kinds of time from src/base/result/times.def.

file(READ ${PAGES}/report.html page)
file(READ ${PAGES}/report.css style)
file(GLOB scripts ${PAGES}/*.js)
list(SORT scripts)
file(READ ${TIMES} times)
set(script "")
foreach(kind RANK PATH)
    string(REGEX MATCHALL "WF_${kind}_TIME\\([a-z_]+, \"[^\"]*\"" rows "${times}")
    list(TRANSFORM rows REPLACE "WF_${kind}_TIME\\(([a-z_]+), " "\\1: ")
    list(JOIN rows ", " rows)
    string(APPEND script "const ${kind}_TIMES = {${rows}};\n")
endforeach()
foreach(file IN LISTS scripts)
    file(READ ${file} text)
    string(APPEND script "${text}")
endforeach()
string(REPLACE "/*weft:style*/" "${style}" page "${page}")
string(REPLACE "/*weft:script*/" "${script}" page "${page}")

set(arrays "")
foreach(mark head before between simulator after)
    if(mark STREQUAL "head")
        set(end "<!--weft:plain-->")
    elseif(mark STREQUAL "before")
        set(end "/*weft:document*/")
    elseif(mark STREQUAL "between")
        set(end "/*weft:extra*/")
    else()
        set(end "/*weft:simulator*/")
    endif()
    if(mark STREQUAL "after")
        set(part "${page}")
    else()
        string(FIND "${page}" "${end}" at)
        string(LENGTH "${end}" length)
        string(SUBSTRING "${page}" 0 ${at} part)
        math(EXPR at "${at} + ${length}")
        string(SUBSTRING "${page}" ${at} -1 page)
    endif()
    string(HEX "${part}" bytes)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    string(REPLACE "0x0a," "0x0a,\n" bytes "${bytes}")
    string(APPEND arrays "const unsigned char wf_page_part_${mark}[] = {\n${bytes}0};\n\n")
endforeach()

file(WRITE ${OUTPUT} "/* Written by cmake/WeftEmbedPage.cmake from share/report. */
#include \"ui/report/page.h\"

${arrays}")
