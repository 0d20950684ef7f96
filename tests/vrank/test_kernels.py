# SPDX-License-Identifier: Apache-2.0
"""Functions in the file of kernels are not executed: of the program, of its libraries and of shared
ones, by Fortran's and CBLAS's names. Their times are those of their formulas, under every
scheduler, and the result counts them. Bad files get words."""
import json
import pathlib
import re
import subprocess

import vrank

LIBRARY = """
void dgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k, double *c)
{
    for (int i = 0; i < *m; i++) c[0] += *n;
}
void cblas_dtrsm(int order, int side, int uplo, int trans, int diag, int m, int n, double alpha,
                 double *a, int lda)
{
    for (int i = 0; i < m * n; i++) a[0] += alpha;
}
int idamax_(const int *n, double *x, const int *step)
{
    int best = 1;
    for (int i = 0; i < *n; i++) best = x[i * *step] > x[0] ? i : best;
    return best;
}
double ddot_(const int *n, double *x, const int *step)
{
    double sum = 0;
    for (int i = 0; i < *n; i++) sum += x[i * *step];
    return sum;
}
"""
PROGRAM = """
#include <mpi.h>
#include <stdio.h>
#include <zlib.h>
void dgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k, double *c);
void cblas_dtrsm(int order, int side, int uplo, int trans, int diag, int m, int n, double alpha,
                 double *a, int lda);
int idamax_(const int *n, double *x, const int *step);
double ddot_(const int *n, double *x, const int *step);
__attribute__((noinline, noclone)) double own(int n, double x, long a, char b, float c, int *d,
                                              long e, long f, long g, int m)
{
    volatile double sum = x + c + b;
    for (int i = 0; i < n; i++) sum += a + e + f + g;
    return sum + m + *d;
}
static double mark(void)
{
    static double last;
    double now = MPI_Wtime(), since = now - last;
    last = now;
    return since * 1e6;
}
int main(int argc, char **argv)
{
    int rank, m = 100, n = 200, k = 300, one = 1;
    double x[1000] = {1, 2, 3}, c = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    mark();
    dgemm_("N", "N", &m, &n, &k, &c);
    double t_gemm = mark();
    cblas_dtrsm(101, 141, 121, 111, 131, 10, 20, 1.0, x, 1);
    cblas_dtrsm(101, 142, 121, 111, 131, 10, 20, 1.0, x, 1);
    double t_trsm = mark();
    int found = idamax_(&n, x, &one);
    double sum = ddot_(&one, x, &one), t_vector = mark();
    double first = own(2, 1.5, 1, 2, 0.5f, &k, 3, 4, 5, 50), t_own = mark();
    double second = own(2, 1.5, 1, 2, 0.5f, &k, 3, 4, 5, 50);
    unsigned crc = (unsigned)crc32(0, (const unsigned char *)"weft", 4);
    printf("%d %g %.6f %.6f %d %g %.6f %g %.6f %g %u\\n", rank, c, t_gemm, t_trsm,
           found >= 1 && found <= n, sum, t_vector, first, t_own, second, crc);
    MPI_Finalize();
    return 0;
}
"""
KERNELS = """# a comment
dgemm: 2.6us + 7.9e-11s * m*n*k
dtrsm: 1ns * m*n*k   # k is the order of the triangle
idamax: 1us; normal 10ns
ddot: 500ns; returns 42
double own(int n, double x, long, char, float, int *d, long, long, long, int m): 1us*n + 1ns*m + 1ns*d
crc32: 0; returns 7
absent(int n): 1us*n
[nodes 2]
dgemm: 1ms
[ranks 1 3-5]
own: 0; execute every 2
"""
MEMORY = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) void *matrix_new(size_t n) { void *new = malloc(n); return new != NULL ? new : NULL; }
int main(int argc, char **argv)
{
    int rank, size, good = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const size_t large = (size_t)3 << 30;
    double *matrix = matrix_new(large), *other = matrix_new(large), *own = malloc(100000);
    good &= matrix != NULL && other != NULL && (other >= matrix + large / 8 || matrix >= other + large / 8);
    good &= matrix[1000] > -0.5 && matrix[1000] < 0.5 && matrix[1000] != matrix[1001];
    own[100] = rank;
    for (size_t i = 0; i < large / 8; i += 1 << 16) matrix[i] = other[i] = rank;
    MPI_Sendrecv(matrix, 1 << 24, MPI_CHAR, (rank + 1) % size, 0, other, 1 << 24, MPI_CHAR,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    good &= own[100] == rank;
    char *sent = calloc(1, 100000), *got = calloc(1, 100000);
    sent[0] = sent[99999] = sent[50000] = 1 + rank % 100;
    MPI_Sendrecv(sent, 100000, MPI_CHAR, rank, 1, got, 100000, MPI_CHAR, rank, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    good &= got[0] == sent[0] && got[99999] == sent[0] && got[50000] == 0;
    free(other);
    good &= matrix_new(large) == (void *)other;
    free(matrix);
    printf("%d\\n", good);
    MPI_Finalize();
    return 0;
}
"""
KEPT = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
enum { N = 1 << 20, STRIDE = 3 };
__attribute__((noinline)) double *panel_new(size_t n) { double *new = malloc(n * sizeof(double)); return new != NULL ? new : NULL; }
int main(int argc, char **argv)
{
    int rank, size, good = 1;
    MPI_Datatype column;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < 3; round++) {
        double *panel = panel_new(N), *other = panel_new(N);
        int *pivots = (int *)(panel + N / 2);
        good &= panel != other && panel[7] == other[7] && panel[7] > -0.5 && panel[7] < 0.5;
        for (int i = 0; i < 100; i++) pivots[i] = 1000 * round + rank + i;
        other[N - STRIDE] = rank + 0.25;
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < 100; i++) good &= pivots[i] == 1000 * round + rank + i;
        MPI_Type_vector(N / STRIDE, 1, STRIDE, MPI_DOUBLE, &column);
        MPI_Type_commit(&column);
        other[(N / STRIDE - 1) * STRIDE] = rank + 0.5;
        MPI_Sendrecv(other, 1, column, (rank + 1) % size, 0, panel, N / STRIDE, MPI_DOUBLE,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        good &= panel[N / STRIDE - 1] == (rank + size - 1) % size + 0.5;
        MPI_Sendrecv(panel, N / STRIDE, MPI_DOUBLE, rank, 1, other, 1, column, rank, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        good &= other[(N / STRIDE - 1) * STRIDE] == panel[N / STRIDE - 1];
        MPI_Type_free(&column);
        free(other);
        free(panel);
    }
    printf("%d\\n", good);
    MPI_Finalize();
    return 0;
}
"""
BAD = [
    ("share 1MiB in f except", "with 'except writes' or without"),
    ("share 1MiB except reads", "with 'except writes' or without"),
    ("share 1KiB", "only blocks of 4KiB and more"),
    ("share much", "line 1: "),
    ("share 1MiB of f", "expected 'share <size>' or 'share <size> in <function>'"),
    ("", "has no kernels; a line of it is"),
    ("dgemm 1us", "line 1: expected ':' and a formula"),
    ("dgemm: 3*m", "line 1: the formula is a number and not a time; add a unit"),
    ("\ndgemm: 1us*q", "line 2: in the formula '1us*q': column 5: unknown name 'q'"),
    ("f: 1us*n", "arguments that a formula uses are declared, as in f"),
    ("f(double x): 1us*x", "unknown name 'x'"),
    ("f(int n: 1us", "expected ',' or ')' after argument 'n'"),
    ("f(imt n): 1us", "unknown type 'imt' of an argument ... did you mean 'int'"),
    ("f(int n, int n): 1us", "two arguments are called 'n'"),
    ("f(" + ",".join(f"int a{i}" for i in range(9)) + "): 1us", "argument 'a8' is too many"),
    ("dgemm: 1us; gaussian 2us", "expected one of each: 'normal <time>'"),
    ("dgemm: 1us; execute every 0", "'execute every <number>'"),
    ("dgemm: 1us; returns 2us", "what a function returns is no time"),
    ("dgemm: 1us\ndgemm: 2us", "line 2: the section has this function already"),
    ("f(int n): 1us\n[ranks 1]\nf(int n): 2us", "line 3: the arguments of this function were declared"),
    ("dgemm: 1us\ndgemm_: 2us", "line 2: this function is in the file twice"),
    ("MPI_Send: 1us", "functions of MPI and main are always executed"),
    ("[node 1]\nf: 1us", "line 1: expected [nodes <numbers>] or [ranks"),
    ("[ranks 3-1]\nf: 1us", "line 1: expected [nodes"),
    ("[ranks 99999999999]\nf: 1us", "line 1: expected [nodes"),
    ("f: 1e100s", "exponent is beyond 99"),
    ("f: 1us*" + "(" * 60 + "1", "nested too deeply"),
    ("".join(f"f{i}: 1us\n" for i in range(97)), "line 97: there are too many functions"),
    ("9f: 1us", "expected the name of a function"),
    ("f\x01\xff: 1us", "expected"),
]


def run(*options, program="./kernels", ranks=4):
    command = [vrank.WEFT, "run", "-n", str(ranks), "--compute", "none", "-f", "-o", "result.json",
               *options, "--", program]
    return subprocess.run(command, text=True, capture_output=True, check=False, timeout=120,
                          stdin=subprocess.DEVNULL)


def expect(what, wanted, found):
    if wanted != found:
        vrank.complain(what, f"expected {wanted}", f"found {found}")


def check_calls():
    pathlib.Path("k.txt").write_text(KERNELS)
    done = run("--kernels", "k.txt")
    lines = sorted(done.stdout.splitlines())
    if done.returncode != 0 or len(lines) != 4:
        vrank.complain("a run with kernels", done.stdout, done.stderr)
        return
    words = [line.split() for line in lines]
    expect("not executed", ["0"] * 4, [w[1] for w in words])
    expect("dgemm, by node", [476.6, 476.6, 1000.0, 476.6], [float(w[2]) for w in words])
    expect("dtrsm from the left and the right", 10 * 20 * (10 + 20) * 1e-3, float(words[0][3]))
    expect("an index at random", ["1"] * 4, [w[4] for w in words])
    expect("what is returned", ["42"] * 4, [w[5] for w in words])
    noisy = {w[6] for w in words}
    if len(noisy) != 4 or not all(1.4 < float(t) < 1.6 for t in noisy):
        vrank.complain("the random part", noisy)
    expect("own function", 2.35, float(words[0][8]))
    expect("executed every other time", ["380", "0"], [words[1][7], words[1][9]])
    expect("not executed", ["0", "0", "0.000000"], [words[0][7], words[0][9], words[1][8]])
    expect("function of a shared library", ["7"] * 4, [w[10] for w in words])
    document = json.loads(pathlib.Path("result.json").read_text())
    kernels = {k["function"]: k for k in document["result"]["kernels"]}
    expect("counted", {"function": "own", "calls": 8, "executed": 2,
                       "time_ps": 4 * (2050 + 300) * 1000}, kernels.get("own"))
    for wanted in ("30 calls of kernels were not executed", "or inlined there: absent$"):
        if not any(re.search(wanted, w) for w in document["warnings"]):
            vrank.complain(wanted, document["warnings"])
    digest = document["result"]["digest"]
    for options in (("--sched", "conservative", "--threads", "2"), ("--sched", "optimistic")):
        other = run("--kernels", "k.txt", *options)
        again = json.loads(pathlib.Path("result.json").read_text())["result"]
        if (again["digest"], sorted(other.stdout.splitlines())) != (digest, lines):
            vrank.complain("the same with " + " ".join(options), other.stdout, other.stderr)
        expect("counted with " + " ".join(options), document["result"]["kernels"],
               again["kernels"])
    scaled = [float(line.split()[2]) for line in sorted(
        run("--kernels", "k.txt", "-p", "cpu.scale=3").stdout.splitlines())]
    if len(scaled) != 4 or any(abs(a - b) > 1e-5 for a, b in zip(scaled, (476.6, 476.6, 1e3, 476.6))):
        vrank.complain("cpu.scale changes the times of kernels", scaled)
    if sorted(run("--kernels", "k.txt", "--seed", "2").stdout.splitlines()) == lines:
        vrank.complain("another seed has other times")


def check_memory():
    """1,000 ranks with 6 GiB each."""
    pathlib.Path("m.txt").write_text("share 1MiB in matrix_new\n")
    done = run("--kernels", "m.txt", "--no-payload", program="./memory", ranks=1000)
    peak = json.loads(pathlib.Path("result.json").read_text())["run"]["peak_rss_bytes"]
    if done.returncode != 0 or done.stdout.split() != ["1"] * 1000 or peak > 1 << 30:
        vrank.complain("shared memory", peak, done.stdout[-200:], done.stderr)


def check_kept_writes():
    """Each of 1,000 ranks has 16 MiB of which it writes a few pages; ends of messages arrive, also those
    of vectors."""
    pathlib.Path("w.txt").write_text("share 1MiB in panel_new except writes\n")
    done = run("--kernels", "w.txt", "--no-payload", program="./kept", ranks=1000)
    peak = json.loads(pathlib.Path("result.json").read_text())["run"]["peak_rss_bytes"]
    if done.returncode != 0 or done.stdout.split() != ["1"] * 1000 or peak > 1 << 30:
        vrank.complain("shared memory but for writes", peak, done.stdout[-200:], done.stderr)


def check_bad_files():
    for text, wanted in BAD:
        pathlib.Path("bad.txt").write_text(text, encoding="latin-1")
        done = run("--kernels", "bad.txt")
        if done.returncode not in (2, 3) or \
                not all(part in done.stderr for part in wanted.split(" ... ")):
            vrank.complain(f"bad file {text[:40]!r}: {wanted}", done.returncode, done.stderr)
    done = run("--kernels", "nowhere.txt")
    if done.returncode == 0 or "cannot read 'nowhere.txt'" not in done.stderr:
        vrank.complain("no file", done.stderr)
    pathlib.Path("other.txt").write_text("sgemm: 1us*m\n")
    if "has none of the functions in the file" not in run("--kernels", "other.txt").stdout + \
            pathlib.Path("result.json").read_text():
        vrank.complain("no kernel is found")


def main():
    weftcc = vrank.BUILD / "weftcc"
    if not vrank.compile_text("cc", "libblasish.so", LIBRARY, "-shared", "-fPIC", "-O2") or \
            not vrank.compile_text(weftcc, "kernels", PROGRAM, "-O2", "-L.", "-lblasish", "-lz",
                                   "-Wl,-rpath,$ORIGIN"):
        vrank.finish()
    check_calls()
    if vrank.compile_text(weftcc, "memory", MEMORY, "-O1"):
        check_memory()
    if vrank.compile_text(weftcc, "kept", KEPT, "-O1"):
        check_kept_writes()
    check_bad_files()
    vrank.finish()


main()
