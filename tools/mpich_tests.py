#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of MPICH as virtual ranks, and prints a table of those that pass and fail.

usage: mpich_tests.py [options] DIRECTORY

DIRECTORY is a source tree of MPICH (it has test/mpi), which need not be configured. Nothing is
written into it. MPICH generates some Fortran tests with Perl; without it they are not built. The directories impls, perf, ft, ckpoint and manual are left out, and cxx: MPI-3 has
removed the C++ interface.
The exit code is 1 if a test fails that is not expected to.

  -b, --build DIR       where weft, weftcc and weftf90 are (default: from PATH)
  -o, --only PATTERN    only tests whose name, as in coll/allred, matches; may be repeated
  -t, --timeout S       seconds for a test (default: 60, or the test's own limit if that is longer)
  -w, --work DIR        where programs are built and run (default: a temporary directory)
  -r, --reference       also run each test that fails with mpicc.mpich and mpiexec.mpich: a test that
                        fails there too is listed as such
      --mpich           run all tests with these instead of weft
  -j, --jobs N          tests at once (default: 1)
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

C_FOLDERS = ("attr", "coll", "comm", "datatype", "errhan", "group", "info", "init", "io", "mpi_t", "part",
             "pt2pt", "rma", "session", "spawn", "topo")
LANGUAGES = ("f77", "f90", "f08")
THREADS = ("coll", "comm", "init", "pt2pt", "rma")
ERRORS = ("attr", "coll", "comm", "datatype", "group", "io", "pt2pt", "rma", "spawn", "topo")
# What configure would find out, on Linux with gcc.
CONFIGURED = {
    "F77_NAME_LOWER_USCORE": "1", "HAVE_DLFCN_H": "1", "HAVE_DOUBLE__COMPLEX": "1",
    "HAVE_FLOAT__COMPLEX": "1", "HAVE_FORTRAN_BINDING": "1", "HAVE_GETRUSAGE": "1", "HAVE_H_ADDR_LIST": "1",
    "HAVE_INTTYPES_H": "1", "HAVE_IOSTREAM": "1", "HAVE_LONG_DOUBLE": "1", "HAVE_LONG_DOUBLE__COMPLEX": "1",
    "HAVE_LONG_LONG": "1", "HAVE_MEMORY_H": "1", "HAVE_MPI_IO": "1", "HAVE_MPI_INTEGER16": "1", "HAVE_MPI_SPAWN": "1",
    "HAVE_MPI_WIN_CREATE": "1", "HAVE_NAMESPACES": "1", "HAVE_NAMESPACE_STD": "1", "HAVE_STDARG_H": "1",
    "HAVE_STDINT_H": "1", "HAVE_STDLIB_H": "1", "HAVE_STRDUP": "1", "HAVE_STRINGS_H": "1",
    "HAVE_STRING_H": "1", "HAVE_SYS_RESOURCE_H": "1", "HAVE_SYS_STAT_H": "1", "HAVE_SYS_TIME_H": "1",
    "HAVE_SYS_TYPES_H": "1", "HAVE_UNISTD_H": "1", "HAVE_USLEEP": "1", "HAVE__BOOL": "1",
    "MPIO_USES_MPI_REQUEST": "1", "POINTERINT_t": "long", "SIZEOF_INT": "4", "SIZEOF_LONG": "8",
    "SIZEOF_LONG_LONG": "8", "SIZEOF_MPI_OFFSET": "8", "SIZEOF_SHORT": "2", "SIZEOF_VOID_P": "8",
    "STDC_HEADERS": "1", "USE_LONG_DOUBLE_COMPLEX": "1", "HAVE_PTHREAD_H": "1",
    "THREAD_PACKAGE_NAME": "THREAD_PACKAGE_POSIX",
}
SUBSTITUTED = {"F77_MPI_ADDRESS": "integer*8", "F77_MPI_OFFSET": "integer*8", "F77_INTEGER_8": "integer*8",
               "ADDRESS_KIND": "integer*8", "OFFSET_KIND": "integer*8"}
SUFFIXES = {".c": "cc", ".f": "f90", ".f90": "f90"}
LIBRARY = ("util/mtest.c", "util/mtest_common.c", "util/dtypes.c", "dtpools/src/*.c")
OWN = {"cc": "util/mtest_single.c", "threads": "util/mtest_thread.c"}
FORTRAN = {"f77": "util/mtest_f77.f", "f90": "util/mtest_f90.f90", "f08": "util/mtest_f08.f90"}
OUTCOMES = ("passes", "fails", "fails with MPICH too", "expected to fail", "cannot be built")


class Test:
    def __init__(self, folder, words):
        self.folder, self.program = folder, words[0]
        self.ranks = int(words[1]) if len(words) > 1 and words[1].isdigit() else 1
        options = [word.split("=", 1) for word in words[2:] if "=" in word]
        self.arguments = [value for key, value in options if key == "arg"]
        self.environment = dict(value.split("=", 1) for key, value in options
                                if key == "env" and "=" in value)
        self.limit = max([int(value) for key, value in options if key == "timeLimit"], default=0)
        self.result = next((value for key, value in options if key == "resultTest"), "")
        self.expected_to_fail = any(key == "xfail" for key, _ in options)
        self.name = " ".join([f"{folder}/{self.program}", *self.arguments])


def read_list(root, folder):
    for name in ("testlist", "testlist.in"):
        path = root / folder / name
        if path.exists():
            for line in path.read_text(errors="replace").splitlines():
                words = re.sub(r"@\w+@", "", line.split("#")[0]).split()
                if words and not (root / folder / words[0]).is_dir():
                    yield Test(folder, words)
            return


def folders(root):
    yield from (name for name in C_FOLDERS if (root / name).is_dir())
    yield from (f"threads/{name}" for name in THREADS if (root / "threads" / name).is_dir())
    yield from (f"errors/{name}" for name in ERRORS if (root / "errors" / name).is_dir())
    for language in LANGUAGES:
        for path in sorted((root / language).glob("*")):
            if path.is_dir():
                yield f"{language}/{path.name}"


def generate(root, out):
    """Generates the tests of files in Fortran as MPICH does: from a template; those of Fortran 90 from
    those of Fortran 77. Returns the directory that has their folders."""
    shutil.rmtree(out, ignore_errors=True)
    folders_of = {language: out / language / "io" for language in LANGUAGES}
    for folder in folders_of.values():
        folder.mkdir(parents=True)
    merge = out / "testmerge"
    merge.write_text((root / "maint/testmerge.in").read_text().split("\n", 1)[1])
    for language in ("f77", "f08"):
        harness = root / language / "io/ioharness"
        subprocess.run(["perl", merge, f"-defn={root / 'maint/common.defn'}", f"{harness}.defn",
                        f"{harness}.tlt"], cwd=folders_of[language], capture_output=True, check=False)
    subprocess.run(["perl", root / "maint/f77tof90", folders_of["f77"], folders_of["f90"]], cwd=out,
                   capture_output=True, check=False)
    return out


class Builder:
    def __init__(self, root, work, compilers):
        self.root, self.work, self.compilers = root, work, compilers
        self.made, self.locks, self.lock = {}, {}, threading.Lock()
        (work / "include").mkdir(parents=True, exist_ok=True)
        self.configure()
        self.generated = generate(root, work / "generated") if shutil.which("perl") else root
        self.flags = ["-w", "-O1", "-DHAVE_CONFIG_H", f"-I{work / 'include'}", f"-I{root / 'include'}",
                      f"-I{root / 'dtpools/include'}"]
        self.libraries = {}

    def configure(self):
        text = (self.root / "include/mpitestconf.h.in").read_text()
        text = re.sub(r"^#undef (\w+)$", lambda m: f"#define {m[1]} {CONFIGURED[m[1]]}"
                      if m[1] in CONFIGURED else "", text, flags=re.M)
        (self.work / "include/mpitestconf.h").write_text(text)
        # It is included as ../dtpoolsconf.h, from a directory of the source tree: any folder will do.
        (self.work / "dtpools/include").mkdir(parents=True, exist_ok=True)
        (self.work / "dtpoolsconf.h").write_text("".join(
            f"#define {name} {value}\n" for name, value in CONFIGURED.items()))
        for path in self.root.glob("f*/*/*.h.in"):
            out = self.work / path.parent.relative_to(self.root) / path.name[:-3]
            out.parent.mkdir(parents=True, exist_ok=True)
            out.write_text(re.sub(r"@(\w+)@", lambda m: SUBSTITUTED.get(m[1], "integer*8"),
                                  path.read_text()))

    def compile(self, source, flags, out):
        language = SUFFIXES[source.suffix]
        extra = ["-fallow-argument-mismatch", "-fallow-invalid-boz"] if language == "f90" else []
        return subprocess.run([self.compilers[language], *self.flags, *extra, *flags, "-c", source, "-o",
                               out], capture_output=True, text=True, check=False, cwd=out.parent)

    def library(self, language):
        """Objects that every program of a language is linked with."""
        with self.lock:
            return self.library_of(language)

    def library_of(self, language):
        if language not in self.libraries:
            sources = [path for pattern in (*LIBRARY, OWN.get(language, "util/mtest_single.c"))
                       for path in sorted(self.root.glob(pattern))]
            if language in FORTRAN:
                sources = [self.root / FORTRAN[language]]
            folder = self.work / f"library_{language}"
            folder.mkdir(exist_ok=True)
            objects = []
            for source in sources:
                out = folder / (source.name + ".o")
                done = self.compile(source, ["-DMTEST_USE_THREAD"] if language == "threads" else [], out)
                if done.returncode != 0:
                    raise SystemExit(f"{source} cannot be compiled:\n{done.stderr}")
                objects.append(out)
            self.libraries[language] = objects
        return self.libraries[language]

    def rules(self, folder):
        path = self.root / folder / "Makefile.am"
        text = path.read_text().replace("\\\n", " ") if path.exists() else ""
        found = collections.defaultdict(dict)
        for name, kind, value in re.findall(r"^(\w+?)_(SOURCES|CPPFLAGS|CFLAGS)\s*=(.*)$", text, re.M):
            found[name][kind] = value.split()
        return found

    def find(self, folder, name):
        """A source file. MPICH copies those in C of its tests of Fortran 2008 from Fortran 90."""
        places = (self.generated / folder, self.root / folder, self.root / folder.replace("f08/", "f90/"))
        return next((place / name for place in places if (place / name).exists()), places[1] / name)

    def sources(self, test, rule):
        names = rule.get("SOURCES") or [name for name in (test.program + suffix for suffix in SUFFIXES)
                                        if self.find(test.folder, name).exists()]
        return [self.find(test.folder, name) for name in names if name.endswith(tuple(SUFFIXES))]

    def build(self, test):
        """The program and an empty string, or None and the reason."""
        key = (test.folder, test.program)
        with self.lock:
            own = self.locks.setdefault(key, threading.Lock())
        with own:
            if key not in self.made:
                self.made[key] = self.build_new(test)
            return self.made[key]

    def build_new(self, test):
        rule = self.rules(test.folder)[test.program]
        sources = self.sources(test, rule)
        if not sources or not all(source.exists() for source in sources):
            return None, "its source is not there"
        language = test.folder.split("/")[0] if test.folder.startswith(LANGUAGES) else "cc"
        if all(source.suffix == ".c" for source in sources):
            language = "threads" if test.folder.startswith("threads") else "cc"
        out = self.work / test.folder / (test.program + ".d")
        out.mkdir(parents=True, exist_ok=True)
        flags = [flag for kind in ("CPPFLAGS", "CFLAGS") for flag in rule.get(kind, ())
                 if flag.startswith("-D")]
        flags += ["-DMTEST_USE_THREAD"] if language == "threads" else []
        flags += [f"-I{path}" for path in sorted(self.work.glob("f77/*")) if path.is_dir()]
        flags += [f"-I{self.work / test.folder}", f"-I{self.root / test.folder}",
                  f"-I{self.work / f'library_{language}'}", f"-J{out}" if language in LANGUAGES else "-w"]
        objects = list(self.library(language))
        for source in sources:
            target = out / (source.name + ".o")
            use = [flag for flag in flags if not (flag.startswith("-J") and source.suffix == ".c")]
            done = self.compile(source, use, target)
            if done.returncode != 0:
                lines = [line for line in done.stderr.splitlines() if "rror" in line]
                return None, (lines or ["cannot be compiled"])[0][-200:]
            objects.append(target)
        linker = "f90" if language in LANGUAGES else "cc"
        done = subprocess.run([self.compilers[linker], *objects, "-o", out / test.program, "-lm"],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            lines = [line for line in done.stderr.splitlines() if "undefined" in line] or ["cannot be linked"]
            return None, lines[0][-200:]
        return out / test.program, ""


def judge(test, done):
    """An empty string if the test has passed, else why it has not."""
    if test.result in ("TestStatus", "TestStatusNoErrors", "TestErrFatal"):
        return "" if done.returncode != 0 else "it should have failed"
    if test.result == "TestAllowWarnings" and "No Errors" in done.stdout:
        return ""
    if done.returncode == 0 and re.search(r"^\s*No [Ee]rrors\s*$", done.stdout, re.M):
        return ""
    said = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
    return f"exit code {done.returncode}: {said[0] if said else 'it has printed nothing'}"[:200]


class Runner:
    def __init__(self, builder, launcher, timeout):
        self.builder, self.launcher, self.timeout = builder, launcher, timeout

    def run(self, test):
        program, reason = self.builder.build(test)
        if program is None:
            return "cannot be built", reason
        limit = max(self.timeout, test.limit)
        try:
            done = subprocess.run(self.launcher(test) + [str(program), *test.arguments],
                                  capture_output=True, text=True, check=False, timeout=limit,
                                  errors="replace", cwd=program.parent, stdin=subprocess.DEVNULL,
                                  env=dict(os.environ, **test.environment))
            reason = judge(test, done)
        except subprocess.TimeoutExpired:
            reason = "" if test.result == "TestErrFatal" else f"no end after {limit} s"
        return ("passes" if not reason else "expected to fail" if test.expected_to_fail else "fails"), reason


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("-b", "--build", type=pathlib.Path)
    parser.add_argument("-o", "--only", action="append", default=[])
    parser.add_argument("-t", "--timeout", type=int, default=60)
    parser.add_argument("-w", "--work", type=pathlib.Path)
    parser.add_argument("-r", "--reference", action="store_true")
    parser.add_argument("--mpich", action="store_true")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    return parser.parse_args()


def find(name, build):
    path = str(build / name) if build else shutil.which(name)
    if path is None or not os.path.exists(path):
        raise SystemExit(f"{name} is not there; --build names its directory")
    return os.path.abspath(path)


def weft_runner(root, work, given):
    compilers = {language: find(f"weft{language}", given.build) for language in ("cc", "f90")}
    weft = find("weft", given.build)
    return Runner(Builder(root, work / "weft", compilers),
                  lambda test: [weft, "run", "-q", "-f", "-o", "result.json", "-n", str(test.ranks),
                                *(("--spare", "16") if "spawn" in test.folder else ()), "--"],
                  given.timeout)


def mpich_runner(root, work, given):
    compilers = {"cc": "mpicc.mpich", "f90": "mpif90.mpich"}
    return Runner(Builder(root, work / "mpich", compilers),
                  lambda test: ["mpiexec.mpich", "-n", str(test.ranks)], given.timeout)


def print_table(results):
    table = collections.defaultdict(collections.Counter)
    for test, outcome, _ in results:
        table[test.folder.split("/")[0]][outcome] += 1
        table["all"][outcome] += 1
    print("\n" + "".join(f"{title:>12}" for title in ("", "tests", "pass", "fail", "also MPICH",
                                                      "expected", "not built")))
    for folder in [name for name in table if name != "all"] + ["all"]:
        counts = table[folder]
        print(f"{folder:>12}{sum(counts.values()):12}" + "".join(f"{counts[o]:12}" for o in OUTCOMES))


def main():
    given = arguments()
    root = given.directory.resolve()
    root = root / "test/mpi" if (root / "test/mpi").is_dir() else root
    if not (root / "include/mpitestconf.h.in").exists():
        raise SystemExit(f"{given.directory} is no source tree of MPICH with its tests")
    with tempfile.TemporaryDirectory() as temporary:
        work = (given.work or pathlib.Path(temporary)).resolve()
        runner = (mpich_runner if given.mpich else weft_runner)(root, work, given)
        other = mpich_runner(root, work, given) if given.reference else None
        tests = [test for folder in folders(root) for test in read_list(root, folder)
                 if not given.only or any(fnmatch.fnmatch(test.name, pattern) for pattern in given.only)]
        results = []

        def one(test):
            outcome, reason = runner.run(test)
            if outcome == "fails" and other is not None and other.run(test)[0] != "passes":
                outcome = "fails with MPICH too"
            return test, outcome, reason

        with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
            for test, outcome, reason in pool.map(one, tests):
                results.append((test, outcome, reason))
                if outcome != "passes":
                    print(f"{test.name}, {test.ranks} ranks: {outcome}: {reason}", flush=True)
        print_table(results)
    sys.exit(any(outcome == "fails" for _, outcome, _ in results))


main()
