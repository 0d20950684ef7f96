/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_CAPTURE_SETTINGS_H
#define WF_CAPTURE_SETTINGS_H

/*
 * What `weft capture` tells the library, through the environment: WEFT_CAPTURE_DIR and, where
 * they are given, _CLOCK (cpu, wall, none), _RANKS (0-3,8), _REGION, _PCONTROL (1), _COUNTERS,
 * _COMPARE_CLOCKS (1), _ALL_POLLS (1).
 */

#include "capture/capture.h"

struct wf_cap_settings {
    const char *directory;
    enum wf_cap_clock_choice clock;
    const char *clock_name;
    const char *ranks;  /* or null: all */
    const char *region; /* or null */
    bool waits_for_pcontrol, keeps_polls;
    const char *counters; /* not null */
    bool compares_clocks;
};

/* False if nothing is to be recorded. */
bool wf_cap_settings_read(struct wf_cap_settings *settings);

bool wf_cap_settings_has_rank(const struct wf_cap_settings *settings, uint32_t rank);

/* After MPI_Init; `provided` is the level of threads. */
void wf_cap_begin(int provided);

/* Before MPI_Finalize. */
void wf_cap_end(void);

/* Before a sudden end: writes what there is. */
void wf_cap_break_off(void);

/* The clock of this rank minus that of rank 0, in nanoseconds, and how far off that may be.
 * All ranks call it. */
struct wf_cap_clock_difference {
    int64_t offset;
    uint64_t doubt;
};
void wf_cap_clock_compare(struct wf_cap_clock_difference *out);

/* The name of a region, once. */
void wf_cap_record_region(uint32_t number, const char *name);

#endif
