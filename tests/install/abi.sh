#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# abi.sh [--update]: compares the library's binary interface with that of the last release, which
# tests/install/libweft.abi describes; before the first one, with that of the main branch when the
# description was written. Functions may be added; what is there must not change. --update writes
# the description, for tools/release. Skipped without abidw and abidiff (abigail-tools).
set -euo pipefail
known=$WEFT_SOURCE_DIR/tests/install/libweft.abi
if ! command -v abidw >/dev/null; then
    echo "no abidw"
    exit 77
fi

# The interface alone, with types: what it calls is left undefined.
"$CC" -std=c11 -D_GNU_SOURCE -g -O1 -fPIC -fvisibility=hidden -shared -o libweft.so \
    -I "$WEFT_SOURCE_DIR/src" -I "$WEFT_SOURCE_DIR/include" -I "$WEFT_BUILD_DIR/include" \
    "$WEFT_SOURCE_DIR"/src/ui/library/*.c "$WEFT_SOURCE_DIR/src/run/document/version.c"
mkdir -p headers
cp "$WEFT_SOURCE_DIR"/include/weft/{weft,trace,export}.h "$WEFT_BUILD_DIR/include/weft/version.h" headers
abidw --headers-dir headers --drop-private-types --no-corpus-path --no-comp-dir-path --no-show-locs \
    --type-id-style hash libweft.so |
    sed "s|$PWD/||g; s|$WEFT_BUILD_DIR/||g; s|$WEFT_SOURCE_DIR/||g; s| comp-dir-path='[^']*'||" >now.abi
if [ "${1:-}" = --update ]; then
    cp now.abi "$known"
    exit 0
fi
abidiff --suppressions "$WEFT_SOURCE_DIR/tests/install/abi.suppr" --no-added-syms "$known" now.abi
