# SPDX-License-Identifier: Apache-2.0
"""Line and bar plots as SVG, for the examples: axes, linear and logarithmic scales, points and lines, a
legend, colours for a light and a dark page. Needs nothing but Python.

    figure = Figure("Latency of messages", "ranks", "microseconds", x=Log(2), y=Log())
    figure.add("torus", [(2, 1.0), (4, 1.3), (8, 2.0)])
    figure.write("latency.svg")

    figure = Bars("Time of programs", "seconds")
    figure.add("torus", "stencil", 2.1, error=0.2)
    figure.write("time.svg")
"""
import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 760, 440
LEFT, RIGHT, TOP, BOTTOM = 92, 172, 68, 60
MARK = 4.5  # radius
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


def _mark(x, y, number, tip=""):
    shape = SHAPES[number % len(SHAPES)]
    style = f'class="mark" style="fill: var(--c{number % len(LIGHT)})"'
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

    def add(self, name, points):
        """The order of series chooses their colours and marks."""
        self.series.append((name, sorted(points)))

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
        for number, (name, points) in enumerate(self.series):
            path = " ".join(f"{x:.2f},{y:.2f}" for x, y in map(self._at, points))
            yield (f'<polyline class="line" style="stroke: var(--c{number % len(LIGHT)})" '
                   f'points="{path}"/>')
            for point in points:
                tip = f"{name}: {self.x.text(point[0])}, {self.y.text(point[1])}"
                yield _mark(*self._at(point), number, tip)

    def _legend(self):
        """Names in the order in which the lines end, the highest first."""
        last = max if not getattr(self.x, "reverse", False) else min
        order = sorted(range(len(self.series)), reverse=True,
                       key=lambda i: last(self.series[i][1])[1])
        for row, number in enumerate(order):
            x, y = WIDTH - RIGHT + 32, TOP + 10 + row * (LINE + 2)
            yield (f'<line class="line" style="stroke: var(--c{number % len(LIGHT)})" '
                   f'x1="{x - 14}" y1="{y}" x2="{x + 14}" y2="{y}"/>')
            yield _mark(x, y, number)
            yield (f'<text class="name" x="{x + 22}" y="{y + 4}">'
                   f'{escape(self.series[number][0])}</text>')

    def svg(self):
        self.x.fit([x for _, points in self.series for x, _ in points])
        self.y.fit([y for _, points in self.series for _, y in points])
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
        self.bars = {}  # by series and group

    def add(self, series, group, value, error=0):
        """Series and groups are shown in the order in which they first came."""
        self.bars[series, group] = (value, error)

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
        self.y.fit([value + error for value, error in self.bars.values()])
        wide = (WIDTH - LEFT - RIGHT) / len(groups)
        thin = 0.7 * wide / len(series)
        parts = [*_head(self.title, self.subtitle), *self._axes(groups, wide)]
        for (name, group), (value, error) in self.bars.items():
            number = series.index(name)
            x = LEFT + (groups.index(group) + 0.15) * wide + number * thin
            parts += self._bar(x, thin - 3, number, value, error)
        for number, name in enumerate(series):
            x, y = WIDTH - RIGHT + 20, TOP + 10 + number * (LINE + 2)
            parts.append(f'<rect x="{x}" y="{y - 6}" width="12" height="12" '
                         f'style="fill: var(--c{number % len(LIGHT)})"/>')
            parts.append(f'<text class="name" x="{x + 20}" y="{y + 4}">{escape(name)}</text>')
        return "\n".join([*parts, "</svg>"]) + "\n"

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg())
