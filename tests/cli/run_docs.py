# SPDX-License-Identifier: Apache-2.0
"""Runs the documentation: every ```sh block of the README and the tutorials, in order, one
directory for each page, and compiles programs in C. A ```text block that follows is what the block must print; what
differs from machine to machine is left out of the comparison. Links must lead somewhere.

Lines that begin with `make` or `git` are not run, nor those with mpirun where there is no MPI, nor
programs as virtual ranks where they cannot be built, or under a sanitizer, which knows one stack.
"""
import os
import pathlib
import re
import subprocess
import tempfile

from weft_cli import MPIEXEC, SOURCE, WEFT, check, finish

PAGES = [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("tutorial/*.md")),
         *sorted((SOURCE / "docs").glob("howto/*.md"))]
ALL_PAGES = [*SOURCE.glob("*.md"), *sorted((SOURCE / "docs").glob("**/*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
NOT_RUN = re.compile(r"^(make|git)\b")
# How long it took, how fast, how much memory.
HOST_FACTS = re.compile(r"^Simulation took .*\n|, [\d.]+ [kMG]?/s$", re.MULTILINE)


# Blocks that build and run programs, which a build with sanitizers cannot.
OF_PROGRAMS = re.compile(r"^(weftcc|weft run|weft emulate)\b", re.MULTILINE)


def runs_programs():
    build = pathlib.Path(WEFT).parent
    cache = build / "CMakeCache.txt"
    return ((build / "weftcc").exists() and
            not (cache.exists() and re.search(r"^WEFT_SANITIZE:\w+=.+$", cache.read_text(),
                                              re.MULTILINE)))


def is_run(line):
    return not (NOT_RUN.match(line) or (line.startswith("mpirun") and not MPIEXEC))


def of_our_mpi(code):
    """Where there are several MPIs, mpirun and mpicc are those that weft is built with."""
    _, dot, which = os.path.basename(MPIEXEC or "").partition(".")
    return re.sub(r"\b(mpirun|mpicc)\b", rf"\1{dot}{which}", code)


def run_block(code, directory):
    script = of_our_mpi("\n".join(filter(is_run, code.splitlines())))
    launcher = [os.path.dirname(MPIEXEC)] if MPIEXEC else []
    path = os.pathsep.join([f"{directory}/build/release", *launcher, os.environ["PATH"]])
    return subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=directory, text=True,
                          env={**os.environ, "PATH": path}, capture_output=True, timeout=100,
                          check=False)


def comparable(text):
    return [line.rstrip() for line in HOST_FACTS.sub("", text).strip().splitlines()]


def run_page(page):
    output = None
    ran = 0
    with tempfile.TemporaryDirectory(dir=".") as name:
        directory = pathlib.Path(name).resolve()
        (directory / "build/release").mkdir(parents=True)
        (directory / "build/release/weft").symlink_to(WEFT)
        programs = runs_programs()
        if programs:
            (directory / "build/release/weftcc").symlink_to(pathlib.Path(WEFT).parent / "weftcc")
            (directory / "examples").symlink_to(SOURCE / "examples")
        for language, code in BLOCK.findall(page.read_text(encoding="utf-8")):
            if OF_PROGRAMS.search(code) and not programs:
                ran += 1
                continue
            if language == "sh":
                done = run_block(code, directory)
                output = done.stdout
                ran += 1
                check(done.returncode == 0, f"{page.name}: a block fails", done)
            elif language == "python":
                ran += 1  # tests/python/frames.py runs these
            elif language == "c" and "int main(" in code:
                ran += 1
                (directory / "block.c").write_text(code, encoding="utf-8")
                done = run_block(f"cc -std=c11 -Wall -Wextra -Werror -fsyntax-only -I {SOURCE / 'include'} "
                                 f"-I {pathlib.Path(WEFT).parent / 'include'} block.c", directory)
                check(done.returncode == 0, f"{page.name}: a block does not compile", done)
            elif language == "text" and output is not None:
                check(comparable(output) == comparable(code),
                      f"{page.name}: expected\n{code}\nbut it is\n{output}")
                output = None
    check(ran > 0, f"{page.name}: nothing to run")


def check_links(page):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        check((page.parent / target).exists(), f"{page.name}: no {target}")


def main():
    for page in PAGES:
        run_page(page)
    for page in ALL_PAGES:
        check_links(page)
    finish()


main()
