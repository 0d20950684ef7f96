# SPDX-License-Identifier: Apache-2.0
"""Many points: a study in a file, or settings from Python."""
import concurrent.futures
import ctypes
import io
import itertools
import os
import tempfile
from typing import TYPE_CHECKING, Any, Dict, Optional, Sequence

from weft._library import POINTER, Error, ErrorText, Host, check, library
from weft._result import frame, frames
from weft._run import Scenario

if TYPE_CHECKING:
    import pandas


def sweep(source: str, over: Dict[str, Sequence[Any]], jobs: Optional[int] = None,
          **settings: Any) -> "pandas.DataFrame":
    """Simulates every combination of the values in `over`, a dictionary from a setting to a list
    of values, and returns a frame with a row for each: the settings, `seconds`, `error` (None
    where there is none) and `result`."""
    frames("the results of weft.run")  # before work that would be lost
    base = source if isinstance(source, Scenario) else Scenario(source, **settings)
    names = list(over)
    points = [dict(zip(names, values)) for values in itertools.product(*over.values())]

    def simulate(point):
        try:
            result = base.with_settings(point).run()
        except Error as error:
            return {**point, "seconds": None, "error": str(error), "result": None}
        return {**point, "seconds": result.seconds, "error": None, "result": result}

    with concurrent.futures.ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        rows = list(pool.map(simulate, points))
    return frame(rows, [*names, "seconds", "error", "result"])


def study(path: "str | os.PathLike[str]", directory: "str | os.PathLike[str] | None" = None,
          jobs: int = 0) -> "pandas.DataFrame":
    """Runs a study (docs/reference/studies.md) and returns its table as a frame. The results of
    its points stay in `directory`, where the next call finds them; by default they are not kept."""
    pandas = frames("the table of 'weft sweep'")
    failure, handle = ErrorText(), POINTER()
    check(library.weft_study_read(os.fspath(path).encode(), handle, failure), failure)
    try:
        with tempfile.TemporaryDirectory() as own:
            where = os.path.join(own, "points") if directory is None else os.fspath(directory)
            check(library.weft_study_run(handle, where.encode(), Host(jobs=jobs), failure), failure)
            text = library.weft_study_csv(handle)
            if text is None:
                raise MemoryError("weft: no memory for a table")
            table = ctypes.string_at(text).decode()
            library.weft_free(text)
    finally:
        library.weft_study_free(handle)
    return pandas.read_csv(io.StringIO(table))
