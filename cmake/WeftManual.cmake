# SPDX-License-Identifier: Apache-2.0
# The man pages, made by the program itself and installed. Without lowdown there are none.

find_program(WEFT_LOWDOWN lowdown)
mark_as_advanced(WEFT_LOWDOWN)
if(WEFT_LOWDOWN AND NOT WEFT_SANITIZE)
    set(weft_manual ${PROJECT_BINARY_DIR}/man)
    file(GLOB weft_manual_sources CONFIGURE_DEPENDS docs/reference/*.md)
    add_custom_command(
        OUTPUT ${weft_manual}/weft.1
        COMMAND ${WEFT_PYTHON} -B ${PROJECT_SOURCE_DIR}/tools/make_man.py $<TARGET_FILE:weft>
                ${PROJECT_SOURCE_DIR}/docs ${weft_manual}
        DEPENDS weft tools/make_man.py ${weft_manual_sources}
        COMMENT "Making the man pages")
    add_custom_target(manual ALL DEPENDS ${weft_manual}/weft.1)
    foreach(section IN ITEMS 1 5)
        install(DIRECTORY ${weft_manual}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section}
            FILES_MATCHING PATTERN "*.${section}")
    endforeach()
endif()
