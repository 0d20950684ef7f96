/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_MPILIB_BINDINGS_MISSING_H
#define WF_MPILIB_BINDINGS_MISSING_H

/* What happens when a program calls a function that is not there yet. */

#include <weft/mpi.h>

_Noreturn void wl_missing(const char *function);

#endif
