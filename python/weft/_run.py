# SPDX-License-Identifier: Apache-2.0
"""A scenario, and its run."""
import ctypes
import threading
from typing import Any, Dict, Optional

from weft._library import (INTERRUPTED, OK, POINTER, PROGRAM_FAILED, Error, ErrorText, Interrupted,
                           RunOptions, check, library)
from weft._result import Result


def text_of(value):
    """A setting as the command line would have it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


class Scenario:
    """A program, a machine and parameters. Names are those of the command line: "net.L",
    "gen.bytes"; in keyword arguments two underscores stand for the dot (net__L="2us")."""

    def __init__(self, source: str, ranks: Optional[int] = None, machine: Optional[str] = None,
                 network: Optional[str] = None, topology: Optional[str] = None,
                 params: Optional[Dict[str, Any]] = None, **more: Any):
        self.machine = machine
        self.settings = {"source": source, "ranks": ranks, "network": network,
                         "topology": topology, **(params or {}),
                         **{name.replace("__", "."): value for name, value in more.items()}}

    def with_settings(self, settings: Dict[str, Any]) -> "Scenario":
        """A copy with other settings; "machine" is one of them."""
        machine = settings.get("machine", self.machine)
        others = {name: value for name, value in settings.items() if name != "machine"}
        copy = Scenario(self.settings["source"], machine=machine)
        copy.settings = {**self.settings, **others}
        return copy

    def run(self, record: bool = False, what_if: bool = False, record_limit: int = 0) -> Result:
        """Simulates it. A program that fails (by a deadlock, say) raises Error, with the result
        in `error.result`."""
        failure, handle = ErrorText(), library.weft_scenario_new()
        if handle is None:
            raise MemoryError("weft: no memory for a scenario")
        try:
            if self.machine is not None:
                check(library.weft_scenario_machine(handle, str(self.machine).encode(), failure),
                      failure)
            for name, value in self.settings.items():
                if value is not None:
                    check(library.weft_scenario_set(handle, name.encode(),
                                                    text_of(value).encode(), failure), failure)
            return _run(handle, RunOptions(record=record, what_if=what_if,
                                           record_limit=record_limit))
        finally:
            library.weft_scenario_free(handle)

    def __repr__(self):
        settings = {"machine": self.machine, **self.settings}
        words = ", ".join(f"{k}={v!r}" for k, v in settings.items() if v is not None)
        return f"<weft.Scenario {words}>"


def _run(handle, options):
    """Python handles Ctrl-C between its own instructions only, so that the run has a thread of its
    own and this one waits."""
    failure, found, stop, codes = ErrorText(), POINTER(), ctypes.c_int(0), []
    options.stop = ctypes.pointer(stop)
    done = threading.Event()  # an interrupted join() does not wait any more

    def work():
        codes.append(library.weft_run_with(handle, options, found, failure))
        done.set()

    threading.Thread(target=work).start()
    while not done.is_set():
        try:
            done.wait()
        except KeyboardInterrupt:
            stop.value = 1
    result = Result(found.value) if found.value else None
    if codes[0] == OK:
        return result
    text = failure.text.decode(errors="replace")
    if codes[0] == INTERRUPTED:
        raise Interrupted(text, result)
    error = Error(codes[0], text)
    error.result = result if codes[0] == PROGRAM_FAILED else None
    raise error


def run(source: str, ranks: Optional[int] = None, *, record: bool = False, what_if: bool = False,
        record_limit: int = 0, **settings: Any) -> Result:
    """Simulates a program and returns its Result. `source` is a trace or a generator
    ("gen:stencil3d"); the other settings are those of Scenario."""
    return Scenario(source, ranks, **settings).run(record, what_if, record_limit)
