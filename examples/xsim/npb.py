# SPDX-License-Identifier: Apache-2.0
"""Figures 15 to 18 differ in the network only: programs of the kinds of NPB's EP and MG on it."""
import json
import pathlib
import subprocess
import sys
import tempfile

import xsim
from plot import Figure, Log

PROGRAMS = {"ep": ["20", "400"], "mg": ["64", "4"]}
QUICK = {"ep": ["16", "400"], "mg": ["32", "2"]}
STAR = "star:{}".format


def build(weft, name, where):
    compiler = pathlib.Path(weft).resolve().parent / "weftcc"
    program = str(pathlib.Path(where) / name)
    done = subprocess.run([compiler, "-O2", "-w", xsim.HERE.parent / f"mpi/{name}.c", "-o",
                           program, "-lm"], check=False)
    if done.returncode != 0:
        sys.exit(f"{compiler} cannot build {name}.c")
    return program


def predict(weft, program, args, ranks, topology):
    """Milliseconds that the program takes; computing is what it says itself."""
    with tempfile.TemporaryDirectory() as where:
        path = pathlib.Path(where) / "result.json"
        command = [weft, "run", "-q", "-n", str(ranks), "--compute", "model", "-o", str(path),
                   "--net", "latency", "--topo", topology, "-p",
                   f"net.link_latency={xsim.LATENCY}", "-p", f"net.bandwidth={xsim.BANDWIDTH}",
                   "--", program, *args]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: exit code {done.returncode}")
        return int(json.loads(path.read_text(encoding="utf-8"))["result"]
                   ["predicted_time_ps"]) / 1e9


def measure(given, network, spec, sizes):
    """[program, network, spec, ranks, ms, efficiency in %] of every point, with the star to
    compare to."""
    rows = []
    programs = QUICK if given.quick else PROGRAMS
    networks = {network: spec, "star": STAR}
    with tempfile.TemporaryDirectory() as where:
        for name, args in programs.items():
            program = build(given.weft, name, where)
            alone = predict(given.weft, program, args, 1, STAR(2))
            for other, make in networks.items():
                for n in sizes:
                    ms = predict(given.weft, program, args, n, make(n))
                    rows.append([name, other, make(n), n, ms, 100 * alone / n / ms])
    return rows


def times(rows, program, network):
    return {r[3]: r[4] for r in rows if r[:2] == [program, network]}


def compare(rows, network, sizes):
    efficiency = {(r[0], r[3]): r[5] for r in rows if r[1] == network}
    checks = [
        ("EP, which meets at the end only, has an efficiency of 90 % or more up to 64 ranks",
         all(efficiency["ep", n] >= 90 for n in sizes if n <= 64)),
        ("MG, with its short messages, is less efficient than EP at each number of ranks",
         all(efficiency["mg", n] < efficiency["ep", n] for n in sizes)),
        ("MG's efficiency falls with every step in size",
         all(efficiency["mg", a] > efficiency["mg", b] for a, b in zip(sizes, sizes[1:]))),
    ]
    if network != "star":
        here, star = times(rows, "mg", network), times(rows, "mg", "star")
        near = [n for n in sizes if here[n] < star[n]]
        checks.append((f"MG, whose neighbours are near in the network, beats the star with {near} "
                       "ranks: at all, or up to some size",
                       near == sizes[:len(near)]))
    xsim.say("EP scales on every network, MG is held back by latency.", checks)


def figure(number, network, spec):
    given = xsim.options(sys.modules["__main__"].__doc__)
    sizes = [4, 16, 64] if given.quick else [4, 16, 64, 256, 1024, 4096]
    rows = measure(given, network, spec, sizes)
    xsim.write_csv(given.out / f"fig{number}.csv", ["program", "topology", "spec", "ranks", "ms",
                                                    "efficiency_percent"], rows)
    plot = Figure(f"EP and MG on a {network}", "ranks", "milliseconds",
                  x=Log(2, text="{:.0f}".format), y=Log(),
                  subtitle="one rank per node, 1 us per hop, 1 Gbit/s")
    table = {}
    for program in PROGRAMS:
        plot.add(program.upper(), list(times(rows, program, network).items()))
        table[f"{program.upper()}, ms"] = times(rows, program, network)
        table[f"{program.upper()}, efficiency %"] = {
            r[3]: r[5] for r in rows if r[:2] == [program, network]}
        table[f"{program.upper()} on a star, ms"] = times(rows, program, "star")
    plot.write(given.out / f"fig{number}.svg")
    xsim.print_table(table, sizes, network)
    compare(rows, network, sizes)
