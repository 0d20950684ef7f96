# SPDX-License-Identifier: Apache-2.0
"""What the scripts for xSim's figures share: its networks, Table I, and the programs on them."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # for papers.py and plot.py
import papers  # noqa: E402

LATENCY, BANDWIDTH = "1us", "1Gbit/s"  # of a link in the micro benchmarks (Sect. V.A)
PS_PER_US, PS_PER_MS = 1e6, 1e9


def sides(nodes):
    """The two factors of a number that are nearest to each other, the larger first."""
    low = next(d for d in range(int(nodes ** 0.5 + 0.5), 0, -1) if nodes % d == 0)
    return nodes // low, low


def plane(kind, nodes):
    return "{}:{}x{}".format(kind, *sides(nodes))


def twisted(nodes):
    """Toroidal degree 1 and toroidal jump [1 ... 1], as the paper has it. Two nodes in a
    dimension and one in the other are no torus: a ring then."""
    x, y = sides(nodes)
    return f"ttorus:{x}x{y},degree=1,jump=1/1" if y > 1 else f"ring:{nodes}"


TOPOLOGIES = {
    "star": "star:{}".format,
    "ring": "ring:{}".format,
    "mesh": lambda n: plane("mesh", n),
    "torus": lambda n: plane("torus", n),
    "twisted torus": twisted,
    "binary tree": "tree:{}".format,  # its leaves are the nodes (Sect. IV.A.6)
}


def latency(experiment, traffic, ranks, topology, *, link=LATENCY, bandwidth=BANDWIDTH, seed=1):
    """The mean latency of the messages of gen:random or gen:ring, in microseconds."""
    params = {"net.link_latency": link, "net.bandwidth": bandwidth}
    if traffic == "random":
        params["gen.seed"] = seed
    document = experiment.weft("replay", f"gen:{traffic}", "-n", ranks, "--net", "latency", "--topo",
                               topology, params=params)
    return document["result"]["message_latency_ps"]["mean"] / PS_PER_US


# ---- Table I: what is printed there; machines/ has these as files ----

ETHERNET = ("25us", "1Gbit/s")
CORES_ETHERNET = ("0.32us", "12Gbit/s")
CRAY, CORES_CRAY = ("7us", "8.8Gbit/s"), ("0.32us", "9.6Gbit/s")


def nested(outer, outside, inner=None, inside=None):
    """The words for weft: topology, latencies and bandwidths of one or two levels."""
    levels = [outside] + ([inside] if inner else [])
    return {"topo": f"{outer}/{inner}" if inner else outer,
            "net.link_latency": ",".join(level[0] for level in levels),
            "net.bandwidth": ",".join(level[1] for level in levels)}


def ethernet(ranks, cores):
    if cores == 1:
        return nested(f"star:{ranks}", ETHERNET)
    return nested(f"star:{ranks // cores}", ETHERNET, f"star:{cores}", CORES_ETHERNET)


def mesh(ranks, width):
    return nested(f"mesh:{width}x{ranks // width}", CRAY)


def dual_core(kind, ranks):
    """A 3D network of 8 x 8 x n processors with two cores."""
    spec = f"{kind}:8x8x{ranks // 128}" + (",degree=1,jump=1/1/1" if kind == "ttorus" else "")
    return nested(spec, CRAY, "star:2", CORES_CRAY)


def on_network(network):
    """Options for a network of Table I; None is the network that costs nothing."""
    if network is None:
        return ["--net", "none"], {}
    params = {k: v for k, v in network.items() if k != "topo"}
    return ["--net", "latency", "--topo", network["topo"]], params


# ---- MG ----

# NPB counts 58 operations for a point of the finest grid in an iteration; a processor core of 2.4 GHz of
# that time (the paper's) is assumed to do 500 million a second. A step of mg.weft is 17 of the 58. The class is
# not printed: 256 points a side (classes A and B); 128 (class W) or 512 (class C) are run next to it.
MG = {"points": 256, "ns": 34}
SMALLER, LARGER = 128, 512


def add_npb(parser):
    parser.add_argument("--npb", metavar="DIR", help="NPB 3.4-MPI, built with weftf90: bin/mg.B.x and "
                        "bin/ep.A.x are run instead of our own programs")


def say_programs(experiment):
    """Says in the results whose programs were run."""
    experiment.facts["ours"] += (" These results are of NPB's own programs (--npb)." if experiment.given.npb else
                                 " No copy of NPB was given (--npb): these results are of our own programs.")


def mg_time(experiment, ranks, network, points, iterations=1):
    """Milliseconds of an iteration of MG, of NPB's own if there is a copy, else of mg.weft."""
    words, params = on_network(network)
    if experiment.given.npb:
        program = pathlib.Path(experiment.given.npb) / "bin/mg.B.x"
        document = experiment.weft("run", "-n", ranks, *words, "--", program, params=params)
        return document["result"]["predicted_time_ps"] / PS_PER_MS / 20
    given = {"gen.file": HERE / "mg.weft",
             "gen.set": f"points={points},iterations={iterations},ps={1000 * MG['ns']}"}
    document = experiment.weft("replay", "gen:text", "-n", ranks, *words, params={**params, **given})
    return document["result"]["predicted_time_ps"] / PS_PER_MS / iterations


def mg_curves(experiment, networks, sizes, points):
    """Milliseconds by name of the network and number of ranks; a network may be None for a size."""
    return {name: {n: mg_time(experiment, n, make(n) if make else None, points) for n in sizes}
            for name, make in networks.items()}


def improves(curve):
    """Whether more ranks make it faster than the fewest do, by a tenth at least."""
    return curve[min(curve)] > 1.1 * min(curve.values())


def gain(curve, n):
    """How much faster n ranks are than a quarter of them."""
    return curve[n // 4] / curve[n]


def fastest(curve):
    return min(curve, key=curve.get)


def curve_text(curve):
    return ", ".join(f"{n}: {papers.number(t)}" for n, t in curve.items()) + " ms"
