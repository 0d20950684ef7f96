#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fig. 13: the average latency of a message against the bandwidth of the links."""
import xsim  # first: it finds papers.py
import papers
from plot import Figure, Log

RANKS, TOPOLOGY, BITS = 128, "mesh:8x16", 32
RATES = {1e6: "1Mbit/s", 1e5: "100kbit/s", 1e4: "10kbit/s", 1e3: "1kbit/s", 1e2: "100bit/s", 1e1: "10bit/s",
         1.0: "1bit/s", 0.1: "0.1bit/s"}
EXPERIMENT = papers.Experiment(
    "xsim", "fig13", "latency over bandwidth", place="Fig. 13",
    setup="""`random`, 128 virtual processes on an 8x16 2D mesh, links from 1 Mbit/s down to 0.1 bit/s; one integer a
    message; 10 runs (Sect. V.A). Stated: lower bandwidth has an impact on the latency, as expected.""")


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


def main():
    EXPERIMENT.options()
    seeds = EXPERIMENT.pick(1, 10, short=3)
    rates = list(RATES)[::EXPERIMENT.pick(7, 1)]
    mean = {b: sum(xsim.latency(EXPERIMENT, "random", RANKS, TOPOLOGY, bandwidth=RATES[b], seed=s)
                   for s in range(1, seeds + 1)) / seeds for b in rates}
    EXPERIMENT.csv(["bits_per_second", "mean_us"], list(mean.items()))
    hops = mean[1e6] - BITS
    EXPERIMENT.row("latency from 1 Mbit/s to 0.1 bit/s", "rises", f"{mean[1e6]:.1f} us to {mean[0.1] / 1e6:.1f} s",
                   mean[0.1] > mean[1e6])
    exact = all(abs(m - hops - BITS / b * 1e6) < 1e-6 * m for b, m in mean.items())
    EXPERIMENT.row("each point", "L = h * l + s / b: 32 bit / b more than the hops",
                   f"hops {hops:.3f} us + 32 bit / b at every bandwidth", exact, "" if exact else "another formula")
    figure = Figure("Average message latency and bandwidth", "bandwidth (per second)", "latency",
                    x=Log(text=rate_text, reverse=True), y=Log(text=time_text),
                    subtitle="random, 128 processes on an 8 x 16 mesh, 1 us a link")
    figure.add("weft", list(mean.items()))
    figure.add("L = h l + s / b", [(b, hops + BITS / b * 1e6) for b in rates], paper=True)
    EXPERIMENT.picture(figure)
    EXPERIMENT.finish()


if __name__ == "__main__":
    main()
