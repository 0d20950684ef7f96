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


def check_cycles():
    """Links of a file that fit no cycle of 1 ns: the cycle and the queues are theirs, and the links can be busy."""
    pathlib.Path("fast").write_text("switch s t\na s 100Gbit/s 500ns\nb s 100Gbit/s 500ns\nc t 100Gbit/s 500ns\ns t 40Gbit/s 500ns\n",
                                    encoding="utf-8")
    done = run("traffic", "uniform", "--topo", "graph:fast", "--load", "0.1", "--json")
    if check(done.returncode == 0, "links of 100 and 40 Gbit/s", done):
        document = parse(done)
        net = document["scenario"]["parameters"]["net"]
        # 4 bytes take 320 ps and 800 ps: two and five cycles. A round trip takes 1 us, a packet 2.56 ns.
        check((net["cycle"], net["queue"]) == ("160ps", 394), f"{net['cycle']} {net['queue']}")
        check(document["result"]["accepted_load"] > 0.09, f"accepted {document['result']['accepted_load']}")
    done = run("traffic", "uniform", "--topo", "graph:fast", "--load", "0.1", "-p", "net.cycle=1ns")
    check(done.returncode == 3 and "not a whole fraction" in done.stderr, "a cycle of the user's own", done)


def check_speeds():
    """Speeds of a file's links, and classes that override them, on every model that has links."""
    pathlib.Path("speeds").write_text("switch s\na s 2GB/s 7ns class=slow\nb s 4GB/s\n",
                                      encoding="utf-8")
    # A message of 64 bytes from a to b; the wait of the receiver is its latency.
    times = {
        # 7 ns + 100 ns, and 64 bytes at the lower bandwidth
        ("latency", ""): 7000 + 100000 + 32000,
        ("latency", "slow:bandwidth=4GB/s"): 7000 + 100000 + 16000,
        ("latency", "slow:latency=1us"): 1000000 + 100000 + 32000,
        # the router delays by 50 ns, the other link takes 50 ns
        ("packet", ""): 7000 + 50000 + 50000 + 32000,
        ("packet", "link:delay=9ns"): 7000 + 9000 + 50000 + 32000,
        # cycles of 1 ns: 7 for the first link, 1 for the other; 16 phits of 2 cycles, of which
        # the switch waits for 15 before it sends them twice as fast; routers decide after 1 ps
        ("router", ""): 7000 + 1000 + 15 * 1000 + 15 * 1000 + 1,
        ("router", "slow:bandwidth=4GB/s"): 7000 + 1000 + 15 * 1000 + 1,
        ("router", "link:delay=2ns"): 7000 + 3000 + 15 * 1000 + 15 * 1000 + 1,
    }
    for (model, links), expected in times.items():
        done = run("replay", "gen:ring", "-n", "2", "-p", "gen.bytes=64B", "-p", "gen.rounds=1",
                   "--net", model, "--topo", "graph:speeds", "-p", f"net.links={links}", "--json")
        if check(done.returncode == 0, f"{model} {links}: exit code {done.returncode}", done):
            found = parse(done)["result"]["message_latency_ps"]["min"]
            check(found == expected, f"{model} {links}: {found} ps, expected {expected}", done)


def check_names():
    """Drawings, routes and failures have the names of the file, which may contain anything."""
    pathlib.Path("names.dot").write_text('graph g { "a-b" -- "c<d" -- "São Paulo" -- "a-b"; "c<d" -- e }\n', encoding="utf-8")
    for output in "n.svg", "n.dot", "n.csv":
        check(run("topo", "graph:names.dot", "-o", output).returncode == 0, output)
    svg, dot, csv = (pathlib.Path(f"n.{kind}").read_text(encoding="utf-8") for kind in ("svg", "dot", "csv"))
    check(">c&lt;d</text>" in svg and ">São Paulo</text>" in svg, svg)
    check('"a-b" -- "c<d"' in dot and "a-b,c<d,0,0" in csv, dot + csv)
    check(run("topo", "--json", "graph:n.dot").returncode == 0, "the drawing is read")
    base = ["replay", "gen:ring", "-n", "4", "--net", "packet", "--topo", "graph:names.dot", "--json", "-p"]
    named, numbered = (parse(run(*base, f"net.fail={link}"))["result"] for link in ("link:a-b-c<d", "link:0-1"))
    check(named["digest"] == numbered["digest"] != parse(run(*base, "net.fail="))["result"]["digest"], "another link failed")


def main():
    check_cycles()
    check_speeds()
    check_names()
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
