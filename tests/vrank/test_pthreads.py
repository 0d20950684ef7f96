# SPDX-License-Identifier: Apache-2.0
"""POSIX threads and those of C++ are threads of a rank in simulated time: what programs compute with
them is right, times and digests are the same under every scheduler, and mistakes are explained."""
import pathlib
import subprocess

import vrank

HERE = pathlib.Path(__file__).parent
EXPECTED = {
    "pthreads.c": """\
pool: sum 190, done 20, once 1, destroyed 4, local 3, 5.000 ms
overlap: got 3, 2.000 ms
others: result 9, shared 12, busy 1, 0.6 ms
""",
    "threads.cc": "4 ranks: 722, 0\n",
    "multiple.c": "4 ranks: sums 400, wrong 0\n",
}
OPTIONS = ((), ("--sched", "conservative", "--threads", "2"), ("--sched", "check-undo"))
# What the thread does, what the program does after it was created, what weft must say.
MISTAKES = {
    "mutex": ("", "pthread_join(thread, 0); pthread_mutex_lock(&mutex); pthread_mutex_lock(&mutex);",
              "waits for a mutex that it has locked itself"),
    "condition": ("", "pthread_mutex_lock(&mutex); pthread_cond_wait(&condition, &mutex);",
                  "threads of the rank wait for each other"),
    "exit": ("exit(0);", "for (;;) { sleep(1); }", None),
    "crash": ("*(volatile int *)8 = 1;", "pthread_join(thread, 0);", "crashed.*address 0x8"),
    "cancel": ("", "pthread_cancel(thread);", "cancels a thread"),
    "memory": ("", "setrlimit(RLIMIT_AS, &(struct rlimit){1ul << 33, 1ul << 33}); int n = 0, failed = 0; while (failed == 0"
               " && n++ < 9999) { failed = pthread_create(&thread, NULL, work, NULL); } exit(failed == EAGAIN ? 0 : 9);",
               None),
}
TEXT = """
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int which;
static void *work(void *arg)
{
    switch (which) { %s }
    return arg;
}
int main(int argc, char **argv)
{
    pthread_t thread;
    which = atoi(argv[1]);
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    pthread_create(&thread, NULL, work, NULL);
    switch (which) { %s }
    return 0;
}
"""


def right(name, expected):
    program = vrank.build(HERE / name)
    if program is None:
        return
    digests = set()
    for options in OPTIONS:
        said, digest = vrank.under_weft(program, 4, options=("--compute", "model", *options))
        digests.add(digest)
        difference = said is not None and vrank.differs(expected, said)
        if difference:
            vrank.complain(f"{name} {options}", difference)
    if len(digests) > 1:
        vrank.complain(f"{name}: digests", digests)


def mistakes():
    def cases(side):
        return " ".join(f"case {i}: {row[side]} break;" for i, row in enumerate(MISTAKES.values()))
    source = pathlib.Path("mistakes.c")
    source.write_text(TEXT % (cases(0), cases(1)))
    program = vrank.build(source)
    for i, (name, (_, _, words)) in enumerate(MISTAKES.items()):
        done = subprocess.run([vrank.WEFT, "run", "-n", "2", "--", program, str(i)], text=True,
                              capture_output=True, check=False, timeout=60)
        if (words is None) != (done.returncode == 0) or not vrank.says(words or "", done.stderr):
            vrank.complain(name, done.returncode, done.stderr)


def main():
    for name, expected in EXPECTED.items():
        right(name, expected)
    mistakes()
    vrank.finish()


main()
