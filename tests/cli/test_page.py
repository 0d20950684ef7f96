# SPDX-License-Identifier: Apache-2.0
"""The page as it is drawn: measured in a browser, on screens of several widths."""
import itertools
import json
import math
import pathlib
import re

import browser
from weft_cli import check, finish, run

RUN = ["replay", "gen:stencil3d", "-n", "64", "--net", "packet", "--topo", "torus:4x4x4",
       "-p", "gen.bytes=10kB", "-p", "gen.allreduce=true", "-p", "gen.imbalance=0.3",
       "-p", "gen.markers=true", "-q"]
MANY = ["replay", "gen:stencil3d", "-n", "5000", "-p", "gen.iterations=1",
        "-p", "gen.imbalance=0.5", "--record-limit", "1000", "-q"]

# What people with one kind of cones missing see, in linear RGB (Machado, Oliveira and
# Fernandes 2009, severity 1).
SIGHTS = {
    "all": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                   [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                     [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                   [0.004733, 0.691367, 0.303900]],
}
ACTIVITIES = ["compute", "overhead", "send", "receive", "collective", "core", "idle"]
LEAST_DISTANCE = 25  # of CIE Lab; neighbours on a palette for charts have about 20


def linear(code):
    """The linear components of "#rrggbb"."""
    parts = [int(code[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]


def lab(rgb):
    """CIE Lab of linear components."""
    rows = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    xyz = [sum(a * b for a, b in zip(row, rgb)) / white
           for row, white in zip(rows, (0.9505, 1, 1.089))]
    f = [v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in xyz]
    return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])


def seen(code, sight):
    return lab([min(1, max(0, sum(a * b for a, b in zip(row, linear(code)))))
                for row in SIGHTS[sight]])


class Page:
    """Pages one after the other in one browser."""

    def __init__(self):
        self.page = browser.Browser()

    def open(self, name, width=1200, dark=False, address=""):
        self.page.call("Emulation.setDeviceMetricsOverride", width=width, height=900,
                       deviceScaleFactor=1, mobile=False)
        self.page.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.page.call("Page.navigate", url="about:blank")
        self.page.call("Page.navigate", url=pathlib.Path(name).resolve().as_uri() + address)
        check(self.page.wait('document.documentElement?.dataset.ready === "yes"'),
              f"{name}: not ready")
        self.page.value(HELP)

    def value(self, expression):
        answer = self.page.call("Runtime.evaluate", expression=expression, returnByValue=True,
                                awaitPromise=True)
        if "exceptionDetails" in answer:
            check(False, f"{expression}: {answer['exceptionDetails']['exception']['description']}")
        return answer["result"].get("value")

    def drawn(self, expression=""):
        """Does something and waits until it is drawn."""
        self.value(f"{{ {expression} }}; new Promise((done) => requestAnimationFrame(() => "
                   "requestAnimationFrame(() => done(1))))")


# Functions for the page: the colours of a part of a canvas, and how a text is laid out.
HELP = r"""
window.colorsIn = (canvas, x, y, w, h) => {
  const data = new Uint32Array(canvas.getContext("2d").getImageData(x, y, w, h).data.buffer);
  const counts = {};
  for (const p of data) {
    const hex = p >>> 24 === 0 ? "none" : "#" + [p & 255, p >> 8 & 255, p >> 16 & 255].map((c) => c.toString(16).padStart(2, "0")).join("");
    counts[hex] = (counts[hex] || 0) + 1;
  }
  return counts;
};
window.paint = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
window.linesOf = (node) => {
  const range = document.createRange();
  range.selectNodeContents(node);
  return new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size;
};
window.channels = (text) => text.match(/[\d.]+/g).map(Number);
window.luminance = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
  .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
window.lowContrast = () => {
  const found = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walk.nextNode());) {
    const element = node.parentElement, style = getComputedStyle(element);
    if (!node.data.trim() || ["SCRIPT", "NOSCRIPT", "STYLE", "OPTION"].includes(element.tagName) || element.getClientRects().length === 0) continue;
    let ground = null;
    for (let at = element; at && !ground; at = at.parentElement) {
      const c = channels(getComputedStyle(at).backgroundColor);
      if (c.length === 3 || c[3] > 0) ground = c;
    }
    const a = luminance(channels(style.color)), b = luminance(ground || [255, 255, 255]);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5)) found.push(`${node.data.trim().slice(0, 30)}: ${ratio.toFixed(2)}`);
  }
  return found;
};
"""


def check_axes(page):
    """However the ranks are zoomed, the axes and the labels stay free."""
    page.open("run.html")
    marks = {"view": "{from: 0, to: 1e9, top: 10.6, bottom: 14.3, marks: false, path: false}"}
    page.drawn(f"setView(ranksTimeline, {marks['view']})")
    margin = page.value("""(() => { const c = document.getElementById("timeline"), w = c.width, h = c.height;
        return [colorsIn(c, 0, 0, w, 14), colorsIn(c, 0, h - 22, w, 22), colorsIn(c, 0, 0, 53, h)]; })()""")
    paints = {page.value(f'paint("--{name}")') for name in ACTIVITIES}
    check(not any(paints & set(part) for part in margin), f"activities on the axes: {margin}")
    style = page.value('document.getElementById("timeline").dataset.style')
    inside = page.value('colorsIn(document.getElementById("timeline"), 60, 20, 1000, 200)')
    check(style == "spans" and page.value('paint("--compute")') in inside, f"{style}, {inside}")


def check_no_mixtures(page):
    """Bins have the colours of the legend, whether one activity or several are shown."""
    page.open("many.html")
    paints = {page.value(f'paint("--{name}")') for name in ACTIVITIES} | {"none"}
    for view, style in (("top: 0, bottom: 200", "dominant"), ("top: 3, bottom: 23", "stacked")):
        page.drawn(f"setView(ranksTimeline, {{{view}, path: false, marks: false}})")
        check(page.value('document.getElementById("timeline").dataset.style') == style, style)
        inside = page.value("""(() => { const c = document.getElementById("timeline");
            return colorsIn(c, 56, 16, c.width - 60, c.height - 40); })()""")
        check(set(inside) <= paints and len(inside) > 2, f"{style}: {inside}")


def check_cheap_frames(page):
    """Moving and zooming in time copies pixels that are there; the colours are those of the bins."""
    page.open("many.html")
    page.drawn("setView(ranksTimeline, {path: false, marks: false}); window.made = ranksTimeline.image")
    page.drawn("window.made = ranksTimeline.image; zoomTime(ranksTimeline, 0.3, 0.7)")
    page.drawn("moveView(ranksTimeline, 0.2, 0)")
    page.drawn("moveView(ranksTimeline, 0, 0.1)")
    check(page.value("ranksTimeline.image === made && !!made"), "bins were drawn again")
    wrong = page.value("""(() => { const t = ranksTimeline, c = t.own.canvas, field = fieldOf(c.width, t.own.height);
        const data = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, colors = [...KINDS, IDLE].map((kind) => rgb(kind.color));
        const n = KINDS.length, bad = [];
        for (let row = 2; row < 198; row += 13) for (let x = 20; x < field.w; x += 50) {
          const at = (t.view.from + (x + 0.5) / field.w * (t.view.to - t.view.from)) / t.bin, bin = Math.floor(at);
          const y = Math.round(field.y + (row + 0.5 - t.view.top) / (t.view.bottom - t.view.top) * field.h);
          if (at - bin < 0.1 || at - bin > 0.9 || y < field.y + 2 || y > field.y + field.h - 2) continue;
          const own = [...t.rows[row].shares.slice(bin * n, bin * n + n)], rest = 255 - own.reduce((a, b) => a + b);
          const most = Math.max(...own, rest), i = 4 * (y * c.width + x + field.x);
          if (![...own, rest].some((share, k) => share >= most - 1 && colors[k].every((v, j) => v === data[i + j]))) bad.push([row, bin]);
        }
        return bad; })()""")
    check(wrong == [], f"rows and bins with wrong colours: {wrong}")
    page.drawn("KINDS[0].hidden = true; ranksTimeline.own.again()")
    check(page.value("ranksTimeline.image !== made"), "hidden activities are still there")


def check_stacks(page):
    """Where the trace has call stacks, the table, the timeline and the exports have them."""
    document = json.loads(pathlib.Path("run.json").read_text(encoding="utf-8"))
    first = document["recording"]["calls"][0].split(";")
    document["recording"]["calls"][0] = ";".join([f"{first[0]}@1", f"{first[1]}@0", *first[2:]])
    document["recording"]["stack_names"] = ["main > solve", "main > <b>start</b>"]
    pathlib.Path("stacks.json").write_text(json.dumps(document), encoding="utf-8")
    for name in "stacks.html", "stacks.calls.csv", "stacks.pftrace", "stacks.prv":
        run("report", "stacks.json", "-f", "-o", name)
    rows = pathlib.Path("stacks.calls.csv").read_text(encoding="utf-8").splitlines()
    calls = [row for row in rows if row.startswith("0,") and ",call," in row]
    check(rows[0].endswith(",bytes,stack") and calls[0].endswith(",main > <b>start</b>") and
          calls[1].endswith(",main > solve") and calls[2].endswith(","), f"{rows[0]}, {calls[:3]}")
    check(b"main > solve" in pathlib.Path("stacks.pftrace").read_bytes(), "no stack for Perfetto")
    check("1    main > solve\n" in pathlib.Path("stacks.pcf").read_text(encoding="utf-8") and
          ":70000001:1\n" in pathlib.Path("stacks.prv").read_text(encoding="utf-8"), "no stacks for Paraver")
    page.open("stacks.html")
    shown = page.value('document.getElementById("stacks-table").innerText')
    check("main > solve" in shown and "main > <b>start</b>" in shown, shown)
    check(page.value("stackOf(ranksTimeline.calls().get(0).all[1])") == "main > solve", "no stack of a call")


def check_width(page):
    """Nothing is wider than a small screen, no number is broken, all texts of bars are there."""
    for name, width in ("run.html", 360), ("run.html", 800), ("many.html", 400), ("many.html", 1200):
        page.open(name, width)
        wide = page.value("document.documentElement.scrollWidth")
        check(wide <= width, f"{name}: {wide} wide on a screen of {width}")
        broken = page.value("""[...document.querySelectorAll("td, .card b")].filter((cell) =>
            /^[−-]?[0-9][0-9.,]*( ?[%a-zA-Zµ/]+)?$/.test(cell.textContent) && cell.getClientRects().length
            && linesOf(cell) > 1).map((cell) => cell.textContent)""")
        check(broken == [], f"{name} at {width}: numbers in pieces: {broken}")
        cut = page.value("""[...document.querySelectorAll("#what-if span")].filter((label) => {
            const box = label.getBoundingClientRect(), all = label.closest("figure").getBoundingClientRect();
            return box.left < all.left - 1 || box.right > all.right + 1; }).map((label) => label.textContent)""")
        labels = page.value('document.querySelectorAll("#what-if span").length')
        check(cut == [] and labels == 8, f"{name} at {width}: {labels} labels, cut off: {cut}")


def check_histogram(page):
    """Classes of ranks are bars side by side, with axes."""
    page.open("many.html")
    bars = page.value("evenClasses(recording.similar.map((a) => ({...classOf(number(a.compute_ps)), n: a.ranks})))")
    check(len(bars) > 5 and len({bar["to"] - bar["from"] for bar in bars}) == 1 and
          sum(bar["n"] for bar in bars) == 5000 and
          len(bars) == page.value('Number(document.getElementById("load-histogram").dataset.bars)'), f"classes: {bars}")
    # Compute times are uniform: inside bars are about equally high, above a power of two as well.
    inside = [bar["n"] for bar in bars[1:-1]]
    check(max(inside) < 1.3 * min(inside), f"heights depend on the width of classes: {inside}")
    # Along the foot of the bars there are gaps of a pixel at most.
    gaps = page.value("""(() => { const c = document.getElementById("load-histogram"), pen = c.getContext("2d");
        const row = new Uint32Array(pen.getImageData(67, c.height - 25, c.width - 67 - 15, 1).data.buffer);
        const [r, g, b] = [1, 3, 5].map((i) => parseInt(paint("--accent").slice(i, i + 2), 16)), accent = (0xff000000 | b << 16 | g << 8 | r) >>> 0;
        let longest = 0, now = 0;
        for (const p of row) { now = p === accent ? 0 : now + 1; longest = Math.max(longest, now); }
        return longest; })()""")
    check(gaps <= 2, f"a gap of {gaps} pixels between classes")
    axis = page.value("""(() => { const c = document.getElementById("load-histogram");
        return [colorsIn(c, 0, 0, 60, c.height), colorsIn(c, 60, c.height - 16, c.width - 60, 16)]
          .map((each) => Object.keys(each).length); })()""")
    check(min(axis) > 2, f"no axes: {axis}")


def check_links(page):
    """The load of links is shown against their capacity, unless relative colours are wanted."""
    page.open("run.html")
    reddest = '(() => { const c = document.getElementById("picture"); return colorsIn(c, 0, 0, c.width, c.height)[paint("--heat-full")] || 0; })()'
    busiest = page.value("Math.max(...get('result.network.links').map((l) => l.busy_percent))")
    check(busiest < 1 and page.value(reddest) == 0, f"{busiest} % looks like a full link")
    full = next(each for each in (0.01, 0.1, 1) if busiest <= each)
    check(page.value('document.getElementById("links-full").textContent') == f"{full:.2f} %", f"the scale of {busiest} %")
    page.drawn('{ const s = document.getElementById("links-scale"); s.value = "relative"; s.dispatchEvent(new Event("change")); }')
    check(page.value(reddest) > 100, "relative colours")
    caption = 'document.getElementById("picture").closest("figure").querySelector("figcaption").textContent'
    page.open("off.html")
    check("was not recorded (-p net.stats=links)" in page.value(caption), page.value(caption))
    page.open("schematic.html")
    check("schematic" in page.value(caption) and "--net packet" not in page.value(caption),
          page.value(caption))


def check_colors(page):
    """Activities look different to everybody, and texts stand out from the ground."""
    for dark in False, True:
        page.open("run.html", dark=dark)
        paints = {name: page.value(f'paint("--{name}")') for name in ACTIVITIES}
        for sight in SIGHTS:
            least = min((math.dist(seen(paints[a], sight), seen(paints[b], sight)), a, b)
                        for a, b in itertools.combinations(ACTIVITIES, 2))
            check(least[0] >= LEAST_DISTANCE, f"dark {dark}, {sight}: {least}")
        lightness = [lab(linear(page.value(f'paint("--heat-{name}")')))[0]
                     for name in ("none", "half", "full")]
        check(lightness in (sorted(lightness), sorted(lightness, reverse=True)),
              f"the scale of loads is not monotonic: {lightness}")
        page.value('document.querySelectorAll("details").forEach((each) => { each.open = true; })')
        page.drawn()
        low = page.value("lowContrast()")
        check(low == [], f"dark {dark}: low contrast: {low[:5]}")


def check_access(page):
    """Every drawing has a label and a table; every control has a name, in the order of the page."""
    page.open("run.html")
    check(page.value("""[...document.querySelectorAll("canvas")].every((c) => c.getAttribute("aria-label") && c.getAttribute("role"))"""),
          "a drawing without a label")
    page.value('document.querySelectorAll("details").forEach((each) => { each.open = true; })')
    page.drawn()
    page.drawn()
    bare = page.value("""[...document.querySelectorAll("canvas")].filter((c) => !c.closest("td")
        && !c.closest("figure").querySelector("details tbody tr")).map((c) => c.getAttribute("aria-label"))""")
    check(bare == [], f"drawings without a table: {bare}")
    controls = page.value("""[...document.querySelectorAll("button, select, input, a, summary")].filter((c) =>
        !(c.getAttribute("aria-label") || c.textContent.trim() || c.closest("label")?.textContent.trim())).map((c) => c.outerHTML)""")
    check(controls == [], f"controls without a name: {controls}")
    check(page.value('document.querySelectorAll("[tabindex]:not([tabindex=\'0\'])").length') == 0,
          "an order of its own")


def check_plain(page):
    """Without scripts: the answer, the efficiencies and the tables."""
    page.page.call("Emulation.setScriptExecutionDisabled", value=True)
    page.page.call("Page.navigate", url=pathlib.Path("run.html").resolve().as_uri())
    found = page.page.wait('document.body?.innerText.includes("parallel efficiency")')
    text = page.value("document.body.innerText") or ""
    page.page.call("Emulation.setScriptExecutionDisabled", value=False)
    words = ["ms", "load balance", "waiting for messages", "The busiest links", "queueing",
             "What if", "torus:4x4x4", "unlimited"]
    check(found and all(word in text for word in words) and "1844674407370955" not in text,
          f"without scripts: {[word for word in words if word not in text]}")


def check_words(page):
    """The units of the terminal, limits in words, and which parameters are not the usual ones."""
    page.open("run.html")
    text = page.value("document.body.innerText")
    terminal = run("report", "run.json").stdout
    sent = re.search(r"([0-9.]+) (\w+)iB", terminal)
    check(sent and re.search(rf"{float(sent[1]):g}\d* {sent[2]}iB", text) and
          not re.search(r"[0-9] [kMG]B\b", text), f"units: {sent}")
    rows = page.value("""[...document.querySelectorAll("#parameter-table tbody tr")].map((row) =>
        [...row.children].map((cell) => cell.textContent))""")
    check(["gen.bytes", "10kB", "128KiB"] in rows and ["gen.markers", "true", "false"] in rows and
          not any(row[0] == "net.packet" for row in rows), f"not the usual: {rows}")
    page.drawn('document.getElementById("all-parameters").click()')
    rows = dict(page.value("""[...document.querySelectorAll("#parameter-table tbody tr")].map((row) =>
        [...row.children].slice(0, 2).map((cell) => cell.textContent))"""))
    check(rows["mpi.eager_max"] == "unlimited" and rows["net.packet"] == "512" and len(rows) > 90,
          "all parameters")


def check_address(page):
    """What is shown is in the address, and comes back with it."""
    page.open("run.html")
    page.drawn("setView(ranksTimeline, {from: 1e9, to: 2e9, top: 5, bottom: 9})")
    page.value("""document.querySelector('[data-activity="k"]').click()""")
    check(page.page.wait('location.hash.includes("hide=k")'), "no address")
    address = page.value("location.hash")
    page.open("run.html", address=address)
    view = page.value("[ranksTimeline.view.from, ranksTimeline.view.to, ranksTimeline.view.top, ranksTimeline.view.bottom]")
    check(view == [1e9, 2e9, 5, 9], f"{address}: {view}")
    inside = page.value('colorsIn(document.getElementById("timeline"), 60, 20, 1000, 200)')
    check(page.value('paint("--collective")') not in inside, f"a hidden activity: {inside}")
    # A box, with the mouse.
    page.drawn("showAll(ranksTimeline); document.getElementById('timeline').scrollIntoView({block: 'center'})")
    box = page.value("(() => { const b = document.getElementById('timeline').getBoundingClientRect(); return [b.x, b.y]; })()")
    x, y = box[0] + 200, box[1] + 100
    page.page.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1, modifiers=8)
    page.page.mouse("mouseMoved", x + 100, y + 60, button="left", buttons=1, modifiers=8)
    page.page.mouse("mouseReleased", x + 100, y + 60, button="left", modifiers=8)
    check(page.page.wait("ranksTimeline.view.to - ranksTimeline.view.from < ranksTimeline.end / 5 && "
                         "ranksTimeline.view.bottom - ranksTimeline.view.top < 10"), "no box")


def check_calls(page):
    """Calls in the table, the timeline and the tooltip; a name, a rank and the longest wait are found."""
    page.open("run.html")
    sums = page.value("""[...document.querySelectorAll("#calls-table tbody tr")].map((row) => [...row.children].map((cell) => cell.textContent))""")
    check(["isend", "irecv", "waitall", "allreduce"] == sorted((row[0] for row in sums), key=["isend", "irecv", "waitall", "allreduce"].index) and
          all(row[1] == "192" for row in sums if row[0] in ("waitall", "allreduce")), f"{sums}")
    page.drawn("""{ const s = document.getElementById("timeline-what"); s.value = "calls"; s.dispatchEvent(new Event("change")); }""")
    page.drawn("setView(ranksTimeline, {from: 1.29e9, to: 1.32e9, top: 0, bottom: 16}); document.getElementById('timeline').scrollIntoView({block: 'center'})")
    x, y = page.value("(() => { const b = document.getElementById('timeline').getBoundingClientRect(); return [b.x + 100, b.y + 100]; })()")
    page.page.mouse("mouseMoved", x, y)
    check(page.page.wait('document.getElementById("hint").textContent.includes("allreduce, communicator 0, 8 B")'),
          "tooltip: " + page.value('document.getElementById("hint").textContent'))
    inside = page.value('colorsIn(document.getElementById("timeline"), 60, 20, 1000, 200)')
    names = page.value("recording.call_names")
    check(page.value(f'paint("--call-{names.index("allreduce")}")') in inside, f"no calls: {inside}")
    words = page.value("callWords(ranksTimeline.calls().get(3).all.find((call) => recording.call_names[call.name] === 'isend'))")
    check(re.fullmatch(r"isend, with rank \d+, tag \d+, communicator 0, 9.77 KiB", words), words)
    find = """{ const f = document.getElementById("find"); f.value = "%s"; f.form.requestSubmit(); }"""
    page.drawn(find % "rank 42")
    check(page.value("ranksTimeline.view.top < 42 && ranksTimeline.view.bottom > 42 && selected.has(42)"), "rank 42")
    page.drawn(find % "3 ms")
    check(page.value("Math.abs((ranksTimeline.view.from + ranksTimeline.view.to) / 2 - 3e9) < 1e6"), "3 ms")
    page.drawn(find % "longest wait")
    longest = page.value("""Math.max(...recording.spans.flatMap((text) => [...text.matchAll(/[srk]([0-9]+)/g)].map((m) => Number(m[1]))))""")
    check(page.value(f"Math.abs((ranksTimeline.view.to - ranksTimeline.view.from) / 3 - {longest}) < 1e3 || ranksTimeline.view.from === 0"), "longest wait")
    page.drawn(find % "nothing")
    check(page.value('document.getElementById("find-answer").textContent') == "not found", "an answer")
    page.drawn("select([5]); select([])")
    # A cell of the matrix selects its ranks in the tables and the timeline.
    page.drawn("document.getElementById('matrix').scrollIntoView({block: 'center'})")
    x, y = page.value("(() => { const b = document.getElementById('matrix').getBoundingClientRect(); return [b.x + 58 + 3, b.y + 18 + 3]; })()")
    page.page.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
    page.page.mouse("mouseReleased", x, y, button="left", clickCount=1)
    check(page.page.wait("selected.has(0) && document.getElementById('selection').textContent.includes('rank 0')"), "the matrix selects")
    check(page.page.wait("location.hash.includes('select=0')"), "the selection is in the address")
    page.drawn("document.querySelectorAll('#hot-links tbody tr')[0].click()")
    link = page.value("get('result.network.hot_links')[0]")
    check(page.value("[...selected]") == sorted([link["vertex"], link["to"]]), "a link selects the ranks of its nodes")


def check_compare(page):
    """Two results on one scale, aligned by iteration, and what differs."""
    page.open("compare.html", 500)
    check(page.value("document.documentElement.scrollWidth") <= 500, "compare.html: too wide")
    page.open("compare.html")
    settings = page.value("""[...document.querySelectorAll("#compared-settings tbody tr")].map((row) => [...row.children].map((cell) => cell.textContent))""")
    check(settings == [["parameters.net.bandwidth", "10GB/s", "2GB/s"]], f"{settings}")
    views = "[...document.querySelectorAll('canvas.compared')].map((c) => [Number(c.dataset.from), Number(c.dataset.to)])"
    first, second = page.value(views)
    slow = page.value("number(get('result.predicted_time_ps', doc.runs[1].document))")
    check(first == second == [0, slow], f"one scale: {first} {second}, {slow}")
    page.drawn("{ const s = document.getElementById('align'); s.value = '1'; s.dispatchEvent(new Event('change')); }")
    first, second = page.value(views)
    begins = page.value("doc.runs.map((run) => number(get('result.iterations', run.document).filter((each) => each.at === 'begin')[1].time_ps.mean))")
    check(begins[0] - first[0] == begins[1] - second[0] and begins[0] != begins[1], f"{begins} {first} {second}")
    calls = dict(page.value("""[...document.querySelectorAll("#compared-calls tbody tr")].map((row) => [row.children[0].textContent, row.children[3].textContent])"""))
    check(calls["waitall"].startswith("+"), f"{calls}")
    check(page.value("document.querySelectorAll('#compared-links tbody tr').length") > 10, "links")
    check(page.value("doc.runs[0].document.recording.spans") is None, "single spans are left out")


def check_sweep(page):
    """Small multiples, and a table that sorts by values with units."""
    page.open("study.html")
    check(page.value("document.querySelectorAll('#multiples canvas').length") == 2, "a panel for each topology")
    column = """(() => { const th = [...document.querySelectorAll('#study-table th')].findIndex((each) => each.textContent.startsWith('gen.bytes'));
        return [...document.querySelectorAll('#study-table tbody tr')].map((row) => row.children[th].textContent); })()"""
    click = "[...document.querySelectorAll('#study-table th button')].find((each) => each.textContent.startsWith('gen.bytes')).click()"
    page.drawn(click)
    check([text for text, _ in itertools.groupby(page.value(column))] == ["64B", "2KiB", "1MiB"], f"up: {page.value(column)}")
    page.drawn(click)
    check([text for text, _ in itertools.groupby(page.value(column))] == ["1MiB", "2KiB", "64B"], f"down: {page.value(column)}")
    page.drawn("{ const s = document.getElementById('y-axis'); s.value = 'logarithmic'; s.dispatchEvent(new Event('change', {bubbles: true})); }")
    check(page.value("document.querySelectorAll('#series span').length") == 2, "a legend")


STUDY = """title: rings
settings:
  source: gen:ring
  ranks: 8
  network: latency
grid:
  gen.bytes: [64B, 1MiB, 2KiB]
  net.bandwidth: [1GB/s, 200Gb/s]
  topology: ["torus:8", "torus:4x2"]
"""


def check_training(page):
    page.open("training.html")
    for section, words in ("training", "tokens/s and device"), ("training", "MFU"), ("training", "exposed communication"):
        text = page.value(f"document.getElementById('{section}').textContent")
        check(text is not None and words in text, f"training.html: no '{words}' in {text}")
    page.open("collective.html")
    text = page.value("document.getElementById('collective').textContent")
    check(text is not None and "bus bandwidth" in text, f"collective.html: {text}")


def main():
    for name, more in ("a.json", []), ("b.json", ["-p", "net.bandwidth=2GB/s"]):
        done = run(*RUN, "--record-calls", "-p", "net.stats=links", *more, "-o", name)
        check(done.returncode == 0, name, done)
    done = run("compare", "a.json", "b.json", "-o", "compare.html")
    check(done.returncode == 0 and done.stdout == "", "compare.html", done)
    check(run("compare", "a.json", "b.json", "-o", "compare.html").returncode == 3, "it exists")
    check(run("compare", "a.json", "b.json", "-o", "compare.txt").returncode == 2, "not a page")
    pathlib.Path("study.yaml").write_text(STUDY, encoding="utf-8")
    done = run("sweep", "study.yaml", "-o", "study.html", "-q")
    check(done.returncode == 0 and done.stdout == "", "study.html", done)
    for args, name in ((RUN, "run.html"), (MANY, "many.html"), ([*RUN, "-p", "net.stats=off"], "off.html"),
                       (["replay", "gen:ring", "-n", "8", "--net", "packet", "--topo", "torus:32x32x32", "-q"], "schematic.html"),
                       (["replay", "gen:llm", "-n", "4", "-p", "cpu.tflops16=989", "-q"], "training.html"),
                       (["replay", "gen:coll", "-n", "4", "-p", "gen.bandwidth=true", "-q"], "collective.html")):
        done = run(*args, "-o", name)
        check(done.returncode == 0, name, done)
    text = pathlib.Path("run.html").read_text(encoding="utf-8")
    pathlib.Path("run.json").write_text(json.dumps(json.loads(
        re.search(r'id="document">(.*?)</script>', text, re.S)[1])), encoding="utf-8")
    if browser.find():
        page = Page()
        for step in (check_axes, check_no_mixtures, check_cheap_frames, check_stacks, check_width, check_histogram, check_links,
                     check_colors, check_access, check_words, check_calls, check_address, check_compare, check_sweep, check_plain,
                     check_training):
            step(page)
        # The test itself reads canvases again and again.
        problems = [text for text in page.page.problems if "willReadFrequently" not in text]
        check(problems == [], f"problems: {problems}")
        page.page.close()
    finish()


main()
