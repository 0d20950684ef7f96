#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figure 13: the average latency of a message against the bandwidth of the links of a mesh."""
import xsim
from plot import Figure, Log

RANKS, TOPOLOGY = 128, "mesh:8x16"
BITS = 32  # of a message
# Bits per second, and how weft is told.
RATES = [(1e6, "1Mbit/s"), (1e5, "100kbit/s"), (1e4, "10kbit/s"), (1e3, "1kbit/s"),
         (1e2, "100bit/s"), (1e1, "10bit/s"), (1.0, "1bit/s"), (0.1, "0.1bit/s")]


def rate_text(rate):
    for unit, size in (("Mbit", 1e6), ("kbit", 1e3)):
        if rate >= size * 0.999:
            return f"{rate / size:g} {unit}"
    return f"{rate:g} bit"


def time_text(us):
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if us >= size * 0.999:
            return f"{us / size:g} {unit}"
    return f"{us:g} us"


def compare(rows):
    means = {(r[0], r[1]): r[3] for r in rows}
    hops = {t: means[t, RATES[0][0]] - BITS / RATES[0][0] * 1e6 for t in xsim.TRAFFIC}
    slowest = RATES[-1][0]
    xsim.say("the latency rises as 1 / bandwidth.", [
                 (f"each point is the mean time of the hops ({hops['random']:.3f} us random, "
                  f"{hops['ring']:.3f} us ring) + 32 bit / bandwidth",
                  all(abs(m - hops[t] - BITS / b * 1e6) < 1e-6 * m for (t, b), m in means.items())),
                 ("at 0.1 bit/s a message takes 320 s, under both traffics",
                  all(abs(means[t, slowest] / 320e6 - 1) < 1e-6 for t in xsim.TRAFFIC)),
             ])


def main():
    options = xsim.options(__doc__)
    rates = RATES[::3] + RATES[-1:] if options.quick else RATES
    rows = [[traffic, rate, text, *xsim.latency(options.weft, traffic, RANKS, TOPOLOGY,
                                                bandwidth=text)]
            for traffic in xsim.TRAFFIC for rate, text in rates]
    xsim.write_csv(options.out / "fig13.csv", ["traffic", "bits_per_second", "bandwidth",
                                               "mean_us", "min_us", "max_us"], rows)
    figure = Figure("Average message latency and bandwidth", "bandwidth (per second)",
                    "latency", x=Log(text=rate_text, reverse=True), y=Log(text=time_text),
                    subtitle="128 ranks on an 8 x 16 mesh, 1 us per hop, messages of 4 bytes")
    for traffic in xsim.TRAFFIC:
        figure.add(f"{traffic} traffic", [(r[1], r[3]) for r in rows if r[0] == traffic])
    figure.write(options.out / "fig13.svg")
    xsim.print_table({t: {r[2]: r[3] for r in rows if r[0] == t} for t in xsim.TRAFFIC},
                     [text for _, text in rates], "us")
    compare(rows)


if __name__ == "__main__":
    main()
