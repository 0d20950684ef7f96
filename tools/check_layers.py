#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails if a file under src/ includes a module its own module may not know, or modules include
each other.

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
    "model/net/router/gpu": ["base"],
    "engine": ["base"],
    "engine/queue": ["base"],
    "engine/hosts": ["base"],
    "engine/core": ["base", "engine/hosts", "engine/queue"],
    "engine/sched": ["base", "engine/core", "engine/queue"],
    "engine/warp": ["base", "engine/core", "engine/queue", "engine/sched"],
    "model/topo": ["base"],
    "ui/draw": ["base", "model/topo"],
    "program/ops": ["base"],
    "program/trace": ["base", "program/ops"],
    "program/trace/weft": ["base", "program/ops"],
    "program/trace/spool": ["base", "program/ops", "program/trace/weft"],
    "program/trace/allprof": ["base", "program/trace/spool"],
    "program/trace/bigsim": ["base", "program/ops"],
    "program/trace/chakra": ["base", "model/coll", "program/ops"],
    "program/trace/clog2": ["base", "program/trace/spool"],
    "program/trace/darshan": ["base", "program/trace/spool"],
    "program/trace/csv": ["program/ops", "program/trace/spool"],
    "program/trace/cut": ["base", "program/ops"],
    "program/trace/dumpi": ["base", "program/ops", "program/trace/spool"],
    "program/trace/goal": ["base", "program/ops", "program/trace/spool"],
    "program/trace/otf2": ["base", "program/ops", "program/trace/spool"],
    "program/trace/paraver": ["base", "program/trace/spool"],
    "program/trace/ti": ["base", "program/ops", "program/trace/spool"],
    "model/coll": ["base"],
    "program/gen": ["base", "program/ops"],
    "program/extrapolate": ["base", "program/ops", "program/gen/grid.h", "program/trace", "program/trace/spool", "program/trace/weft/native.h"],
    "base/result": ["base"],
    "model/net": ["base", "engine", "model/topo"],
    "model/net/fault": ["base", "model/topo", "base/result", "model/net/route"],
    "model/net/packet": ["base", "engine/cellmap.h", "model/topo", "base/result", "model/net/route", "model/net/stats", "model/net/fault"],
    "model/net/transport": ["base", "model/net/packet", "model/net/stats"],
    "model/net/router": ["base", "engine/cellmap.h", "model/topo", "model/net/route", "model/net/stats", "model/net/fault"],
    "model/net/stats": ["base", "engine", "base/result", "model/topo"],
    "model/net/route": ["base", "model/topo", "model/net/vc"],
    "model/net/vc": ["base", "model/topo"],
    "model/ranks": ["base", "engine", "model/coll", "model/net", "model/storage", "program/ops"],
    "model/storage": ["base"],
    "mpi": ["program/ops/decision.h", "program/ops/finding.h", "program/ops/op.h"],
    "mpi/lib": ["weft", "base/imports.h", "program/ops/finding.h"],
    "mpi/vrank": ["base", "program/ops", "program/trace"],
    "model/traffic": ["base", "model/topo", "model/net"],
    "model/failure": ["base"],
    "model/queue": ["base", "model/failure", "model/topo"],
    "model/net/router/lockstep": ["base", "model/net/router/gpu", "engine/hosts/barrier.h", "model/net", "model/net/router", "model/net/stats", "model/traffic"],
    "run/program": ["base", "base/result", "program/ops", "mpi/vrank", "weft"],
    "run/scenario": ["base", "engine", "model/topo", "model/net", "model/net/route", "model/ranks", "model/storage", "model/traffic", "program/trace", "program/gen",
                     "run/program"],
    "run/import": ["base", "model/topo", "program/trace", "run/scenario"],
    "run/machine": ["base", "model/topo", "model/net", "model/ranks", "model/storage", "run/scenario", "run/import"],
    "run/workload": ["base", "model/queue", "run/machine"],
    "run/plan": ["base", "base/result", "program/extrapolate", "engine", "model/topo", "model/net", "model/ranks", "model/storage", "model/traffic", "program/ops",
                 "program/trace", "program/gen", "run/scenario", "run/import", "run/program"],
    "run/document": ["base", "base/result", "engine", "engine/hosts/comm.h", "model/topo", "model/net", "model/net/fault", "model/net/route",
                     "model/net/stats", "model/ranks", "model/storage", "program/ops", "run/plan", "run/scenario", "weft"],
    "run/execute": ["base", "base/result", "engine", "engine/hosts/comm.h", "model/topo", "model/net", "model/net/fault", "model/ranks", "model/storage",
                    "model/traffic", "model/net/router/lockstep", "model/net/router/gpu", "mpi/vrank", "program/ops", "program/trace",
                    "program/trace/weft/native.h", "run/plan", "run/document", "run/scenario", "run/program", "weft"],
    "ui/report": ["base", "program/trace/otf2/out.h", "program/trace/otf2/coll.h", "program/trace/clog2/out.h", "program/trace", "base/result"],
    "ui/plugin": ["base", "model/coll", "model/net/route", "model/queue", "model/topo", "program/gen", "program/trace", "ui/report", "weft"],
    "ui/study": ["base", "model/coll", "run/execute", "run/machine", "run/scenario", "run/workload", "model/failure", "model/queue", "model/topo", "ui/draw", "program/ops", "program/trace", "program/trace/weft",
              "program/gen", "base/result", "ui/report", "weft"],
    "ui/library": ["base", "model/coll", "base/result", "run/execute", "run/machine", "run/scenario", "program/trace", "ui/report",
                   "ui/plugin", "ui/study", "weft"],
    "ui/wasm": ["base", "model/coll", "model/net/router/gpu", "engine/hosts", "model/net/route", "model/topo", "program/trace/weft", "mpi/vrank", "base/result", "run/execute",
             "run/program", "run/scenario", "ui/study"],
    "mpi/capture": ["base", "program/ops", "program/trace/weft", "weft"],
    "ui/cli": ["base", "program/extrapolate", "run/execute", "run/import", "run/machine", "run/program", "run/scenario", "ui/draw", "program/ops", "program/trace", "program/trace/cut", "program/gen", "base/result",
            "ui/report", "ui/plugin", "ui/study", "weft"],
}
# Rooms, the folders of src/ itself, meet at these headers alone; those of base are for everybody.
SEAMS = {
    "engine": """
        cargo.h cellmap.h config.h hosts/barrier.h hosts/comm.h hosts/pin.h key.h model.h models/bench.h
        run.h
    """.split(),
    "model": """
        coll/coll.h coll/nccl.h failure/goodput.h queue/nodes.h queue/policy.h queue/queue.h net/fault/fault.h net/net.h net/route/route.h net/router/gpu/gpu.h
        net/router/lockstep/device.h net/router/lockstep/lockstep.h net/stats/link_report.h
        ranks/cpu/cpu.h ranks/local.h ranks/node_costs.h ranks/node_params.h ranks/place.h
        ranks/rails.h ranks/ranks.h ranks/record/path.h ranks/record/recorder.h
        ranks/record/recording.h ranks/tally.h ranks/tasks/pe.h storage/storage.h topo/classes.h
        topo/graph_format.h topo/measure.h topo/nested.h topo/spec.h topo/topo.h
        traffic/traffic.h
    """.split(),
    "program": """
        extrapolate/explain.h extrapolate/extrapolate.h extrapolate/notes.h extrapolate/verify.h
        gen/gen.h gen/graphs.h ops/changed.h ops/created.h ops/decision.h ops/disturbance.h ops/fields.h
        ops/finding.h ops/graph.h ops/graph_repeat.h ops/groups.h ops/live.h ops/looped.h
        ops/matching.h ops/op.h ops/op_kinds.h ops/resample.h ops/retimed.h ops/robust.h
        ops/roi.h ops/source.h ops/steps.h trace/clog2/out.h trace/copy.h trace/cut/cut.h
        trace/cut/graph.h trace/cut/parse.h trace/facts.h
        trace/kit/losses.h trace/kit/open_requests.h trace/kit/records.h trace/kit/target.h
        trace/otf2/coll.h trace/otf2/out.h trace/reader.h trace/weft/encode.h trace/weft/frame.h
        trace/weft/graph.h trace/weft/native.h trace/writer.h
    """.split(),
    "mpi": """
        vrank/crash.h vrank/program_libraries.h vrank/program_source.h vrank/recorder.h
    """.split(),
    "run": """
        execute/executor.h execute/orders.h execute/run.h execute/world.h import/codes.h import/codes_text.h
        machine/machine.h machine/yaml.h program/program.h scenario/catalog.h scenario/scenario.h
        workload/workload.h
    """.split(),
}
# Headers of libraries, and the only files that may include them: nobody else depends on the
# library, which may be absent or replaced.
ONLY_IN = {
    "expat.h": re.compile(r"model/topo/graph_graphml\.c"),
    "mpi.h": re.compile(r"engine/hosts/comm_mpi\.c|mpi/capture/.*|mpi/lib/abi/.*"),
    "hwloc.h": re.compile(r"engine/hosts/pin_hwloc\.c"),
    "yaml.h": re.compile(r"run/machine/yaml\.c"),
    "zlib.h": re.compile(r"ui/draw/canvas_(?:pdf|png)\.c|ui/study/page_live\.c"),
    "otf2/otf2.h": re.compile(r"program/trace/otf2/(in|out)\.c"),
    "zstd.h": re.compile(r"program/trace/weft/pack\.c"),
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


def room_of(name):
    return name.partition("/")[0]


def seams(includes):
    """What crosses rooms elsewhere than at a seam, and seams that nobody needs, of (file, header)."""
    crossing = {header for name, header in includes if room_of(header) in SEAMS and room_of(header) != room_of(name)}
    for name, header in sorted(includes):
        room, _, rest = header.partition("/")
        if header in crossing and header.endswith(".h") and room != room_of(name) and rest not in SEAMS[room]:
            yield f"src/{name}: {header} is no seam of {room} (SEAMS in tools/check_layers.py)"
    for room, headers in SEAMS.items():
        for rest in headers:
            if f"{room}/{rest}" not in crossing:
                yield f"tools/check_layers.py: no other room includes {room}/{rest}, which is among its SEAMS"


def cycles(includes):
    """Circles of modules: for each module that includes itself by way of others, the shortest one."""
    for start in sorted({module for module, _ in includes}):
        before = {}
        todo = [start]
        for module in todo:
            for _, other in sorted(edge for edge in includes if edge[0] == module):
                if other not in before:
                    before[other] = module
                    todo.append(other)
        if start in before:
            circle = [start]
            while len(circle) == 1 or circle[-1] != start:
                circle.append(before[circle[-1]])
            if min(circle) == start:  # once, not once for each of its modules
                yield circle[::-1]


def faults(root):
    used = set()
    includes = set()
    by_file = set()
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
            by_file.add((name, header))
            other = module_of(header)
            if other not in (None, module):
                includes.add((module, other))
            if entry is None:
                yield f"{path}:{number}: {module} may not include {header}"
            if header in ONLY_IN and not ONLY_IN[header].fullmatch(name):
                yield f"{path}:{number}: {header} belongs in {ONLY_IN[header].pattern} alone"
    yield from seams(by_file)
    for circle in cycles(includes):
        yield f"tools/check_layers.py: modules include each other: {' -> '.join(circle)}"
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
