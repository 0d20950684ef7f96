# SPDX-License-Identifier: Apache-2.0
"""The result of a run, as a document, as frames and as a page."""
import html
import json
import os
import re
import tempfile
from typing import TYPE_CHECKING, Any, Dict, List, Optional

from weft._library import ErrorText, check, library

if TYPE_CHECKING:
    import pandas

STATES = {"c": "compute", "o": "overhead", "s": "send wait", "r": "receive wait",
          "k": "collective wait", "w": "core wait", "-": "idle"}
SPAN = re.compile(r"([a-z-])(\d+)")
SECOND = 1e12  # in picoseconds


def frames(instead="result.document"):
    """The package pandas; where the same numbers are without it goes into the error."""
    try:
        import pandas
    except ImportError:
        raise ImportError(f"frames need pandas (python3-pandas); the same numbers are in {instead}") from None
    return pandas


def frame(rows, columns):
    return frames().DataFrame(rows, columns=columns)


class Plot:
    """Stacked bars as SVG, which notebooks show; `bars` are names, each with its parts as fractions of `seconds`."""

    COLOURS = ("#2f6fb3", "#d08a2e", "#b23b3b", "#8a4fb0", "#2c8a63", "#7a7a7a", "#c9ced4")

    def __init__(self, bars, seconds):
        self.svg = self._draw(bars, seconds)

    def _draw(self, bars, seconds):
        left, width, step = 110, 520, max(4, min(22, 900 // len(bars)))
        unit, factor = next(((u, f) for u, f in (("s", 1), ("ms", 1e3), ("us", 1e6)) if seconds * f >= 1), ("ns", 1e9))
        high, out = 30 + step * len(bars), []
        names = [name for name in STATES.values() if any(parts.get(name) for _, parts in bars)]
        colours = dict(zip(STATES.values(), self.COLOURS))
        for i, (bar, parts) in enumerate(bars):
            x, every = left, -(-14 // step)
            if i % every == 0:
                out.append(f'<text x="{left - 8}" y="{30 + step * i + step / 2 + 4:g}" text-anchor="end">{html.escape(bar)}</text>')
            for name in names:
                part = width * parts.get(name, 0)
                out.append(f'<rect x="{x:.1f}" y="{30 + step * i}" width="{part:.1f}" height="{step - 1}" fill="{colours[name]}">'
                           f"<title>{html.escape(bar)}: {name} {100 * parts.get(name, 0):.1f} %</title></rect>")
                x += part
        for i in range(5):
            out.append(f'<text x="{left + width * i / 4:g}" y="{high + 16}" text-anchor="middle">{seconds * factor * i / 4:.4g}{" " + unit if i == 4 else ""}</text>')
        for i, name in enumerate(names):
            out.append(f'<rect x="{left + 105 * i}" y="8" width="10" height="10" fill="{colours[name]}"/>'
                       f'<text x="{left + 105 * i + 14}" y="17">{name}</text>')
        wide = left + max(width, 105 * len(names)) + 50
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high + 24}" font-family="sans-serif" font-size="11">'
                f'<rect width="100%" height="100%" fill="#fff"/>{"".join(out)}</svg>\n')

    def _repr_svg_(self):
        return self.svg

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Writes the SVG."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)


class Result:
    """What weft found out. `document` is the result document as a dictionary
    (docs/reference/result-document.md). Times in frames are seconds."""

    def __init__(self, handle):
        self._handle = handle
        self._saved = None  # the name of the report, once it is written
        self.document: Dict[str, Any] = json.loads(library.weft_result_json(handle).decode())

    def __del__(self):
        if getattr(self, "_handle", None):
            library.weft_result_free(self._handle)
            self._handle = None

    @property
    def predicted_time_ps(self) -> Optional[int]:
        """Picoseconds; None if the program did not complete."""
        time = library.weft_result_predicted_time_ps(self._handle)
        return time if time >= 0 else None

    @property
    def seconds(self) -> Optional[float]:
        time = self.predicted_time_ps
        return None if time is None else time / SECOND

    @property
    def warnings(self) -> List[str]:
        return self.document.get("warnings", [])

    def _recording(self):
        recording = self.document.get("recording")
        if recording is None:
            raise ValueError("the run was not recorded; use record=True")
        return recording

    def ranks(self) -> "pandas.DataFrame":
        """Where the time of each rank, or of each group of ranks, goes."""
        names = ("finish", "compute", "overhead", "send_wait", "receive_wait", "collective_wait",
                 "file_wait", "core_wait")
        rows = self._recording()["rows"]
        names = [name for name in names if any(f"{name}_ps" in row for row in rows)]
        return frame([[row["first_rank"], row["ranks"],
                       *(row.get(f"{name}_ps", 0) / SECOND for name in names)] for row in rows],
                     ["first_rank", "ranks", *names])

    def spans(self) -> "pandas.DataFrame":
        """What each rank does, in order of time."""
        rows = []
        for rank, text in self._spans_by_rank():
            time = 0
            for state, duration in SPAN.findall(text):
                rows.append((rank, STATES[state], time / SECOND, int(duration) / SECOND))
                time += int(duration)
        return frame(rows, ["rank", "state", "start", "duration"])

    def _chosen_ranks(self):
        recording = self._recording()
        words = recording.get("chosen", {}).get("ranks")
        if words is None:
            return range(recording["ranks"])
        chosen = []
        for part in words.split(","):
            first, _, last = part.partition(":")
            chosen += range(int(first), int(last or first) + 1)
        return chosen

    def _spans_by_rank(self):
        spans = self._recording().get("spans")
        if spans is None:
            raise ValueError("more spans than record_limit: only sums were kept")
        return zip(self._chosen_ranks(), spans)

    def messages(self) -> "pandas.DataFrame":
        """Every message: from, to, when it left, how long it took, its size."""
        messages = self._recording().get("messages")
        if messages is None:
            raise ValueError("more messages than record_limit: only sums were kept")
        rows = []
        for rank, text in zip(self._chosen_ranks(), messages):
            time = 0
            for message in filter(None, text.split(";")):
                to, departure, duration, size = map(int, message.split())
                time += departure
                rows.append((rank, to, time / SECOND, duration / SECOND, size))
        return frame(rows, ["from", "to", "departure", "duration", "bytes"])

    def matrix(self) -> "pandas.DataFrame":
        """Bytes from each rank, or group of ranks, (a row) to each (a column)."""
        matrix = self._recording()["matrix"]
        return frame([[int(word) for word in line.split()] for line in matrix["bytes"]], None)

    def links(self) -> "pandas.DataFrame":
        """The links that were used; needs net__stats="links" and a network with links."""
        links = self.document["result"].get("network", {}).get("links")
        if links is None:
            raise ValueError('no links were recorded; use net__stats="links" with the network model '
                             '"packet" or "router"')
        return frame(links, None)

    def save(self, path: "str | os.PathLike[str]", force: bool = False) -> None:
        """Writes a file in the format of its name: .html, .json, .csv, .prv, .otf2, .pftrace."""
        if not force and os.path.exists(path):
            raise FileExistsError(f"{path} exists; force=True replaces it")
        failure = ErrorText()
        check(library.weft_result_write(self._handle, os.fspath(path).encode(), force, failure),
              failure)
        if os.fspath(path).endswith(".html"):
            self._saved = os.fspath(path)

    def page(self) -> str:
        """The report as HTML."""
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "report.html")
            self.save(path)
            with open(path, encoding="utf-8") as file:
                return file.read()

    def _shares(self):
        """Where the time of a rank goes, on average: words and fractions, the largest first."""
        ranks, time = self.document.get("result", {}).get("ranks", {}), self.predicted_time_ps
        named = {word: ranks.get(f"{word.replace(' ', '_')}_ps", {}).get("mean", 0) for word in STATES.values()}
        return sorted(((word, mean / time) for word, mean in named.items() if time and mean), key=lambda one: -one[1])

    def _facts(self):
        """The first lines of the report, as pairs."""
        scenario, own = self.document.get("scenario", {}), self.document.get("result", {})
        low, high = (own.get(f"predicted_time_{end}_ps") for end in ("p05", "p95"))
        yield "result", repr(self)[len("<weft.Result: "):-1]
        if low is not None and high is not None:
            yield "90 % of repeated runs", f"{low / SECOND:.6g} to {high / SECOND:.6g} s"
        yield "program", f"{scenario.get('source', scenario.get('command', ''))}, {scenario.get('ranks', '?')} ranks"
        yield "network", " on ".join(filter(None, (scenario.get("network"), scenario.get("machine") or scenario.get("topology"))))
        if "nodes_used" in own:
            yield "nodes used", str(own["nodes_used"])
        if self._shares():
            yield "time of a rank", ", ".join(f"{word} {100 * share:.1f} %" for word, share in self._shares())
        for warning in self.warnings[:3]:
            yield "warning", warning

    def _repr_html_(self):
        rows = "".join(f"<tr><th style='text-align:left'>{html.escape(name)}</th><td style='text-align:left'>{html.escape(value)}</td></tr>"
                       for name, value in self._facts())
        more = (f'<a href="{html.escape(self._saved, quote=True)}">the report</a>' if self._saved
                else "<code>result.save('run.html')</code> writes the report, and links it here")
        return f"<table>{rows}</table><p>{more}</p>"

    def plot(self) -> "Plot":
        """Where the time goes, a bar for each rank (or group of ranks) of a recorded run, else the mean of all."""
        time = self.predicted_time_ps
        if "accepted_load" in self.document.get("result", {}):
            raise ValueError("synthetic traffic has no ranks whose time could be drawn; 'weft traffic --plot' draws curves")
        if not time:
            raise ValueError("the run did not complete: there is no time to plot")
        if "rows" not in self.document.get("recording", {}):
            return Plot([("all ranks", dict(self._shares()))], time / SECOND)
        bars = []
        for row in self._recording()["rows"]:
            first, last = row["first_rank"], row["first_rank"] + row["ranks"] - 1
            bars.append((f"rank {first}" if first == last else f"ranks {first}-{last}",
                         {word: row.get(f"{word.replace(' ', '_')}_ps", 0) / time for word in STATES.values() if word != "idle"}))
        return Plot(bars, time / SECOND)

    def __repr__(self):
        time, own = self.seconds, self.document.get("result", {})
        if time is not None:
            return f"<weft.Result: {time:.6g} s>"
        if own.get("accepted_load") is not None:
            return (f"<weft.Result: accepts {own['accepted_load']:.4g} of {own['offered_load']:.4g} "
                    "phits per node and cycle>")
        return f"<weft.Result: {own.get('status', 'no result')}>"
