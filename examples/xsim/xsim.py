# SPDX-License-Identifier: Apache-2.0
"""What the scripts for the figures share: run weft, write tables, say what comes out."""
import argparse
import csv
import json
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # for plot.py

PAPER = ("I. S. Jones and C. Engelmann, Simulation of Large-Scale HPC Architectures, "
         "ICPP Workshops (PSTI) 2011")
LATENCY, BANDWIDTH = "1us", "1Gbit/s"
PS_PER_US = 1e6
TRAFFIC = ["random", "ring"]


def options(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--weft", help="the program; else build/release/weft or that in PATH")
    parser.add_argument("--out", default=".", help="where the CSV and SVG files go")
    parser.add_argument("--quick", action="store_true", help="fewer points")
    given = parser.parse_args()
    built = HERE.parent.parent / "build/release/weft"
    given.weft = given.weft or (str(built) if built.exists() else shutil.which("weft"))
    if not given.weft:
        parser.error("there is no build/release/weft and no weft in PATH; see --weft")
    given.out = pathlib.Path(given.out)
    given.out.mkdir(parents=True, exist_ok=True)
    return given


def latency(weft, traffic, ranks, topology, link_latency=LATENCY, bandwidth=BANDWIDTH):
    """Mean, least and greatest latency of the messages of gen:<traffic>, in microseconds."""
    command = [weft, "replay", f"gen:{traffic}", "-n", str(ranks), "--net", "latency",
               "--topo", topology, "-p", f"net.link_latency={link_latency}",
               "-p", f"net.bandwidth={bandwidth}", "--json", "-q"]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}")
    spread = json.loads(done.stdout)["result"]["message_latency_ps"]
    return [int(spread[key]) / PS_PER_US for key in ("mean", "min", "max")]


def sides(nodes):
    """The two factors of a number that are nearest to each other, the larger first."""
    low = next(d for d in range(int(nodes ** 0.5 + 0.5), 0, -1) if nodes % d == 0)
    return nodes // low, low


def plane(kind, nodes):
    return "{}:{}x{}".format(kind, *sides(nodes))


def twisted(nodes):
    """A torus whose second dimension closes half a first dimension further."""
    x, y = sides(nodes)
    return f"ttorus:{x}x{y},jump=0/{x // 2},degree=1"


def powers_of_two(first, last):
    return [2 ** e for e in range(64) if first <= 2 ** e <= last]


def write_csv(path, header, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def print_table(rows, columns, corner):
    """`rows` maps a name to {column: value}."""
    print(f"\n{corner:24}" + "".join(f"{c:>12}" for c in columns))
    for name, values in rows.items():
        print(f"{name:24}" + "".join(f"{values[c]:12.4g}" if c in values else " " * 12
                                     for c in columns))


def say(paper, checks):
    """What the paper saw, and whether it is so here: [(claim, truth)]."""
    print(f"\nThe paper: {paper}")
    for claim, truth in checks:
        print(f"  {'yes' if truth else 'NO '}  {claim}")
