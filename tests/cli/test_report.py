# SPDX-License-Identifier: Apache-2.0
"""Reports: small, whole, the same from a run and from its document, and alive in a browser."""
import json
import pathlib
import re

import browser
from weft_cli import check, check_run, finish, run

RUN = ["replay", "gen:stencil3d", "-n", "64", "--net", "packet", "--topo", "torus:4x4x4",
       "-p", "gen.bytes=10kB", "-p", "gen.allreduce=true", "-p", "gen.imbalance=0.3",
       "-p", "gen.markers=true", "-q"]
MANY = ["replay", "gen:stencil3d", "-n", "5000", "-p", "gen.iterations=1", "-q"]
MOST_BYTES = 5 << 20


def write(*args):
    """Runs weft, which has to succeed and to say nothing."""
    done = run(*args)
    check(done.returncode == 0 and done.stdout == "", f"{args}", done)


def parts(path):
    """What a page holds: the document and what else there is."""
    text = pathlib.Path(path).read_text(encoding="utf-8")
    found = [json.loads(re.search(rf'id="{name}">(.*?)</script>', text, re.S)[1])
             for name in ("document", "extra")]
    check(not re.search(r'(src|href)="(?!#|data:)', text.split("<script")[0]) and
          "http://" not in text and "https://" not in text, f"{path}: needs another file")
    check(len(text.encode()) < MOST_BYTES, f"{path}: {len(text.encode())} bytes")
    return found


def check_files():
    """A report of a run, and one of its result document."""
    write(*RUN, "-o", "run.html")
    document, extra = parts("run.html")
    check(document["result"]["efficiency"] and document["recording"]["spans"] and
          document["result"]["network"]["links"], "run.html: something is missing")
    check(len(extra["picture"]["marks"].split(";")) == 64, "run.html: the picture")
    pathlib.Path("run.json").write_text(json.dumps(document), encoding="utf-8")
    write("report", "run.json", "-o", "again.html")
    check(parts("again.html") == [document, extra], "again.html is another report")
    write("report", "run.json", "-o", "again.json")
    check(json.loads(pathlib.Path("again.json").read_text(encoding="utf-8")) == document,
          "reading and writing changes a document")
    done = run("report", "run.json")
    check("Predicted time" in done.stdout or "predicted" in done.stdout.lower(), "as text", done)
    write(*MANY, "-o", "many.html")
    check(parts("many.html")[0]["recording"]["ranks_per_row"] == 25, "many.html")
    done = run("traffic", "uniform", "--topo", "torus:4x4", "-p", "traffic.load=0.3", "--cycles",
               "500", "-q", "--json")
    pathlib.Path("traffic.json").write_text(done.stdout, encoding="utf-8")
    write("report", "traffic.json", "-o", "traffic.html")
    write("bench", "phold", "--lps", "100", "--end", "1us", "-q", "-o", "bench.html")
    check(parts("traffic.html")[1]["picture"] and parts("bench.html")[1] == {}, "other documents")


def check_page(name, messages):
    """Real events of a mouse on a page that has nothing to complain about."""
    page = browser.Browser()
    page.call("Page.navigate", url=pathlib.Path(name).resolve().as_uri())
    check(page.wait('document.documentElement.dataset.ready === "yes"'), f"{name}: not ready")
    page.value('document.getElementById("timeline").scrollIntoView({block: "center"})')
    box = page.value('(() => { const b = document.getElementById("timeline")'
                     '.getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; })()')
    x, y = box[0] + box[2] / 2, box[1] + box[3] / 2
    view = 'Number(timeline.dataset.to) - Number(timeline.dataset.from)'
    page.mouse("mouseMoved", x, y)
    check(page.wait('!document.getElementById("hint").hidden'), f"{name}: no words for the mouse")
    whole = page.value(view)
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-300)
    check(page.wait(f"{view} < {whole} / 2"), f"{name}: the wheel does not zoom")
    before = page.value("Number(timeline.dataset.from)")
    page.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
    page.mouse("mouseMoved", x - 100, y, button="left", buttons=1)
    page.mouse("mouseReleased", x - 100, y, button="left")
    check(page.wait(f"Number(timeline.dataset.from) > {before}"), f"{name}: cannot be dragged")
    page.value('document.getElementById("zoom-all").click()')
    check(page.wait(f"{view} === {whole}"), f"{name}: no way back")
    if messages:
        page.value('document.getElementById("show-messages").click()')
    for choice, value in ("matrix-what", "messages"), ("bars-order", "number"):
        page.value(f'(() => {{ const s = document.getElementById("{choice}"); s.value = "{value}";'
                   ' s.dispatchEvent(new Event("change")); })()')
    page.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    check(page.problems == [], f"{name}: {page.problems}")
    page.close()


def check_errors():
    """Files that are no results."""
    for text, words in (("{", "no JSON"), ("[]", "an object is expected"), ("{}", "no result doc")):
        pathlib.Path("bad.json").write_text(text, encoding="utf-8")
        done = run("report", "bad.json")
        check(done.returncode == 3 and words in done.stderr, f"{text}: {done.stderr}", done)
    done = run("report", "missing.json")
    check(done.returncode == 3 and "missing.json" in done.stderr, "a missing file", done)
    check(run("report").returncode == 2, "no file")


def check_compare():
    """What differs, and only that; exit code 1 if anything does."""
    write(*RUN, "-o", "base.json")
    write(*RUN, "--sched", "conservative", "--threads", "2", "--record", "-o", "same.json")
    write(*RUN, "-p", "net.bandwidth=10MB/s", "-o", "slow.json")
    check_run(["compare", "base.json", "same.json", "base.json"], 0,
              stdout=r"(?s)same.json, compared with base.json:\n  equal\nbase.json.*equal\n$")
    done = check_run(["compare", "base.json", "slow.json"], 1,
                     stdout=r"  \d\.\d+ x slower: .*, of which \d+ % is waiting .*\n"
                            r"  parameters\.net\.bandwidth: 10MB/s, was 10GB/s\n")
    check(done.stdout.count("\n") < 20, "more than fits a screen", done)
    everything = check_run(["compare", "-v", "base.json", "slow.json"], 1)
    documents = [json.loads(pathlib.Path(f"{name}.json").read_text(encoding="utf-8"))
                 for name in ("base", "slow")]
    expected = sum(len(differences(documents[0][part], documents[1][part]))
                   for part in ("scenario", "result"))
    check(everything.stdout.count(", was ") == expected + 1, f"not {expected} differences",
          everything)
    check_run(["compare", "base.json"], 2, "two results or more")


def differences(a, b):
    """The leaves that differ, by the straight way."""
    if isinstance(a, dict) and isinstance(b, dict):
        return [each for key in {**a, **b} for each in differences(a.get(key, ...), b.get(key, ...))]
    if isinstance(a, list) and isinstance(b, list):
        rest = [[...]] * abs(len(a) - len(b))
        return [each for pair in zip(a, b) for each in differences(*pair)] + rest
    return [] if a == b else [(a, b)]


def check_explain():
    """At most ten lines, each with a number that the document has."""
    write(*RUN, "--efficiency", "-p", "net.stats=summary", "-o", "full.json")
    done = check_run(["explain", "full.json"], 0, stdout="Uneven work bounds it most: the busiest")
    lines = done.stdout.splitlines()
    check(5 < len(lines) <= 10 and all(re.search(r"\d", line) for line in lines), "lines", done)
    document = json.loads(pathlib.Path("full.json").read_text(encoding="utf-8"))
    balance = document["result"]["efficiency"]["load_balance_percent"]
    check(f"(load balance {balance:.1f} %)" in done.stdout, "load balance", done)
    hot = document["result"]["network"]["hot_links"][0]
    check(f"from vertex {hot['vertex']} to {hot['to']}, is busy for {hot['busy_percent']:.1f} %"
          in done.stdout, "the busiest link", done)
    check_run(["explain", "traffic.json"], 0, stdout="accepts a load of 0.[0-9]+ of the 0.[0-9]+ phits")


def main():
    check_files()
    check_errors()
    check_compare()
    check_explain()
    if browser.find():
        check_page("run.html", True)
        check_page("many.html", False)
    finish()


main()
