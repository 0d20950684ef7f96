# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a page, as a browser shows it: errors, numbers that are none, texts on top of each other, texts that are cut."""
import pathlib
import re

import browser

# A page without scripts is ready when it is there.
READY = 'document.documentElement?.dataset.ready === "yes" || (document.readyState === "complete" && document.scripts.length === 0 && document.body?.innerText.length > 0)'
WRONG = re.compile(r"^null$|NaN|undefined|Infinity|\[object|cannot be drawn|[-−+][-−+][0-9]|\b1 (segments|messages|times|ranks|runs)\b")

# Notes every text that is drawn on a canvas, with its box, and every drawing at a place that is no number.
WATCH = """(() => {
  const context = CanvasRenderingContext2D.prototype, drawn = new Map(), bad = new Set();
  const begin = (canvas) => drawn.set(canvas, []);
  for (const side of ["width", "height"]) {
    const own = Object.getOwnPropertyDescriptor(HTMLCanvasElement.prototype, side);
    Object.defineProperty(HTMLCanvasElement.prototype, side, {get: own.get, set(value) { begin(this); own.set.call(this, value); }, configurable: true});
  }
  for (const name of ["clearRect", "fillRect", "strokeRect", "rect", "moveTo", "lineTo", "arc", "quadraticCurveTo", "bezierCurveTo"]) {
    const own = context[name];
    context[name] = function (...args) {
      if (args.some((arg) => typeof arg === "number" && !Number.isFinite(arg))) bad.add(`${name}(${args.slice(0, 4)}) on ${this.canvas.id || "a canvas"}`);
      const to = this.getTransform();
      if ((name === "clearRect" || name === "fillRect") && args[2] * to.a >= this.canvas.width - 2 && args[3] * to.d >= this.canvas.height - 2) begin(this.canvas);
      return own.apply(this, args);
    };
  }
  const write = context.fillText;
  context.fillText = function (text, x, y, ...more) {
    const size = this.measureText(text), to = this.getTransform(), at = (u, v) => [to.a * u + to.c * v + to.e, to.b * u + to.d * v + to.f];
    const corners = [at(x - size.actualBoundingBoxLeft, y - size.actualBoundingBoxAscent), at(x + size.actualBoundingBoxRight, y + size.actualBoundingBoxDescent)];
    if (!drawn.has(this.canvas)) begin(this.canvas);
    drawn.get(this.canvas).push({text: String(text), x0: Math.min(corners[0][0], corners[1][0]), x1: Math.max(corners[0][0], corners[1][0]),
      y0: Math.min(corners[0][1], corners[1][1]), y1: Math.max(corners[0][1], corners[1][1])});
    return write.call(this, text, x, y, ...more);
  };
  window.weftPageProblems = (printed) => {
    const found = [...bad], shown = (element) => element.isConnected && element.getClientRects().length > 0;
    const wrong = /NaN|undefined|Infinity|\\[object/;
    const over = (a, b, by) => Math.min(a.x1, b.x1) - Math.max(a.x0, b.x0) > by && Math.min(a.y1, b.y1) - Math.max(a.y0, b.y0) > by;
    const compare = (list, where, by) => {
      list.forEach((a, i) => list.slice(i + 1).forEach((b) => { if (over(a, b, by)) found.push(`${where}: '${a.text}' on '${b.text}'`); }));
    };
    for (const [canvas, all] of drawn) {
      if (!shown(canvas)) continue;
      const where = canvas.id || canvas.closest("section")?.id || "canvas", scale = canvas.width / canvas.clientWidth || 1;
      const texts = all.filter((one) => one.text.trim() !== "");
      for (const one of texts) {
        if (wrong.test(one.text)) found.push(`${where}: '${one.text}'`);
        if (one.x0 < -1.5 * scale || one.x1 > canvas.width + 1.5 * scale || one.y0 < -1.5 * scale || one.y1 > canvas.height + 1.5 * scale) {
          found.push(`${where}: '${one.text}' is cut: ${[one.x0, one.x1, canvas.width].map(Math.round)}`);
        }
      }
      compare(texts, where, 1.5 * scale);
      /* Labels of an axis, in a row or a column, are different. */
      for (const side of ["y1", "x1"]) {
        const lines = new Map();
        for (const one of texts) lines.set(Math.round(one[side]), [...(lines.get(Math.round(one[side])) || []), one.text]);
        for (const line of lines.values()) if (line.length > 2 && new Set(line).size === 1 && /[0-9]/.test(line[0])) found.push(`${where}: ${line.length} labels are all '${line[0]}'`);
      }
      if (!printed && Math.abs(canvas.width / canvas.height - canvas.clientWidth / canvas.clientHeight) > 0.05 * canvas.width / canvas.height) found.push(`${where}: squeezed`);
    }
    for (const svg of document.querySelectorAll("svg")) {
      if (!shown(svg)) continue;
      compare([...svg.querySelectorAll("text")].map((text) => { const box = text.getBoundingClientRect(); return {text: text.textContent, x0: box.left, x1: box.right, y0: box.top, y1: box.bottom}; })
        .filter((one) => one.text.trim() !== ""), "drawing", 2);
    }
    const room = document.documentElement.clientWidth;
    if (!printed && document.documentElement.scrollWidth > room + 1) {
      const wide = [...document.querySelectorAll("body *")].filter((one) => shown(one) && one.getBoundingClientRect().right > room + 1 && !one.closest(".wide"));
      found.push(`wider than the window: ${wide.slice(-1).map((one) => `${one.tagName} ${one.id} ${one.className} '${(one.textContent || "").slice(0, 40)}'`)}`);
    }
    for (const one of document.querySelectorAll(".card b, .slider output, .bars .value, button, select, td.n")) {
      if (shown(one) && one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0 && getComputedStyle(one).display !== "inline") found.push(`cut: '${one.textContent.slice(0, 60)}'`);
    }
    return [...new Set(found)].slice(0, 12);
  };
})();"""

# Width, colours and medium of each look at a page.
LOOKS = (1400, "light", ""), (400, "light", ""), (1400, "dark", ""), (1400, "light", "print")


class Pages:
    """One browser that opens pages and tells what is wrong with each."""

    def __init__(self):
        self.page = browser.Browser()
        self.page.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)

    def look(self, width, colours, medium):
        """Sets window, colours and medium."""
        self.page.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.page.call("Emulation.setEmulatedMedia", media=medium, features=[{"name": "prefers-color-scheme", "value": colours}])

    def open(self, name):
        """Opens a page; false if it does not become ready."""
        self.page.problems.clear()
        self.page.call("Page.navigate", url="about:blank")
        self.page.call("Page.navigate", url=pathlib.Path(name).resolve().as_uri())
        return self.page.wait(READY, 60)

    def text(self):
        """The text with everything unfolded."""
        return self.page.value("document.querySelectorAll('details').forEach((d) => { d.open = true; }); document.body.innerText") or ""

    def problems(self, name, looks=LOOKS):
        """What is wrong with the page, in each look."""
        found = []
        for width, colours, medium in looks:
            self.look(width, colours, medium)
            where = f"{name} {width} {colours} {medium}"
            if not self.open(name):
                return [*found, f"{where}: not ready"]
            if medium == "print":
                self.page.value("window.dispatchEvent(new Event('beforeprint'))")
            self.text()
            self.page.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
            lines = [line for line in self.text().splitlines() if WRONG.search(line)]
            found += [f"{where}: {one[:300]}" for one in [*self.page.problems, *lines[:3], *(self.page.value(f"weftPageProblems({'true' if medium else 'false'})") or [])]]
        self.look(1200, "light", "")
        return found

    def picture(self, path, full=True):
        """Keeps a picture of the page."""
        import base64  # pylint: disable=import-outside-toplevel
        data = self.page.call("Page.captureScreenshot", captureBeyondViewport=full)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))
