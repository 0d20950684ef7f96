/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The simulated time of a rank, for MPI_Wtime() and for the clocks of the C library. */

#include "mpi/lib/library.h"

/* The time in picoseconds. Returns when everything that the rank has done before is complete. */
int64_t wl_clock_now(struct wl_rank *rank);

/* How many picoseconds the next reading of the clock takes, after rank->same_times readings
 * without anything else in between. A program that polls the clock until a certain time would
 * never end if computing took no time, and hardly ever if it is measured. So after a thousand readings,
 * or a hundred thousand if computing is measured, each further one takes some: 1 us at first, then more,
 * but never more than a thousandth of the time polled so far. It stays 1 us if the program looks for
 * messages meanwhile, which it would notice late. */
int64_t wl_clock_pause(const struct wl_rank *rank);

/* How many readings there are in a row with the next one, after `readings` of them and so many
 * picoseconds of computing. */
uint32_t wl_clock_count(uint32_t readings, int64_t computed);

/* The next reading is at this place in the program. One that reads the clock at two places measures
 * something, and does not poll. */
void wl_clock_read_from(struct wl_rank *rank, const void *site);

/* The rank waits for so many picoseconds. Its other threads go on. */
void wl_clock_wait(struct wl_rank *rank, int64_t picoseconds);
