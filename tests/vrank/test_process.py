# SPDX-License-Identifier: Apache-2.0
"""What a rank shares with its process: output, exit, memory that system calls write to; and the
messages for programs that cannot be run."""
import json
import os
import pathlib
import shutil
import subprocess

import vrank

LINES = sorted(f"[{rank}] {words}" for rank in range(4)
               for words in (f"first {rank}, then {rank}", "past stdio", "no end"))
NETWORK = ("--net", "latency", "--topo", "torus:4")
# How rank 2 ends, and the message that must follow.
ENDS = {
    "abort": "rank 2 ended the program with code 7 at simulated time",
    "exit": "rank 2 ended the program with code 5 at simulated time",
    "return": "rank 2 ended the program with code 6 at simulated time",
    "crash": "rank 2 crashed at simulated time",
    "overflow": "its stack has overflowed; give it more with --stack",
}


# What a program must not do, and what it gets to read.
MISUSE = {
    "before": "rank 0: MPI_Comm_rank: the program calls it before MPI_Init",
    "after": "rank 0: MPI_Barrier: the program calls it after MPI_Finalize",
    "twice": "rank 0: MPI_Finalize: the program calls it after MPI_Finalize",
    "again": "rank 0: MPI_Init: the program has called it before",
    "thread": "the program calls it in a thread that is not its first one",
    "receive": "2 receives that no message matched: rank 0 ended while it had a receive from "
               "rank 0 with tag 5",
    "any": "rank 0 ended while it had a receive from any rank with any tag",
    "send": "2 messages that no rank received: rank 0 did not receive one from rank 1 with tag 5",
    "crash": "rank 1 crashed at simulated time 0 ps: Segmentation fault",
}


def weft(*words):
    return subprocess.run([vrank.WEFT, "run", "-q", "-f", "-o", "result.json", "--compute",
                           "none", *words], text=True, capture_output=True, check=False,
                          timeout=60, stdin=subprocess.DEVNULL)


def check_labels(program):
    for options in ((), ("--sched", "conservative", "--threads", "2")):
        done = weft("-n", "4", "--labels", *options, "--", program)
        if done.returncode != 0 or sorted(done.stdout.splitlines()) != LINES:
            vrank.complain(f"labels {options}", done.stdout, done.stderr)


def check_ends(program):
    for how, expected in ENDS.items():
        done = weft("-n", "4", "--stack", "256KiB", *NETWORK, "--", program, how)
        if done.returncode != 4 or expected not in done.stderr:
            vrank.complain(f"rank 2 ends by {how}: {done.returncode}", done.stderr)
        if "then 2" not in done.stdout:
            vrank.complain(f"rank 2 ends by {how}: what it wrote before is gone", done.stdout)
    done = weft("-n", "4", "--", program, "crash")
    if "main+" not in done.stderr:
        vrank.complain("a crash comes without a backtrace", done.stderr)


def check_late_codes(program):
    """What a rank returns after MPI_Finalize is reported, and costs nobody the result."""
    for options in ((), ("--threads", "2", "--sched", "conservative")):
        done = weft("-n", "4", *NETWORK, *options, "--", program, "late")
        document = json.loads(pathlib.Path("result.json").read_text())
        words = "rank 2 ended with code 1 after MPI_Finalize, and so did 1 other rank"
        if (done.returncode != 4 or words + "; the result is complete" not in done.stderr or
                document["result"]["failed"] != {"rank": 2, "code": 1, "ranks": 2, "words": words} or
                document["result"]["status"] != "completed" or words not in document["warnings"]):
            vrank.complain(f"codes after MPI_Finalize: {done.returncode}", done.stderr,
                           document["result"])


def check_system_calls(program):
    source = vrank.SOURCE / "tests/vrank/system_calls.c"
    for options in (("-n", "5"), ("-n", "5", "--sched", "conservative", "--threads", "2")):
        done = weft(*options, "--", program, str(source))
        if done.stdout != "0 failures\n":
            vrank.complain(f"input {options}", done.stdout, done.stderr)


def check_children(program):
    """A child of fork() that goes on as a rank is refused; the rank itself goes on."""
    done = weft("-n", "2", "--", program, "go on")
    if done.returncode != 0 or done.stdout.count("own 1, exit 4, signal -1") != 2:
        vrank.complain(f"children that call MPI: {done.returncode}", done.stdout, done.stderr)
    for rank in range(2):
        if f"rank {rank}: a child process of the program calls MPI" not in done.stderr:
            vrank.complain(f"the child of rank {rank} is not refused", done.stderr)


def check_misuse(program):
    for what, expected in MISUSE.items():
        done = weft("-n", "2", "--json", "--", program, what)
        if done.returncode != 4 or expected not in done.stderr:
            vrank.complain(f"misuse {what}: {done.returncode}", done.stderr)
        if what == "crash" and ", in main" not in done.stderr:
            continue  # the machine is very busy: the thread that crashed reports less
        if what == "crash" and "./misuse(main+" not in done.stderr:
            vrank.complain("the backtrace does not name the program", done.stderr)
        document = json.loads(pathlib.Path("result.json").read_text() if done.stdout == "" else
                              done.stdout)
        status = document.get("result", {}).get("status")
        if "error" not in document and status != "failed":
            vrank.complain(f"misuse {what} gives a document", document)
    done = weft("-n", "2", "--", program, "cancelled")
    if done.returncode != 0:
        vrank.complain(f"a receive that was cancelled: {done.returncode}", done.stderr)


def check_payload(program):
    """Data that does not arrive takes the same time, and no memory."""
    found = {}
    for options in ((), ("--no-payload",), ("-p", "run.check=yes")):
        done = weft("-n", "16", "--net", "latency", "--topo", "torus:16", *options, "--", program)
        document = json.loads(pathlib.Path("result.json").read_text())
        found[options] = (done.stdout, document["result"]["digest"],
                          document["run"]["peak_rss_bytes"])
    full, dropped, checked = found.values()
    if full[0] != "sum 120, last 1\n" or checked[0] != full[0]:
        vrank.complain("payload says", full, checked)
    if not dropped[0].startswith("sum 120, ") or dropped[1] != full[1] or checked[1] != full[1]:
        vrank.complain("digests with and without payload", found)
    done = weft("-n", "2", "-p", "run.check=yes", "--", program, "spoil")
    if "not found" not in done.stdout and (done.returncode != 4 or
                                           "have changed on their way" not in done.stderr):
        vrank.complain("data that changes on its way is not noticed", done.stdout, done.stderr)
    if full[2] - dropped[2] < 16 << 20:
        vrank.complain("no payload saves less than the half of what was sent", found)


def check_spill(program):
    """Memory in a file changes nothing but where it is."""
    found = set()
    for options in ((), ("--spill", "."), ("--spill", ".", "--sched", "conservative", "--threads", "2")):
        done = weft("-n", "8", *options, "--", program)
        document = json.loads(pathlib.Path("result.json").read_text())
        found.add((done.returncode, done.stdout, document["result"]["digest"]))
    if len(found) != 1 or done.returncode != 0:
        vrank.complain("with and without --spill", found)
    done = weft("-n", "2", "--spill", "./nowhere", "--", program)
    if done.returncode != 3 or "cannot create a file in './nowhere'" not in done.stderr:
        vrank.complain(f"a directory that is not there: {done.returncode}", done.stderr)


def check_compute(program):
    for how, code, expected in (("measured", 0, ""), ("scaled:2.5", 0, ""), ("model", 0, ""),
                                ("scaled:x", 2, "--compute: 'x' is not a number"),
                                ("counted:0", 2, "--compute: '0' is out of range"),
                                ("foo", 2, "'foo' is not one of measured|model|none|counted")):
        done = weft("-n", "2", "--compute", how, "--", program)
        if done.returncode != code or expected not in done.stderr:
            vrank.complain(f"--compute {how}: {done.returncode}", done.stderr)
    done = weft("-n", "2", "--compute", "counted:2e9", "--", program)
    if done.returncode != 0 and "instructions cannot be counted here" not in done.stderr:
        vrank.complain("--compute counted", done.stderr)


def check_refused(program):
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    pathlib.Path("truncated").write_bytes(pathlib.Path(program).read_bytes()[:9000])
    cases = [(("-n", "2", "--", "/bin/sh"), 3, "not built with weftcc|not a program built with"),
             (("-n", "2", "--", "./nowhere"), 3, "cannot read './nowhere'"),
             (("-n", "2", "--", "./truncated"), 3, "the end of the file is missing"),
             (("-n", "2", "--", str(vrank.SOURCE / "README.md")), 3, "not a program built with")]
    if memory < 300 << 30:
        cases.append((("-n", "67108864", "--", program), 5,
                      "of memory; the machine has .* run fewer"))
    if shutil.which("cc") is not None:
        pathlib.Path("other.c").write_text("int main(void) { return 0; }\n")
        subprocess.run(["cc", "-o", "other", "other.c"], check=True)
        cases.append((("-n", "2", "--", "./other"), 3, "'./other': it was not built with weftcc"))
    for words, code, expected in cases:
        done = weft(*words)
        if done.returncode != code or not vrank.says(expected, done.stderr):
            vrank.complain(f"weft run {' '.join(words)}: {done.returncode}", done.stderr)


def main():
    programs = {name: vrank.build(vrank.SOURCE / f"tests/vrank/{name}.c")
                for name in ("output", "system_calls", "payload", "children", "misuse")}
    if None not in programs.values():
        check_labels(programs["output"])
        check_ends(programs["output"])
        check_late_codes(programs["output"])
        check_system_calls(programs["system_calls"])
        check_children(programs["children"])
        check_misuse(programs["misuse"])
        check_payload(programs["payload"])
        check_spill(programs["payload"])
        check_compute(programs["output"])
        check_refused(programs["output"])
    vrank.finish()


main()
