# SPDX-License-Identifier: Apache-2.0
# What weft needs of the system. Nothing is downloaded; tools/deps names the packages.

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(WEFT_EXPAT REQUIRED IMPORTED_TARGET expat)
pkg_check_modules(WEFT_JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(WEFT_YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(WEFT_ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(WEFT_ZSTD REQUIRED IMPORTED_TARGET libzstd)

# xxHash is used from its header alone (XXH_INLINE_ALL).
find_path(WEFT_XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
mark_as_advanced(WEFT_XXHASH_INCLUDE_DIR)

set(WEFT_MPI_FOUND FALSE)
set(WEFT_MPI_NAME none)
# Where there are several MPIs, which of them is called mpicc is no business of ours.
if(WEFT_MPI AND NOT MPI_C_COMPILER AND NOT MPI_HOME)
    find_program(MPI_C_COMPILER NAMES mpicc.mpich)
    find_program(MPIEXEC_EXECUTABLE NAMES mpiexec.mpich)
endif()
if(WEFT_MPI STREQUAL "AUTO")
    find_package(MPI COMPONENTS C QUIET)
elseif(WEFT_MPI)
    find_package(MPI REQUIRED COMPONENTS C)
endif()
if(WEFT_MPI AND MPI_C_FOUND)
    set(WEFT_MPI_FOUND TRUE)
    set(WEFT_MPI_NAME mpi)
endif()

set(WEFT_HWLOC_FOUND FALSE)
set(WEFT_HWLOC_NAME none)
if(WEFT_HWLOC STREQUAL "AUTO")
    pkg_check_modules(WEFT_LIBHWLOC QUIET IMPORTED_TARGET hwloc>=2.0)
elseif(WEFT_HWLOC)
    pkg_check_modules(WEFT_LIBHWLOC REQUIRED IMPORTED_TARGET hwloc>=2.0)
endif()
if(WEFT_HWLOC AND WEFT_LIBHWLOC_FOUND)
    set(WEFT_HWLOC_FOUND TRUE)
    set(WEFT_HWLOC_NAME hwloc)
endif()

set(WEFT_OTF2_FOUND FALSE)
if(WEFT_OTF2 STREQUAL "AUTO")
    pkg_check_modules(WEFT_LIBOTF2 QUIET IMPORTED_TARGET otf2>=3.0)
elseif(WEFT_OTF2)
    pkg_check_modules(WEFT_LIBOTF2 REQUIRED IMPORTED_TARGET otf2>=3.0)
endif()
if(WEFT_OTF2 AND WEFT_LIBOTF2_FOUND)
    set(WEFT_OTF2_FOUND TRUE)
endif()

# The distribution's Python comes first: its jsonschema is a package of the distribution.
find_program(WEFT_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(WEFT_PYTHON NAMES python3)
mark_as_advanced(WEFT_PYTHON)

# Everything the library's objects need, to compile and to link.
set(WEFT_LINK_LIBRARIES PkgConfig::WEFT_EXPAT PkgConfig::WEFT_JANSSON PkgConfig::WEFT_YAML
    PkgConfig::WEFT_ZLIB PkgConfig::WEFT_ZSTD Threads::Threads m)
if(WEFT_MPI_FOUND)
    list(APPEND WEFT_LINK_LIBRARIES MPI::MPI_C)
endif()
if(WEFT_HWLOC_FOUND)
    list(APPEND WEFT_LINK_LIBRARIES PkgConfig::WEFT_LIBHWLOC)
endif()
if(WEFT_OTF2_FOUND)
    list(APPEND WEFT_LINK_LIBRARIES PkgConfig::WEFT_LIBOTF2)
endif()
