# SPDX-License-Identifier: Apache-2.0
"""A plug-in is one new file and one new line: adds one of every kind to a copy of the sources,
builds the copy, runs the conformance test of the kind on it and uses it from the command line.

The new file is a copy of an existing plug-in under another name, so that this test keeps up with
the interfaces.
"""
import os
import pathlib
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(os.environ["WEFT_SOURCE_DIR"])
COPY = pathlib.Path("copy")
NAME = "spare"

# The kind; the existing plug-in and its file; what to replace in it besides its name; the list
# and its new line; the conformance test, if the kind has one.
KINDS = [
    ("topology", "model/topo/star.c", {"wf_topo_star_": "wf_topo_spare_", '"star': '"spare'},
     "model/topo/topologies.def", "WF_TOPOLOGY(spare)", "topo"),
    ("routing policy", "model/net/route/minimal.c",
     {"wf_route_minimal_": "wf_route_spare_", '"minimal"': '"spare"'},
     "model/net/route/policies.def", "WF_ROUTE_POLICY(spare)", "route"),
    ("network model", "model/net/none.c", {"wf_net_none_": "wf_net_spare_", '"none"': '"spare"'},
     "model/net/models.def", "WF_NET_MODEL(spare)", "net"),
    ("collective algorithm", "model/coll/dissemination.c",
     {"(BARRIER, barrier, dissemination,": "(BARRIER, barrier, spare,"},
     "model/coll/algorithms.def", "WF_COLL_ALGORITHM(barrier_spare)", "coll"),
    ("generator", "program/gen/is.c",
     {"OPS(is,": "OPS(spare,", "is_create(": "spare_create(", "is_next(": "spare_next("},
     "program/gen/generators.def", "WF_GENERATOR(spare)", "gen"),
    ("graph generator", "program/gen/leanmd.c",
     {"wf_gen_leanmd_": "wf_gen_spare_tasks_", '"leanmd"': '"spare_tasks"'},
     "program/gen/graphs.def", "WF_GRAPH_GENERATOR(spare_tasks)", "graphs"),
    ("trace reader", "program/trace/bigsim/read.c",
     {"wf_bigsim_reader_": "wf_spare_reader_", '"bigsim"': '"spare"'},
     # Its conformance test also needs sample traces of the new format.
     "program/trace/readers.def", "WF_TRACE_READER(spare)", None),
    ("trace writer", "program/trace/csv/write.c",
     {"wf_csv_writer_": "wf_spare_writer_", '"csv"': '"spare"', '".csv"': '".spare"'},
     "program/trace/writers.def", "WF_TRACE_WRITER(spare)", None),
    ("report writer", "ui/report/json.c",
     {"wf_writer_json": "wf_writer_spare", '"json"': '"spare"', '".json"': '".spare"'},
     "ui/report/writers.def", "WF_REPORT_WRITER(spare)", "writer"),
    ("drawing format", "ui/draw/dot.c", {"wf_draw_dot": "wf_draw_spare", '".dot"': '".spare"'},
     "ui/draw/formats.def", "WF_DRAW_FORMAT(spare)", None),
    ("benchmark model", "engine/models/ties.c",
     {"wf_bench_ties_": "wf_bench_spare_", '"ties"': '"spare"'},
     "engine/models/models.def", "WF_BENCH_MODEL(spare)", None),
    ("command", "ui/cli/cmd_explain.c",
     {"wf_verb_explain": "wf_verb_spare", '"explain"': '"spare"'},
     "ui/cli/verbs.def", "WF_VERB(spare)", None),
]
# Commands that use the plug-ins, and what they print.
USES = [
    (["topo", "list"], "spare"),
    (["topo", "spare:8", "-o", "net.spare"], ""),
    (["coll", "list", "barrier"], "spare"),
    (["replay", "gen:spare", "-n", "4", "--net", "spare", "-q", "-o", "result.spare"], ""),
    (["replay", "gen:ring", "-n", "4", "--net", "packet", "--topo", "spare:4",
      "-p", "net.routing=spare", "-p", "mpi.barrier=spare"], "Predicted time"),
    (["replay", "gen:spare_tasks", "-n", "4", "--net", "spare"], "Predicted time"),
    (["gen", "ring", "-n", "4", "-o", "trace.spare"], ""),
    (["bench", "spare", "--end", "1us"], ""),
    (["help"], "trace.spare"),
    (["spare", "--help"], "usage"),
]


def copy_sources():
    listing = subprocess.run(["git", "-C", str(SOURCE), "ls-files", "-z"], capture_output=True,
                             check=False)
    if listing.returncode == 0:
        names = os.fsdecode(listing.stdout).split("\0")
    else:
        names = [p.relative_to(SOURCE).as_posix() for p in SOURCE.rglob("*")
                 if p.relative_to(SOURCE).parts[0] not in (".git", "build")]
    for name in filter(None, names):
        if (SOURCE / name).is_file():
            (COPY / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(SOURCE / name, COPY / name)
            shutil.copymode(SOURCE / name, COPY / name)


def add_plugin(kind, source, changes, listed, line):
    path = COPY / "src" / source
    text = path.read_text()
    for old, new in changes.items():
        if old not in text:
            sys.exit(f"{kind}: {source} has no {old}; choose another example")
        text = text.replace(old, new)
    stem = "cmd_spare" if path.stem.startswith("cmd_") else f"spare_{path.stem}"
    path.with_name(stem + ".c").write_text(text)
    listing = COPY / "src" / listed
    before, after = listing.read_text().split("\n#undef")
    listing.write_text(insert(before, line) + "\n#undef" + after)


def insert(lines, line):
    """Puts a line after the last; an algorithm after those of its collective."""
    head = line.split("_spare")[0] if line.startswith("WF_COLL") else ""
    lines = lines.split("\n")
    at = max(i for i, text in enumerate(lines) if text.startswith(head or "WF_"))
    return "\n".join([*lines[:at + 1], line, *lines[at + 1:]])


def run(command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **more)
    if done.returncode != 0:
        print(done.stdout[-4000:])
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}")
    return done.stdout


def main():
    cmake, generator = sys.argv[1:]
    copy_sources()
    for kind, source, changes, listed, line, _ in KINDS:
        add_plugin(kind, source, changes, listed, line)
    tests = [test for *_, test in KINDS
             if test and (COPY / f"tests/conformance/test_{test}.c").exists()]
    run([cmake, "-S", COPY, "-B", "build", "-G", generator, "-DCMAKE_BUILD_TYPE=Debug",
         "-DCMAKE_C_FLAGS_DEBUG=-O0 -g1", f"-DCMAKE_C_COMPILER={os.environ['CC']}",
         # None of this has plug-ins; the kernels alone would take as long as all the rest.
         "-DWEFT_MPI=OFF", "-DWEFT_CAPTURE=OFF", "-DWEFT_GPU=OFF"])
    run([cmake, "--build", "build", "--parallel", "2", "--target", "weft",
         *(f"conformance_{test}" for test in tests)])
    for test in tests:
        only = "spare_tasks" if test == "graphs" else NAME
        print(run([f"build/tests/conformance_{test}"], env={**os.environ, "WEFT_TEST_ONLY": only}))
    for words, expected in USES:
        output = run(["build/weft", *words])
        if expected not in output:
            sys.exit(f"weft {' '.join(words)} does not print '{expected}':\n{output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
