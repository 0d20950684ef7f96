# SPDX-License-Identifier: Apache-2.0
"""weft from Python: predict how an MPI application runs on a machine you do not have.

    import weft

    result = weft.run("gen:stencil3d", ranks=64, machine="frontier", record=True)
    result.seconds             # the predicted time
    result.ranks()             # a pandas frame: where the time of each rank goes
    result                     # in Jupyter: a small table; save() links the report there
    result.plot()              # where the time goes, as SVG
    weft.sweep("gen:stencil3d", {"ranks": [64, 512], "net.L": ["1us", "2us"]})

Uses the library libweft through ctypes: nothing is compiled. pandas is needed by the methods that
return frames, and by nothing else.
"""
from weft._library import Error, Interrupted, load_plugin, version
from weft._result import Result
from weft._run import Scenario, run
from weft._sweep import study, sweep

__version__ = version()
__all__ = ["Error", "Interrupted", "Result", "Scenario", "load_plugin", "run", "study", "sweep", "version"]
