# SPDX-License-Identifier: Apache-2.0
"""The Python package: installed into a prefix, it finds its library there and needs no settings.
usage: test_python.py CMAKE. Skipped without a Python that has pandas."""
import os
import pathlib
import subprocess
import sys

SKIPPED = 77
SOURCE = pathlib.Path(os.environ["WEFT_SOURCE_DIR"])
STUDY = """title: three latencies
settings: {source: "gen:ring", ranks: 4, network: loggp}
grid:
  net.L: [1us, 2us, 3us]
"""


def find_python():
    for python in ("/usr/bin/python3", sys.executable):
        done = subprocess.run([python, "-c", "import pandas"], capture_output=True, check=False)
        if done.returncode == 0:
            return python
    return None


def main():
    python = find_python()
    if python is None:
        print("no Python that has pandas")
        return SKIPPED
    subprocess.run([sys.argv[1], "--install", os.environ["WEFT_BUILD_DIR"], "--prefix", "prefix"],
                   stdout=subprocess.DEVNULL, check=True)
    pathlib.Path("study.yaml").write_text(STUDY, encoding="ascii")
    package = next(pathlib.Path("prefix").rglob("weft/__init__.py")).parent.parent
    environment = {**os.environ, "PYTHONPATH": str(package.resolve())}
    environment.pop("WEFT_LIBRARY", None)
    done = subprocess.run([python, "-B", SOURCE / "tests/python/frames.py", "prefix/bin/weft",
                           SOURCE / "docs/howto/use-python.md", SOURCE / "examples/python/machines.ipynb"], env=environment, check=False)
    if done.returncode != 0:
        return 1
    # A library that is not there is named, with the remedy.
    done = subprocess.run([python, "-B", "-c", "import weft"], capture_output=True, text=True,
                          env={**environment, "WEFT_LIBRARY": "/nosuch.so"}, check=False)
    assert "WEFT_LIBRARY" in done.stderr and "/nosuch.so" in done.stderr, done.stderr
    return 0


sys.exit(main())
