/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The simulated time of a rank, for MPI_Wtime() and for the clocks of the C library. */

#include "mpilib/library.h"

/* The time in picoseconds. Returns when everything that the rank has done before is complete. */
int64_t wl_clock_now(struct wl_rank *rank);

/* How many picoseconds the next reading of the clock takes, after rank->same_times readings
 * without anything else in between. A program that polls the clock until a certain time would
 * never end if computing took no time. So after a thousand readings each further one takes some:
 * 1 us at first, then more, but never more than a thousandth of the time polled so far. It stays 1 us
 * if the program looks for messages meanwhile, which it would notice late. */
int64_t wl_clock_pause(const struct wl_rank *rank);

/* The rank waits for so many picoseconds. Its other threads go on. */
void wl_clock_wait(struct wl_rank *rank, int64_t picoseconds);
