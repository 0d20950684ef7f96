# SPDX-License-Identifier: Apache-2.0
"""Programs that poll notice a message within a poll (100 ns) of its arrival, with few polls, whether they
probe or test, and under every scheduler; a program that polls a few times, or many requests a few times each, and
goes on loses no time, nor does one that did so before; one that polls for ever ends."""
import json
import pathlib
import subprocess

import vrank

PROGRAM = """
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <weft/mark.h>
int main(int argc, char **argv)
{
    int rank, flag = 0, polls = 0, other = 0;
    const char *how = argv[1];
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double begin = MPI_Wtime(), sent = 0;
    if (rank == 0) {
        WEFT_COMPUTE(10e-3);
        if (!strcmp(how, "then")) MPI_Send(&flag, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        if (!strcmp(how, "then")) WEFT_COMPUTE(10e-3);
        MPI_Send(&other, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
        WEFT_COMPUTE(10e-3);
        if (strcmp(how, "never") && strcmp(how, "then")) MPI_Send(&flag, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    } else if (!strcmp(how, "few")) {
        for (int i = 0; i < 10; i++) MPI_Iprobe(0, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        printf("%.3f\\n", (MPI_Wtime() - begin) * 1e6);
        MPI_Recv(&flag, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&other, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!strcmp(how, "sweep")) {
        enum { N = 6 };
        MPI_Request of[N];
        for (int i = 0; i < N; i++) MPI_Irecv(&sent, 1, MPI_INT, 0, 100 + i, MPI_COMM_WORLD, &of[i]);
        for (int i = 0; i < 100 * N; i++) MPI_Test(&of[i % N], &flag, MPI_STATUS_IGNORE);
        printf("%.3f\\n", (MPI_Wtime() - begin) * 1e6);
        for (int i = 0; i < N; i++) MPI_Cancel(&of[i]);
        MPI_Waitall(N, of, MPI_STATUSES_IGNORE);
        MPI_Recv(&flag, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&other, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!strcmp(how, "again")) {
        for (int time = 0; time < 2; time++) {
            begin = MPI_Wtime();
            for (int i = 0; i < 300; i++) MPI_Iprobe(0, 3, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
            printf("%.3f ", (MPI_Wtime() - begin) * 1e6);
            MPI_Send(&other, 1, MPI_INT, 0, 9, MPI_COMM_SELF);
            MPI_Recv(&other, 1, MPI_INT, 0, 9, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        }
        MPI_Recv(&flag, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&other, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        int test = !strcmp(how, "test");
        if (test) MPI_Irecv(&sent, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
        for (; !flag; polls++) {
            if (test) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
            else MPI_Iprobe(0, strcmp(how, "never") ? 1 : 3, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        }
        double now = MPI_Wtime() - begin;
        if (!test) MPI_Recv(&flag, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&other, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!strcmp(how, "then")) now = MPI_Wtime() - begin;
        printf("%d %.3f\\n", polls, now * 1e6);
    }
    MPI_Finalize();
    return 0;
}
"""
# Sent at 20 ms; 1 us of latency and no overheads.
ARRIVAL_US = 20001.0


def run(how, *options):
    return subprocess.run(
        [vrank.WEFT, "run", "-n", "2", "--compute", "model", "--net", "loggp", "-p", "net.o=0ns", "-p",
         "net.g=0ns", "-p", "net.L=1us", "-f", "-o", "result.json", *options, "--", "./polls", how], text=True,
        capture_output=True, check=False, timeout=60, stdin=subprocess.DEVNULL)


def check_loop(how):
    done = run(how)
    words = done.stdout.split()
    if done.returncode != 0 or len(words) != 2:
        vrank.complain(how, done.stdout, done.stderr)
        return
    polls, noticed = int(words[0]), float(words[1])
    if not ARRIVAL_US <= noticed <= ARRIVAL_US + 0.2 or polls > 200:
        vrank.complain(f"{how}: noticed at {noticed} us after {polls} polls")
    digest = json.loads(pathlib.Path("result.json").read_text())["result"]["digest"]
    for options in (("--sched", "conservative", "--threads", "2"), ("--sched", "optimistic"),
                    ("--sched", "check-undo")):
        again = run(how, *options)
        found = json.loads(pathlib.Path("result.json").read_text())["result"]["digest"]
        if again.returncode == 0 and (found, again.stdout) != (digest, done.stdout):
            vrank.complain(how, *options, again.stdout)


def main():
    if vrank.compile_text(vrank.BUILD / "weftcc", "polls", PROGRAM, "-O1"):
        check_loop("probe")
        check_loop("test")
        few = run("few")
        if few.stdout != "1.000\n":
            vrank.complain("ten polls take a microsecond", few.stdout, few.stderr)
        sweep = run("sweep")
        if sweep.stdout != "60.000\n":
            vrank.complain("a hundred sweeps over six requests take 600 polls", sweep.stdout, sweep.stderr)
        again = run("again")  # who polled in vain once is not taken to wait the next time
        if (again.stdout.split() + ["", ""])[1] != "30.000":
            vrank.complain("300 polls in vain, twice", again.stdout, again.stderr)
        then = run("then")  # the end of the wait that the message cut short comes while it receives
        if then.returncode != 0 or abs(float((then.stdout + " 0 0").split()[1]) - ARRIVAL_US) > 0.2:
            vrank.complain("a receive after polls", then.stdout, then.stderr)
        never = run("never")
        if never.returncode == 0 or "simulated time passes 2^63" not in never.stderr:
            vrank.complain("polls for ever", never.returncode, never.stderr)
    vrank.finish()


main()
