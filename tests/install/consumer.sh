#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# consumer.sh CMAKE GENERATOR: installs weft into a prefix, moves the prefix, and builds a
# program against it twice: by find_package and by pkg-config.
set -euo pipefail
cmake=$1 generator=$2
version=$(cat "$WEFT_SOURCE_DIR/VERSION")
here=$PWD
trap 'tail -n 20 -- *.log' ERR

expect_version() {
    local said
    said=$("$1")
    if [ "$said" != "$version" ]; then
        echo "$1 says '$said', expected '$version'"
        exit 1
    fi
}

"$cmake" --install "$WEFT_BUILD_DIR" --prefix "$here/first" >install.log
mv first prefix
config=$(find prefix -name weftConfig.cmake)
libdir=$(cd "$(dirname "$config")/../.." && pwd)
export LD_LIBRARY_PATH=$libdir

"$cmake" -S "$WEFT_SOURCE_DIR/tests/install" -B by-cmake -G "$generator" \
    -DCMAKE_C_COMPILER="$CC" -DCMAKE_PREFIX_PATH="$here/prefix" >cmake.log
"$cmake" --build by-cmake >>cmake.log
expect_version by-cmake/consumer

export PKG_CONFIG_PATH=$libdir/pkgconfig
read -ra flags <<<"$(pkg-config --cflags --libs weft)"
"$CC" -o by-pkg-config "$WEFT_SOURCE_DIR/tests/install/consumer.c" "${flags[@]}"
expect_version ./by-pkg-config

for file in include/weft/weft.h include/weft/export.h share/doc/weft/LICENSE; do
    test -f "prefix/$file" || { echo "$file is not installed"; exit 1; }
done
prefix/bin/weft --version | grep -F "$version" ||
    { echo "weft --version does not name $version"; exit 1; }
# Nothing of the build or source tree may be left in what describes the package.
if grep -rlF -e "$WEFT_SOURCE_DIR" -e "$WEFT_BUILD_DIR" "$libdir/cmake" "$libdir/pkgconfig"; then
    echo "the files above name the source or build tree"
    exit 1
fi
