# SPDX-License-Identifier: Apache-2.0
"""Pages of small runs, where a section may have nothing to show: one rank, no collective, no message between nodes."""
import pathlib
import sys

import browser
import firefox
import page_check
from weft_cli import check, finish, run


def every():
    """With --all, besides: each generator, network model and machine, 1 to 4,096 ranks, failures, transports, several jobs."""
    generators = ("stencil2d stencil3d stencil4d sweep3d fft cg bt is masterworker coll ring random pingpong exchange pattern gpcnet "
                  "leanmd").split()
    packet = ["--net", "packet", "--topo", "torus:4x4"]
    for name in generators:
        yield f"gen-{name}", ["replay", f"gen:{name}", "-n", "16"]
        yield f"frontier-{name}", ["replay", f"gen:{name}", "-n", "64", "--machine", "frontier"]
    yield "gen-training", ["replay", "gen:training", "-n", "8"]
    yield "gen-llm", ["replay", "gen:llm", "-n", "16", "--machine", "h100-rail", "--net", "loggp"]
    for name in "none", "alphabeta", "loggp", "latency", "packet", "router":
        place = ["--topo", "torus:4x4"] if name in ("latency", "packet", "router") else []
        yield f"net-{name}", ["replay", "gen:stencil3d", "-n", "16", "--net", name, *place]
    for name in machines():
        for ranks in "1", "2", "4", "64":
            yield f"machine-{name}-{ranks}", ["replay", "gen:stencil2d", "-n", ranks, "--machine", name]
    for topology in "dragonfly:2", "fattree:4x4x4", "hyperx:8x8", "mesh:8x8", "slimfly:5", "tree:64":
        yield f"topo-{topology.split(':')[0]}", ["replay", "gen:random", "-n", "48", "--net", "packet", "--topo", topology]
    yield "many-one-switch", ["replay", "gen:stencil2d", "-n", "4096", "--machine", "frontier", "-p", "gen.iterations=1"]
    yield "many", ["replay", "gen:stencil3d", "-n", "4096", "--net", "packet", "--topo", "torus:16x16x16", "-p", "gen.iterations=1"]
    yield "silent", ["replay", "gen:stencil3d", "-n", "16", "-p", "gen.iterations=0"]
    yield "jobs", ["replay", "gen:ring", "-n", "8", *packet, "--job", "gen:stencil2d,ranks=8", "--alone"]
    yield "transport", ["replay", "gen:stencil3d", "-n", "16", *packet, "-p", "net.transport=dcqcn", "-p", "net.full_queue=drop", "-p", "net.queue=100KiB"]
    for name in "transpose", "tornado":
        yield f"traffic-{name}", ["traffic", name, "--topo", "torus:4x4", "--load", "0.3"]
    for name in "fixed dcqcn swift pull pressure hpcc nscc".split():
        yield f"transport-{name}", ["replay", "gen:pattern", "-n", "8", "--net", "packet", "--topo", "star:8", "-p", f"net.transport={name}",
                                    "-p", "gen.kind=incast", "-p", "gen.bytes=256KiB"]
    yield "flits", ["replay", "gen:random", "-n", "16", "--net", "router", "--topo", "torus:4x4", "-p", "net.switching=wormhole"]
    yield "runs-many", ["replay", "gen:cg", "-n", "16", "--machine", "gige", "--runs", "20", "-p", "uncertainty.net.bandwidth=30%"]
    yield "one-long", ["replay", "gen:pingpong", "-n", "2", "-p", "gen.bytes=1GiB"]
    yield "names", ["replay", "gen:random", "-n", "4", "--net", "packet", "--topo", "graph:names.edges"]
    yield "names-traffic", ["traffic", "uniform", "--topo", "graph:names.edges", "--load", "0.3"]
    if run("try", "-o", "first.htm").returncode == 0:
        yield "try", ["try"]
    yield "goodput", ["goodput", "--fail", "gpu:count=12,mtbf=200d", "--work", "30d", "--checkpoint-cost", "20s", "--runs", "5"]
    yield "cluster", ["cluster", "jobs.swf", "--nodes", "8"]
    for ranks in "1", "2", "4", "64", "4096":
        yield f"text-{ranks}", ["replay", "gen:text", "-n", ranks, "-p", "gen.file=program.txt", "--net", "loggp"]


# What is read by the cases above.
FILES = {
    "names.edges": "switch north south\na north 100Gbit/s 500ns\nb north 100Gbit/s 500ns\nc south 100Gbit/s 500ns\nd south 100Gbit/s 500ns\n"
                   "north south 40Gbit/s 2us class=trunk\n",
    "jobs.swf": "; jobs\n" + "".join(f"{i} {60 * i} -1 {600 + 37 * i} {1 + i % 8} -1 -1 {1 + i % 8} 1200 -1 1 1 1 1 1 -1 -1 -1\n" for i in range(1, 40)),
    "program.txt": "loop i 0..3 {\n compute 1ms\n barrier\n}\n",
}


def machines():
    """The names in the library."""
    return [line.split()[0] for line in run("machine", "list").stdout.splitlines() if line and not line.startswith(" ")]


def cases():
    """Names of files, and the commands that write them."""
    for ranks in "1", "2", "4":
        for spread in "1", "64":
            yield (f"ring-{ranks}-{spread}", ["replay", "gen:ring", "-n", ranks, "--machine", "frontier",
                                              "--ranks-per-node", spread])
        yield f"plain-{ranks}", ["replay", "gen:ring", "-n", ranks]
        yield f"router-{ranks}", ["replay", "gen:stencil3d", "-n", ranks, "--net", "router", "--topo", "torus:4x4"]
        yield f"coll-{ranks}", ["replay", "gen:coll", "-n", ranks, "--machine", "frontier", "--ranks-per-node", "8"]
    yield "efficiency", ["replay", "gen:stencil3d", "-n", "4", "--machine", "frontier", "--ranks-per-node", "8", "--efficiency"]
    yield "runs", ["replay", "gen:ring", "-n", "2", "--machine", "frontier", "--ranks-per-node", "8", "--runs", "3"]
    yield "no-list", ["replay", "gen:ring", "-n", "4", "--machine", "frontier", "--record-limit", "0"]
    yield "gpus", ["replay", "gen:coll", "-n", "8", "--machine", "h100-rail"]
    yield "traffic", ["traffic", "uniform", "--topo", "torus:4x4", "--load", "0.3"]
    yield "failed", ["replay", "gen:stencil3d", "-n", "16", "--net", "packet", "--topo", "torus:4x4", "-p", "net.fail=link:0-1@1ms,links:1"]
    yield "stopped", ["replay", "gen:stencil3d", "-n", "8", "--until", "1ms"]
    yield "idle", ["traffic", "uniform", "--topo", "torus:2x2", "--load", "0.001"]


def check_page(pages, name):
    """What single pages have."""
    text = pages.page.value
    if name == "ring-4-64.html":
        command = text("document.querySelector('#head pre').textContent")
        check("weft replay gen:ring --machine frontier -n 4" in command and "--efficiency" in command and len(command) < 160, command)
        head = text("document.getElementById('head').innerText")
        check("frontier" in head and "node used" in head and "ranks per node" in head, head)
    if name == "table.html":
        check(text("document.getElementById('x-axis').value") == "file" and text("document.querySelectorAll('#multiples figure').length") == 1, "results are not side by side")
    if name.startswith("ring-4"):
        missing = {"time", "over-time", "who", "network", "path"} - set(text("[...document.querySelectorAll('#main > section')].map((s) => s.id)"))
        check(not missing, f"{name}: no sections {missing}")
    if name == "failed.html":
        check("links have failed" in pages.text() or "Parts of the network failed" in pages.text(), "nothing about failures")


def check_policy(pages):
    """A page runs no script but its own, and says something where its own do not run either."""
    page = pathlib.Path("ring-4-64.html").read_text(encoding="utf-8")
    pathlib.Path("foreign-script.htm").write_text(
        page.replace("</body>", "<script>document.title = 'stolen';</script><img src=x onerror=\"document.title = 'stolen'\"></body>"), encoding="utf-8")
    check(pages.open("foreign-script.htm") and pages.page.value("document.title") != "stolen", "a foreign script runs")
    check(not pages.page.value("document.getElementById('plain').getClientRects().length"), "the plain report shows beside the page")
    strict = '<head><meta http-equiv="Content-Security-Policy" content="default-src \'none\'">'
    pathlib.Path("strict.htm").write_text(page.replace("<head>", strict), encoding="utf-8")
    pages.page.call("Page.navigate", url=pathlib.Path("strict.htm").resolve().as_uri())
    check(pages.page.wait("document.readyState === 'complete' && document.getElementById('plain') !== null"), "the strict page does not load")
    text = pages.page.value("document.body.innerText") or ""
    check("does not allow it" in text and "predicted" in text.lower(), f"a strict policy: {text[:300]}")


def main():
    everything = "--all" in sys.argv
    for name, text in FILES.items():
        pathlib.Path(name).write_text(text, encoding="utf-8")
    for name, args in [*cases(), *(every() if everything else ())]:
        for kind in ("html", "json") if not everything or name in PAIRED else ("html",):
            quiet = [] if args[0] in ("try", "cluster", "goodput") else ["-q"]
            done = run(*args, *quiet, "-f", "-o", f"{name}.{kind}", timeout=600)
            check(done.returncode == 0, name, done)
    for old, new in PAIRS:
        done = run("compare", f"{old}.json", f"{new}.json", "-f", "-o", f"compare-{old}-{new}.html")
        check(done.returncode == 0, f"{old} {new}", done)
    pathlib.Path("study.yaml").write_text("settings:\n  source: gen:ring\n  network: latency\n  topology: torus:8\ngrid:\n  ranks: [1, 2, 4]\n",
                                          encoding="utf-8")
    done = run("sweep", "study.yaml", "-q", "-o", "sweep.html")
    check(done.returncode == 0, "sweep.html", done)
    done = run("table", *(f"{name}.json" for pair in PAIRS for name in pair), "-q", "-f", "-o", "table.html")
    check(done.returncode == 0, "table.html", done)
    if browser.find():
        pages = page_check.Pages()
        for i, name in enumerate(sorted(str(path) for path in pathlib.Path(".").glob("*.html"))):
            looks = page_check.LOOKS if everything else [page_check.LOOKS[i % len(page_check.LOOKS)]]
            found = pages.problems(name, looks)
            check(not found, f"{name}: {found[:4]}")
            check_page(pages, name)
        check_policy(pages)
        pages.page.close()
    if everything:
        check_firefox()
    finish()


def check_firefox():
    """A smaller part in another browser: no error, no number that is none, nothing wider than the window."""
    names = [f"{name}.html" for name in FIREFOX] + ["sweep.html", "table.html", "compare-plain-1-plain-1.html"]
    if not firefox.find():
        print(f"skipped: {len(names)} pages in Firefox, which is not installed")
        return
    other = firefox.Firefox()
    for name in names:
        for width in 1400, 500:
            where = f"Firefox, {width} wide: {name}"
            if not check(other.open(name, width), f"{where}: not ready"):
                continue
            other.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            text = other.value("document.body.innerText")
            found = [line for line in text.splitlines() if page_check.WRONG.search(line)] + other.errors()
            check(not found, f"{where}: {found[:4]}")
            check(other.value("document.documentElement.scrollWidth <= document.documentElement.clientWidth + 1"), f"{where}: wider than the window")
    other.close()


FIREFOX = ("ring-1-1", "ring-4-64", "ring-4-1", "failed", "traffic", "gpus", "efficiency", "runs", "jobs", "transport", "many-one-switch", "net-router",
           "gen-llm", "machine-frontier-64")


PAIRS = ("ring-1-64", "ring-4-64"), ("ring-4-64", "ring-4-1"), ("plain-1", "plain-1"), ("idle", "traffic")
PAIRED = {name for pair in PAIRS for name in pair}
main()
