#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Distances of topologies against those that an independent breadth-first search found.

The program is the one that WEFT names. The distances are in tests/data/reference/hops.csv, or in
the file that WEFT_HOPS names.
"""
import csv
import json
import os
import pathlib
import re
import subprocess
import sys

# How the reference calls them, and how we do. A star whose hub is a node is a tree of one level.
SPECS = {
    "ring": "ring:{}",
    "mesh": "mesh:{}",
    "torus": "torus:{}",
    "twisted_torus": "ttorus:{}",
    "star_switch": "star:{}",
    "star_hub_is_node": "tree:{0},degree={0},nodes=all",
    "btree_all_vertices": "tree:{},nodes=all",
    "btree_leaves": "tree:{}",
    "fattree": "fattree:{}",
    "dragonfly_balanced": "dragonfly:{}",
}


def read_rows():
    default = pathlib.Path(__file__).resolve().parents[1] / "data/reference/hops.csv"
    path = pathlib.Path(os.environ.get("WEFT_HOPS", default))
    with path.open(encoding="utf-8") as file:
        return [(r["topology"], r["params"], int(r["nodes"]), int(r["vertices"]),
                 int(r["links"]), int(r["max_degree"]), int(r["diameter_hops"]),
                 int(r["sum_of_distances"]), r["distance_histogram"])
                for r in csv.DictReader(file)]


def check(weft, row):
    kind, params, nodes, vertices, links, degree, diameter, total, histogram = row
    spec = SPECS[kind].format(params.replace(" ", ","))
    run = subprocess.run([weft, "topo", spec, "--json"], capture_output=True, text=True,
                         timeout=120, check=False)
    if run.returncode != 0:
        return f"{spec}: exit {run.returncode}: {run.stderr.strip()}"
    doc = json.loads(run.stdout)
    counts = {int(d): n for d, n in doc["distance_histogram"].items()}
    routers = nodes if vertices == nodes else vertices - nodes
    found = (doc["nodes"], doc["routers"], doc["links"], doc["max_ports"], doc["diameter"],
             sum(d * n for d, n in counts.items()))
    expected = (nodes, routers, links, degree, diameter, total)
    # A port without a cable, as at the edge of a mesh of two, is none that the search counts.
    if found[:3] + found[4:] != expected[:3] + expected[4:] or found[3] < expected[3]:
        return f"{spec}: {found}, expected {expected}"
    if abs(doc["average_distance"] - total / (nodes * (nodes - 1))) > 1e-9:
        return f"{spec}: average {doc['average_distance']}"
    wanted = {int(d): int(n) for d, n in re.findall(r"(\d+):(\d+)", histogram)}
    if wanted and wanted != counts:
        return f"{spec}: histogram {counts}, expected {wanted}"
    return None


def main():
    rows = read_rows()
    faults = [fault for fault in (check(os.environ["WEFT"], row) for row in rows) if fault]
    print("\n".join(faults))
    print(f"{len(rows)} topologies, {len(faults)} differ")
    return 1 if faults or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
