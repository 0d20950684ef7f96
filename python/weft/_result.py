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


def frame(rows, columns):
    try:
        import pandas
    except ImportError:
        raise ImportError("frames need pandas (python3-pandas); the same numbers are in "
                          "result.document") from None
    return pandas.DataFrame(rows, columns=columns)


class Result:
    """What weft found out. `document` is the result document as a dictionary
    (docs/reference/result-document.md). Times in frames are seconds."""

    def __init__(self, handle):
        self._handle = handle
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
                 "core_wait")
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

    def page(self) -> str:
        """The report as HTML."""
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "report.html")
            self.save(path)
            with open(path, encoding="utf-8") as file:
                return file.read()

    def _repr_html_(self):
        return (f'<iframe srcdoc="{html.escape(self.page(), quote=True)}" width="100%" '
                'height="800" style="border:0"></iframe>')

    def __repr__(self):
        time, own = self.seconds, self.document.get("result", {})
        if time is not None:
            return f"<weft.Result: {time:.6g} s>"
        if own.get("accepted_load") is not None:
            return (f"<weft.Result: accepts {own['accepted_load']:.4g} of {own['offered_load']:.4g} "
                    "phits per node and cycle>")
        return f"<weft.Result: {own.get('status', 'no result')}>"
