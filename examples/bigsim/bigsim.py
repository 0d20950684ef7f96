# SPDX-License-Identifier: Apache-2.0
"""What the scripts for BigSim's figures share: its network, Jacobi1D and LeanMD."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # for papers.py and plot.py
import papers  # noqa: E402

PS_PER_US, PS_PER_MS = 1e6, 1e9
HOP_NS, CORNER_NS = 5, 75  # Sect. 6.2; machine.yaml has the same
MACHINE = HERE / "machine.yaml"


def torus(processors):
    """The most cubic torus of a power of two."""
    bits = processors.bit_length() - 1
    return "torus:" + "x".join(str(2 ** ((bits + 2 - d) // 3)) for d in range(3))


def network(processors, factor=1):
    """Options and parameters of BigSim's network, its latencies multiplied."""
    return (["--machine", MACHINE, "--topo", torus(processors)],
            {"net.link_latency": f"{HOP_NS * factor}ns", "net.corner_latency": f"{CORNER_NS * factor}ns"})


def jacobi(experiment, program, processors, *, chunks, us, steps, factor=1, words=(), params=None):
    """The document of Jacobi1D: `chunks` of `us` microseconds on each processor."""
    where, latencies = network(processors, factor)
    return experiment.weft("run", "-n", processors, *where, "--compute", "model", *words, "--", program, chunks * processors,
                           steps, us, params={**latencies, **(params or {})})


def step_us(document, steps):
    return document["result"]["predicted_time_ps"] / PS_PER_US / steps


# ---- LeanMD as in Sect. 6.3 ----

# 36,573 atoms in 23 x 23 x 23 cells are 3.006 a cell. How they are spread is not printed: between none and six.
# The cut-off of 12 A is three cells of 4 A. Where the objects are is not printed either; Charm++ scatters those of
# arrays with several dimensions over the processors unless a program says otherwise, so they are dealt in turn.
ATOMS = {"gen.atoms": 3, "gen.imbalance": 1, "gen.kaway": 3, "gen.periodic": "no", "gen.steps": 3,
         "gen.map": "round_robin"}
CELLS, QUICK_CELLS = "23x23x23", "8x8x8"
LOAD_MS, LOAD_PROCESSORS = 2, 16384  # "about 2 ms" on 16,000 processors
PAIRS = 1660058  # of 23 x 23 x 23 cells with open boundaries


def leanmd(experiment, processors, *, pair_ns, cells=CELLS, words=(), params=None):
    """The document of LeanMD on BigSim's network."""
    where, latencies = network(processors)
    return experiment.weft("replay", "gen:leanmd", "-n", processors, *where, *words,
                           params={**latencies, **ATOMS, "gen.cells": cells, "gen.pair_time": f"{pair_ns}ns",
                                   **(params or {})})


def pair_time(experiment, cells, steps):
    """Nanoseconds a pair of atoms with which the mean load of a processor, for the whole run, is the paper's 2 ms
    on 16,384 processors. Loads are proportional to it."""
    guess = 1000
    document = leanmd(experiment, 64, pair_ns=guess, cells=cells,
                      params={"gen.steps": 1, "gen.atom_time": "0"})
    whole = document["result"]["ranks"]["compute_ps"]["mean"] * 64 * steps
    fewer = 23 ** 3 / (int(cells.split("x")[0]) ** 3)  # smaller systems have smaller machines
    return round(guess * LOAD_MS * PS_PER_MS * LOAD_PROCESSORS / fewer / whole, 1)
