# SPDX-License-Identifier: Apache-2.0
"""Programs that compute for ever can be interrupted, and a crash gives a result document."""
import json
import os
import pathlib
import shutil
import signal
import subprocess

import vrank

# The C library calls this library whenever it prints a number, as libquadmath of Fortran programs.
PRINTED = r"""
#include <printf.h>
int printed;
static int none(const struct printf_info *info, size_t n, int *types, int *sizes) { return -1; }
static int print(FILE *to, const struct printf_info *info, const void *const *values) { return -2; }
__attribute__((constructor)) static void begin(void)
{
    register_printf_specifier('f', print, none);
    register_printf_specifier('g', print, none);
}
"""


def check_interrupt(program, how, number, *options):
    started = subprocess.Popen([vrank.WEFT, "run", "-n", "4", *options, "-o", "partial.json",
                                "-f", "--", program, how],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               stdin=subprocess.DEVNULL)
    started.stdout.readline()
    started.send_signal(number)
    _, err = started.communicate(timeout=60)
    if started.returncode != 128 + number:
        vrank.complain(f"{how} {options}: exit code {started.returncode}", err)
        return
    with open("partial.json", encoding="utf-8") as file:
        result = json.load(file)["result"]
        file.seek(0)
        why = [words for words in json.load(file)["warnings"] if "the program itself took" in words]
    if result["status"] != "interrupted" or result["ranks"]["finished"] != 0 or len(why) != 1:
        vrank.complain(f"{how} {options}: not a partial result", result)


def check_timer(program):
    """A timer that a rank leaves running does not interrupt weft after the program."""
    for _ in range(20):
        done = subprocess.run([vrank.WEFT, "run", "-n", "16", "--json", "--compute", "none", "--", program,
                               "timer"], capture_output=True, check=False, timeout=60,
                              stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            vrank.complain(f"a timer that runs on: {done.returncode}", done.stderr)


def check_crash(program, how, expected, *options):
    before = set(os.listdir())
    done = subprocess.run([vrank.WEFT, *options, "--json", "--", program, how],
                          text=True, capture_output=True, check=False, timeout=60,
                          stdin=subprocess.DEVNULL)
    _, _, document = done.stdout.partition("ready\n")
    try:
        error = json.loads(document)["error"]
    except (KeyError, ValueError):
        vrank.complain(f"{how} {options}: no error document", done.stdout, done.stderr)
        return
    found = {name: error.get(name) for name in expected}
    if done.returncode != 4 or error["exit_code"] != 4 or found != expected:
        vrank.complain(f"{how} {options}: {done.returncode} {found}", done.stderr)
    if "no trace was written" not in done.stderr or set(os.listdir()) != before:
        vrank.complain(f"{how} {options}: the trace", done.stderr, os.listdir())


def main():
    source = vrank.SOURCE / "tests/vrank/signals.c"
    program = "./signals"
    subprocess.run([vrank.BUILD / "weftcc", "-O1", "-g", source, "-o", program], check=True)
    check_interrupt(program, "compute", signal.SIGINT)
    check_interrupt(program, "allocate", signal.SIGTERM)
    check_timer(program)
    check_interrupt(program, "compute", signal.SIGHUP, "--sched", "conservative", "--threads", "2")
    pathlib.Path("printed.c").write_text(PRINTED)
    subprocess.run(["cc", "-w", "-shared", "-fPIC", "printed.c", "-o", "libprinted.so"], check=True)
    subprocess.run([vrank.BUILD / "weftcc", "-O1", source, "-o", "./with_library", "-Wl,--no-as-needed",
                    "-L.", "-lprinted", "-Wl,-rpath,$ORIGIN"], check=True)
    check_interrupt("./with_library", "compute", signal.SIGINT)

    where = {"rank": 2, "call": "MPI_Barrier"}
    if shutil.which("addr2line"):
        where = {**where, "source": "signals.c:24", "function": "crash"}
    check_crash(program, "crash", where, "run", "-n", "4", "--trace", "t.weft")
    check_crash(program, "send", {"rank": 2, "call": "MPI_Send"}, "emulate", "-n", "4", "-o",
                "t.csv")
    vrank.finish()


main()
