# SPDX-License-Identifier: Apache-2.0
"""Shared libraries that a program brings have variables of their own for each rank, also the
thread-local ones, and their constructors and exit handlers run in each rank. The C library is
shared, and a library for another MPI is refused (test_abi.py has those that run). HDF5 and FFTW of the distribution are tried where
they are installed."""
import pathlib
import shutil
import subprocess

import vrank

INNER = """
#include <stdio.h>
#include <stdlib.h>
int inner_table[5000];
static int calls, registered;
static __thread int local = 7;
static void at_end(void) { printf("calls %d, local %d\\n", calls, local); }
int inner_next(void)
{
    registered++ == 0 ? atexit(at_end) : 0;
    inner_table[calls * 1000 % 5000]++;
    local++;
    return local == 8 + calls ? ++calls : -99;
}
"""
OUTER = """
#include <mpi.h>
#include <stdlib.h>
int inner_next(void);
int outer_rank = -1;
static int *heap;
__attribute__((constructor)) static void begin(void) { heap = calloc(1, sizeof(int)); }
void outer_begin(void) { MPI_Comm_rank(MPI_COMM_WORLD, &outer_rank); }
int outer_work(void) { *heap += outer_rank; return inner_next() * 1000 + *heap; }
"""
# A variable as C++ has for static members of templates: the loader would share it.
UNIQUE = """
int unique_sum;
__asm__(".type unique_sum, @gnu_unique_object");
int unique_add(int n) { return unique_sum += n; }
"""
USES_UNIQUE = """
#include <mpi.h>
#include <stdio.h>
int unique_add(int n);
int main(int argc, char **argv)
{
    int rank, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 4; i++) {
        sum = unique_add(rank);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    printf("%d: %d\\n", rank, sum);
    MPI_Finalize();
    return 0;
}
"""
PROGRAM = """
#include <mpi.h>
#include <stdio.h>
extern int outer_rank;
void outer_begin(void);
int outer_work(void);
int main(int argc, char **argv)
{
    int rank, last = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    outer_begin();
    for (int i = 0; i < 3; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        last = MPI_Wtime() >= 0 ? outer_work() : 0;
    }
    printf("%d: %d\\n", rank, outer_rank == rank ? last : -1);
    MPI_Finalize();
    return 0;
}
"""
HDF5 = """
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank, out, in = -1;
    char name[32];
    hsize_t one = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    out = rank;
    snprintf(name, sizeof(name), "rank%d.h5", rank);
    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(1, &one, NULL);
    hid_t set = H5Dcreate2(file, "x", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wtime();
    H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &out);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wtime();
    H5Dread(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &in);
    printf("%d: %d\\n", rank, in);
    H5Dclose(set);
    H5Sclose(space);
    H5Fclose(file);
    MPI_Finalize();
    return 0;
}
"""
FFTW = """
#include <fftw3.h>
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank;
    fftw_complex data[8];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fftw_plan plan = fftw_plan_dft_1d(8, data, data, FFTW_FORWARD, FFTW_ESTIMATE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wtime();
    for (int i = 0; i < 8; i++) {
        data[i][0] = rank;
        data[i][1] = 0;
    }
    fftw_execute(plan);
    printf("%d: %d\\n", rank, (int)data[0][0]);
    fftw_destroy_plan(plan);
    MPI_Finalize();
    return 0;
}
"""
RANKS = 6
SCHEDULES = ((), ("--sched", "conservative", "--threads", "2"))


def own_libraries(weftcc):
    here = ("-L.", "-Wl,-rpath,$ORIGIN", "-Wl,-rpath-link,.")
    if not (vrank.compile_text("cc", "libinner.so", INNER, "-shared", "-fPIC", "-Wl,-soname,libinner.so")
            and vrank.compile_text(weftcc, "libouter.so", OUTER, "-shared", *here, "-linner")
            and vrank.compile_text(weftcc, "own", PROGRAM, *here, "-louter")):
        return
    vrank.check_lines(["./own"], RANKS, SCHEDULES, [f"{rank}: {3000 + 3 * rank}" for rank in range(RANKS)]
               + ["calls 3, local 10"] * RANKS)
    done = subprocess.run([vrank.WEFT, "run", "--libraries", "--", "./own"], text=True,
                          capture_output=True, check=False)
    for line in (r"libinner.so +private .*/libinner.so", r"libouter.so +private",
                 r"libc.so.6 +shared +part of the C library"):
        if not vrank.says(line, done.stdout):
            vrank.complain("--libraries", line, done.stdout)


def unique_variables(weftcc):
    if (vrank.compile_text("cc", "libunique.so", UNIQUE, "-shared", "-fPIC", "-Wl,-soname,libunique.so")
            and vrank.compile_text(weftcc, "unique", USES_UNIQUE, "-L.", "-Wl,-rpath,$ORIGIN", "-lunique")):
        vrank.check_lines(["./unique"], RANKS, SCHEDULES, [f"{rank}: {4 * rank}" for rank in range(RANKS)])


def library_of_another_mpi(weftcc):
    here = ("-L.", "-Wl,-rpath,$ORIGIN", "-Wl,-rpath-link,.")
    if (vrank.compile_text("cc", "libmpich.so.12", "int other;", "-shared", "-fPIC", "-Wl,-soname,libmpich.so.12")
            and vrank.compile_text("cc", "libforeign.so", "extern int other; int *use(void) { return &other; }",
                             "-shared", "-fPIC", "./libmpich.so.12", "-Wl,-soname,libforeign.so")
            and vrank.compile_text(weftcc, "foreign", "#include <mpi.h>\nint *use(void);\n"
                             "int main(void) { MPI_Init(0, 0); return use() == 0; }",
                             *here, "-lforeign", "-Wl,--allow-shlib-undefined")):
        done = subprocess.run([vrank.WEFT, "run", "-n", "2", "--", "./foreign"], text=True,
                              capture_output=True, check=False)
        if done.returncode == 0 or not vrank.says("was built for MPICH .*weftcc", done.stderr):
            vrank.complain("a library of another MPI", done.returncode, done.stderr)


def no_call_of_mpi(weftcc):
    """The linker must not leave out a library that the program does not call."""
    if vrank.compile_text(weftcc, "silent", '#include <stdio.h>\nint main(void) { return puts("alone") < 0; }'):
        vrank.check_lines(["./silent"], RANKS, SCHEDULES, ["alone"] * RANKS)


def of_the_distribution(weftcc):
    hdf5 = pathlib.Path("/usr/include/hdf5/serial")
    if (hdf5 / "hdf5.h").exists():
        library = next(pathlib.Path("/usr/lib").glob("*/hdf5/serial"))
        if vrank.compile_text(weftcc, "hdf5", HDF5, f"-I{hdf5}", f"-L{library}", "-lhdf5"):
            vrank.check_lines(["./hdf5"], RANKS, SCHEDULES, [f"{rank}: {rank}" for rank in range(RANKS)])
    else:
        print("skipped: HDF5 is not installed (libhdf5-dev)")
    if pathlib.Path("/usr/include/fftw3.h").exists():
        if vrank.compile_text(weftcc, "fftw", FFTW, "-lfftw3"):
            vrank.check_lines(["./fftw"], RANKS, SCHEDULES, [f"{rank}: {8 * rank}" for rank in range(RANKS)])
    else:
        print("skipped: FFTW is not installed (libfftw3-dev)")


def main():
    weftcc = str(vrank.BUILD / "weftcc")
    if shutil.which("cc") is None:
        print("skipped: there is no compiler")
    else:
        own_libraries(weftcc)
        unique_variables(weftcc)
        library_of_another_mpi(weftcc)
        no_call_of_mpi(weftcc)
        of_the_distribution(weftcc)
    vrank.finish()


main()
