# SPDX-License-Identifier: Apache-2.0
"""The manual as the program prints it: every command has five examples or more, and every example runs, in
one directory, in the order of the commands. The man pages have them all, with every option."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

from weft_cli import MPIEXEC, SOURCE, WEFT, check, check_run, finish, run

BUILD = pathlib.Path(os.environ["WEFT_BUILD_DIR"])
# What an example ends with where that is not 0.
ENDS = {"weft compare slow.json fast.json": 1, "weft compare base.json a.json b.json -v": 1}
# Examples are as large as a reader likes them; these make them as small as a test does.
SHORTER = {"bench": " --end 200ns"}
STUDY = """settings: {source: gen:ring, ranks: 4}
grid: {net.L: [1us, 2us, 4us]}
plot: {x: net.L}
"""
OSU = """# OSU MPI Latency Test v7.3
# Size       Avg Latency(us)
1                       1.50
8192                    3.20
1048576                95.90
"""
TORUS = """MODELNET_GRP { repetitions="8"; nw-lp="1"; modelnet_torus="1"; }
PARAMS { modelnet_order=( "torus" ); packet_size="512"; n_dims="1"; dim_length="8";
         link_bandwidth="2.0"; buffer_size="8192"; num_vc="2"; chunk_size="64"; }
"""


def verbs():
    listed = run("help").stdout.split("Commands:\n")[1].split("\n\n")[0]
    return re.findall(r"^  (\S+)", listed, re.MULTILINE)


def examples(verb):
    """Those of the help: lines of two blanks; the words about them are further in."""
    return re.findall(r"^  (\S.*)$", run(verb, "--help").stdout.split("\nOptions:")[0], re.MULTILINE)


def prepare():
    """The files that examples speak of."""
    check_run(["gen", "stencil3d", "-n", "16", "-o", "run.weft", "-p", "gen.iterations=6",
               "-p", "gen.markers=true"], 0)
    for ranks in (64, 128, 256):
        check_run(["gen", "stencil3d", "-n", str(ranks), "-o", f"t{ranks}.weft", "-p",
                   "gen.iterations=2"], 0)
    whole = pathlib.Path("run.weft").read_bytes()
    pathlib.Path("broken.weft").write_bytes(whole[:len(whole) - 100])
    pathlib.Path("study.yaml").write_text(STUDY, encoding="utf-8")
    for name, latency in (("slow", 9), ("fast", 1), ("base", 2), ("a", 3), ("b", 4)):
        check_run(["replay", "gen:ring", "-n", "4", "-p", f"net.L={latency}us", "-o",
                   f"{name}.json"], 0)
    pathlib.Path("jobs.swf").write_text("; MaxNodes: 4\n1 0 -1 9 4 -1 -1 4 9 -1 1 1 1 1 1 1 -1 -1\n", encoding="utf-8")
    pathlib.Path("jobs.txt").write_text("JobID|Submit|Elapsed|NNodes\n1|2024-05-01T12:00:00|01:00|9\n", encoding="utf-8")
    pathlib.Path("osu.log").write_text(OSU, encoding="utf-8")
    pathlib.Path("nccl.log").write_text(check_run(["coll", "time", "-n", "8", "--machine", "h100-rail", "-b", "1MiB",
                                                   "-e", "4MiB"], 0).stdout, encoding="utf-8")
    flags = run("--plugin-cflags").stdout.split()
    subprocess.run(["cc", "-shared", "-fPIC", *flags, SOURCE / "examples/plugin/chordal.c", "-o", "mine.so"], check=True)
    pathlib.Path("trace.calls").write_text("no call", encoding="utf-8")  # a sample for a format that mine.so lacks
    shutil.copy(SOURCE / "examples/mpi/hello.c", ".")
    pathlib.Path("bin").mkdir()
    for tool in ("weft", "weftcc"):
        pathlib.Path("bin", tool).symlink_to(pathlib.Path(WEFT).parent / tool)
    _, dot, which = os.path.basename(MPIEXEC).partition(".")
    return shutil.which(f"mpicc{dot}{which}") if MPIEXEC else None


def shell(command, code):
    path = os.pathsep.join([os.path.abspath("bin"), os.environ["PATH"]])
    done = subprocess.run(["bash", "-c", command], env={**os.environ, "PATH": path}, text=True,
                          capture_output=True, timeout=100, check=False)
    check(done.returncode == code, f"{command}: exit code {done.returncode}", done)


def run_examples(mpicc):
    for verb in verbs():
        commands = examples(verb)
        check(5 <= len(commands) <= 6, f"{verb}: {len(commands)} examples")
        real = verb in ("capture", "calibrate")
        if real and mpicc:
            shell(f"{mpicc} hello.c -o app", 0)
        elif verb == "try" and "no live pages" in run("try", "-o", "probe.html").stderr:
            continue
        elif real or (verb in ("run", "emulate") and not (BUILD / "weftcc").exists()):
            continue
        elif verb in ("run", "emulate"):
            shell("weftcc hello.c -o app", 0)
        pathlib.Path("run.json").unlink(missing_ok=True)
        for command in commands:
            pathlib.Path("torus.conf").write_text(TORUS, encoding="utf-8")
            pathlib.Path("dragonfly.conf").write_text(TORUS, encoding="utf-8")
            if "mpirun" in command and not MPIEXEC:
                continue
            # Where there are several MPIs, mpirun may be that of another one.
            command = command.replace("calibrate -o", "calibrate --time 1s --max-bytes 4KiB -o")
            shell(command.replace("mpirun", MPIEXEC) + SHORTER.get(verb, ""),
                  ENDS.get(command, 0))


def check_pages():
    """Each command's page has its options, and man has nothing to complain about."""
    made = subprocess.run([sys.executable, "-B", SOURCE / "tools/make_man.py", WEFT,
                           SOURCE / "docs", "man"], capture_output=True, text=True, check=False)
    if not check(made.returncode == 0, f"make_man.py: {made.stderr}"):
        return
    for verb in verbs():
        text = pathlib.Path(f"man/weft-{verb}.1").read_text(encoding="utf-8").replace("\\-", "-")
        for option in re.findall(r"^ {2,6}(?:-\w, )?(--[\w-]+)", run(verb, "--help").stdout,
                                 re.MULTILINE):
            check(option in text, f"weft-{verb}.1 lacks {option}")
        check(f"weft-{verb}(1)" in pathlib.Path("man/weft.1").read_text(encoding="utf-8")
              .replace("\\-", "-"), f"weft.1 lacks {verb}")
    for page in sorted(pathlib.Path("man").iterdir()) if shutil.which("groff") else ():
        shown = subprocess.run(["groff", "-t", "-man", "-Tutf8", "-ww", page], text=True,
                               capture_output=True, check=False)
        complaints = [line for line in shown.stderr.splitlines()
                      if "adjust line" not in line and "break line" not in line]
        check(not complaints and len(shown.stdout) > 300, f"{page}: {complaints[:3]}")


def main():
    run_examples(prepare())
    if shutil.which("lowdown"):
        check_pages()
    finish()


main()
