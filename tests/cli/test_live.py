# SPDX-License-Identifier: Apache-2.0
"""Pages that simulate: the same digests in a browser as in the program, sliders, errors, traces.

usage: test_live.py [--all]    --all: every generator on every network model, not a few of them
"""
import base64
import json
import pathlib
import sys

import browser
from weft_cli import check, check_run, finish, parse, run

OPTIONS = {"ranks": "-n", "network": "--net", "topology": "--topo", "placement": "--placement"}
TOPOLOGIES = {"latency": "torus:4x4", "packet": "fattree:4x4", "router": "torus:4x4"}
MODELS = ["none", "alphabeta", "loggp", "latency", "packet", "router"]
# The router model counts cycles, so it gets less to do.
LESS = {"stencil2d": {"gen.bytes": "1KiB"}, "stencil3d": {"gen.bytes": "1KiB"}, "stencil4d": {"gen.bytes": "1KiB"},
        "sweep3d": {"gen.bytes": "256B"}, "fft": {"gen.n": "32"}, "cg": {"gen.n": "500"}, "bt": {"gen.n": "12"},
        "is": {"gen.keys": "4096", "gen.iterations": "2"}, "exchange": {"gen.bytes": "256B"}, "leanmd": {"gen.steps": "1"},
        "training": {"gen.model": "64KiB", "gen.bucket": "16KiB", "gen.layers": "4", "gen.steps": "1"},
        "llm": {"gen.layers": "2", "gen.hidden": "64", "gen.heads": "4", "gen.kv_heads": "4", "gen.head_width": "16",
                "gen.ffn": "64", "gen.vocabulary": "64", "gen.sequence": "16", "gen.batch": "16"}}


def scenario(generator, model, **more):
    """The settings of a small run."""
    own = {"source": f"gen:{generator}", "ranks": "16", "network": model,
           **(LESS.get(generator, {}) if model == "router" else {}), **more}
    if model in TOPOLOGIES:
        own["topology"] = TOPOLOGIES[model]
    return own


# Every model and most generators once; random numbers, faults, collectives.
FEW = [scenario("stencil3d", "none"), scenario("cg", "alphabeta"), scenario("fft", "loggp"),
       scenario("random", "latency", seed="7"), scenario("is", "packet"),
       scenario("exchange", "router"),
       scenario("training", "packet", **{"net.fail": "links:5%", "mpi.rules": "openmpi"}),
       scenario("leanmd", "loggp"), scenario("masterworker", "loggp", **{"node.noise": "exponential"})]


def every(page):
    """Every generator on every model."""
    names = page.page.value("panel.catalog.entries.filter((e) => e.kind === 'gen' && e.name !== 'text').map((e) => e.name)")
    return [scenario(g, m) for g in names for m in MODELS] + FEW


def native(settings):
    """What the program says of a scenario."""
    args = ["replay", settings["source"], "--json", "-q"]
    for key, value in settings.items():
        if key != "source":
            args += [OPTIONS[key], value] if key in OPTIONS else ["-p", f"{key}={value}"] if "." in key else [f"--{key}", value]
    done = run(*args, timeout=300)
    if done.returncode not in (0, 4):
        return done.returncode, done.stderr.strip().removeprefix("weft: ")
    return done.returncode, parse(done)["result"]["digest"]


class Page:
    """A live page in a browser."""

    def __init__(self, path):
        self.page = browser.Browser()
        self.page.call("Page.navigate", url=path.absolute().as_uri())
        ready = "['ready', 'shown', 'failed'].includes(document.getElementById('live-status')?.dataset.state)"
        check(self.page.wait(ready), f"{path}: the simulator does not start")

    def promise(self, expression):
        """What a promise gives."""
        done = self.page.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        return done["result"].get("value")

    def run(self, settings):
        """The exit code, and the digest or the error, of a run in a worker of the page."""
        listed = json.dumps([{"key": key, "value": value} for key, value in settings.items()])
        return tuple(self.promise(f"panel.back.run({listed}).then((a) => [a.code, a.document ? a.document.result.digest : a.error])") or [])

    def state(self, name):
        return self.page.value(f"document.getElementById('live-status').dataset.{name}")

    def set(self, selector, value, event):
        """Changes a control as a reader does."""
        self.page.value(f"(() => {{ const own = document.querySelector({json.dumps(selector)}); own.value = {json.dumps(value)};"
                        f" own.dispatchEvent(new Event('{event}')); }})()")

    def settled(self):
        """Waits for the run of the last change."""
        return self.page.wait("!panel.wanted && !panel.running && ['shown', 'failed'].includes(document.getElementById('live-status').dataset.state)")

    def close(self):
        check(not self.page.problems, f"the browser complains: {self.page.problems[:3]}")
        self.page.close()


def test_digests(page, scenarios):
    """The same scenario has the same digest in the page as in the program."""
    for settings in scenarios:
        expected, found = native(settings), page.run(settings)
        check(found == expected, f"{settings}: {found} in the page, {expected} in the program")
    return len(scenarios)


def test_controls(page):
    """A slider, a model and a refused topology do what options of the program do."""
    check(page.page.value("panel.repeatable") is True, "the page does not repeat its own run")
    check(page.state("digest") == native({"source": "gen:stencil3d", "ranks": "27"})[1], "the digest of the page")
    page.set("input[data-key='net.bandwidth']", 144, "input")
    check(page.settled(), "no run after a slider was moved")
    value = page.page.value("panel.changes.get('net.bandwidth')")
    check(page.state("digest") == native({"source": "gen:stencil3d", "ranks": "27", "net.bandwidth": value})[1],
          f"the digest with a bandwidth of {value}")
    check(page.page.wait("document.getElementById('live-curve').dataset.points === '33'"), "the curve is not complete")
    check(page.page.value("ranksTimeline.end") == page.page.value("Number(doc.result.predicted_time_ps)"),
          "the timeline does not show the run that resulted")

    page.set("select[data-key='network']", "packet", "change")
    check(page.settled(), "no run after another model was chosen")
    own = {"source": "gen:stencil3d", "ranks": "27", "network": "packet", "topology": "torus:3x3x3"}
    check(page.page.wait(f"document.getElementById('live-status').dataset.digest === '{native(own)[1]}'"), "the digest on packet")
    page.set("input[data-key='topology']", "torus:2x2", "change")
    own["topology"] = "torus:2x2"
    words = native(own)[1]
    check(page.page.wait("!document.getElementById('live-error').hidden"), "no error is shown")
    shown = page.page.value("document.getElementById('live-error').textContent")
    check(words and shown == f"weft: {words}", f"the page says {shown!r}, the program {words!r}")
    page.page.value("document.getElementById('live-reset').click()")
    check(page.page.wait("document.getElementById('live-error').hidden && doc.scenario.network === 'loggp'"), "'as it was' does not lead back")


def test_stop():
    """A run that takes long has a busy sign that says what it does, ends at Stop and at the limit, and the next one works."""
    page = Page(pathlib.Path("run.html"))
    value, first = page.page.value, page.state("digest")
    def begin():
        value("change({ranks: '1728', 'gen.iterations': '100000'})")
        return page.page.wait("!document.getElementById('live-busy').hidden")
    check(begin(), "no busy sign")
    words = value("document.getElementById('live-busy').innerText")
    check("Simulating gen:stencil3d on 1728 ranks" in words and "at most 60 s" in words, words)
    value("document.getElementById('live-stop').click()")
    check(page.page.wait("document.getElementById('live-busy').hidden && document.getElementById('live-error').textContent === 'Stopped.'"), "Stop does not stop")
    # The limit is that of the clock.
    value("{ const now = performance.now.bind(performance); performance.now = () => now() + (window.later || 0); }")
    check(begin(), "no busy sign after a stop")
    value("window.later = 61000")
    check(page.page.wait("document.getElementById('live-error').textContent.startsWith('Stopped after 60 s')"), "no limit")
    value("document.getElementById('live-reset').click()")
    check(page.page.wait(f"document.getElementById('live-status').dataset.state === 'shown' && document.getElementById('live-status').dataset.digest === '{first}'"),
          "no run after a stop")
    page.close()


def test_trace():
    """The page of a trace has the trace in it."""
    check_run(["gen", "gen:random", "-n", "32", "-o", "random.weft"], 0)  # without loops: compressed
    check_run(["replay", "random.weft", "-o", "trace.html", "-q"], 0)
    page = Page(pathlib.Path("trace.html"))
    check(page.page.value("panel.repeatable") is True, "the page of a trace does not repeat it: "
          + str(page.page.value("document.getElementById('live-error').textContent")))
    page.close()
    # A directory, as weft capture writes it.
    check_run(["gen", "gen:random", "-n", "4", "--parts", "4", "-o", "parts.weft"], 0)
    check_run(["replay", "parts.weft", "-o", "parts.html", "-q"], 0)
    page = Page(pathlib.Path("parts.html"))
    check(page.page.value("panel.repeatable") is True, "the page of a directory does not repeat it")
    page.close()


def test_try():
    """The page without a run: a generator, another machine, a dropped trace."""
    check_run(["try", "-o", "try.html"], 0)
    check_run(["try", "-o", "try.html"], 3, "exists")
    page = Page(pathlib.Path("try.html"))
    check(page.state("digest") == native({"source": "gen:stencil3d", "ranks": "64"})[1], "the first run of the page to try")
    page.set("#try-program", "gen:ring", "change")
    check(page.page.wait("doc.scenario.source === 'gen:ring'"), "another program")
    page.set("#try-machine", "gige", "change")
    check(page.settled() and page.page.wait("doc.scenario.parameters.net.L === '25us' || doc.scenario.network !== 'loggp' || panel.base.length > 3"),
          "another machine")
    done = parse(run("replay", "gen:ring", "-n", "64", "--machine", "gige", "--json", "-q"))
    check(page.page.wait(f"document.getElementById('live-status').dataset.digest === '{done['result']['digest']}'"), "gen:ring on gige")

    goal = b"num_ranks 2\nrank 0 {\nl1: calc 1000\nl2: send 8b to 1\nl2 requires l1\n}\nrank 1 {\nl1: recv 8b from 0\n}\n"
    pathlib.Path("two.goal").write_bytes(goal)
    text = base64.b64encode(goal).decode()
    page.set("#try-machine", "", "change")
    page.page.value(f"takeFiles([new File([bytesOf('{text}')], 'two.goal')])")
    expected = native({"source": "two.goal"})[1]
    check(page.page.wait(f"document.getElementById('live-status').dataset.digest === '{expected}'"),
          "a dropped trace: " + str(page.page.value("document.getElementById('live-error').textContent")))
    page.close()


def main():
    has = run("try", "-o", "first.html")
    if has.returncode != 0:
        check("no live pages" in has.stderr, "a build without live pages does not say so", has)
        check_run(["replay", "gen:ring", "-n", "4", "-o", "x.html", "--live"], 2, "no live pages")
        check_run(["replay", "gen:ring", "-n", "4", "-o", "x.html", "-q"], 0)
        print("skipped: this build has no live pages")
        finish()
        return
    check_run(["replay", "gen:stencil3d", "-n", "27", "-o", "run.html", "-q"], 0)
    check_run(["replay", "gen:stencil3d", "-n", "27", "-o", "plain.html", "--no-live", "-q"], 0)
    sizes = [pathlib.Path(name).stat().st_size for name in ("run.html", "plain.html")]
    check(0 < sizes[0] - sizes[1] < 1500000, f"the simulator takes {sizes[0] - sizes[1]} bytes of a page")
    if not browser.find():
        print("skipped: no chromium")
        finish()
        return
    page = Page(pathlib.Path("run.html"))
    test_controls(page)
    n = test_digests(page, every(page) if "--all" in sys.argv else FEW)
    page.close()
    print(f"{n} scenarios compared")
    test_stop()
    test_trace()
    test_try()
    finish()


main()
