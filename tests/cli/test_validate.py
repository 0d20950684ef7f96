# SPDX-License-Identifier: Apache-2.0
"""tools/validate predicts what it has kept: fitted again, and the same every time."""
import csv
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import subprocess
import sys

from weft_cli import SOURCE, WEFT, check, check_run, finish

FIELDS = ["network", "mpi", "program", "ranks", "recorded_s", "others_load", "counts", "reason", "date"]
BANDWIDTH, LATENCY, CALL = 6e6, 20e3, 2e3  # bytes per second, ns, ns


def measured():
    """A file of weft calibrate as far as it keeps measurements."""
    text = ["mpi openmpi", *(f"host {i} node{i}" for i in range(2)), "ranks 2"]
    for size in (1, 1024, 16384, 65536):
        one = 2 * CALL + LATENCY + size / BANDWIDTH * 1e9
        for kind, ns in (("pingpong", 2 * one), ("exchange", one), ("oneway", one)):
            text.append(f"measure {kind} 0 1 1 0 {size} 9 {ns} {ns * .99} {ns * 1.01} {ns * .98}")
    text += [f"send {CALL}", f"take {CALL}", f"stream {CALL}", "lost 0 3"]
    return "".join(f"#: {line}\n" for line in text)


def tool():
    """tools/validate as a module."""
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(SOURCE / "tools"))
    loader = importlib.machinery.SourceFileLoader("validate", str(SOURCE / "tools/validate"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("validate", loader))
    sys.modules["validate"] = module
    loader.exec_module(module)
    return module


def check_recorded_times():
    """Simulated ranks start together, so what real ones started apart does not count."""
    validate = tool()
    options = type("Options", (), {"weft": WEFT})
    for longest, apart, expected in ((100, 0, 100), (100, 8, 92), (4, 3, 2)):  # ms
        about = {"recorded_ps": longest * 10**9, "file": {"starts_spread_ns": apart * 10**6}}
        validate.run = lambda *words, about=about: json.dumps(about)
        found = 1e3 * validate.recorded_time(options, "trace")
        check(abs(found - expected) < 1e-9, (longest, apart, found))


def check_repeats():
    """Of several runs, the one with the median time counts, and only its trace is kept."""
    validate = tool()
    options = type("Options", (), {"work": pathlib.Path("repeats"), "repeat": 3})
    case = next(case for case in validate.all_cases(type("Options", (), {"only": None, "quick": False})) if case.ranks == 2)
    times = [3.0, 1.0, 2.0]

    def record(options, case, words, number):
        trace = validate.trace_of(options, case).with_name(f"run.{number}")
        trace.parent.mkdir(parents=True, exist_ok=True)
        trace.write_text(f"{times[number]}", encoding="utf-8")
        return validate.Recording(trace, times[number], 0)

    validate.build, validate.record = lambda *words: [], record
    row = validate.recorded_row(case, validate.record_often(options, case))
    check([float(row[name]) for name in ("fastest_s", "recorded_s", "slowest_s")] == [1, 2, 3], row)
    check(validate.trace_of(options, case).read_text(encoding="utf-8") == "2.0", "another trace is kept")
    check(len(list((options.work / "traces").iterdir())) == 1, "traces of other runs are kept")


def check_page():
    """The page has a summary and few rows, those of the table beside it."""
    validate = tool()
    rows = list(validate.read_table(validate.TABLE).values())
    text = validate.page_text(rows)
    check(text in validate.PAGE.read_text(encoding="utf-8"), "docs/models/validation.md is not of the table: tools/validate --page")
    chosen = {validate.key_of(row): row for row in rows if validate.key_of(row) in validate.INSTRUCTIVE}
    check(len(chosen) == len(validate.INSTRUCTIVE) == 10, sorted(chosen))
    for key, row in chosen.items():
        line = f"| {key[2]} | {key[3]} | {key[0]}, {key[1]} | "
        check(line in text and f"| {float(row['error_percent']):+.1f} % |" in text, line)
    counted = [row for row in rows if row["counts"] == "yes"]
    check(f"| that count | {len(counted)} |" in text, f"{len(counted)} rows count")


def predict():
    done = subprocess.run([sys.executable, "-B", SOURCE / "tools/validate", "--predict", "--weft", WEFT, "--work", "kept",
                           "--table", "table.csv"], capture_output=True, text=True, check=False, env=os.environ)
    check(done.returncode == 0, "tools/validate --predict", done)
    text = pathlib.Path("table.csv").read_text(encoding="utf-8")
    return text, {row["program"]: row for row in csv.DictReader(text.splitlines())}


def main():
    check_recorded_times()
    check_repeats()
    check_page()
    kept = pathlib.Path("kept")
    for directory in ("calibrations", "traces"):
        (kept / directory).mkdir(parents=True)
    (kept / "calibrations/star-openmpi-2.yaml").write_text(measured(), encoding="utf-8")
    check_run(["gen", "ring", "-n", "2", "-o", "ring.weft", "-p", "gen.bytes=100kB"], 0)
    os.rename("ring.weft", kept / "traces/star-openmpi-ring-2")
    with open("table.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        for program, seconds in (("ring", 0.05), ("hello", 1)):  # the run of the second is lost
            writer.writerow(dict(zip(FIELDS, ["star", "openmpi", program, 2, seconds, 0, "no", "not predicted yet", ""])))

    first, rows = predict()
    ring = rows["ring"]
    low, middle, high = (float(ring[field]) for field in ("p05_s", "predicted_s", "p95_s"))
    check(0 < low < middle < high, ring)
    check(ring["inside"] == ("yes" if low <= 0.05 <= high else "no"), ring)
    check(abs(float(ring["error_percent"]) - 100 * (middle / 0.05 - 1)) < 0.1, ring)
    check(rows["hello"]["reason"] == "not predicted yet", rows["hello"])
    (kept / "star-openmpi-2.yaml").write_text("name: spoiled\n", encoding="utf-8")
    check(predict()[0] == first, "the same measurements and traces give the same table")
    finish()


if __name__ == "__main__":
    main()
