# SPDX-License-Identifier: Apache-2.0
"""Sweeps: every point as if it had been run alone, none run twice, mistakes named with place."""
import csv
import io
import json
import os
import pathlib
import re
import signal
import subprocess
import time

from weft_cli import SOURCE, WEFT, check, check_run, finish, parse, run

STUDY = """title: a test
settings: {source: gen:random, ranks: 8, network: latency, gen.messages: 5}
grid:
  topology: ["torus:2x2x2", "ring:8"]
  net.bandwidth: [1GB/s, 2GB/s]
  gen.seed: [1, 2]
"""
LONG = """settings: {source: gen:stencil3d, ranks: 512, network: packet, topology: "torus:8x8x8"}
grid: {gen.iterations: [1, 2000], seed: [1]}
"""
# What is wrong, and what is said.
MISTAKES = [
    ("grid: [1]", "1:7: 'grid' is a list, but a mapping is expected"),
    ("griid: {}", "1:8: unknown member 'griid'; did you mean 'grid'"),
    ("settings: {ranks: 8}", "a study has a 'grid' or a 'list'"),
    ("grid: {ranks: 8}", "1:15: 'ranks' needs a list of values"),
    ("grid: {ranks: [[8]]}", "1:16: a list, but a value is expected"),
    ("list: [8]", "1:8: .*, but a point is expected"),
    ("list: []", "0 points"),
    ("settings: {sorce: x}\nlist: [{ranks: 3}]", "1 of 1 points failed; .*:1:19: unknown"),
    ("a: *b", "bad.yaml:"),
]


def rows(text):
    """A table as dictionaries."""
    return list(csv.DictReader(io.StringIO(text)))


def check_grid():
    """Against runs one by one."""
    pathlib.Path("study.yaml").write_text(STUDY, encoding="utf-8")
    done = check_run(["sweep", "study.yaml", "-j", "2", "--plot", "s.svg", "--plot", "s.png"], 0)
    table = rows(done.stdout)
    check([(r["topology"], r["net.bandwidth"], r["gen.seed"]) for r in table] ==
          [(t, b, s) for t in ("torus:2x2x2", "ring:8") for b in ("1GB/s", "2GB/s") for s in "12"],
          "the order of points", done)
    for row in table:
        alone = parse(run("replay", "gen:random", "-n", "8", "--net", "latency", "--topo",
                          row["topology"], "-p", f"net.bandwidth={row['net.bandwidth']}", "-p",
                          f"gen.seed={row['gen.seed']}", "-p", "gen.messages=5", "--json"))
        kept = json.loads(pathlib.Path("study", row["file"]).read_text(encoding="utf-8"))
        check(kept["result"] == alone["result"] and kept["scenario"] == alone["scenario"] and
              row["digest"] == alone["result"]["digest"] and
              int(row["predicted_time_ps"]) == alone["result"]["predicted_time_ps"], f"{row}")
    svg = pathlib.Path("s.svg").read_text(encoding="utf-8")
    check(all(name in svg for name in ("ring:8", "torus:2x2x2", "a test", "bandwidth")),
          "the plot")
    check(pathlib.Path("s.png").read_bytes().startswith(b"\x89PNG"), "the plot as PNG")
    return table


def check_again(table):
    """What is there is not run again; what is damaged or new is."""
    files = [pathlib.Path("study", row["file"]) for row in table]
    files[0].unlink()
    files[1].write_text("{", encoding="utf-8")
    marks = [0 if i < 2 else os.utime(path, (1, 1)) or path.stat().st_mtime_ns
             for i, path in enumerate(files)]
    done = check_run(["sweep", "study.yaml", "--table", "t.json"], 0)
    check(done.stdout == "", "the table is in a file", done)
    points = json.loads(pathlib.Path("t.json").read_text(encoding="utf-8"))["points"]
    check([p["result"]["digest"] for p in points] == [r["digest"] for r in table], "other results")
    check(all(path.stat().st_mtime_ns == mark for path, mark in list(zip(files, marks))[2:]),
          "a finished point was run again")
    check(files[0].stat().st_mtime_ns > 10**18 and files[1].stat().st_size > 100,
          "a missing point was not run")
    check_run(["sweep", "study.yaml", "-f", "-q", "--table", "t.json"], 0)
    check(all(path.stat().st_mtime_ns > 10**18 for path in files), "-f keeps results")
    pathlib.Path("study.yaml").write_text(STUDY.replace("[1, 2]", "[1, 3]"), encoding="utf-8")
    check_run(["sweep", "study.yaml"], 0)
    check(len(list(pathlib.Path("study").iterdir())) == 12, "a changed study")


def check_interrupt():
    """An interrupted sweep keeps what is finished."""
    pathlib.Path("long.yaml").write_text(LONG, encoding="utf-8")
    with subprocess.Popen([WEFT, "sweep", "long.yaml", "-j", "1"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        end = time.monotonic() + 30
        while time.monotonic() < end and not list(pathlib.Path(".").glob("long/*.json")):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    check(process.returncode == 130 and "the same command goes on" in err, f"interrupted: {err}")
    check([r["status"] for r in rows(out)] == ["completed", "interrupted"], f"table: {out}")
    check(len(list(pathlib.Path("long").iterdir())) == 1, "what is kept")


def check_failures():
    """One point that cannot be run does not stop the others."""
    pathlib.Path("half.yaml").write_text(
        'settings: {source: gen:ring, ranks: 8, network: latency}\n'
        'list: [{topology: "torus:2"}, {topology: "torus:8"}, {ranks: 2, topology: "torus:2"}]',
        encoding="utf-8")
    done = run("sweep", "half.yaml")
    check(done.returncode == 3 and "1 of 3 points failed; the first, point 1: half.yaml:2:" in
          done.stderr, "a point that fails", done)
    check([r["status"] for r in rows(done.stdout)] == ["invalid input", "completed", "completed"],
          "the others", done)
    for text, words in MISTAKES:
        pathlib.Path("bad.yaml").write_text(text, encoding="utf-8")
        check_run(["sweep", "bad.yaml"], 3, words)
    check_run(["sweep", "missing.yaml"], 3, "cannot read 'missing.yaml'")
    check_run(["sweep"], 2, "a study is missing")
    pathlib.Path("sizes.yaml").write_text("settings: {source: 'gen:coll', ranks: 8}\ngrid: {gen.bytes: [8B, 1KiB, 16MiB]}\n"
                                          "plot: {x: gen.bytes, y: predicted_time_ps}\n", encoding="utf-8")
    check_run(["sweep", "sizes.yaml", "-q", "--plot", "sizes.svg"], 0)
    drawn = pathlib.Path("sizes.svg").read_text(encoding="utf-8")
    check(all(f">{text}</text>" in drawn for text in ("100 us", "10 ms", "16 MiB", "predicted time")), "times on a logarithmic axis")
    check_run(["sweep", "half.yaml", "--plot", "a.gif"], 2, "must end in .svg, .png or .pdf")
    check_run(["sweep", "half.yaml", "--table", "a.txt"], 2, "must end in .csv or .json")


def check_examples():
    """Those of the repository."""
    for path in sorted((SOURCE / "examples/studies").glob("*.yaml")):
        done = run("sweep", str(path), "-o", path.stem, "--plot", f"{path.stem}.svg")
        check(done.returncode == 0 and
              all(r["status"] == "completed" for r in rows(done.stdout)), path.name, done)


def check_axes():
    """Axes have units that people use; categories are bars with their names; names that do not exist are errors."""
    study = "settings: {{source: 'gen:ring', ranks: 4}}\ngrid:\n  {grid}\nplot: {{{plot}}}\n"
    cases = (("sizes", "gen.bytes: [1KiB, 64KiB, 64MiB]", "", [">gen.bytes<", ">predicted time<", ">64 KiB<", ">256 MiB<"]),
             ("names", "machine: [frontier, gige, ethernet-100g]", "y: ranks.wait_ps.mean", [">ranks wait mean, ", ">ethernet-100g<", ">gige<", ">machine<"]),
             ("rates", "net.bandwidth: [1GB/s, 80Gbit/s]", "x: net.bandwidth, y: bytes", [">net.bandwidth, G", ">bytes, B<"]))
    for name, grid, plot, words in cases:
        pathlib.Path(f"{name}.yaml").write_text(study.format(grid=grid, plot=plot), encoding="utf-8")
        check_run(["sweep", f"{name}.yaml", "-q", "--plot", f"{name}.svg"], 0)
        picture = pathlib.Path(f"{name}.svg").read_text(encoding="utf-8")
        check(all(word in picture for word in words), f"{name}: {words}: {re.findall('>[^<]+<', picture)}")
    for plot, words in (("y: predicted_tim_ps", "no point has the result 'predicted_tim_ps'; did you mean 'predicted_time_ps'?"),
                        ("z: 3", "unknown member 'z' of a plot: it has x and y"),
                        ("yy: bytes", "unknown member 'yy' of a plot.*did you mean 'y'"),
                        ("x: gen.byte", "the study does not vary 'gen.byte'; did you mean 'gen.bytes'?")):
        pathlib.Path("wrong.yaml").write_text(study.format(grid="gen.bytes: [1KiB, 2KiB]", plot=plot), encoding="utf-8")
        check_run(["sweep", "wrong.yaml", "-q", "--plot", "wrong.svg"], 3, words)


def main():
    check_again(check_grid())
    check_interrupt()
    check_failures()
    check_axes()
    check_examples()
    finish()


main()
