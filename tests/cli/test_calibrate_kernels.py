# SPDX-License-Identifier: Apache-2.0
"""weft calibrate --kernels: known times, as a launcher prints them, come back as formulas, by node and
without the calls that were disturbed; a real library is measured; bad libraries and files get words."""
import os
import pathlib
import re
import stat
import subprocess

from weft_cli import WEFT, check, check_run, finish, run

WEFTCC = pathlib.Path(WEFT).parent / "weftcc"

LIBRARY = """
void dgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k)
{
    volatile double sum = 0;
    for (long i = 0; i < (long)*m * *n * *k / 65536; i++) sum += 1;
}
void dscal_(const int *n, const double *a, double *x, const int *step)
{
    for (int i = 0; i < *n; i++) x[i * *step] *= *a;
}
"""


def build(compiler, output, text, *options):
    pathlib.Path("source.c").write_text(text, encoding="utf-8")
    done = subprocess.run([compiler, "source.c", "-o", output, *options], capture_output=True, text=True,
                          check=False)
    check(done.returncode == 0, done.stderr)


def draw(state):
    """Numbers that look random and are always the same."""
    state[0] = (state[0] * 6364136223846793005 + 1442695040888963407) % 2**64
    return (state[0] >> 33) / 2**31


def lines(node, factor=1.0, slower=0.0):
    state, text = [node + 1], ["library libexample.so", f"host node{node}", "missing dlaswp"]
    for i in range(300):
        m, n, k = (int(1000 ** draw(state)) for _ in range(3))
        time = (2e-6 + 5e-11 * m * n * k + 1e-9 * m * k) * factor * (1 + slower * (i > 150))
        time *= 1 + 0.02 * (draw(state) + draw(state) + draw(state) - 1.5)
        if i % 30 == 7:
            time *= 20  # something else ran
        text.append(f"kernel {node} dgemm {m} {n} {k} {time:.6e} {i / 300:.3f}")
        text.append(f"kernel {node} daxpy {m * n} 0 0 {(1e-7 + 2e-10 * m * n) * (1 + slower * (i > 150)):.6e} {i / 300:.3f}")
    return text + [f"interrupted {node} dgemm 1 1 1 1 0", f"kernel {node} dgemv 2 2 0 1e-6 0.5",
                   "kernel 0 unknown 1 1 1 1 0.5", "kernel x", "noise of the launcher"]


def launcher(name, text):
    """A launcher that does not start what it is given, but prints."""
    pathlib.Path(name).write_text("#!/bin/sh\ncat <<'END'\n" + "\n".join(text) + "\nEND\n", encoding="utf-8")
    os.chmod(name, os.stat(name).st_mode | stat.S_IXUSR)
    return f"./{name}"


def formula(text, section=""):
    part = text.split(section)[1] if section else text
    return next(line for line in part.splitlines() if line.startswith("dgemm:"))


def coefficient(line, term):
    found = re.search(r"([0-9.e+-]+)s" + re.escape(term) + r"(?= \+|;|  #|$)", line)
    return float(found.group(1)) if found else 0.0


def test_fit():
    done = check_run(["calibrate", "--kernels", "-o", "one.kernels", "--", launcher("one", lines(0))], 0,
                     "warning: libexample.so does not have dlaswp")
    text = pathlib.Path("one.kernels").read_text(encoding="utf-8")
    line = formula(text)
    for term, truth in (("", 2e-6), ("*m*n*k", 5e-11), ("*m*k", 1e-9)):
        check(abs(coefficient(line, term) / truth - 1) < 0.05, (term, line))
    check(coefficient(line, "*m*n") < 5e-11 and coefficient(line, "*n*k") < 5e-11, line)
    check("300 calls" in line and "10 left out" in line, line)
    spread = coefficient(line.split("; normal ")[1], "*m*n*k") / 5e-11
    check(0.005 < spread < 0.02, line)
    check("daxpy: 1e-07s + 2e-10s*n" in text and "dgemv" not in text, text)
    check("1 calls that the system interrupted" in text and "Not in the library: dlaswp" in text, text)
    check("slower" not in done.stderr and "dgemm         300         10" in done.stdout, done.stdout)
    check_run(["calibrate", "--kernels", "-o", "one.kernels", "--", "./one"], 2, "--force replaces it")


def test_nodes():
    both = launcher("both", lines(0, slower=0.2) + lines(1, factor=1.5, slower=0.2))
    check_run(["calibrate", "--kernels", "-f", "-o", "two.kernels", "--", both], 0, "slower than the first")
    text = pathlib.Path("two.kernels").read_text(encoding="utf-8")
    check(text.count("[nodes ") == 2, text)
    slow, fast = (coefficient(formula(text, f"[nodes {i}]"), "*m*n*k") for i in (1, 0))
    check(1.4 < slow / fast < 1.9, (slow, fast))


def test_library():
    """What is written is accepted by weft run."""
    build("cc", "libexample.so", LIBRARY, "-shared", "-fPIC", "-O1")
    # On a busy machine calls are interrupted, and too few may be left.
    for seconds in ("1s", "2s", "4s"):
        done = run("calibrate", "--kernels", "-o", "real.kernels", "--time", seconds, "--processes", "2", "--blas",
                   "./libexample.so")
        if done.returncode == 0:
            break
        check(done.returncode == 3 and "measured often enough" in done.stderr, done.stderr)
    else:
        return
    check("does not have dtrsm" in done.stderr, done.stderr)
    text = pathlib.Path("real.kernels").read_text(encoding="utf-8")
    check(("dgemm: " in text or "dscal: " in text) and "daxpy: " not in text, text + done.stderr)
    program = """
    #include <mpi.h>
    #include <stdio.h>
    __attribute__((noinline, noclone)) void dscal_(const int *n, const double *a, double *x, const int *step)
    {
        for (int i = 0; i < *n; i++) x[0] += *a * *step;
    }
    int main(int argc, char **argv)
    {
        int n = 100000, one = 1;
        double x = 0, a = 1;
        MPI_Init(&argc, &argv);
        dscal_(&n, &a, &x, &one);
        printf("%g %g\\n", x, MPI_Wtime() * 1e6);
        MPI_Finalize();
        return 0;
    }
    """
    build(WEFTCC, "scaling", program, "-O1")
    check_run(["run", "-n", "1", "--compute", "none", "--kernels", "real.kernels", "-q", "--", "./scaling"], 0,
              stdout="Predicted")
    # The mean alone: on a busy machine the spread may be as large, and a draw of it 0.
    pathlib.Path("mean.kernels").write_text(re.sub(r"; normal [^#\n]*", " ", text), encoding="utf-8")
    ran = subprocess.run([WEFT, "run", "-n", "1", "--compute", "none", "--kernels", "mean.kernels", "-q", "--",
                          "./scaling"], capture_output=True, text=True, check=False)
    words = ran.stdout.split()
    x, took = ("0", 0.1) if "dscal: " in text else ("100000", 0)
    check(ran.returncode == 0 and words[0] == x and took <= float(words[1]) < 1e5, text + ran.stdout + ran.stderr)


def test_errors():
    few = launcher("few", ["library libexample.so", "kernel 0 dgemm 2 2 2 1e-6 0.5", "interrupted 0 dgemm 1 1 1 1 0"])
    check_run(["calibrate", "--kernels", "-o", "x", "--", few], 3, "1 calls, and 1 that other programs interrupted")
    check_run(["calibrate", "--kernels"], 2, "weft calibrate --kernels -o host.kernels")
    check_run(["calibrate", "--kernels", "-o", "x", "--blas", "nowhere.so"], 3, "cannot load 'nowhere.so'")
    check_run(["calibrate", "--kernels", "-o", "x", "--blas", "libm.so.6"], 3, "none of the routines of BLAS")
    check_run(["calibrate", "--kernels", "-o", "x", "--", "./nowhere"], 2, "cannot run './nowhere'")
    check_run(["calibrate", "--kernels", "-o", "x", "--", "true"], 3, "no routine of BLAS was measured")
    check_run(["calibrate", "--kernels", "-o", "nowhere/x", "--", "./one"], 3, "cannot write 'nowhere/x'")
    check(not pathlib.Path("x").exists(), "nothing is written")


test_fit()
test_nodes()
test_library()
test_errors()
finish()
