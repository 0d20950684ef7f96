# SPDX-License-Identifier: Apache-2.0
"""weft calibrate with launchers that are scripts: what they print stands for a real cluster."""
import os
import pathlib
import signal
import stat
import subprocess
import time

from weft_cli import WEFT, check, check_run, finish, parse, sample

BANDWIDTH, LATENCY, CALL = 6e6, 20e3, 2e3  # bytes per second, ns, ns


def lines(ranks, lost=0, progress=True):
    """A cluster of one switch without contention, as the measuring program describes it."""
    text = [f"host {i} node{i}" for i in range(ranks)] + [f"ranks {ranks}"]
    for bytes_ in (1, 64, 1024, 4096, 16384, 65536, 262144):
        one = 2 * CALL + LATENCY + bytes_ / BANDWIDTH * 1e9
        for kind, rounds, ns in (("pingpong", 1, 2 * one), ("exchange", 1, one), ("oneway", 1, one)):
            text.append(f"measure {kind} 0 1 {rounds} 0 {bytes_} 9 {ns} {ns * .99} {ns * 1.01} {ns * .98}")
    text += [f"send {CALL}", f"take {CALL}", f"stream {CALL}", "combine 500", f"lost 0 {lost}"]
    return (["progress 0.5"] if progress else []) + text


def launcher(name, body):
    with open(name, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n" + body)
    os.chmod(name, os.stat(name).st_mode | stat.S_IXUSR)
    return f"./{name}"


def printing(name, text):
    return launcher(name, "cat <<'END'\n" + "\n".join(text) + "\nEND\n")


def test_file():
    measured = printing("cluster", lines(4))
    done = check_run(["calibrate", "--mpi", "openmpi", "-o", "c.yaml", "--topology", "star:4", "--", measured], 0)
    check("describes the machine" in done.stdout and "in the file" in done.stdout, done.stdout)
    check("busy" not in done.stderr, done.stderr)
    shown = parse(check_run(["machine", "show", "c.yaml", "--json"], 0))
    check(any("bandwidth" in key for key in shown["settings"]), shown["settings"])
    check(shown["settings"]["mpi.reduce_bandwidth"] == "2048MB/s", shown["settings"])
    patterns = {(row["model"], row["pattern"]) for row in shown["residuals"]}
    check({(m, p) for m in ("packet", "latency", "loggp") for p in ("pingpong", "exchange", "oneway")} == patterns,
          patterns)
    check("from the measurements" in check_run(["machine", "show", "c.yaml"], 0).stdout, "residuals are shown")
    check_run(["replay", "gen:stencil2d", "-n", "4", "--machine", "c.yaml", "-q"], 0)
    check_run(["calibrate", "--mpi", "openmpi", "-o", "c.yaml", "--", measured], 2, "--force replaces it")
    done = check_run(["calibrate", "--mpi", "openmpi", "-f", "-o", "c.yaml", "--json", "--progress", "always",
                      "--", measured], 0, "models fitted")
    answer = parse(done)
    check(answer["ranks"] == 4 and answer["topology"] == "star:4", answer)
    check(len(answer["models"]) == 3 and all("describes_the_machine" in m for m in answer["models"]), answer)


def test_from():
    """A file keeps its measurements: they can be fitted again."""
    check_run(["calibrate", "-o", "again.yaml", "--from", "c.yaml", "-t", "ring:4"], 0)
    check_run(["calibrate", "-o", "third.yaml", "--from", "again.yaml"], 0)
    with open("c.yaml", encoding="utf-8") as first, open("third.yaml", encoding="utf-8") as third:
        check(first.read() == third.read(), "the same measurements give the same file")
    with open("again.yaml", encoding="utf-8") as file:
        check("rules: openmpi" in file.read(), "the MPI is kept")
    for model in sample(("packet", "latency", "loggp"), 3):
        check_run(["calibrate", "-o", "chosen.yaml", "-f", "--from", "c.yaml", "--net", model], 0,
                  stdout=f"{model} .*in the file")
        written = pathlib.Path("chosen.yaml").read_text(encoding="utf-8")
        check(f"\n  model: {model}\n" in written, f"--net {model} writes another model")
    check_run(["calibrate", "-o", "x.yaml", "--from", "busy"], 3, "no table of")
    check_run(["calibrate", "-o", "x.yaml", "--from", "c.yaml", "--", "./cluster"], 2, "takes no launcher")
    check_run(["calibrate", "-o", "x.yaml"], 2, "a launcher of two or more ranks is missing")


def test_shared_cores():
    """Hosts on one computer: ranks take turns, which dependent exchanges of many ranks show."""
    text = lines(8)
    text.insert(text.index("ranks 8") + 1, "cores 2")
    for ranks, steps in ((4, 2), (8, 3)):
        for bytes_ in (1, 1024, 16384):
            ns = steps * (2 * CALL + LATENCY + bytes_ / BANDWIDTH * 1e9 + 7 / 12 * 30e3 * ranks / 2)
            text.append(f"measure butterfly 0 {ranks - 1} 1 0 {bytes_} 9 {ns} {ns * .99} {ns * 1.01} {ns * .98}")
    check_run(["calibrate", "--mpi", "openmpi", "-o", "shared.yaml", "-t", "star:8", "--", printing("shared", text)], 0,
              stdout="butterfly")
    settings = parse(check_run(["machine", "show", "shared.yaml", "--json"], 0))["settings"]
    found = {key: value for key, value in settings.items() if key.startswith("node.")}
    check(found["node.host_cores"] == "2", found)
    check(15 < float(found["node.poll"].removesuffix("us")) < 60, found)
    written = pathlib.Path("shared.yaml").read_text(encoding="utf-8")
    check("\n  model: 5.0%" in written and "\n  cpu.scale: 1.0%" in written, written[:2000])


def test_load():
    done = check_run(["calibrate", "--mpi", "mpich", "-o", "busy.yaml", "--",
                      printing("busy", lines(2, lost=40))], 0, "hosts are busy")
    check("hosts are busy" in done.stderr and "40 %" in done.stderr, done.stderr)
    with open("busy.yaml", encoding="utf-8") as file:
        check("The hosts were busy" in file.read(), "the file says it, too")


def test_wrong():
    few = printing("few", ["ranks 1"])
    check_run(["calibrate", "--mpi", "mpich", "-o", "x.yaml", "--", few], 3, "two ranks or more")
    check_run(["calibrate", "--mpi", "mpich", "-o", "x.yaml", "--", launcher("fails", "exit 1\n")], 3,
              "two ranks or more")
    check_run(["calibrate", "-o", "x.yaml", "--", few], 2, "none of the MPI libraries")
    check_run(["calibrate", "--mpi", "mpich", "-o", "x.yaml", "--", "./missing"], 2, "cannot run './missing'")
    check_run(["calibrate", "--mpi", "mpich", "-o", "x.yaml", "-t", "star:2", "--",
               printing("many", lines(4))], 3, "has 2 nodes, but 4 ranks")
    check_run(["calibrate", "--mpi", "mpich", "-o", "x.yaml", "-t", "nonsense:2", "--", few], 3, "nonsense")
    check_run(["calibrate", "--mpi", "mpich", "-o", "missing/x.yaml", "--", few], 3, "cannot write")
    check_run(["calibrate", "--mpi", "mpich", "--", few], 2, "no file to write")
    check(not os.path.exists("x.yaml"), "nothing is written after an error")


def test_interrupt():
    """An interrupt ends the launcher, which may take its time to end its ranks, and leaves nothing behind."""
    slow = launcher("slow", "trap 'sleep 0.3; echo >tidied; exit 1' INT; echo $$ > slow.pid; echo ranks 2\n"
                    "while :; do sleep 0.05; done\n")
    child = subprocess.Popen([WEFT, "calibrate", "--mpi", "mpich", "-o", "slow.yaml", "--", slow],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not os.path.exists("slow.pid") or not open("slow.pid", encoding="utf-8").read().strip():
        time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=30)
    check(child.returncode == 130 and "interrupted" in err, (child.returncode, err))
    with open("slow.pid", encoding="utf-8") as file:
        launched = f"/proc/{file.read().strip()}"
    check(os.path.exists("tidied") and not os.path.exists(launched), "the launcher has ended")
    check(not [name for name in os.listdir(".") if "slow.yaml" in name], "no file is left")


def main():
    test_file()
    test_load()
    test_from()
    test_shared_cores()
    test_wrong()
    test_interrupt()
    finish()


main()
