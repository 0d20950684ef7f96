/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The settings that `weft capture` passes in the environment: WEFT_CAPTURE_DIR and, if given,
 * _CLOCK (cpu, wall, none), _RANKS (0-3,8), _REGION, _PCONTROL (1), _COUNTERS,
 * _COMPARE_CLOCKS (1), _ALL_POLLS (1), _STACKS (1).
 */

#include "mpi/capture/capture.h"

struct wf_cap_settings {
    const char *directory;
    enum wf_cap_clock_choice clock;
    const char *clock_name;
    const char *ranks;  /* or null: all */
    const char *region; /* or null */
    bool waits_for_pcontrol, keeps_polls, keeps_stacks;
    const char *counters; /* not null */
    bool compares_clocks;
};

/* Reads the settings; false if nothing is to be recorded. */
bool wf_cap_settings_read(struct wf_cap_settings *settings);

bool wf_cap_settings_has_rank(const struct wf_cap_settings *settings, uint32_t rank);

/* Begins the recording after MPI_Init; `provided` is the level of thread support. */
void wf_cap_begin(int provided);

/* Ends the recording before MPI_Finalize. */
void wf_cap_end(void);

/* Writes all ops so far before a sudden end. */
void wf_cap_break_off(void);

/* The clock of this rank minus the clock of rank 0, in nanoseconds, and the error bound. All
 * ranks call wf_cap_clock_compare(). */
struct wf_cap_clock_difference {
    int64_t offset;
    uint64_t doubt;
};
void wf_cap_clock_compare(struct wf_cap_clock_difference *out);

/* Records the name of a region. */
void wf_cap_record_region(uint32_t number, const char *name);
