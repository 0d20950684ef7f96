# SPDX-License-Identifier: Apache-2.0
"""What the scripts for TraceR's figures share: the workload, the two networks, and a run with its
counts."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # for papers.py and plot.py
import papers  # noqa: E402

# Sect. 5: 128^3 points of 8 bytes on each process, hence faces of 128 KiB; three iterations. The
# time to compute is not printed: 1 ms.
STENCIL = {"gen.bytes": "128KiB", "gen.iterations": 3, "gen.compute": "1ms"}
# TraceR's two networks. The paper does not print their parameters; the presets have those of
# TraceR's examples, but packets of 4 KiB.
NETWORKS = {
    "TorusNet": ("packet", {"net.preset": "torusnet", "net.packet": "4KiB"}),
    "SimpleNet": ("loggp", {"net.preset": "simplenet"}),
}
TRAINS = ("packet", {})  # the same packets, simulated as trains, without limits of buffers


def torus(nodes, dims=3):
    """The most cubic torus of a power of two, its longest dimensions first as in gen:stencil3d,
    so that neighbours in the program are neighbours in the network."""
    bits = nodes.bit_length() - 1
    return "torus:" + "x".join(str(2 ** ((bits + dims - 1 - d) // dims)) for d in range(dims))


def simulate(experiment, network, nodes, *, sched="sequential", threads=1, params=None,
             source="gen:stencil3d", topology=None, timeout=None):
    """The document of one run."""
    net, settings = network
    words = [source, "-n", nodes, "--net", net, "--sched", sched, "--threads", threads]
    if net in ("packet", "latency"):
        words += ["--topo", topology or torus(nodes)]
    stencil = STENCIL if source == "gen:stencil3d" else {}
    return experiment.weft("replay", *words,
                           params={"engine.fit": "no", **stencil, **settings, **(params or {})},
                           timeout=timeout)


COUNTS = ["wall_seconds", "cpu_seconds", "events_committed", "events_rolled_back", "rollbacks",
          "anti_messages", "efficiency_percent", "gvt_rounds", "windows", "remote_events",
          "peak_rss_bytes"]


def counts(document):
    """What a run says of itself, in the order of COUNTS."""
    return [document["run"].get(name, 0) for name in COUNTS]


def median_run(experiment, repeat, *args, **more):
    """The run whose wall-clock time is the median of several."""
    runs = [simulate(experiment, *args, **more) for _ in range(repeat)]
    runs.sort(key=lambda d: d["run"]["wall_seconds"])
    if len({d["result"]["digest"] for d in runs}) > 1:
        sys.exit("repeated runs do not predict the same")
    return runs[(len(runs) - 1) // 2]


def in_thousands(number):
    return f"{number / 1024:.0f}K" if number >= 1024 else f"{number:.0f}"
