# SPDX-License-Identifier: Apache-2.0
"""Completion in bash, and in fish where it is installed: of commands, options, sources and topics, as
the program has them."""
import os
import shutil
import subprocess

from weft_cli import SOURCE, WEFT, check, finish

SCRIPT = """
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_weft
printf '%s\\n' "${COMPREPLY[@]}"
"""
# Words typed so far, what must be among the proposals, and what must not.
CASES = [
    (["re"], {"replay", "report"}, {"gen"}),
    ([""], {"replay", "compare", "sweep", "help", "--version"}, {"gen.ring"}),
    (["replay", "--rec"], {"--record", "--record-limit"}, {"--ranks"}),
    (["replay", "gen:ring", "--net", "lo"], {"loggp"}, {"packet"}),
    (["replay", "gen"], {"gen:stencil3d", "gen:ring"}, {"gen.ring"}),
    (["replay", "gen", ":", "st"], {"stencil2d", "stencil3d"}, {"ring"}),
    (["help", "net.p"], {"net.packet"}, {"net.loggp"}),
    (["sweep", "--p"], {"--plot"}, {"--table"}),
    (["replay", "gen:ring", "-p", "net.b"], {"net.bandwidth="}, {"mpi.rules="}),
    (["replay", "gen:ring", "-p", "mpi.rules", "="], {"mpich", "openmpi"}, {"net.bandwidth="}),
    (["replay", "gen:ring", "-p", "mpi.rules", "=", "o"], {"openmpi"}, {"mpich"}),
    (["replay", "gen:ring", "--machine", "b"], {"bgp", "bgq"}, {"frontier"}),
    (["replay", "gen:ring", "--topo", "t"], {"torus:"}, {"dragonfly:"}),
]


FISH_CASES = [
    ("weft re", {"replay", "report"}, {"gen"}),
    ("weft replay --rec", {"--record", "--record-limit"}, {"--ranks"}),
    ("weft help net.p", {"net.packet"}, {"net.loggp"}),
    ("weft replay gen:st", {"gen:stencil3d"}, {"gen:ring"}),
    ("weft replay gen:ring -p mpi.ru", {"mpi.rules=mpich", "mpi.rules=openmpi", "mpi.rules=nccl"}, {"net.bandwidth="}),
    ("weft replay gen:ring --machine bg", {"bgp"}, {"frontier"}),
]


def check_fish():
    path = os.pathsep.join([os.path.dirname(WEFT), os.environ["PATH"]])
    for line, wanted, unwanted in FISH_CASES:
        done = subprocess.run(
            ["fish", "--no-config", "-c", f'source "{SOURCE}/share/completions/weft.fish"; '
             f'complete -C "{line}"'], capture_output=True, text=True, check=False, timeout=30,
            env={**os.environ, "PATH": path, "HOME": os.getcwd()})
        found = {row.split("\t")[0] for row in done.stdout.splitlines()}
        check(done.returncode == 0 and wanted <= found and not unwanted & found,
              f"fish: {line}: {sorted(found)}", done)


def main():
    for words, wanted, unwanted in CASES:
        done = subprocess.run(
            ["bash", "-c", SCRIPT, "bash", str(SOURCE / "share/completions/weft.bash"), WEFT,
             *words], capture_output=True, text=True, check=False, timeout=30, env=os.environ)
        found = set(done.stdout.split())
        check(done.returncode == 0 and wanted <= found and not unwanted & found,
              f"{words}: {sorted(found)}", done)
    if shutil.which("fish"):
        check_fish()
    finish()


main()
