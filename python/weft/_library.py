# SPDX-License-Identifier: Apache-2.0
"""Finds libweft and describes its functions (include/weft/weft.h) to ctypes."""
import ctypes
import ctypes.util
import glob
import os
import pathlib

OK, PROGRAM_FAILED, INTERRUPTED = 0, 4, 130
TEXT_MAX = 512


class ErrorText(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("text", ctypes.c_char * TEXT_MAX)]


class Options(ctypes.Structure):
    """A struct of options: it begins with its size."""

    def __init__(self, **values):
        super().__init__(size=ctypes.sizeof(self), **values)


class RunOptions(Options):
    _fields_ = [("size", ctypes.c_size_t), ("record", ctypes.c_bool), ("what_if", ctypes.c_bool),
                ("record_limit", ctypes.c_uint64), ("stop", ctypes.POINTER(ctypes.c_int)),
                ("progress", ctypes.c_void_p), ("progress_arg", ctypes.c_void_p)]


class Host(Options):
    _fields_ = [("size", ctypes.c_size_t), ("jobs", ctypes.c_uint32), ("memory", ctypes.c_uint64),
                ("stop", ctypes.POINTER(ctypes.c_int)), ("progress", ctypes.c_void_p),
                ("progress_arg", ctypes.c_void_p)]


class Error(Exception):
    """What weft refuses or cannot do, in its own words. `code` is the exit code of the program:
    2 for a bad setting, 3 for bad input, 4 if the simulated program failed, 5 for a limit."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


class Interrupted(Error, KeyboardInterrupt):
    """A run was interrupted. `result` is partial."""

    def __init__(self, text, result=None):
        super().__init__(INTERRUPTED, text)
        self.result = result


POINTER, TEXT = ctypes.c_void_p, ctypes.c_char_p
FAILURE = ctypes.POINTER(ErrorText)
FUNCTIONS = {
    "weft_version": (TEXT, []),
    "weft_free": (None, [POINTER]),
    "weft_plugin_load": (ctypes.c_int, [TEXT, FAILURE]),
    "weft_scenario_new": (POINTER, []),
    "weft_scenario_free": (None, [POINTER]),
    "weft_scenario_set": (ctypes.c_int, [POINTER, TEXT, TEXT, FAILURE]),
    "weft_scenario_machine": (ctypes.c_int, [POINTER, TEXT, FAILURE]),
    "weft_run_with": (ctypes.c_int, [POINTER, ctypes.POINTER(RunOptions),
                                     ctypes.POINTER(POINTER), FAILURE]),
    "weft_result_predicted_time_ps": (ctypes.c_int64, [POINTER]),
    "weft_result_json": (TEXT, [POINTER]),
    "weft_result_write": (ctypes.c_int, [POINTER, TEXT, ctypes.c_bool, FAILURE]),
    "weft_result_free": (None, [POINTER]),
    "weft_study_read": (ctypes.c_int, [TEXT, ctypes.POINTER(POINTER), FAILURE]),
    "weft_study_run": (ctypes.c_int, [POINTER, TEXT, ctypes.POINTER(Host), FAILURE]),
    "weft_study_csv": (POINTER, [POINTER]),
    "weft_study_free": (None, [POINTER]),
}


def places():
    """Where the library may be, the likeliest place first."""
    if "WEFT_LIBRARY" in os.environ:
        yield os.environ["WEFT_LIBRARY"]
        return
    # An installed package is in <prefix>/share/weft/python/weft, one of the sources beside build/.
    here = pathlib.Path(__file__).resolve().parent
    prefix, source = here.parents[3], here.parents[1]
    if (here / "_install").exists():  # a wheel
        prefix = here / "_install"
    for pattern in ("lib/weft/libweft.so", "lib/*/weft/libweft.so", "lib/libweft.so",
                    "lib/*/libweft.so"):
        yield from sorted(glob.glob(str(prefix / pattern)))
    yield str(source / "build/release/src/libweft.so")
    yield ctypes.util.find_library("weft") or "libweft.so"


def load():
    tried = []
    for place in places():
        try:
            library = ctypes.CDLL(place)
        except OSError as error:
            tried.append(str(error))
            continue
        for name, (returns, takes) in FUNCTIONS.items():
            function = getattr(library, name)
            function.restype, function.argtypes = returns, takes
        return library
    raise ImportError("cannot find the library of weft; install weft, or name the file libweft.so in "
                      "the environment variable WEFT_LIBRARY (" + "; ".join(tried) + ")")


library = load()


def check(code, failure, allowed=(OK,)):
    if code not in allowed:
        raise Error(code, failure.text.decode(errors="replace"))
    return code


def load_plugin(path: "str | os.PathLike[str]") -> None:
    """Loads a plug-in (docs/howto/write-a-plugin.md): scenarios can name what it adds."""
    failure = ErrorText()
    check(library.weft_plugin_load(os.fspath(path).encode(), failure), failure)


def version():
    """The version of the library."""
    return library.weft_version().decode()
