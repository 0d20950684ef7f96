/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The simulated time of a rank, for MPI_Wtime() and for the clocks of the C library. */

#include "mpilib/library.h"

/* The time in picoseconds. Returns when everything that the rank has done before is complete. */
int64_t wl_clock_now(struct wl_rank *rank);
