# SPDX-License-Identifier: Apache-2.0
"""Clocks and sleeping are simulated in programs of C, C++ and Fortran, and in the libraries they
bring; sleeping is no computing."""
import json
import pathlib
import subprocess

import vrank

NETWORK = ("--net", "latency", "--topo", "torus:2")
SCHEDULES = ((), ("--sched", "conservative", "--threads", "2"), ("--sched", "optimistic"))
LIBRARY = r"""
#include <time.h>
double library_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
"""
# The program's own functions have names of functions of the C library.
OWN = (r"""
#include <mpi.h>
#include <stdio.h>
double clock(void);
unsigned sleep(unsigned seconds);
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    printf("%g %u %g\n", clock(), sleep(7), MPI_Wtime());
    MPI_Finalize();
    return 0;
}
""", r"""
double clock(void) { return 42; }
unsigned sleep(unsigned seconds) { return seconds + 1; }
""")


def compile_with(compiler, *words):
    done = subprocess.run([vrank.BUILD / compiler, "-O1", *words], text=True,
                          capture_output=True, check=False)
    if done.returncode != 0:
        vrank.complain(f"{compiler} {words}", done.stderr)
    return done.returncode == 0


def weft(*words, verb="run"):
    done = subprocess.run([vrank.WEFT, verb, "-q", "-f", "-o", "result.json", *words], text=True,
                          capture_output=True, check=False, timeout=60,
                          stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        vrank.complain(f"weft {verb} {words}", done.stdout, done.stderr)
        return "", None
    return done.stdout, json.loads(pathlib.Path("result.json").read_text())["result"]


def check_program(program, expected):
    digests = set()
    for options in SCHEDULES:
        said, result = weft("-n", "2", "--compute", "none", *NETWORK, *options, "--", program)
        if said != expected:
            vrank.complain(f"{program} {options}", said)
        digests.add(result["digest"] if result else None)
    if len(digests) != 1:
        vrank.complain(f"{program}: digests {digests}")


def check_c():
    source = vrank.SOURCE / "tests/vrank/clocks.c"
    pathlib.Path("library.c").write_text(LIBRARY)
    if compile_with("weftcc", "-shared", "library.c", "-o", "libclocks.so") and \
            compile_with("weftcc", "-w", source, "-o", "clocks_c", "-L.", "-lclocks",
                         "-Wl,-rpath,$ORIGIN", f"-Wl,-rpath,{pathlib.Path.cwd()}", "-lm"):
        check_program("./clocks_c", "half a round trip 0.100 us\n0 failures\n")
        check_host()
        check_trace("./clocks_c")


def check_host():
    pathlib.Path("host.c").write_text(r"""
#include <mpi.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    usleep(1000);
    printf("%d %g\n", time(NULL) > 1700000000, MPI_Wtime());
    MPI_Finalize();
    return 0;
}
""")
    if compile_with("weftcc", "host.c", "-o", "host"):
        for clock, expected in (("host", "1 0\n"), ("simulated", "0 0.001\n")):
            said, _ = weft("-n", "1", "--compute", "none", "-p", f"run.clock={clock}", "--",
                           "./host")
            if said != expected:
                vrank.complain(f"run.clock={clock}", said)


def check_measured():
    """Where computing is measured, a program that polls the clock for a long time gets there soon, and
    one that measures its own computing is left alone, even if that is short."""
    pathlib.Path("measured.c").write_text(r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int seconds = atoi(argv[1]);
    long readings = 0;
    volatile double sum = 0;

    MPI_Init(&argc, &argv);
    double begin = MPI_Wtime();
    while (seconds > 0 && MPI_Wtime() - begin < seconds) {
        readings++;
    }
    for (int i = 0; seconds == 0 && i < 100000; i++) {
        double before = MPI_Wtime();
        sum += i;
        sum += MPI_Wtime() - before;
    }
    printf("%ld\n", readings);
    MPI_Finalize();
    return 0;
}
""")
    if not compile_with("weftcc", "measured.c", "-o", "measured"):
        return
    said, _ = weft("-n", "2", "--compute", "measured", "--", "./measured", "1000")
    if not said or any(int(readings) > 10000000 for readings in said.split()):
        vrank.complain("a program that polls the clock reads it", said)
    weft("-n", "1", "--compute", "measured", "-o", "measured.csv", "--", "./measured", "0",
         verb="emulate")
    if "sleep" in pathlib.Path("measured.csv").read_text():
        vrank.complain("reading the clock takes time in a program that measures its computing")


def check_trace(program):
    """Sleeping is in the trace, and no processor makes it faster."""
    _, run = weft("-n", "2", "--compute", "none", *NETWORK, "--trace", "run.weft", "--", program)
    _, slow = weft("-n", "2", "--compute", "none", *NETWORK, "-p", "cpu.scale=3", "--", program)
    for words in (("run.weft", *NETWORK), ("run.weft", *NETWORK, "-p", "cpu.scale=2"),
                  ("run.weft", *NETWORK, "-p", "node.noise=fixed")):
        _, replay = weft(*words, verb="replay")
        if run and (replay is None or replay["predicted_time_ps"] != run["predicted_time_ps"]):
            vrank.complain(f"replay {words} of a program that sleeps",
                           replay and replay["predicted_time_ps"], run["predicted_time_ps"])
    if run and slow and slow["predicted_time_ps"] != run["predicted_time_ps"]:
        vrank.complain("a slow processor sleeps longer", slow["predicted_time_ps"], run["predicted_time_ps"])


def check_own():
    for name, text in zip(("main.c", "functions.c"), OWN):
        pathlib.Path(name).write_text(text)
    if compile_with("weftcc", "-w", "-fno-builtin", "main.c", "functions.c", "-o", "own"):
        said, _ = weft("-n", "1", "--compute", "none", "--", "./own")
        if said != "42 8 0\n":
            vrank.complain("a program's own clock() and sleep()", said)


def check_languages():
    for compiler, suffix in (("weftc++", "cpp"), ("weftf90", "f90")):
        source = vrank.SOURCE / f"tests/vrank/clocks.{suffix}"
        program = f"clocks_{suffix}"
        if (vrank.BUILD / compiler).exists() and compile_with(compiler, source, "-o", program):
            check_program(f"./{program}", "done\n")


check_c()
check_own()
check_measured()
check_languages()
vrank.finish()
