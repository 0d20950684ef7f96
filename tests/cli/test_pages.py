# SPDX-License-Identifier: Apache-2.0
"""Pages of small runs, where a section may have nothing to show: one rank, no collective, no message between nodes."""
import pathlib

import browser
from weft_cli import check, finish, run

READY = 'document.documentElement?.dataset.ready === "yes"'
WRONG = "NaN", "undefined", "Infinity", "[object", "cannot be drawn"


class Pages:
    """One browser that opens pages and complains about each that is wrong."""

    def __init__(self):
        self.page = browser.Browser()

    def open(self, name):
        """Opens a page; its text with everything unfolded."""
        self.page.problems.clear()
        self.page.call("Page.navigate", url="about:blank")
        self.page.call("Page.navigate", url=pathlib.Path(name).resolve().as_uri())
        check(self.page.wait(READY), f"{name}: not ready")
        check(self.page.problems == [], f"{name}: {[text[:300] for text in self.page.problems]}")
        text = self.page.value("document.querySelectorAll('details').forEach((d) => { d.open = true; });"
                               " document.body.innerText") or ""
        lines = [line for line in text.splitlines() if any(word in line for word in WRONG)]
        check(lines == [], f"{name}: {lines[:3]}")
        return text

    def sections(self):
        return self.page.value("[...document.querySelectorAll('#main > section')].map((s) => s.id)")


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
    yield "idle", ["traffic", "uniform", "--topo", "torus:2x2", "--load", "0.001"]


def main():
    for name, args in cases():
        for kind in "html", "json":
            done = run(*args, "-q", "-o", f"{name}.{kind}")
            check(done.returncode == 0, name, done)
    pairs = ("ring-1-64", "ring-4-64"), ("ring-4-64", "ring-4-1"), ("plain-1", "plain-1"), ("idle", "traffic")
    for old, new in pairs:
        done = run("compare", f"{old}.json", f"{new}.json", "-o", f"compare-{old}-{new}.html")
        check(done.returncode == 0, f"{old} {new}", done)
    pathlib.Path("study.yaml").write_text("settings:\n  source: gen:ring\n  network: latency\n  topology: torus:8\ngrid:\n  ranks: [1, 2, 4]\n",
                                          encoding="utf-8")
    done = run("sweep", "study.yaml", "-q", "-o", "sweep.html")
    check(done.returncode == 0, "sweep.html", done)
    if browser.find():
        pages = Pages()
        for name in sorted(str(path) for path in pathlib.Path(".").glob("*.html")):
            pages.open(name)
            if name == "ring-4-64.html":
                command = pages.page.value("document.querySelector('#head pre').textContent")
                check("weft replay gen:ring --machine frontier -n 4" in command and "--efficiency" in command and len(command) < 160, command)
                head = pages.page.value("document.getElementById('head').innerText")
                check("frontier" in head and "node used" in head and "ranks per node" in head, head)
            if name.startswith("ring-4"):
                missing = {"time", "over-time", "who", "network", "path"} - set(pages.sections())
                check(not missing, f"{name}: no sections {missing}")
        pages.page.close()
    finish()


main()
