#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The wheel, installed by pip where nothing else of weft is: the package finds its library, and the
# command its program. Skipped without pip.
set -euo pipefail
python=/usr/bin/python3
if ! $python -m pip --version >/dev/null 2>&1; then
    echo "no pip"
    exit 77
fi
version=$(cat "$WEFT_SOURCE_DIR/VERSION" | tail -n 1)
wheel=$($python -B "$WEFT_SOURCE_DIR/python/build_wheel.py" .)
$python -m pip install --quiet --no-index --target site "./$wheel" 2>pip.log || { cat pip.log; exit 1; }
cd /
unset WEFT_LIBRARY
export PYTHONPATH=$OLDPWD/site
"$OLDPWD/site/bin/weft" --version | grep -F "weft $version" || { echo "the command fails"; exit 1; }
$python -B -c "
import weft
assert weft.run('gen:ring', 4, machine='frontier').seconds > 0
assert weft.__file__.startswith('$OLDPWD')" || { echo "the package fails"; exit 1; }
