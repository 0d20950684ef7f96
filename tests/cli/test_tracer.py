# SPDX-License-Identifier: Apache-2.0
"""Configurations of TraceR as the source of a replay: traces, map files and changes of all jobs
in one command; mistakes are named with file and line."""
import pathlib
import shutil
import struct
import sys
import tempfile

from weft_cli import SOURCE, check, check_run, finish, parse, run

sys.path.insert(0, str(SOURCE / "tests/harness"))
import foreign_graphs as graphs  # noqa: E402

# Nine groups of four routers with two nodes each, two cores on a node.
CONF = """\
LPGROUPS { MODELNET_GRP { repetitions="36"; server="4"; modelnet_dragonfly="2";
    modelnet_dragonfly_router="1"; } }
PARAMS { modelnet_order=( "dragonfly", "dragonfly_router" ); num_routers="4"; chunk_size="512";
    local_bandwidth="5.25"; global_bandwidth="4.7"; cn_bandwidth="5.25"; routing="minimal"; }
"""
# The cores of two jobs, with 8 and 4 ranks.
MAPS = [[0, 4, 8, 12, 1, 5, 9, 143], [2, 3, 6, 7]]
CONFIG = "global.bin\n2\na.weft job0 8 1\nb.weft job1 4 1\n"


def node_of(core):
    """CODES deals the cores of a router over its nodes in turn."""
    return core // 4 * 2 + core % 4 % 2


def ints(*numbers):
    return struct.pack(f"<{len(numbers)}i", *numbers)


def write_maps(directory, maps):
    entries = [ints(core, rank, job) for job, cores in enumerate(maps)
               for rank, core in enumerate(cores)]
    (directory / "global.bin").write_bytes(b"".join(entries))
    for job, cores in enumerate(maps):
        (directory / f"job{job}").write_bytes(ints(*cores))


def replay(directory, *args, code=0):
    done = run("replay", *args, "--machine", str(directory / "net.conf"), "--json", "-q")
    check(done.returncode == code, f"replay {args}", done)
    return parse(done)


def digest(document):
    result = document.get("result", {})
    return result.get("digest"), result.get("predicted_time_ps")


def with_nodes(directory, maps, *args):
    """The same two jobs, placed by our own files."""
    for job, cores in enumerate(maps):
        (directory / f"nodes{job}").write_text("".join(f"{node_of(c)}\n" for c in cores))
    return replay(directory, str(directory / "a.weft"), "--placement",
                  f"file:{directory / 'nodes0'}", "--job",
                  f"{directory / 'b.weft'},placement=file:{directory / 'nodes1'}", *args)


def replays(directory):
    config = directory / "tracer_config"
    write_maps(directory, MAPS)
    config.write_text(CONFIG)
    expected = digest(with_nodes(directory, MAPS))
    document = replay(directory, str(config))
    check(digest(document) == expected and expected[0] is not None, "map files place the ranks")
    check([job["ranks"] for job in document["scenario"]["jobs"]] == [8, 4], "two jobs")
    check(digest(replay(directory, str(directory))) == expected, "a directory with the file")
    for scheduler in ("conservative", "optimistic"):
        document = replay(directory, str(config), "--sched", scheduler, "--threads", "2", "-p",
                          "engine.fit=no")
        check(digest(document) == expected, f"the same with the {scheduler} scheduler")
    config.write_text(CONFIG.replace("job0", "NA"))
    check(digest(replay(directory, str(config))) == expected, "the global map is enough")
    config.write_text(CONFIG.replace(" 1\n", "\n"))
    check(digest(replay(directory, str(config))) == expected, "without iterations, as in 1.0")

    in_order = [list(range(8)), list(range(8, 12))]
    expected = digest(with_nodes(directory, in_order))
    config.write_text(CONFIG.replace("global.bin", "NA"))
    check(digest(replay(directory, str(config))) == expected, "without maps, in order")
    check_run(["replay", str(config), "--machine", str(directory / "net.conf")], 0,
              "tracer_config:3: map file 'job0' is not used")

    config.write_text(CONFIG.replace("global.bin", "NA") + "E 0 scale_all 4\nE 1 scale_all 4\n")
    expected = digest(with_nodes(directory, in_order, "-p", "cpu.scale=0.25"))
    check(digest(replay(directory, str(config))) == expected, "scale_all divides all times")
    check_run(["replay", str(config), "-p", "cpu.scale=2"], 0, "scale_all is not used")
    config.write_text(CONFIG.replace("global.bin", "NA") + "E 0 solve 1.5\n")
    check_run(["replay", str(config)], 0, "tracer_config:5: event solve is not changed")

    # Torus: nodes are routers, and their cores follow each other.
    config.write_text(CONFIG.replace("global.bin", "NA"))
    for nodes, cores in ((4, 3), (12, 1)):
        done = run("replay", str(config), "--topo", f"torus:{nodes}", "--ranks-per-node", str(cores),
                   "--net", "packet", "--json", "-q")
        check(done.returncode == 0, "as many cores as ranks", done)
    check_run(["replay", str(config), "--topo", "torus:11", "--net", "packet"], 3,
              "tracer_config: 12 ranks do not fit on the machine, which has 11 nodes with 1 rank each")


# A program with a loop that TraceR repeats, and that program with other times and sizes.
LOOP = """
compute 5us
repeat {times} {{ region TRACER_Loop_main {{
    compute {compute}
    isend (rank + 1) % size {large}
    recv (rank + size - 1) % size {large}
    waitall
    sendrecv (rank + 1) % size from (rank + size - 1) % size {small}
    allreduce {small}
}} }}
compute 1us
barrier
"""
ORIGINAL = {"times": 1, "compute": "3ms", "large": 100000, "small": 800}


def changes(directory):
    """Iterations repeat the loop of a trace, and lines after the jobs replace times and sizes, as
    the same program with these numbers has them."""
    def make(name, **other):
        text = directory / "loop.txt"
        text.write_text(LOOP.format(**{**ORIGINAL, **other}))
        check_run(["gen", "text", "-n", "4", "-p", f"gen.file={text}", "-o",
                   str(directory / f"{name}.weft"), "-f"], 0)
        return str(directory / f"{name}.weft")

    make("loop")
    config = directory / "changes_config"
    for iterations, lines, other in [
            (1, "", {}), (3, "", {"times": 3}),
            (1, "M 0 100000 2000\n", {"large": 2000}),
            (1, "M 0 100001 2000\n", {}),
            (1, "S 0 800 40000\nS 0 100000 100\n", {"small": 40000, "large": 100}),
            (1, "T 3e6 0.000002\n", {"compute": "2us"}),
            (2, "T 3000001 0.000002\nM 0 1000 10\nS 0 10 20\n", {"times": 2, "large": 20}),
    ]:
        config.write_text(f"NA\n1\nloop.weft NA 4 {iterations}\n{lines}")
        expected = parse(run("replay", make("expected", **other), "--json", "-q"))["result"]
        for sched in ("sequential", "optimistic"):
            found = parse(run("replay", str(config), "--sched", sched, "--json", "-q"))["result"]
            same = ("predicted_time_ps", "messages", "bytes")
            check([found.get(k) for k in same] == [expected[k] for k in same],
                  f"{iterations} iterations, {lines!r}, {sched}: {found} instead of {expected}")
    config.write_text("NA\n1\nloop.weft NA 4 1\nE 0 user_code 0.001\n")
    expected = parse(run("replay", str(directory / "loop.weft"), "-p", "changes=compute>=0:1ms",
                         "--json", "-q"))["result"]
    check(digest(parse(run("replay", str(config), "--json", "-q"))) == digest({"result": expected})
          and expected["ranks"]["compute_ps"]["max"] == 3 * 10 ** 9, "user_code: one time for all")
    loop = str(directory / "loop.weft")
    check_run(["replay", loop, "-p", "changes=bytes>5"], 2,
              "changes: 'bytes>5' is not a change; expected compute>=<time>:<time>")
    check_run(["replay", loop, "-p", "loops=2", "--region", "TRACER_Loop_main"], 2,
              "loops: does not go with a region")
    check_run(["replay", "gen:leanmd", "-n", "4", "-p", "loops=2"], 2, "loops and changes do not")


def bigsim_loops(directory):
    """The loop event of BigSim's logs, and changes that leave calls of MPI alone."""
    def logs(pe, times):
        """A PE that computes and sends to its neighbour, and then ends; unrolled."""
        out = []
        for i in range(times):
            chain = [len(out) - 1] if out else []
            out += [graphs.Log("work", 4e-6, before=chain,
                               messages=[(10 * pe + i + 1, 1 - pe, 1e-6, 5000)]),
                    graphs.Log("msgep", by=(1 - pe, 10 * (1 - pe) + i + 1)),
                    graphs.Log("AMPI_Wait", 1e-6, before=[len(out), len(out) + 1])]
        out.append(graphs.Log("AMPI_BgLoopToStart", 0, before=[len(out) - 1]))
        return [*out, graphs.Log("tail", 7e-6, before=[len(out) - 1])]

    def write(name, times):
        return graphs.write_bigsim(directory / name, graphs.bigsim([logs(pe, times) for pe in (0, 1)]))

    def result(source, *words):
        done = run("replay", str(source), *words, "--net", "loggp", "--json", "-q")
        check(done.returncode == 0, f"{source}", done)
        found = parse(done)["result"]
        return [found["predicted_time_ps"], found["messages"], found["bytes"]]

    write("once", 1)
    rules = ["-p", "trace.rules=tracer"]
    config = directory / "loop_config"
    for times in (1, 2, 5):
        config.write_text(f"NA\n1\nonce NA 2 {times}\n")
        expected = result(write("unrolled", times), *rules)
        for sched in ("sequential", "optimistic"):
            found = result(config, "--sched", sched)
            check(found == expected, f"{times} rounds: {found} instead of {expected}")
    config.write_text("NA\n1\nonce NA 2 1\nM 0 5000 10\nT 5e-6 1e-6\nS 0 10 20\n")
    plain, found = result(directory / "once", *rules), result(config)
    # The tail is long and the work is not.
    check(found[2] == 20 and plain[0] - found[0] >= 6_000_000, f"changes: {plain}, {found}")
    check_run(["replay", str(config)], 0, "loop_config:6: S is not used")
    pes = [logs(0, 1), [log for log in logs(1, 1) if log.name != "AMPI_BgLoopToStart"]]
    pes[1][-1].before = [2]
    graphs.write_bigsim(directory / "uneven", graphs.bigsim(pes))
    check_run(["replay", str(directory / "uneven"), *rules, "-p", "trace.loops=2"], 3,
              "PE 1 has no loop event")


def bigsim(directory):
    """Logs of BigSim are replayed by TraceR's rules, with its time of a call."""
    shutil.copytree(SOURCE / "tests/data/traces/bigsim", directory / "logs")
    document = parse(run("info", str(directory / "logs"), "--json"))
    ranks = document.get("ranks", document.get("pes"))
    config = directory / "bigsim_config"
    config.write_text(f"NA\n1\nlogs NA {ranks} 1\n")
    document = parse(run("replay", str(config), "--net", "packet", "--topo", "torus:4x4", "-p",
                         "node.o_send=250ns", "--json", "-q"))
    parameters = document.get("scenario", {}).get("parameters", {}).get("trace", {})
    check((parameters.get("rules"), parameters.get("soft_delay")) == ("tracer", "250ns"),
          f"rules are {parameters}")
    config.write_text(f"NA\n1\nlogs NA {ranks} 1\nE 0 AMPI_Send 1\n")
    check_run(["replay", str(config)], 3, "bigsim_config:4: E: events of BigSim's logs cannot")


# The configuration, the line of the mistake, what is said about it.
BAD = [
    ("NA\n0\n", 2, "'0' is not a number of jobs from 1 to 65535"),
    ("NA\n65536\n", 2, "'65536' is not a number of jobs"),
    ("NA\n99999999999999999999999\n", 2, "is not a number of jobs"),
    ("NA\n2\na.weft NA 8 1\n", 3, "expected a job: trace, map file or NA"),
    ("NA\n1\na.weft NA\n", 3, "expected a job"),
    ("NA\n1\na.weft NA 8 1 1\n", 3, "expected a job"),
    ("NA\n1\nNA NA 8 1\n", 3, "'NA' is not the name of a trace"),
    ("NA\n1\na.weft NA eight 1\n", 3, "'eight' is not a number of ranks"),
    ("NA\n1\na.weft NA 0 1\n", 3, "'0' is not a number of ranks"),
    ("NA\n1\na.weft NA 8 0\n", 3, "'0' is not a number of iterations"),
    ("NA\n1\na.weft NA 9 1\n", 3, "is a trace of 8 ranks, which cannot be played on 9"),
    ("NA\n1\na.weft NA 8 1\nb.weft NA 4 1\n", 4, "'b.weft' is not a change; expected E, M, S or T"),
    ("NA\n1\na.weft NA 8 1\nE 0 scale_all\n", 4, "expected E <job> <event> <seconds>"),
    ("NA\n1\na.weft NA 8 1\nE 1 scale_all 2\n", 4, "'1' is not a job; the last one is 0"),
    ("NA\n1\na.weft NA 8 1\nE 0 scale_all two\n", 4, "'two' is not a number"),
    ("NA\n1\na.weft NA 8 1\nE 0 scale_all nan\n", 4, "'nan' is not a number"),
    ("NA\n1\na.weft NA 8 1\nE 0 scale_all 0\n", 4, "scale_all must be above 0"),
    ("NA\n1\na.weft NA 8 1\nE 0 user_code -1\n", 4, "E: user_code is below 0"),
    ("NA\n1\na.weft NA 8 1\nM 0 -1 8\n", 4, "'-1' is not a number from 0 to 1e15"),
    ("NA\n1\na.weft NA 8 1\ns 1 1000 8\n", 4, "'1' is not a job; the last one is 0"),
    ("NA\n1\na.weft NA 8 1\nT 0.5\n", 4, "expected T <limit> <seconds>"),
    (CONFIG + "E 0 scale_all 2\n", 5, "scale_all must be the same for all jobs"),
]
# The name and content of a map file, what is said about it.
BAD_MAPS = [
    ("global.bin", b"", "global.bin: maps 0 ranks, but the configuration has 12"),
    ("global.bin", ints(0, 0, 0) + b"\0", "13 bytes are not a map file .* is it truncated"),
    ("global.bin", ints(0, 0, 0), "maps 1 rank, but the configuration has 12"),
    ("global.bin", ints(*[0, 0, 2] * 12), "entry 0: there is no rank 0 of job 2"),
    ("global.bin", ints(*[0, 4, 1] * 12), "entry 0: there is no rank 4 of job 1"),
    ("global.bin", ints(*[0, -1, 1] * 12), "entry 0: there is no rank 4294967295 of job 1"),
    ("global.bin", ints(*[144, 0, 0] * 12), "entry 0: there is no core 144; .* last one is 143"),
    ("global.bin", ints(*[-1, 0, 0] * 12), "entry 0: there is no core 4294967295"),
    ("global.bin", ints(*[0, 0, 0] * 12), "entry 1: rank 0 of job 0 occurs twice"),
    ("global.bin", None, "cannot read .*global.bin"),
    ("job0", b"\0" * 31, "job0: 31 bytes are not a map file"),
    ("job0", b"\0" * 28, "job0: maps 7 ranks, but the configuration has 8"),
    ("job0", ints(0, 4, 8, 12, 1, 5, 9, 10), "job0: rank 7 is on core 10, but 'global.bin' has it "
     "on core 143"),
    ("job1", None, "cannot read .*job1"),
]


def refuses(directory):
    config = directory / "bad_config"
    machine = ["--machine", str(directory / "net.conf"), "-q"]
    for text, line, words in BAD:
        config.write_text(text)
        check_run(["replay", str(config), *machine], 3, f"bad_config:{line}: .*{words}")
    for name, content, words in BAD_MAPS:
        write_maps(directory, MAPS)
        config.write_text(CONFIG)
        (directory / name).unlink()
        if content is not None:
            (directory / name).write_bytes(content)
        check_run(["replay", str(config), *machine], 3, words)
    write_maps(directory, [[*MAPS[0][:-1], 2], MAPS[1]])
    check_run(["replay", str(config), *machine], 3, "global.bin: two ranks are on core 2")
    write_maps(directory, MAPS)
    check_run(["replay", str(config), *machine, "--job", "gen:ring,ranks=2"], 2,
              "job.1.source: job 1 is already in .*bad_config.*-p job.2.source")
    config.write_text(CONFIG.replace("a.weft", "none.weft"))
    check_run(["replay", str(config), *machine], 3, "none.weft")
    check_run(["replay", str(directory / "a.weft"), "--placement", f"tracer:{config}"], 3,
              "bad_config: ")
    config.write_text(CONFIG.replace("b.weft job1 4", "a.weft job1 8"))
    check_run(["replay", str(directory / "b.weft"), "--placement", f"tracer:{config}"], 3,
              "bad_config:3: job 0 has 8 ranks, the program 4")
    check_run(["replay", str(directory / "b.weft"), "--placement", "tracer:nowhere"], 3,
              "cannot read 'nowhere'")


with tempfile.TemporaryDirectory() as name:
    where = pathlib.Path(name)
    (where / "net.conf").write_text(CONF)
    check_run(["gen", "stencil3d", "-n", "8", "-p", "gen.iterations=2", "-o",
               str(where / "a.weft")], 0)
    check_run(["gen", "ring", "-n", "4", "-o", str(where / "b.weft")], 0)
    replays(where)
    bigsim(where)
    changes(where)
    bigsim_loops(where)
    refuses(where)
finish()
