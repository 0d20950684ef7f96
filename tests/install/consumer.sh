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

# The example of the documentation, and what it says of bad arguments.
"$CC" -o halo "$WEFT_SOURCE_DIR/examples/library/halo.c" "${flags[@]}"
./halo frontier 16 2>/dev/null | grep -q '^finish_\|predicted_time_ps .* ps$' ||
    { echo "the example prints no time"; exit 1; }
if ./halo nowhere 2>said || ! grep -q "nowhere" said || ./halo frontier 0 2>said; then
    echo "the example does not fail"; cat said; exit 1
fi

# Plug-ins, compiled with the installed headers, in a program of somebody else's and in Python.
read -ra plugin_flags <<<"$(prefix/bin/weft --plugin-cflags)"
for name in chordal parts; do
    "$CC" -shared -fPIC "${plugin_flags[@]}" "$WEFT_SOURCE_DIR/examples/plugin/$name.c" -o $name.so
done
echo 'int nothing;' >empty.c
"$CC" -shared -fPIC empty.c -o empty.so
"$CC" -rdynamic -o plugins "$WEFT_SOURCE_DIR/examples/library/plugins.c" "${flags[@]}"
expect_failure() {
    local words=$1 status=0
    shift
    "$@" 2>said || status=$?
    [ $status = 3 ] && grep -qF -- "$words" said || { echo "$*: $status, expected '$words'"; cat said; exit 1; }
}
read -r with _ <<<"$(./plugins gen:pulse chordal:16,chord=4 ./chordal.so ./parts.so ./chordal.so)"
read -r without _ <<<"$(./plugins gen:ring torus:16)"
[ "$with" = $((without + 1)) ] || { echo "$without topologies without, $with with the plug-ins"; exit 1; }
expect_failure "is no plug-in" ./plugins gen:ring torus:16 ./empty.so
expect_failure "cannot load the plug-in './none.so': ./none.so: cannot open" ./plugins gen:ring torus:16 ./none.so
"$CC" -o hidden "$WEFT_SOURCE_DIR/examples/library/plugins.c" "${flags[@]}"
expect_failure "link this program with -rdynamic" ./hidden gen:pulse chordal:16 ./chordal.so
PYTHONPATH=$here/prefix/lib/python3/dist-packages python3 -B -c '
import weft
try:
    weft.load_plugin("./empty.so")
except weft.Error as error:
    assert error.code == 3 and "is no plug-in" in str(error), error
weft.load_plugin("./chordal.so")
assert weft.run("gen:pulse", 16, topology="chordal:16,chord=4", network="packet").seconds > 0' ||
    { echo "the plug-in does not work in Python"; exit 1; }

# All headers together, as users compile them; mark.h and task.h need MPI.
headers=(weft.h trace.h export.h version.h)
mpi=${MPICC:-$(command -v mpicc || echo "$CC")}
[ "$mpi" = "$CC" ] || headers+=(mark.h task.h)
for how in "-x c -std=c11" "-x c++ -std=c++17"; do
    read -ra words <<<"$how"
    printf '#include <weft/%s>\n' "${headers[@]}" |
        "$mpi" "${words[@]}" -Wall -Wextra -Wpedantic -Werror -fsyntax-only \
            -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX -I prefix/include - ||
        { echo "the headers do not compile with $how"; exit 1; }
done

echo '#include <weft/plugin.h>' >plugin.c
"$CC" -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only "${plugin_flags[@]}" plugin.c ||
    { echo "weft/plugin.h does not compile"; exit 1; }

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
