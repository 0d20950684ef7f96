# SPDX-License-Identifier: Apache-2.0
"""What tests with many launches of MPI processes share."""
import itertools
import os

# No divisor in common with the lengths of the lists of schedules: each schedule has launches of both kinds.
ONE_IN = 11
_launches = itertools.count()


def environment():
    """The environment of the next launch by mpiexec. How processes on one node talk to each other is
    MPICH's affair. To set up its own shared memory takes it a third of the time of a small run, so that one
    launch in eleven has it, as all have in other tests; in the others MPICH uses UCX, as between nodes. Open MPI ignores the setting."""
    if next(_launches) % ONE_IN == 0:
        return dict(os.environ)
    return {**os.environ, "MPIR_CVAR_NOLOCAL": "1"}
