# SPDX-License-Identifier: Apache-2.0
"""The figures of examples/bigsim have the shapes that the paper has, and numbers that are known."""
import csv
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from weft_cli import SOURCE, WEFT, check, finish  # noqa: E402

FIGURES = {
    "fig9": ["fig9.svg"],
    "fig10": ["fig10.svg"],
    "fig11": ["fig11.svg"],
    "fig13": ["fig13-utilisation.svg", "fig13-load.svg"],
}


def make(figure):
    """Runs a script and returns its table as dictionaries."""
    done = subprocess.run([os.environ["PYTHON"], "-B", SOURCE / f"examples/bigsim/{figure}.py",
                           "--weft", WEFT, "--quick", "--out", "out"],
                          capture_output=True, text=True, timeout=100, check=False)
    done.args = [str(a) for a in done.args]
    if not check(done.returncode == 0, f"{figure}: exit code {done.returncode}", done):
        return []
    check("The paper (from our notes" in done.stdout and "  NO  " not in done.stdout,
          f"{figure}: not as in the paper", done)
    for name in FIGURES[figure]:
        root = xml.etree.ElementTree.parse(pathlib.Path("out") / name).getroot()
        check(root.tag.endswith("svg") and len(list(root.iter())) > 15, f"{name} is empty")
    with open(f"out/{figure}.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def main():
    rows = make("fig9")
    check(len({r["digest"] for r in rows}) == 1 and len(rows) >= 5, "fig9: digests differ")
    steps = {int(r["latency_us"]): float(r["step_us"]) for r in make("fig10")}
    # 24 points cubed, 5 ns each: no step is faster than its computing.
    check(all(time >= 24**3 * 5e-3 for time in steps.values()), f"fig10: too fast: {steps}")
    rows = [r for r in make("fig11") if r["ranks"] == "1"]
    check(rows and all(float(r["predicted_us"]) == 32**3 * 10 * 5e-3 for r in rows),
          f"fig11: one rank does not take what it computes: {rows}")
    busy = [float(r["utilisation_percent"]) for r in make("fig13")]
    check(busy and all(0 <= b <= 100.001 for b in busy), f"fig13: shares {busy}")
    with open("out/fig15.csv", encoding="utf-8", newline="") as file:
        check(sum(int(r["ranks"]) for r in csv.DictReader(file)) == 27, "fig15: not all ranks")
    finish()


main()
