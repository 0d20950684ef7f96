/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a rank is not the end of the process: weftcc has the program call these in place
 * of exit() and its like. And the end that a function that is missing comes to. */
#include "mpilib/bindings/fortran_calls.h"
#include "mpilib/bindings/missing.h"
#include "mpilib/library.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

_Noreturn void __wrap_exit(int code);
_Noreturn void __wrap__exit(int code);
_Noreturn void __wrap__Exit(int code);
_Noreturn void __wrap_abort(void);

_Noreturn static void end(int code, bool all)
{
    struct wl_rank *rank = wl_enter();

    weft_mpi_library.rank_ends(rank->self);
    (void)fflush(stdout);
    wl.port->exit(rank->self, code, all);
    _exit(code);
}

_Noreturn void __wrap_exit(int code)
{
    end(code, code != 0);
}

_Noreturn void __wrap__exit(int code)
{
    end(code, code != 0);
}

_Noreturn void __wrap__Exit(int code)
{
    end(code, code != 0);
}

_Noreturn void __wrap_abort(void)
{
    const struct wl_rank *rank = wl_enter();

    (void)fprintf(stderr, "weft: rank %u: the program has called abort()\n", rank->self->rank);
    end(134, true);
}

void weft_mpi_at_end(void (*function)(void))
{
    struct wl_rank *rank = wl_enter();

    rank->at_end = function;
    wl_leave(rank);
}

_Noreturn void wl_missing(const char *function)
{
    wl_fatal(wl_enter(), function, "weft does not have this function yet");
}
