#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# programs.sh CMAKE GENERATOR: installs weft into a prefix, moves the prefix, and builds and runs
# MPI programs with the wrappers there: by hand, by CMake and as a configure script does.
set -euo pipefail
cmake=$1 generator=$2
here=$PWD
examples=$WEFT_SOURCE_DIR/examples/mpi
trap 'tail -n 20 -- *.log' ERR

# expect PROGRAM RANKS TEXT: what the installed weft makes of it.
expect() {
    local said
    said=$("$here/prefix/bin/weft" run -n "$2" --compute none -q -f -o result.json -- "$1")
    if [[ $said != *"$3"* ]]; then
        echo "$1 says '$said', expected '$3'"
        exit 1
    fi
}

"$cmake" --install "$WEFT_BUILD_DIR" --prefix "$here/first" >install.log
mv first prefix
PATH=$here/prefix/bin:$PATH
# What is installed must not need the trees that it came from.
if grep -sF -e "$WEFT_SOURCE_DIR" -e "$WEFT_BUILD_DIR" prefix/bin/weft{cc,c++,f90}; then
    echo "the wrappers name the source or build tree"
    exit 1
fi

weftcc -O1 "$examples/hello.c" -o hello
expect ./hello 8 'hello from 8 of 8 ranks'
weftcc -O1 "$examples/ep.c" -o ep -lm # has weft/mark.h
expect ./ep 4 '205458 of 262144 pairs'
if [ -x prefix/bin/weftc++ ]; then
    cat >plus.cpp <<'END'
#include <mpi.h>
#include <iostream>
#include <vector>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::vector<int> all(static_cast<size_t>(size));
    MPI_Allgather(&rank, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD);
    if (rank == 0) {
        std::cout << "the last is " << all.back() << std::endl;
    }
    MPI_Finalize();
    return 0;
}
END
    weftc++ -O1 plus.cpp -o plus
    expect ./plus 5 'the last is 4'
fi
if [ -x prefix/bin/weftf90 ]; then
    weftf90 -O1 "$examples/stencil.f90" -o stencil
    expect ./stencil 4 '2 x 2 ranks, 50 steps'
fi

# As CMake does it, with the wrapper as the compiler.
mkdir -p project
cp "$examples/hello.c" project/
cat >project/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.16)
project(other C)
find_package(MPI REQUIRED C)
include(CheckSymbolExists)
set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
check_symbol_exists(MPI_Alltoallw mpi.h HAVE_ALLTOALLW)
if(NOT HAVE_ALLTOALLW)
    message(FATAL_ERROR "no MPI_Alltoallw")
endif()
add_executable(other hello.c)
target_link_libraries(other PRIVATE MPI::MPI_C)
END
CC=weftcc "$cmake" -S project -B by-cmake -G "$generator" >cmake.log 2>&1
"$cmake" --build by-cmake >>cmake.log 2>&1
expect by-cmake/other 3 'hello from 3 of 3 ranks'

# As a configure script does it: a function that is declared as no function is, a library, and a
# program that is run by itself.
cat >conftest.c <<'END'
char MPI_Init();
int main(void) { return MPI_Init(); }
END
weftcc -w -o conftest conftest.c
cat >conftest.c <<'END'
#include <mpi.h>
#if MPI_VERSION < 3
#error too old
#endif
int main(void) { return sizeof(MPI_Comm) == 0; }
END
weftcc -o conftest conftest.c
./conftest
