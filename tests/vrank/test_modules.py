# SPDX-License-Identifier: Apache-2.0
"""Libraries that a program loads with dlopen(): each rank has its own variables of them and of the libraries that they need, and calls
their constructors and destructors. They use symbols of the program, and MPI. What cannot be loaded is refused with words. The extension
modules of Python are such libraries; mpi4py is tried where it is installed."""
import pathlib
import shutil
import subprocess
import sys

import vrank

NEEDED = """
static int made = 5, table[5000];
__attribute__((constructor)) static void make(void) { made++; }
int needed_count(int by) { table[by * 1000 % 5000] += by; return made += by; }
"""
PLUGIN = """
#include <mpi.h>
#include <stdio.h>
int needed_count(int by);
int program_rank(void);
static int begun;
static __thread int local = 3;
__attribute__((constructor)) static void begin(void) { begun++; }
__attribute__((destructor)) static void end(void) { printf("end of %d\\n", program_rank()); }
int plugin_work(int round)
{
    int sum, mine = program_rank();
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    local += mine;
    return begun == 1 && local == 3 + round * mine ? sum * 1000 + needed_count(mine) : -1;
}
"""
SECOND = "int needed_count(int by); int second(void) { return needed_count(0); }"
PROGRAM = """
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
static int rank = -1;
int program_rank(void) { return rank; }
int main(int argc, char **argv)
{
    int last = 0, ok = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    ok &= dlopen("./plugin.so", RTLD_NOW | RTLD_NOLOAD) == NULL || rank > 0;
    if (rank > 0) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    void *plugin = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL);
    if (plugin == NULL) {
        printf("%s\\n", dlerror());
        return 1;
    }
    if (rank == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    ok &= dlopen("../" DIRECTORY "/plugin.so", RTLD_LAZY) == plugin;
    int (*work)(int) = (int (*)(int))dlsym(plugin, "plugin_work");
    for (int i = 1; i <= 3; i++) {
        last = work(i);
    }
    if (rank % 2 == 1) {
        int (*second)(void) = (int (*)(void))dlsym(dlopen("libsecond.so", RTLD_NOW), "second");
        ok &= second != NULL && second() == last % 1000;
    }
    ok &= dlsym(dlopen(NULL, RTLD_LAZY), "program_rank") == (void *)program_rank;
    ok &= dlsym(RTLD_DEFAULT, "program_rank") == (void *)program_rank;
    ok &= dlopen("libc.so.6", RTLD_NOW) != NULL;
    ok &= dlsym(plugin, "nothing") == NULL && dlerror() != NULL && dlerror() == NULL;
    ok &= dlopen("./missing.so", RTLD_NOW) == NULL && strstr(dlerror(), "missing.so") != NULL;
    ok &= dlopen("./broken.so", RTLD_NOW) == NULL && strstr(dlerror(), "broken.so") != NULL;
    ok &= dlopen("./undefined.so", RTLD_NOW) == NULL && strstr(dlerror(), "nobody_has_this") != NULL;
    ok &= dlopen("./foreign.so", RTLD_NOW) == NULL && strstr(dlerror(), "was built for MPICH") != NULL;
    ok &= dlclose(plugin) == 0;
    printf("%d: %d %s\\n", rank, last, ok ? "ok" : "not ok");
    MPI_Finalize();
    return 0;
}
"""
RANKS = 6
SCHEDULES = ((), ("--sched", "conservative", "--threads", "2"), ("--sched", "optimistic"))


def plug_ins(weftcc):
    here = ("-L.", "-Wl,-rpath,$ORIGIN")
    shared = ("-shared", "-fPIC")
    pathlib.Path("broken.so").write_bytes(b"\x7fELF and nothing else")
    if (vrank.compile_text("cc", "libneeded.so", NEEDED, *shared, "-Wl,-soname,libneeded.so")
            and vrank.compile_text(weftcc, "plugin.so", PLUGIN, *shared, *here, "-lneeded")
            and vrank.compile_text("cc", "libsecond.so", SECOND, *shared, *here, "-lneeded")
            and vrank.compile_text("cc", "undefined.so", "void nobody_has_this(void); void f(void) { nobody_has_this(); }", *shared)
            and vrank.compile_text("cc", "libmpich.so.12", "int other;", *shared, "-Wl,-soname,libmpich.so.12")
            and vrank.compile_text("cc", "foreign.so", "extern int other; int *use(void) { return &other; }", *shared, "./libmpich.so.12")
            and vrank.compile_text(weftcc, "loads", PROGRAM, *here, f'-DDIRECTORY="{pathlib.Path.cwd().name}"')):
        total = RANKS * (RANKS - 1) // 2
        vrank.check_lines(["./loads"], RANKS, SCHEDULES, [f"{rank}: {total * 1000 + 6 + 3 * rank} ok" for rank in range(RANKS)]
                   + [f"end of {rank}" for rank in range(RANKS)])


def python(weftcc):
    """The example, with the interpreter of the system."""
    system = "/usr/bin/python3"
    done = subprocess.run([vrank.WEFT, "run", "-n", "2", "--", system, "x.py"], text=True, capture_output=True, check=False)
    if done.returncode == 0 or not vrank.says("examples/python/python.c", done.stderr):
        vrank.complain("the interpreter of the system", done.stderr)
    config, heat = f"{system}-config", str(vrank.SOURCE / "examples/python/heat.py")
    find = "import importlib.util, sys; sys.exit(importlib.util.find_spec('mpi4py') is None)"
    if not pathlib.Path(config).exists() or subprocess.run([system, "-c", find], check=False).returncode != 0:
        print("skipped: Python's library or mpi4py is not installed (python3-dev, python3-mpi4py)")
        return
    flags = subprocess.run([config, "--embed", "--ldflags"], text=True, capture_output=True, check=False).stdout.split()
    source = (vrank.SOURCE / "examples/python/python.c").read_text()
    if vrank.compile_text(weftcc, "weftpython", source, *flags):
        vrank.check_lines(["./weftpython", heat, "10", "5"], RANKS, SCHEDULES,
                          [f"{RANKS} ranks, 10 cells each, 5 steps: heat {10 * RANKS * (RANKS - 1) / 2:.6f}"])


def main():
    if shutil.which("cc") is None:
        print("skipped: there is no compiler")
        sys.exit(vrank.SKIPPED)
    weftcc = str(vrank.BUILD / "weftcc")
    plug_ins(weftcc)
    python(weftcc)
    vrank.finish()


main()
