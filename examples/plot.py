# SPDX-License-Identifier: Apache-2.0
"""Line and bar plots as SVG, for the examples: axes, linear and logarithmic scales, points and lines, a
legend, colours for a light and a dark page. Needs nothing but Python.

    figure = Figure("Latency of messages", "ranks", "microseconds", x=Log(2), y=Log())
    figure.add("torus", [(2, 1.0), (4, 1.3), (8, 2.0)])
    figure.write("latency.svg")

    figure = Bars("Time of programs", "seconds")
    figure.add("torus", "stencil", 2.1, error=0.2)
    figure.write("time.svg")

    figure = Timeline("Two ranks", "microseconds", ["rank 0", "rank 1"])
    figure.add(0, "computing", 0, 5)
    figure.arrow(0, 5, 1, 7)
    figure.write("timeline.svg")

Values of a paper (`paper=True`) have broken lines and hollow marks.
"""
import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 760, 440
LEFT, RIGHT, TOP, BOTTOM = 92, 172, 68, 60
MARK = 4.5  # radius
LABELS = 12  # groups of bars, beyond which only some have their names
MARKED = 40  # points of a series, beyond which they have no marks
LINE = 20   # distance of text lines

# One hue per series in a fixed order, lighter on a dark page. Marks differ too, so that colour is
# never the only difference.
LIGHT = ["#2a78d6", "#eb6834", "#1baf7a", "#c98500", "#d6518a", "#4a3aa7", "#008300", "#e34948"]
DARK = ["#3987e5", "#d95926", "#199e70", "#c98500", "#d55181", "#9085e9", "#2fa02f", "#e66767"]

STYLE = """
svg { --paper: #fcfcfb; --ink: #0b0b0b; --soft: #52514e; --grid: #e1e0d9; --axis: #c3c2b7;
  %s
  font-family: system-ui, -apple-system, "Segoe UI", sans-serif; font-size: 13px; }
@media (prefers-color-scheme: dark) {
  svg { --paper: #1a1a19; --ink: #ffffff; --soft: #c3c2b7; --grid: #2c2c2a; --axis: #383835;
    %s } }
.paper { fill: var(--paper) } text { fill: var(--soft) }
.title { fill: var(--ink); font-size: 16px; font-weight: 600 } .name { fill: var(--ink) }
.grid { stroke: var(--grid) } .axis { stroke: var(--axis) }
.line { fill: none; stroke-width: 2; stroke-linejoin: round }
.mark { stroke: var(--paper); stroke-width: 1.5 }
.error { fill: none; stroke: var(--ink); stroke-width: 1.2 }
.quoted { stroke-dasharray: 5 4; stroke-width: 1.5 } .arrow { stroke: var(--ink); opacity: 0.55 }
"""


class Linear:
    """An axis from 0, or from `low`, with round ticks."""

    def __init__(self, low=0, ticks=6, text="{:g}".format):
        self.low, self.count, self.text = low, ticks, text
        self.high = low

    def fit(self, values):
        step = max(max(values) - self.low, 1e-300) / self.count
        unit = 10 ** math.floor(math.log10(step))
        self.step = next(unit * m for m in (1, 2, 5, 10) if unit * m >= step * 0.999)
        self.high = self.low + self.step * math.ceil((max(values) - self.low) / self.step - 1e-9)

    def place(self, value):
        return (value - self.low) / (self.high - self.low)

    def ticks(self):
        n = round((self.high - self.low) / self.step)
        return [self.low + i * self.step for i in range(n + 1)]


class Log:
    """An axis on which equal factors are equal distances. Base 10 has ticks at 1, 2 and 5 if
    there are few decades; `reverse` puts the largest value first."""

    def __init__(self, base=10, text="{:g}".format, reverse=False):
        self.base, self.text, self.reverse = base, text, reverse
        self.low = self.high = 1

    def fit(self, values):
        steps = self._steps(values)
        self.low = max((s for s in steps if s <= min(values) * 1.0001), default=min(values))
        self.high = min((s for s in steps if s >= max(values) * 0.9999), default=max(values))
        if self.high <= self.low:
            self.high = self.low * self.base

    def _steps(self, values):
        first = math.floor(math.log(min(values), self.base) - 1e-9)
        last = math.ceil(math.log(max(values), self.base) + 1e-9)
        parts = (1, 2, 5) if self.base == 10 and last - first <= 4 else (1,)
        return [p * float(self.base) ** e for e in range(first, last + 1) for p in parts]

    def place(self, value):
        part = math.log(value / self.low) / math.log(self.high / self.low)
        return 1 - part if self.reverse else part

    def ticks(self):
        inside = [s for s in self._steps([self.low, self.high])
                  if self.low * 0.9999 <= s <= self.high * 1.0001]
        return inside[::(len(inside) - 1) // 12 + 1]


def _polygon(x, y, corners):
    return " ".join(f"{x + MARK * dx:.2f},{y + MARK * dy:.2f}" for dx, dy in corners)


SHAPES = [
    None,  # a circle
    [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
    [(0, -1.2), (1.1, 0.8), (-1.1, 0.8)],
    [(0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)],
    [(0, 1.2), (1.1, -0.8), (-1.1, -0.8)],
    [(-0.4, -1.2), (0.4, -1.2), (0.4, -0.4), (1.2, -0.4), (1.2, 0.4), (0.4, 0.4),
     (0.4, 1.2), (-0.4, 1.2), (-0.4, 0.4), (-1.2, 0.4), (-1.2, -0.4), (-0.4, -0.4)],
    [(1.2, 0), (-0.8, 1.1), (-0.8, -1.1)],
    [(-1.2, 0), (0.8, 1.1), (0.8, -1.1)],
]


def _mark(x, y, number, tip="", hollow=False):
    shape = SHAPES[number % len(SHAPES)]
    colour = f"var(--c{number % len(LIGHT)})"
    style = (f'class="mark" style="fill: var(--paper); stroke: {colour}"' if hollow
             else f'class="mark" style="fill: {colour}"')
    inside = f"<title>{escape(tip)}</title>" if tip else ""
    if shape is None:
        return f'<circle cx="{x:.2f}" cy="{y:.2f}" r="{MARK}" {style}>{inside}</circle>'
    return f'<polygon points="{_polygon(x, y, shape)}" {style}>{inside}</polygon>'


def _head(title, subtitle):
    light, dark = (" ".join(f"--c{i}: {c};" for i, c in enumerate(table))
                   for table in (LIGHT, DARK))
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>{STYLE % (light, dark)}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>',
        f'<text class="title" x="16" y="26">{escape(title)}</text>',
        f'<text x="16" y="46">{escape(subtitle)}</text>',
    ]


class Figure:
    """A plot of several named series of (x, y)."""

    def __init__(self, title, x_label, y_label, *, x=None, y=None, subtitle=""):
        self.title, self.subtitle = title, subtitle
        self.x_label, self.y_label = x_label, y_label
        self.x, self.y = x or Linear(), y or Linear()
        self.series = []

    def add(self, name, points, paper=False):
        """The order of series chooses their colours and marks. A paper's values have the colour
        of the series before them if that has the same name."""
        same = [i for i, s in enumerate(self.series) if s[0] == name]
        self.series.append((f"{name}, paper" if paper and same else name, sorted(points), paper,
                            same[0] if same else len(self.series)))

    def _at(self, point):
        x = LEFT + self.x.place(point[0]) * (WIDTH - LEFT - RIGHT)
        y = HEIGHT - BOTTOM - self.y.place(point[1]) * (HEIGHT - TOP - BOTTOM)
        return x, y

    def _axes(self):
        right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
        for tick in self.y.ticks():
            y = self._at((self.x.low, tick))[1]
            yield f'<line class="grid" x1="{LEFT}" y1="{y:.2f}" x2="{right}" y2="{y:.2f}"/>'
            yield (f'<text x="{LEFT - 10}" y="{y + 4:.2f}" text-anchor="end">'
                   f'{escape(self.y.text(tick))}</text>')
        for tick in self.x.ticks():
            x = self._at((tick, self.y.low))[0]
            yield f'<line class="axis" x1="{x:.2f}" y1="{bottom}" x2="{x:.2f}" y2="{bottom + 5}"/>'
            yield (f'<text x="{x:.2f}" y="{bottom + LINE}" text-anchor="middle">'
                   f'{escape(self.x.text(tick))}</text>')
        yield f'<line class="axis" x1="{LEFT}" y1="{bottom}" x2="{right}" y2="{bottom}"/>'
        yield (f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 14}" text-anchor="middle">'
               f'{escape(self.x_label)}</text>')
        yield (f'<text transform="translate(20 {(TOP + bottom) / 2}) rotate(-90)" '
               f'text-anchor="middle">{escape(self.y_label)}</text>')

    def _lines(self):
        for name, points, paper, number in self.series:
            path = " ".join(f"{x:.2f},{y:.2f}" for x, y in map(self._at, points))
            kind = "line quoted" if paper else "line"
            yield (f'<polyline class="{kind}" style="stroke: var(--c{number % len(LIGHT)})" '
                   f'points="{path}"/>')
            for point in points if len(points) <= MARKED else []:
                tip = f"{name}: {self.x.text(point[0])}, {self.y.text(point[1])}"
                yield _mark(*self._at(point), number, tip, paper)

    def _legend(self):
        """Names in the order in which the lines end, the highest first."""
        last = max if not getattr(self.x, "reverse", False) else min
        order = sorted(range(len(self.series)), reverse=True,
                       key=lambda i: last(self.series[i][1])[1])
        for row, place in enumerate(order):
            name, _, paper, number = self.series[place]
            x, y = WIDTH - RIGHT + 32, TOP + 10 + row * (LINE + 2)
            kind = "line quoted" if paper else "line"
            yield (f'<line class="{kind}" style="stroke: var(--c{number % len(LIGHT)})" '
                   f'x1="{x - 14}" y1="{y}" x2="{x + 14}" y2="{y}"/>')
            yield _mark(x, y, number, hollow=paper)
            yield (f'<text class="name" x="{x + 22}" y="{y + 4}">{escape(name)}</text>')

    def svg(self):
        self.x.fit([x for _, points, _, _ in self.series for x, _ in points])
        self.y.fit([y for _, points, _, _ in self.series for _, y in points])
        parts = [
            *_head(self.title, self.subtitle),
            *self._axes(), *self._lines(), *self._legend(),
            "</svg>",
        ]
        return "\n".join(parts) + "\n"

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg())


class Bars:
    """Groups of bars: one bar of each series in every group, with error bars."""

    def __init__(self, title, y_label, *, y=None, subtitle=""):
        self.title, self.subtitle, self.y_label = title, subtitle, y_label
        self.y = y or Linear()
        self.bars = {}    # by series and group
        self.quoted = {}  # of the paper, likewise

    def add(self, series, group, value, error=0):
        """Series and groups are shown in the order in which they first came."""
        self.bars[series, group] = (value, error)

    def quote(self, series, group, value):
        """A value of the paper: a broken line over the bar."""
        self.quoted[series, group] = value

    def _y(self, value):
        return HEIGHT - BOTTOM - self.y.place(value) * (HEIGHT - TOP - BOTTOM)

    def _axes(self, groups, width):
        right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
        for tick in self.y.ticks():
            y = self._y(tick)
            yield f'<line class="grid" x1="{LEFT}" y1="{y:.2f}" x2="{right}" y2="{y:.2f}"/>'
            yield (f'<text x="{LEFT - 10}" y="{y + 4:.2f}" text-anchor="end">'
                   f'{escape(self.y.text(tick))}</text>')
        for i, group in enumerate(groups):
            if i % (len(groups) // LABELS + 1) != 0:
                continue  # their names would overlap
            yield (f'<text x="{LEFT + (i + 0.5) * width:.2f}" y="{bottom + LINE}" '
                   f'text-anchor="middle">{escape(group)}</text>')
        yield f'<line class="axis" x1="{LEFT}" y1="{bottom}" x2="{right}" y2="{bottom}"/>'
        yield (f'<text transform="translate(20 {(TOP + bottom) / 2}) rotate(-90)" '
               f'text-anchor="middle">{escape(self.y_label)}</text>')

    def _bar(self, x, width, number, value, error):
        top, bottom = self._y(value), self._y(self.y.low)
        yield (f'<rect x="{x:.2f}" y="{top:.2f}" width="{width:.2f}" height="{bottom - top:.2f}" '
               f'style="fill: var(--c{number % len(LIGHT)})"><title>{value:g}</title></rect>')
        if error > 0:
            low, high = self._y(max(value - error, self.y.low)), self._y(value + error)
            middle = x + width / 2
            yield (f'<path class="error" d="M{middle:.2f} {low:.2f}V{high:.2f}'
                   f'M{middle - 5:.2f} {low:.2f}h10M{middle - 5:.2f} {high:.2f}h10"/>')

    def svg(self):
        series, groups = ([*dict.fromkeys(key[i] for key in self.bars)] for i in (0, 1))
        self.y.fit([value + error for value, error in self.bars.values()]
                   + list(self.quoted.values()))
        wide = (WIDTH - LEFT - RIGHT) / len(groups)
        thin = 0.7 * wide / len(series)
        parts = [*_head(self.title, self.subtitle), *self._axes(groups, wide)]
        for (name, group), (value, error) in self.bars.items():
            number = series.index(name)
            x = LEFT + (groups.index(group) + 0.15) * wide + number * thin
            parts += self._bar(x, thin - 3, number, value, error)
            if (name, group) in self.quoted:
                y = self._y(self.quoted[name, group])
                parts.append(f'<path class="error quoted" d="M{x - 4:.2f} {y:.2f}h{thin + 5:.2f}"/>')
        for number, name in enumerate(series):
            x, y = WIDTH - RIGHT + 20, TOP + 10 + number * (LINE + 2)
            parts.append(f'<rect x="{x}" y="{y - 6}" width="12" height="12" '
                         f'style="fill: var(--c{number % len(LIGHT)})"/>')
            parts.append(f'<text class="name" x="{x + 20}" y="{y + 4}">{escape(name)}</text>')
        if self.quoted:
            y = TOP + 10 + len(series) * (LINE + 2)
            parts.append(f'<path class="error quoted" d="M{x - 4} {y}h20"/>'
                         f'<text class="name" x="{x + 20}" y="{y + 4}">paper</text>')
        return "\n".join([*parts, "</svg>"]) + "\n"

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg())


class Timeline:
    """What ranks do over time: a row of spans for each, and arrows for messages."""

    def __init__(self, title, x_label, names, *, x=None, subtitle=""):
        self.title, self.subtitle, self.x_label, self.names = title, subtitle, x_label, names
        self.x = x or Linear()
        self.spans, self.arrows = [], []

    def add(self, row, kind, begin, end):
        """Kinds get their colours in the order in which they first came."""
        self.spans.append((row, kind, begin, end))

    def arrow(self, row, begin, to_row, end):
        self.arrows.append((row, begin, to_row, end))

    def _x(self, value):
        return LEFT + self.x.place(value) * (WIDTH - LEFT - RIGHT)

    def _y(self, row):
        return TOP + (row + 0.5) * (HEIGHT - TOP - BOTTOM) / len(self.names)

    def _axes(self):
        right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
        for row, name in enumerate(self.names):
            y = self._y(row)
            yield f'<line class="grid" x1="{LEFT}" y1="{y:.2f}" x2="{right}" y2="{y:.2f}"/>'
            yield f'<text x="{LEFT - 8}" y="{y + 4:.2f}" text-anchor="end">{escape(name)}</text>'
        for tick in self.x.ticks():
            x = self._x(tick)
            yield f'<line class="axis" x1="{x:.2f}" y1="{bottom}" x2="{x:.2f}" y2="{bottom + 5}"/>'
            yield (f'<text x="{x:.2f}" y="{bottom + LINE}" text-anchor="middle">'
                   f'{escape(self.x.text(tick))}</text>')
        yield f'<line class="axis" x1="{LEFT}" y1="{bottom}" x2="{right}" y2="{bottom}"/>'
        yield (f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 14}" text-anchor="middle">'
               f'{escape(self.x_label)}</text>')

    def svg(self):
        self.x.fit([end for *_, end in self.spans])
        kinds = [*dict.fromkeys(kind for _, kind, _, _ in self.spans)]
        thick = min(22, 0.7 * (HEIGHT - TOP - BOTTOM) / len(self.names))
        parts = [*_head(self.title, self.subtitle), *self._axes()]
        for row, kind, begin, end in self.spans:
            x = self._x(begin)
            parts.append(f'<rect x="{x:.2f}" y="{self._y(row) - thick / 2:.2f}" '
                         f'width="{max(self._x(end) - x, 0.4):.2f}" height="{thick:.2f}" '
                         f'style="fill: var(--c{kinds.index(kind) % len(LIGHT)})"/>')
        for row, begin, to_row, end in self.arrows:
            parts.append(f'<line class="arrow" x1="{self._x(begin):.2f}" y1="{self._y(row):.2f}" '
                         f'x2="{self._x(end):.2f}" y2="{self._y(to_row):.2f}"/>')
        for number, kind in enumerate(kinds):
            x, y = WIDTH - RIGHT + 20, TOP + 10 + number * (LINE + 2)
            parts.append(f'<rect x="{x}" y="{y - 6}" width="12" height="12" '
                         f'style="fill: var(--c{number % len(LIGHT)})"/>'
                         f'<text class="name" x="{x + 20}" y="{y + 4}">{escape(kind)}</text>')
        return "\n".join([*parts, "</svg>"]) + "\n"

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg())
