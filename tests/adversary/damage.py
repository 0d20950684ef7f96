# SPDX-License-Identifier: Apache-2.0
"""Random damage to files and directories: weft ends in time and memory, with an error or a result,
never by a signal. Files of a directory are also swapped, doubled, lost, taken from other runs,
and replaced by links, pipes and directories."""
import contextlib
import os
import pathlib
import resource
import shlex
import shutil
import subprocess
import tempfile

WEFT = os.environ["WEFT"]
SOURCE = pathlib.Path(os.environ["WEFT_SOURCE_DIR"])
MUTATE = pathlib.Path(os.environ["WEFT_BUILD_DIR"]) / "tests/adversary_mutate"
SECONDS = 60
MEMORY = 6 << 30
CODES = (0, 1, 2, 3, 4, 5)
GRAPH = "graph g {\n" + "".join(f"  {i} -- {(i + 1) % 6};\n" for i in range(6)) + "}\n"
WORKLOAD = ("param n = 3\nloop i 0..n {\n  irecv (rank - 1) % size 1KiB\n"
            "  isend (rank + 1) % size 1KiB\n  waitall\n  compute 1us * (1 + rank % 3)\n"
            "  if i % 2 == 1 { allreduce 8 }\n}\n")
STUDY = ("settings: {source: gen:ring, ranks: 4, network: loggp}\n"
         "grid: {net.L: [1us, 2us], gen.bytes: [1, 1KiB]}\n")


def weft(*words):
    return subprocess.run([WEFT, *map(str, words)], capture_output=True, text=True, check=False,
                          timeout=SECONDS, stdin=subprocess.DEVNULL)


def originals(folder):
    """Whole inputs, each with the commands that read it: (path, commands)."""
    stencil = ["stencil2d", "-n", "4", "-p", "gen.iterations=4", "-p", "gen.allreduce=true",
               "-p", "gen.markers=true"]
    reads = [["info", "{}"], ["replay", "{}"], ["convert", "{}", "out.weft"],
             ["cut", "{}", "-o", "out.weft", "--ranks", "0-1"]]
    found = []
    for name, words in {"one.weft": stencil, "two.weft": [*stencil, "--parts", "2"],
                        "three.weft": ["random", "-n", "4", "--parts", "3"],
                        "four.otf2": stencil, "five.ti": stencil,
                        "six.weft": ["leanmd", "-n", "4", "-p", "gen.cells=3x3x3"]}.items():
        if weft("gen", *words, "-o", folder / name).returncode == 0:
            found.append((folder / name, reads[:3] if "leanmd" in words else reads))
    found += [(path, reads[:2]) for path in sorted((SOURCE / "tests/data/traces").iterdir())]
    texts = {"g.dot": (GRAPH, [["topo", "graph:{}"]]),
             "w.txt": (WORKLOAD, [["info", "gen:text", "-n", "3", "-p", "gen.file={}"]]),
             "m.yaml": ((SOURCE / "share/machines/frontier.yaml").read_text(),
                        [["machine", "show", "{}"],
                         ["replay", "gen:ring", "-n", "4", "--machine", "{}"]]),
             "s.yaml": (STUDY, [["sweep", "{}", "-o", "points"]]),
             "p.txt": ("0\n1\n# c\n2\n3\n", [["replay", "gen:ring", "-n", "4", "--placement",
                                              "file:{}"]])}
    for name, (text, commands) in texts.items():
        (folder / name).write_text(text)
        found.append((folder / name, commands))
    for name, words in {"r.json": ["--record"], "q.json": ["--net", "packet", "--topo",
                                                           "torus:2x2"]}.items():
        weft("replay", "gen:stencil2d", "-n", "4", *words, "-o", folder / name)
        found.append((folder / name, [["report", "{}"], ["explain", "{}"], ["report", "{}", "-o",
                                      "out.html"], ["compare", "{}", str(folder / "r.json")]]))
    return found


# ---- bytes ----

def place(rng, data):
    first = rng.randrange(len(data) + 1)
    return first, min(len(data), first + rng.choice([1, 1, 2, 4, 8, 64, 1000]))


def flip(rng, data):
    for _ in range(rng.choice([1, 1, 2, 5, 20])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def overwrite(rng, data):
    first, end = place(rng, data)
    data[first:end] = rng.choice([b"\0", b"\xff", b"\x80", b"9"]) * (end - first)


def cut_off(rng, data):
    del data[rng.randrange(len(data) + 1):]


def remove(rng, data):
    first, end = place(rng, data)
    del data[first:end]


def double(rng, data):
    first, end = place(rng, data)
    data[first:first] = data[first:end] * rng.choice([1, 1, 50])


def insert(rng, data):
    first, _end = place(rng, data)
    data[first:first] = rng.randbytes(rng.choice([1, 3, 100]))


def swap(rng, data):
    first, end = place(rng, data)
    other, stop = place(rng, data)
    data[first:end], data[other:stop] = data[other:stop], data[first:end]


BYTES = [flip, flip, overwrite, cut_off, remove, double, insert, swap]


def damage_structure(rng, path):
    """Numbers at limits, types exchanged, parts swapped and nested: tests/fuzz/mutate.h."""
    others = [p for p in path.parent.iterdir() if p.is_file() and p.suffix == path.suffix]
    subprocess.run([MUTATE, str(rng.getrandbits(63)), path, rng.choice(others)], check=True)


def damage_file(rng, path):
    if MUTATE.exists() and rng.random() < 0.5:
        damage_structure(rng, path)
        return
    data = bytearray(path.read_bytes())
    for _ in range(rng.choice([1, 1, 1, 3])):
        if data:
            rng.choice(BYTES)(rng, data)
    path.write_bytes(data)


# ---- directories ----

def replace(rng, one, other):
    """Puts something else where a file was."""
    one.unlink()
    rng.choice([lambda: None, lambda: one.symlink_to(other), lambda: one.symlink_to(one),
                lambda: one.symlink_to(one.parent), lambda: os.mkfifo(one), one.mkdir,
                one.touch, lambda: one.symlink_to("/dev/zero"),
                lambda: os.link(other, one) if other != one and other.exists() else None])()


def damage_directory(rng, path, strangers):
    files = [p for p in sorted(path.rglob("*")) if p.is_file() and not p.is_symlink()]
    one, other = rng.choice(files), rng.choice(files)
    stranger = rng.choice(strangers)
    match rng.choice(["bytes", "bytes", "replace", "replace", "swap", "copy", "stranger"]):
        case "bytes":
            damage_file(rng, one)
        case "replace":
            replace(rng, one, other)
        case "swap":
            data = one.read_bytes()
            one.write_bytes(other.read_bytes())
            other.write_bytes(data)
        case "copy":
            shutil.copy(one, one.with_name("z" + one.name))
        case "stranger":
            if stranger.exists():
                shutil.copy(stranger, one)


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def one_case(rng, inputs, strangers, folder):
    path, commands = rng.choice(inputs)
    copy = folder / path.name
    if path.is_dir():
        shutil.copytree(path, copy, symlinks=True)
        for _ in range(rng.choice([1, 1, 2, 4])):
            # What was damaged before may be in the way.
            with contextlib.suppress(OSError, IndexError):
                damage_directory(rng, copy, strangers)
    else:
        shutil.copy(path, copy)
        damage_file(rng, copy)
    command = [word.replace("{}", str(copy)) for word in rng.choice(commands)]
    try:
        done = subprocess.run([WEFT, *command], capture_output=True, cwd=folder, check=False,
                              preexec_fn=limit, timeout=SECONDS, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return None, f"does not end\n  command: weft {shlex.join(command)}"
    if done.returncode not in CODES or b"ERROR: " in done.stderr:
        return None, (f"exit code {done.returncode}: {done.stderr[-600:]!r}\n"
                      f"  command: weft {shlex.join(command)}")
    left = [p.name for p in folder.iterdir() if ".tmp" in p.name]
    return f"code {done.returncode}", f"left behind: {left}" if left else None


def run(kind, cases, log):
    with tempfile.TemporaryDirectory() as kept:
        inputs = originals(pathlib.Path(kept))
        strangers = [p for path, _ in inputs for p in [path, *path.rglob("*")] if p.is_file()]
        for number, rng in cases:
            with tempfile.TemporaryDirectory() as path:
                code, wrong = one_case(rng, inputs, strangers, pathlib.Path(path))
                log.count(kind, "failed" if wrong else code)
                if wrong:
                    log.failed(kind, number, wrong)
