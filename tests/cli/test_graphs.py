# SPDX-License-Identifier: Apache-2.0
"""The example graphs that are installed, and those in the reference page, are what they claim."""
import pathlib
import re
import textwrap

from weft_cli import SOURCE, check, finish, parse, run

# nodes, switches, links, diameter, one-way
INSTALLED = {
    "abilene.graphml": (11, 0, 14, 5, False),
    "chordal-ring.dot": (12, 0, 24, 5, True),
    "dumbbell.edges": (8, 2, 9, 3, False),
    "petersen.dot": (10, 0, 15, 2, False),
}
# By how the block on the page begins.
ON_THE_PAGE = {
    "# two nodes": (4, 2, 5, 3, False),
    "graph dumbbell": (4, 2, 5, 3, False),
    "<graphml>": (2, 1, 2, 2, False),
}
BLOCK = re.compile(r"(?:^    .*\n|^\n)+", re.MULTILINE)


def check_graph(path, expected):
    done = run("topo", "--json", f"graph:{path}")
    if not check(done.returncode == 0, f"{path}: exit code {done.returncode}", done):
        return
    doc = parse(done)
    found = (doc["nodes"], doc["vertices"] - doc["nodes"], doc["links"], doc["diameter"],
             doc["one_way"])
    check(found == expected, f"{path}: {found}, expected {expected}", done)


def main():
    directory = SOURCE / "share/graphs"
    names = {path.name for path in directory.iterdir()}
    check(names == set(INSTALLED), f"share/graphs has {sorted(names)}")
    for name, expected in INSTALLED.items():
        check_graph(directory / name, expected)

    page = (SOURCE / "docs/reference/graph-files.md").read_text(encoding="utf-8")
    blocks = [textwrap.dedent(block).strip() + "\n" for block in BLOCK.findall(page)]
    for number, (beginning, expected) in enumerate(ON_THE_PAGE.items()):
        texts = [block for block in blocks if block.startswith(beginning)]
        if check(len(texts) == 1, f"the page has {len(texts)} blocks '{beginning}'"):
            path = pathlib.Path(f"page-{number}")
            path.write_text(texts[0], encoding="utf-8")
            check_graph(path, expected)
    finish()


main()
