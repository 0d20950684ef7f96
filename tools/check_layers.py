#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails if a file under src/ includes a module its own module may not know.

usage: check_layers.py [ROOT]
"""
import pathlib
import re
import sys

# A module may include itself and exactly these. This table is the architecture. "weft" stands
# for the installed headers, include/weft.
MAY_INCLUDE = {
    "base": [],
    "engine": ["base"],
    "topo": ["base"],
    "draw": ["base", "topo"],
    "trace": ["base"],
    "coll": ["base"],
    "gen": ["base", "trace"],
    "result": ["base"],
    "net": ["base", "engine", "topo", "result"],
    "mpi": ["base", "engine", "coll", "net", "result"],
    "replay": ["base", "engine", "coll", "net", "mpi", "trace", "result"],
    "vrank": ["base", "engine", "mpi", "trace", "result", "weft"],
    "traffic": ["base", "engine", "topo", "net"],
    "sim": ["base", "engine", "topo", "trace", "gen", "result", "net", "mpi", "replay", "vrank",
            "traffic", "weft"],
    "report": ["base", "trace", "result"],
    "capture": ["base", "trace", "weft"],
    "cli": ["base", "coll", "sim", "topo", "draw", "trace", "gen", "result", "report", "weft"],
}
# Headers of libraries, and the only files that may include them: nobody else depends on the
# library, which may be absent or replaced.
ONLY_IN = {
    "mpi.h": re.compile(r"engine/comm_mpi\.c|capture/.*"),
    "hwloc.h": re.compile(r"engine/pin_hwloc\.c"),
    "yaml.h": re.compile(r"sim/yaml\.c"),
    "zlib.h": re.compile(r"draw/png\.c"),
    "otf2/otf2.h": re.compile(r"trace/otf2_(in|out)\.c"),
    "zstd.h": re.compile(r"trace/frame\.c"),
}
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')


def faults(root):
    for path in sorted(root.glob("*/**/*.[ch]")):
        name = path.relative_to(root).as_posix()
        module = name.split("/")[0]
        if module not in MAY_INCLUDE:
            yield f"{path}: module '{module}' is not in the table of tools/check_layers.py"
            continue
        known = MAY_INCLUDE[module] + [module]
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            header = match[1]
            other = header.split("/")[0] if "/" in header else module
            if (other in MAY_INCLUDE or other == "weft") and other not in known:
                yield f"{path}:{number}: {module} may not include {other}"
            if header in ONLY_IN and not ONLY_IN[header].fullmatch(name):
                yield f"{path}:{number}: {header} belongs in {ONLY_IN[header].pattern} alone"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "src"
    found = list(faults(root))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
