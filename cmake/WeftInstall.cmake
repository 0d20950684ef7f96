# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where. Both package descriptions find the prefix from their own
# place, so the installed tree may be moved.

include(CMakePackageConfigHelpers)
set(weft_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/weft)

install(TARGETS weft_library EXPORT weftTargets)
install(TARGETS weft)
install(DIRECTORY include/weft TYPE INCLUDE FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_BINARY_DIR}/include/weft/version.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft)

install(EXPORT weftTargets NAMESPACE weft:: DESTINATION ${weft_cmake_dir})
configure_package_config_file(cmake/weftConfig.cmake.in weftConfig.cmake
    INSTALL_DESTINATION ${weft_cmake_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(weftConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
    ${PROJECT_BINARY_DIR}/weftConfig.cmake ${PROJECT_BINARY_DIR}/weftConfigVersion.cmake
    DESTINATION ${weft_cmake_dir})

# weft.pc. A static library needs its own libraries named at every link; a shared one does not.
set(weft_pc_requires "expat jansson yaml-0.1 zlib libzstd")
if(WEFT_HWLOC_FOUND)
    string(APPEND weft_pc_requires " hwloc")
endif()
if(WEFT_OTF2_FOUND)
    string(APPEND weft_pc_requires " otf2")
endif()
set(weft_pc_libs ${CMAKE_THREAD_LIBS_INIT} -lm)
foreach(library IN LISTS CMAKE_DL_LIBS)
    list(APPEND weft_pc_libs -l${library})
endforeach()
list(JOIN weft_pc_libs " " weft_pc_libs)
string(STRIP "${weft_pc_libs}" weft_pc_libs)
if(BUILD_SHARED_LIBS)
    set(weft_pc_libs "-lweft\nLibs.private: ${weft_pc_libs}")
    set(weft_pc_private .private)
else()
    set(weft_pc_libs "-lweft ${weft_pc_libs}")
    set(weft_pc_private "")
endif()
file(RELATIVE_PATH weft_pc_prefix
    /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" weft_pc_prefix "${weft_pc_prefix}")
configure_file(cmake/weft.pc.in weft.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/weft.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# What plug-ins share with weft.
foreach(folder IN ITEMS base base/result model/topo model/coll model/net/route model/failure model/net/vc model/queue program/ops program/gen
        program/trace program/trace/kit ui/report)
    file(GLOB headers ${PROJECT_SOURCE_DIR}/src/${folder}/*.h ${PROJECT_SOURCE_DIR}/src/${folder}/*.def)
    install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft/plugin/${folder})
endforeach()

# The Python package, where Debian's python3 looks if the prefix is /usr. It finds the library by
# its own place.
install(DIRECTORY python/weft DESTINATION lib/python3/dist-packages
    FILES_MATCHING PATTERN "*.py")

# Data, documents.
if(EXISTS ${PROJECT_SOURCE_DIR}/share)
    # The page of the report is in the program; completions have places of their own.
    install(DIRECTORY share/ DESTINATION ${CMAKE_INSTALL_DATADIR}/weft
        PATTERN report EXCLUDE PATTERN completions EXCLUDE)
    install(FILES share/completions/weft.bash RENAME weft
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES share/completions/_weft DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES share/completions/weft.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
install(FILES LICENSE TYPE DOC)
foreach(page IN ITEMS README.md CHANGELOG.md)
    if(EXISTS ${PROJECT_SOURCE_DIR}/${page})
        install(FILES ${page} TYPE DOC)
    endif()
endforeach()
if(EXISTS ${PROJECT_SOURCE_DIR}/docs)
    install(DIRECTORY docs/ TYPE DOC PATTERN dev EXCLUDE)
endif()
