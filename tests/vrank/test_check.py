# SPDX-License-Identifier: Apache-2.0
"""weft run --check: each error of faulty_use.c is found, with its source line, the same under every
scheduler and number of processes; programs that look alike and all other programs have none."""
import json
import pathlib
import re
import shutil
import subprocess

import vrank

SOURCE = vrank.SOURCE / "tests/vrank/faulty_use.c"
# What each function of faulty_use.c does wrong.
KINDS = {
    "unmatched_send": "unmatched_send", "unmatched_receive": "unmatched_receive",
    "leaked_request": "leaked_request", "leaked_receive": "leaked_request",
    "collective": "collective_mismatch", "operation": "collective_mismatch",
    "collective_type": "datatype_mismatch", "datatype": "datatype_mismatch",
    "gatherv_count": "failed_call", "scatterv_type": "datatype_mismatch",
    "allgatherv_count": "failed_call", "alltoallv_count": "failed_call",
    "alltoallw_type": "datatype_mismatch", "reduce_scatter_count": "collective_mismatch",
    "mixed_datatype": "datatype_mismatch", "buffer": "buffer_in_use",
    "column_buffer": "buffer_in_use", "collective_buffer": "buffer_in_use",
    "changed_buffer": "changed_buffer", "window_access": "window_misuse",
    "window_lock": "window_misuse", "window_unlock": "window_misuse",
    "window_start": "window_misuse", "window_conflict": "window_misuse",
    "leaked_communicator": "leaked_object", "leaked_datatype": "leaked_object",
    "leaked_group": "leaked_object", "sendrecv_buffer": "buffer_in_use",
    "window_result": "buffer_in_use", "window_race": "window_misuse",
    "window_fence_lock": "window_misuse", "window_no_fence": "window_misuse",
    "window_null": "window_misuse", "too_long": "failed_call", "deadlock": "deadlock",
    "uncommitted": "failed_call",
    "overlapping_type": "datatype_mismatch", "changed_partition": "changed_buffer",
    "leaked_file": "leaked_object", "file_write": "changed_buffer", "file_read": "changed_buffer",
}
# In programs that were built with -fweft-check.
ACCESSES = {"receive_load": "buffer_in_use", "reduce_store": "buffer_in_use",
            "result_load": "buffer_in_use", "window_store": "window_misuse"}
WAYS = (("--sched", "conservative", "--threads", "2"), ("--sched", "optimistic", "--threads", "2"),
        ("--sched", "check-undo"))
# Programs without an error in their use of MPI, and their arguments.
CORRECT = {
    "tests/vrank": "applications collectives communicators corner_cases datatypes "
                   "intercommunicators mpi4_calls one_sided partitioned persistent_collectives "
                   "point_to_point requests topologies files",
    "examples/mpi": "cg fft jacobi3d leanmd master mg pingpong random ring sort stencil",
}
TOPOLOGY = ("--net", "latency", "--topo", "torus:6")


def lines():
    """The line with an arrow of each function."""
    found, function = {}, None
    for number, line in enumerate(SOURCE.read_text().splitlines(), 1):
        start = re.match(r"static void (\w+)\(int ok\)", line)
        function = start.group(1) if start else function
        if "/* -> */" in line:
            found[function] = number
    return found


def run(program, ranks, *options, args=(), before=()):
    done = subprocess.run([*before, vrank.WEFT, "run", "-f", "-n", str(ranks), "--compute", "none",
                           "-o", "checked.json", *options, "--", program, *args], text=True,
                          capture_output=True, check=False, timeout=60, stdin=subprocess.DEVNULL)
    try:
        return done, json.loads(pathlib.Path("checked.json").read_text())
    except (OSError, json.JSONDecodeError):
        return done, {}


def check_faulty(program, name, line):
    done, document = run(program, 6, "--check", *TOPOLOGY, args=(name,))
    findings = document.get("check", {}).get("findings", [])
    named = [f for f in findings if f["kind"] == {**KINDS, **ACCESSES}[name] and
             (shutil.which("addr2line") is None or f.get("source") == f"{SOURCE.name}:{line}")]
    if done.returncode != 4 or not named or len({f["kind"] for f in findings}) > 2:
        vrank.complain(f"{name}: {done.returncode}, expected line {line}", findings, done.stderr)
    elif not named[0]["call"].startswith(("MPI_", "load", "store")):
        vrank.complain(f"{name}: the call is not named", named)
    return document


def check_reports(program):
    """In the text and on the page."""
    for name, words in (("datatype", "receives float"), ("ok-datatype", "no errors in the use")):
        done = subprocess.run([vrank.WEFT, "run", "-n", "2", "--check", "--compute", "none", "--",
                               program, name], text=True, capture_output=True, check=False)
        if words not in done.stdout:
            vrank.complain(f"{name}: text report", done.stdout, done.stderr)
    subprocess.run([vrank.WEFT, "run", "-f", "-n", "2", "--check", "--compute", "none", "-o",
                    "checked.html", "--", program, "datatype"], capture_output=True, check=False)
    if "receives float" not in pathlib.Path("checked.html").read_text():
        vrank.complain("the page does not show what was found")


def check_ways(program, name, document):
    for options in WAYS[len(name) % 3::3]:
        _, again = run(program, 6, "--check", *TOPOLOGY, *options, args=(name,))
        if again.get("check") != document.get("check"):
            vrank.complain(f"{name} {options}", document.get("check"), again.get("check"))
    _, plain = run(program, 6, *TOPOLOGY, args=(name,))
    if plain.get("result", {}).get("digest") != document.get("result", {}).get("digest"):
        vrank.complain(f"{name}: another digest without --check")
    if "check" in plain:
        vrank.complain(f"{name}: checked although nobody asked")


def check_processes(program, name, document):
    launcher = shutil.which("mpiexec.mpich")
    if launcher is None or not (vrank.BUILD / "libweft-comm-mpich.so").exists():
        return
    _, again = run(program, 6, "--check", *TOPOLOGY, args=(name,), before=(launcher, "-n", "3"))
    if again.get("check") != document.get("check"):
        vrank.complain(f"{name} in 3 processes", document.get("check"), again.get("check"))


def check_early_end(program):
    for name, found in (("early_end", True), ("ok-early_end", False)):
        for before in ((), ("mpiexec.mpich", "-n", "2")):
            if before and (not shutil.which(before[0]) or
                           not (vrank.BUILD / "libweft-comm-mpich.so").exists()):
                continue
            done = subprocess.run([*before, vrank.WEFT, "run", "-n", "4", "--check", "--compute",
                                   "none", "--", program, name], text=True, capture_output=True,
                                  check=False, timeout=60, stdin=subprocess.DEVNULL)
            words = "ended the program with code 3" in done.stderr
            if not words or ("receives float" in done.stderr) != found:
                vrank.complain(f"{name} {before}: {done.returncode}", done.stderr)


def check_in_place(program):
    """Ends the run, since there is no such buffer."""
    for name, code in (("in_place", 4), ("ok-in_place", 0)):
        done, _ = run(program, 4, "--check", args=(name,))
        if done.returncode != code or ("it has MPI_IN_PLACE" in done.stderr) != (code == 4):
            vrank.complain(f"{name}: {done.returncode}", done.stderr)


def check_warnings(program, line):
    """What is cheap to find is a warning of every run."""
    done, document = run(program, 4, args=("leaked_request",))
    words = " ".join(document.get("warnings", []))
    if done.returncode != 0 or "never completed with a wait" not in words or (
            shutil.which("addr2line") and f"{SOURCE.name}:{line}" not in words):
        vrank.complain("a leaked request without --check", document.get("warnings"))
    done, document = run(program, 4, args=("ok-leaked_request",))
    if any("rank" in words and "MPI_" in words for words in document.get("warnings", [])):
        vrank.complain("warnings of a correct program", document.get("warnings"))


def check_accesses(where):
    """Loads and stores beside MPI; other programs that are built so have no findings either."""
    program = vrank.build(SOURCE, debug=True, flags=["-fweft-check"], name="faulty_access")
    if program is None:
        return
    for name in ACCESSES:
        document = check_faulty(program, name, where[name])
        check_ways(program, name, document)
    check_processes(program, "window_store", document)
    others = [(program, (f"ok-{name}",)) for name in [*ACCESSES, "window_race", "window_start"]]
    for name in ("one_sided", "requests", "collectives"):
        others.append((vrank.build(vrank.SOURCE / f"tests/vrank/{name}.c", flags=["-fweft-check"],
                                   name=f"{name}_accesses"), ()))
    for built, args in others:
        done, document = run(built, 4, "--check", args=args)
        if done.returncode != 0 or document.get("check") != {"errors": 0, "findings": []}:
            vrank.complain(f"{built} {args}: {done.returncode}", document.get("check"), done.stderr)


def check_fortran():
    """The lines of Fortran programs, not those of the Fortran interface."""
    source = vrank.SOURCE / "tests/vrank/faulty_use.f90"
    program = vrank.build(source, debug=True)
    if program is None:
        return
    done, document = run(program, 3, "--check")
    found = {f["kind"]: f.get("source") for f in document.get("check", {}).get("findings", [])}
    if shutil.which("addr2line") is not None and found != {
            "leaked_request": f"{source.name}:11", "datatype_mismatch": f"{source.name}:12"}:
        vrank.complain("errors of a Fortran program", found, done.stderr)


def check_correct():
    for folder, names in CORRECT.items():
        for name in names.split():
            program = vrank.build(vrank.SOURCE / folder / f"{name}.c")
            if program is None:
                continue
            done, document = run(program, 4, "--check")
            if done.returncode != 0 or document.get("check") != {"errors": 0, "findings": []}:
                vrank.complain(f"{name}: {done.returncode}", document.get("check"), done.stderr)


def main():
    program = vrank.build(SOURCE, debug=True)
    if program is None:
        vrank.finish()
    where = lines()
    check_early_end(program)
    check_in_place(program)
    for name in KINDS:
        document = check_faulty(program, name, where[name])
        if name in ("collective", "datatype", "buffer", "window_lock", "window_race", "deadlock",
                    "scatterv_type"):
            check_ways(program, name, document)
        if name in ("collective", "mixed_datatype", "alltoallw_type", "window_race"):
            check_processes(program, name, document)
        done, document = run(program, 3, "--check", args=(f"ok-{name}",))
        if done.returncode != 0 or document.get("check") != {"errors": 0, "findings": []}:
            vrank.complain(f"ok-{name}: {done.returncode}", document.get("check"), done.stderr)
    check_reports(program)
    check_warnings(program, where["leaked_request"])
    check_accesses(where)
    check_fortran()
    check_correct()
    vrank.finish()


main()
