/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Reports a crash of the program: the rank, the simulated time, and a backtrace; then ends the
 * process. Signal handlers belong to the process, so that there is one watch at a time.
 */

#include "vrank/stacks.h"

#include <stdint.h>

struct wf_vrank_crash_watch {
    const struct wf_vrank_stacks *stacks;
    /* Called in a signal handler, in the thread that crashed: the rank that was running, and
     * its time in picoseconds. False if none was. */
    bool (*who)(uint32_t *rank, int64_t *clock);
    /* Likewise: repairs a fault at this address. False if it cannot be repaired. */
    bool (*repair)(void *arg, const void *address);
    void *arg;
};

/* Installs the signal handlers, until wf_vrank_crash_ignore(). Keeps `watch`. */
void wf_vrank_crash_watch(const struct wf_vrank_crash_watch *watch);
void wf_vrank_crash_ignore(void);

/* Gives this thread a stack for its signal handlers. Called before it runs ranks. */
void wf_vrank_crash_prepare_thread(void);

/* Reports that a rank's stack has overflowed, and ends the process with exit code 4. */
_Noreturn void wf_vrank_crash_overflow(uint32_t rank, int64_t clock);
