# SPDX-License-Identifier: Apache-2.0
"""Foreign input at the border: special files, foreign text, related files, a full disk."""
import copy
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import tempfile

from weft_cli import WEFT, check, check_run, finish, run

EVIL = 'a\x1b[31mb\x07c\nweft: forged\u009b,"=1+1'


def special_files(folder):
    """Devices, pipes and directories where a file is expected: an error at once."""
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    ring = ["replay", "gen:ring", "-n", "4"]
    for path in ["/dev/zero", str(folder), str(pipe)]:
        commands = [
            ["report", path], ["explain", path], ["compare", path, path], ["sweep", path],
            [*ring, "--placement", f"file:{path}"], [*ring, "--machine", path],
            ["info", path], ["run", path, "-n", "2"], ["topo", f"graph:{path}"],
            ["import-codes", path], ["replay", "gen:text", "-n", "2", "-p", f"gen.file={path}"],
        ]
        # A pipe without a writer costs a second: two commands are enough.
        for command in commands[4:8] if path == str(pipe) else commands:
            check_run(command, 3, stderr="cannot read|is no file|no trace|not a program",
                      timeout=10)


def documents(folder):
    """Documents with all kinds of sections."""
    commands = [
        ["replay", "gen:stencil2d", "-n", "16", "--net", "packet", "--topo", "torus:4x4",
         "--record"],
        ["replay", "gen:stencil2d", "-n", "4", "--net", "loggp"],
        ["traffic", "uniform", "--topo", "torus:4x4", "--load", "0.1"],
    ]
    for i, command in enumerate(commands):
        path = folder / f"{i}.json"
        if check(run(*command, "-o", str(path)).returncode == 0, f"{command}: no document"):
            yield json.loads(path.read_text())


def with_evil_text(value, key=""):
    if isinstance(value, dict):
        return {k: with_evil_text(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [with_evil_text(v, key) for v in value]
    return EVIL if isinstance(value, str) and key != "schema" else value


def is_clean(text):
    """Only newlines, and none that a text brought along."""
    return all(c == "\n" or (c >= " " and not "\x7f" <= c <= "\x9f") for c in text) and not any(
        line.startswith("weft: forged") for line in text.splitlines())


def foreign_text(folder):
    """Text of a document never reaches a terminal as control characters or as lines."""
    path, other = folder / "evil.json", folder / "other.json"
    for document in documents(folder):
        evil = with_evil_text(document)
        evil["warnings"] = [EVIL]
        evil.setdefault("result", {})["regions"] = [{"name": EVIL, "number": 1, "times": 1}]
        changed = copy.deepcopy(evil)
        changed["scenario"][EVIL] = EVIL
        path.write_text(json.dumps(evil))
        other.write_text(json.dumps(changed))
        for command in (["report", str(path)], ["report", str(path), "--verbose"],
                        ["explain", str(path)], ["compare", str(path), str(other)],
                        ["compare", str(path), str(other), "--verbose"]):
            done = run(*command)
            check(is_clean(done.stdout + done.stderr), f"{command}: control characters", done)
            check(done.returncode in (0, 1, 3), f"{command}: exit code", done)
    error = {"schema": document["schema"], "error": {"message": EVIL}}
    path.write_text(json.dumps(error))
    done = run("report", str(path))
    check(done.stdout and is_clean(done.stdout), "an error as a document", done)


def foreign_names(folder):
    """Names of files and texts of machine files."""
    path = folder / "a\x1bb.weft"
    check_run(["gen", "ring", "-n", "4", "-o", str(path)], 0)
    done = check_run(["info", str(path)], 0, stdout=r"a\?b")
    check(is_clean(done.stdout), "the name of a trace", done)
    machine = folder / "m.yaml"
    machine.write_text('machine: "x\\e[2J"\n')
    check_run(["machine", "show", str(machine)], 3, stderr="must not contain control characters")


def spreadsheets(folder):
    """A value that a spreadsheet would execute is quoted; a negative number is not."""
    study = folder / "s.yaml"
    study.write_text("settings: {source: gen:ring, ranks: 4}\n"
                     "grid: {net.latency: ['=1+1', '@x', '1us', '-1']}\n")
    done = run("sweep", str(study), "-o", str(folder / "sweep"))
    table = folder / "sweep" / "table.csv"
    rows = table.read_text() if table.exists() else done.stdout
    check("\n'=1+1," in rows and "\n'@x," in rows and "\n-1," in rows and "\n1us," in rows,
          f"cells of a table: {rows!r}", done)


def large_study(folder):
    study = folder / "large.yaml"
    lists = ", ".join(f"gen.k{i}: [1,2,3,4,5,6,7,8,9,10]" for i in range(15))
    study.write_text(f"settings: {{source: gen:ring, ranks: 4}}\ngrid: {{{lists}}}\n")
    check_run(["sweep", str(study)], 3, stderr=r"1e\+15 points; 1 to \d+ are possible")


def related_files(folder):
    """Directories whose files do not belong together."""
    trace = folder / "t.weft"
    check_run(["gen", "stencil2d", "-n", "4", "--parts", "2", "-o", str(trace)], 0)
    parts = sorted(p.name for p in trace.iterdir() if p.name != "index.weft")

    def changed(name, change, stderr):
        one = folder / name
        shutil.copytree(trace, one, symlinks=True)
        change(one)
        check_run(["info", str(one)], 3, stderr=stderr, timeout=10)

    def replace(make):
        def change(one):
            (one / parts[1]).unlink()
            make(one, one / parts[1])
        return change

    changed("link", replace(lambda one, part: part.symlink_to(parts[0])), "are the same file")
    changed("hard", replace(lambda one, part: os.link(one / parts[0], part)), "are the same file")
    changed("circle", replace(lambda one, part: part.symlink_to(part.name)), "cannot read")
    changed("missing", replace(lambda one, part: None), "cannot read")
    changed("pipe2", replace(lambda one, part: os.mkfifo(part)), "is no file")
    changed("folder", replace(lambda one, part: part.mkdir()), "is no file")
    changed("index", replace(lambda one, part: shutil.copy(one / "index.weft", part)),
            "lists other files, which only index.weft may")
    listing = folder / "list.txt"
    listing.write_text("a.ti\nlist.txt\n")
    (folder / "a.ti").write_text("0 init\n0 compute 5\n0 finalize\n")
    check_run(["info", str(listing)], 3, stderr="a line begins with a rank")


def no_programs(folder):
    """A file cannot start a program."""
    study = folder / "run.yaml"
    study.write_text("settings: {source: 'run:/bin/true', ranks: 2}\ngrid: {net.L: [1us]}\n")
    check_run(["sweep", str(study), "-o", str(folder / "out")], 3,
              stderr="run.yaml:1:.*a file may not start a program")


def odd_texts(folder):
    check_run(["run", "/bin/true", "-n", "2", "-p", "run.args=a 'b"], 2,
              stderr="run.args: a quote is not closed")
    workload = folder / "marked.txt"
    workload.write_bytes(b"\xef\xbb\xbfcompute 1us\n")
    check_run(["replay", "gen:text", "-n", "2", "-p", f"gen.file={workload}"], 0, stdout="")
    nodes = folder / "nodes.txt"
    nodes.write_bytes(b"\xef\xbb\xbf1\n0\n")
    check_run(["replay", "gen:ring", "-n", "2", "--placement", f"file:{nodes}"], 0, stdout="")


def small_files():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


def full_disk(folder):
    """The message names the file that was asked for, and no temporary stays."""
    for ending in ("otf2", "weft", "csv", "ti"):
        path = folder / f"full.{ending}"
        command = [WEFT, "gen", "stencil2d", "-n", "16", "-p", "gen.iterations=300",
                   "-p", "gen.compute=1us", "-o", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False,
                              preexec_fn=small_files, timeout=50)
        if done.returncode == 0 and ending == "weft":
            continue  # a folded trace is small
        if "without the OTF2 library" in done.stderr:
            continue
        check(done.returncode == 3 and f"cannot write '{path}': File too large" in done.stderr,
              f"a full disk and .{ending}", done)
    # Here it is the directory of temporary files that is full: the user knows that name.
    done = subprocess.run([WEFT, "gen", "stencil2d", "-n", "64", "-o", folder / "wide.otf2"], capture_output=True,
                          text=True, check=False, preexec_fn=small_files, timeout=50)
    if "without the OTF2 library" not in done.stderr:
        check(done.returncode == 3 and "File too large; TMPDIR names a directory" in done.stderr
              and "ops-" not in done.stderr, "full temporary files", done)
    check([p.name for p in folder.iterdir() if ".tmp" in p.name] == [], "temporaries stay")


with tempfile.TemporaryDirectory() as name:
    for test in (special_files, foreign_text, foreign_names, spreadsheets, large_study,
                 related_files, no_programs,
                 odd_texts, full_disk):
        place = pathlib.Path(name) / test.__name__
        place.mkdir()
        test(place)
finish()
