/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_VRANK_CRASH_H
#define WF_VRANK_CRASH_H

/*
 * When the program of a rank crashes there is nothing to go on with, but much to say: which
 * rank it was, at what time, where. Signals are the process's, so that there is one such
 * watch in a process at a time.
 */

#include "vrank/stacks.h"

#include <stdint.h>

struct wf_vrank_crash_watch {
    const struct wf_vrank_stacks *stacks;
    /* In the thread that crashed: whether a rank was running, which one, and its time in
     * picoseconds. Called in a signal handler. */
    bool (*who)(uint32_t *rank, int64_t *clock);
    /* Likewise: whether a fault at this address has been put right, so that it can go on. */
    bool (*repair)(void *arg, const void *address);
    void *arg;
};

/* Watches until wf_vrank_crash_ignore(). `watch` is kept. */
void wf_vrank_crash_watch(const struct wf_vrank_crash_watch *watch);
void wf_vrank_crash_ignore(void);

/* A thread that runs ranks needs a stack for its signal handlers: once in each, before. */
void wf_vrank_crash_prepare_thread(void);

/* Says that a rank has used more stack than it has, and ends the process with exit code 4. */
_Noreturn void wf_vrank_crash_overflow(uint32_t rank, int64_t clock);

#endif
