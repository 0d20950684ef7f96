# SPDX-License-Identifier: Apache-2.0
"""What the scripts for BigSim's figures share: build and run a program as virtual ranks, write
tables, say what comes out."""
import argparse
import csv
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # for plot.py
PROGRAMS = HERE.parent / "mpi"

PS_PER_US = 1e6


def parser(description):
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--weft", help="the program; else build/release/weft or that in PATH; "
                      "weftcc is next to it")
    made.add_argument("--out", default=".", help="where the CSV and SVG files go")
    made.add_argument("--quick", action="store_true", help="fewer points, small problems")
    return made


def options(made):
    given = made.parse_args()
    built = HERE.parent.parent / "build/release/weft"
    given.weft = given.weft or (str(built) if built.exists() else shutil.which("weft"))
    if not given.weft:
        made.error("there is no build/release/weft and no weft in PATH; see --weft")
    given.out = pathlib.Path(given.out)
    given.out.mkdir(parents=True, exist_ok=True)
    return given


def run(command, **more):
    """What the command writes; ends the script if it fails."""
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stderr}")
    return done


def build(given, name, where, compiler=None):
    """The program of examples/mpi, built with weftcc or another compiler."""
    compiler = compiler or pathlib.Path(given.weft).resolve().parent / "weftcc"
    program = pathlib.Path(where) / f"{name}-{pathlib.Path(compiler).name}"
    run([compiler, "-O2", "-w", f"-I{HERE.parent.parent / 'include'}", PROGRAMS / f"{name}.c",
         "-o", program, "-lm"])
    return program


def predict(given, program, args, ranks, *more, launcher=()):
    """The result document of the program as virtual ranks. Computing takes what the program says,
    so that the same run gives the same on any machine, unless --compute is among `more`."""
    with tempfile.TemporaryDirectory() as where:
        path = pathlib.Path(where) / "result.json"
        compute = [] if "--compute" in more else ["--compute", "model"]
        run([*launcher, given.weft, "run", "-q", "-n", ranks, *compute, "-o", path, *more, "--",
             program, *args])
        return json.loads(path.read_text(encoding="utf-8"))


def microseconds(document):
    return int(document["result"]["predicted_time_ps"]) / PS_PER_US


def cubic(ranks):
    """The most cubic torus of a power of two."""
    bits = ranks.bit_length() - 1
    return "torus:" + "x".join(str(2 ** ((bits + 2 - d) // 3)) for d in range(3))


def write_csv(path, header, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def print_rows(header, rows):
    print("\n" + "".join(f"{h:>18}" for h in header))
    for row in rows:
        print("".join(f"{v:18.4f}" if isinstance(v, float) else f"{v:>18}" for v in row))


def say(paper, checks):
    """What the paper saw, and whether it is so here: [(claim, truth)]."""
    print(f"\nThe paper (from our notes): {paper}")
    for claim, truth in checks:
        print(f"  {'yes' if truth else 'NO '}  {claim}")


def cores():
    return len(os.sched_getaffinity(0))
