#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Table I: the simulated networks as machine files."""
import xsim  # first: it finds papers.py
import papers

EXPERIMENT = papers.Experiment(
    "xsim", "table1", "the simulated networks", place="Table I",
    setup="""No network model; Ethernet: star, 1 Gbit/s, 25 us; multi-core Ethernet: on the processor a star, 12 Gbit/s, 0.32 us;
    2D mesh, 8.8 Gbit/s, 7 us; dual-core 3D mesh, torus and twisted torus, 8.8 Gbit/s, 7 us, on the processor a star, 9.6
    Gbit/s, 0.32 us.""",
    ours="machines/*.yaml; the time of one message of 1 KiB between the first two ranks and the first and the last is that of L = h * l + s / b.")
BITS = 8192
# Links between processors and on them for a message between the first rank and the second, and
# between the first and the last one; bandwidths in bits per microsecond.
EXPECTED = {
    "xsim-ethernet": (2 * 25 + BITS / 1e3, 2 * 25 + BITS / 1e3),
    **{f"xsim-ethernet-{c}core": (2 * 0.32 + BITS / 12e3, 2 * 25 + 2 * 0.32 + BITS / 1e3) for c in (2, 4, 8, 16)},
    "xsim-mesh-2d": (7 + BITS / 8.8e3, 126 * 7 + BITS / 8.8e3),
    "xsim-mesh-3d": (2 * 0.32 + BITS / 9.6e3, 45 * 7 + 2 * 0.32 + BITS / 8.8e3),
    "xsim-torus-3d": (2 * 0.32 + BITS / 9.6e3, 3 * 7 + 2 * 0.32 + BITS / 8.8e3),
    "xsim-ttorus-3d": (2 * 0.32 + BITS / 9.6e3, None),  # by the paper's search of paths
}


def message(name, ranks, second):
    document = EXPERIMENT.weft("replay", "gen:pattern", "-n", ranks, "--machine", xsim.HERE / f"machines/{name}.yaml",
                               params={"gen.kind": "oneway", "gen.bytes": BITS // 8, "gen.second": second})
    return document["result"]["message_latency_ps"]["max"] / xsim.PS_PER_US


def main():
    EXPERIMENT.options()
    rows = []
    for name, (near, far) in EXPECTED.items():
        ranks = 4096
        found = [message(name, ranks, 1), message(name, ranks, ranks - 1)]
        rows.append([name, near, found[0], far, found[1]])
        good = abs(found[0] - near) < 1e-3 and (far is None or abs(found[1] - far) < 1e-3)
        EXPERIMENT.row(name.removeprefix("xsim-"), f"L = h * l + s / b: {near:.3f} us to the next, "
                       + (f"{far:.3f} us to the last rank" if far else "the last rank: not computed here"),
                       f"{found[0]:.3f} and {found[1]:.3f} us", good, "" if good else "another formula")
    EXPERIMENT.csv(["machine", "near_us", "weft_near_us", "far_us", "weft_far_us"], rows)
    EXPERIMENT.finish()


if __name__ == "__main__":
    main()
