# SPDX-License-Identifier: Apache-2.0
"""A few points of other programs' curves; examples/insee/compare has them all."""
import importlib.machinery
import importlib.util
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from weft_cli import SOURCE, WEFT, check, finish  # noqa: E402

# Curve, load, cycles (of four runs for BookSim2, hence 15 times as many as each has). Far below
# saturation, where short runs say enough.
POINTS = [
    ("insee torus_8_8 a_dor_1vc_bubble uniform", 0.1, 16000),
    ("insee torus_8_8 b_dor_3vc_bubble uniform", 0.3, 16000),
    ("insee torus_8_8 c_adaptive_smart_3vc uniform", 0.3, 16000),
    ("booksim torus_8x8 2vc buf64 packet16 uniform", 0.3, 60000),
    ("booksim mesh_8x8 3vc buf64 packet16 uniform", 0.3, 60000),
    ("booksim fattree_4x4x4 3vc buf64 packet16 uniform", 0.3, 60000),
    ("booksim torus_8x8 2vc buf8 packet1 uniform", 0.2, 30000),
    ("booksim torus_8x8 2vc buf64 packet16 uniform again", 0.3, 60000),
    ("booksim torus_8x8 2vc buf64 packet16 uniform again again", 0.3, 60000),
]
LIMIT = 5.0
# Longer runs of BookSim2 itself (commit 28f43299; docs/models/router.md): network, routing, channels,
# queue in packets, flits of a packet, load, latency in cycles, limit in percent; our cycles.
LONGER = [
    ("fattree:k=4,n=3", "updown", 4, 16, 1, 0.4, 27.366, 0.5, 6000),
    ("fattree:k=4,n=3", "updown", 3, 4, 16, 0.5, 98.63, 4.0, 16000),
    ("hyperx:4x4,p=4", "minimal", 8, 4, 1, 0.4, 16.805, 0.5, 6000),
    ("hyperx:4x4,p=4", "minimal", 4, 8, 4, 0.4, 25.207, 1.5, 8000),
]


def load_compare():
    loader = importlib.machinery.SourceFileLoader("compare",
                                                  str(SOURCE / "examples/insee/compare"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("compare", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


def main():
    compare = load_compare()
    curves = {**compare.insee_curves(), **compare.booksim_curves()}
    for name, load, cycles in POINTS:
        curve = curves[name]
        point = next(p for p in curve["points"] if p["load"] == load)
        ours = compare.run(WEFT, curve, compare.load_of(curve, point), cycles)
        theirs = compare.expected(curve, point, ours)
        difference = compare.percent(ours[1], theirs)
        check(abs(difference) < LIMIT,
              f"{name} at {load}: {ours[1]:.2f} cycles, not {theirs:.2f}: {difference:+.1f} %")
    for topology, routing, vcs, queue, flits, load, theirs, limit, cycles in LONGER:
        net = {**compare.BOOKSIM, "routing": routing, "vcs": vcs, "queue": queue, "packet": f"{4 * flits}B"}
        if routing == "updown":
            net["request"] = "random"
        curve = {"topology": topology, "pattern": "uniform", "net": net,
                 "traffic": {"drop": "no", "self": "yes"}}
        ours = compare.run_once(WEFT, curve, load, cycles, 1)[1]
        difference = compare.percent(ours, theirs)
        check(abs(difference) < limit,
              f"{topology}, {vcs} channels, {load}: {ours:.2f} cycles, not {theirs:.2f}: {difference:+.1f} %")
    finish()


main()
