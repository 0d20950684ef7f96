#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails if a file under src/ includes a module its own module may not know.

usage: check_layers.py [ROOT]
"""
import pathlib
import re
import sys

# This table is the architecture. A module is a folder of src/, or a folder below one; a file
# belongs to the longest name that fits its path. It may include its own module, the modules above
# it in the path (trace/dumpi may include trace), and exactly what stands here. A name that ends
# in .h allows that one header. "weft" stands for the installed headers, include/weft.
MAY_INCLUDE = {
    "base": [],
    "gpu": ["base"],
    "engine": ["base", "gpu"],
    "topo": ["base"],
    "draw": ["base", "topo"],
    "ops": ["base"],
    "trace": ["base", "ops", "trace/weft"],
    "trace/weft": ["base", "ops"],
    "trace/allprof": ["base"],
    "trace/bigsim": ["base", "ops"],
    "trace/chakra": ["base", "coll", "ops"],
    "trace/clog2": ["base"],
    "trace/csv": ["base", "ops"],
    "trace/cut": ["base", "ops"],
    "trace/dumpi": ["base", "ops"],
    "trace/goal": ["base", "ops"],
    "trace/otf2": ["base", "ops"],
    "trace/paraver": ["base"],
    "trace/ti": ["base", "ops"],
    "coll": ["base"],
    "gen": ["base", "ops"],
    "extrapolate": ["base", "ops", "gen/grid.h", "trace"],
    "result": ["base"],
    "net": ["base", "engine", "topo"],
    "net/fault": ["base", "topo", "result", "net/route"],
    "net/packet": ["base", "topo", "result", "net/route", "net/stats", "net/fault", "net/transport"],
    "net/transport": ["base", "net/packet", "net/stats"],
    "net/router": ["base", "topo", "net/route", "net/stats", "net/fault"],
    "net/stats": ["base", "engine", "result", "topo"],
    "net/route": ["base", "topo", "net/vc"],
    "net/vc": ["base", "topo"],
    "ranks": ["base", "engine", "coll", "net", "ops"],
    "mpilib": ["weft", "base/imports.h", "ops/finding.h", "ops/op.h"],
    "vrank": ["base", "ops", "trace", "mpilib/port.h"],
    "traffic": ["base", "topo", "net"],
    "lockstep": ["base", "gpu", "engine", "net", "net/router", "net/stats", "traffic"],
    "sim": ["base", "extrapolate", "engine", "topo", "ops", "trace", "gen", "result", "net", "net/fault",
            "net/route", "net/stats", "ranks", "vrank", "traffic", "lockstep", "gpu",
            "weft"],
    "report": ["base", "trace/otf2/out.h", "trace/otf2/coll.h", "trace/clog2/out.h", "trace", "result"],
    "study": ["base", "coll", "sim", "topo", "draw", "ops", "trace", "trace/weft",
              "gen", "result", "report", "weft"],
    "wasm": ["base", "coll", "gpu", "engine", "net/route", "topo", "trace/weft", "vrank", "result", "sim",
             "study"],
    "capture": ["base", "ops", "trace/weft", "weft"],
    "cli": ["base", "extrapolate", "sim", "draw", "ops", "trace", "trace/cut", "gen", "result",
            "report", "study", "weft"],
}
# Headers of libraries, and the only files that may include them: nobody else depends on the
# library, which may be absent or replaced.
ONLY_IN = {
    "expat.h": re.compile(r"topo/graph_graphml\.c"),
    "mpi.h": re.compile(r"engine/comm_mpi\.c|capture/.*|mpilib/abi/.*"),
    "hwloc.h": re.compile(r"engine/pin_hwloc\.c"),
    "yaml.h": re.compile(r"sim/yaml\.c"),
    "zlib.h": re.compile(r"draw/canvas_png\.c|study/page_live\.c"),
    "otf2/otf2.h": re.compile(r"trace/otf2/(in|out)\.c"),
    "zstd.h": re.compile(r"trace/weft/pack\.c"),
}
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')


def module_of(name):
    """The longest module in whose folder a path of src/ lies, or None."""
    parts = name.split("/")[:-1]
    while parts and "/".join(parts) not in MAY_INCLUDE:
        parts.pop()
    return "/".join(parts) or None


def allowed(module, header):
    """The entry that lets the module include this header, or None if nothing does."""
    other = "weft" if header.startswith("weft/") else module_of(header)
    if other is None or module == other or module.startswith(other + "/"):
        return other or "elsewhere"
    return next((entry for entry in MAY_INCLUDE[module] if entry in (other, header)), None)


def faults(root):
    used = set()
    for path in sorted(root.glob("*/**/*.[ch]")):
        name = path.relative_to(root).as_posix()
        module = module_of(name)
        if module is None:
            yield f"{path}: its folder is not in the table of tools/check_layers.py"
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            header = match[1]
            entry = allowed(module, header)
            used.add((module, entry))
            if entry is None:
                yield f"{path}:{number}: {module} may not include {header}"
            if header in ONLY_IN and not ONLY_IN[header].fullmatch(name):
                yield f"{path}:{number}: {header} belongs in {ONLY_IN[header].pattern} alone"
    for module, entries in MAY_INCLUDE.items():
        for entry in entries:
            if (module, entry) not in used:
                yield f"tools/check_layers.py: {module} may include {entry}, but does not"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "src"
    found = list(faults(root))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
