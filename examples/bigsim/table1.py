#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Table 1: the time that a program really takes on this host, and what is predicted for it from a
run as virtual ranks, on the network that `weft calibrate` measured. The shortest times are
compared: whatever else the host does makes them longer."""
import shutil
import statistics
import sys
import tempfile

import bigsim

STEPS = 20


def seconds(text):
    """What the program says of its steps, by MPI_Wtime: the real time, or the simulated."""
    return float(next(line.split()[0] for line in text.splitlines() if line.endswith("seconds")))


def actual(launcher, program, side, ranks, repeat):
    return [seconds(bigsim.run([launcher, "-n", ranks, program, side, STEPS]).stderr)
            for _ in range(repeat)]


def predicted(given, program, side, ranks, machine, repeat):
    command = [given.weft, "run", "-q", "-f", "-o", given.out / "table1.json", "-n", ranks,
               "--compute", "measured", "--machine", machine, "--", program, side, STEPS]
    return [seconds(bigsim.run(command).stderr) for _ in range(repeat)]


def calibrate(given, launcher):
    machine = given.out / "table1-host.yaml"
    repeat = ["--repeat", 10] if given.quick else []
    bigsim.run([given.weft, "calibrate", "-f", "-o", machine, *repeat, "--", launcher, "-n", 2])
    return machine


def main():
    made = bigsim.parser(__doc__)
    made.add_argument("--repeat", type=int, default=10, help="how often each is run (default: 10)")
    given = bigsim.options(made)
    compiler, launcher = shutil.which("mpicc.mpich"), shutil.which("mpirun.mpich")
    if compiler is None or launcher is None:
        sys.exit("table1: there is no mpicc.mpich or no mpirun.mpich")
    repeat, sides = (1, [24]) if given.quick else (given.repeat, [32, 64, 96, 128])
    rows = []
    with tempfile.TemporaryDirectory() as where:
        real = bigsim.build(given, "jacobi3d", where, compiler)
        mine = bigsim.build(given, "jacobi3d", where)
        machine = calibrate(given, launcher)
        for side in sides:
            for ranks in range(1, min(2, bigsim.cores()) + 1):
                took = actual(launcher, real, side, ranks, repeat)
                said = predicted(given, mine, side, ranks, machine, repeat)
                a, b = 1e3 * min(took), 1e3 * min(said)
                rows.append([side, ranks, a, 1e3 * statistics.median(took), b,
                             1e3 * statistics.median(said), 100 * (b / a - 1)])
    header = ["points", "ranks", "actual_ms", "actual_median", "predicted_ms",
              "predicted_median", "difference_%"]
    bigsim.write_csv(given.out / "table1.csv", header, rows)
    bigsim.print_rows(header, rows)
    worst = max(abs(r[-1]) for r in rows)
    bigsim.say("predicted times are within a few percent of real ones.", [
        (f"here the shortest differ by at most {worst:.1f} %; less than 10 %", worst < 10)])


if __name__ == "__main__":
    main()
