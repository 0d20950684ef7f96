/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Signals while programs run: a crash of a rank is described and reported, and a rank that
 * computes can be left when the run is to end. Signal handlers belong to the process: programs of one run
 * share them, and one run takes place at a time.
 */

#include "mpi/vrank/stacks.h"
#include "program/ops/live.h"

#include <stdint.h>

struct wf_vrank_crash_watch {
    const struct wf_vrank_stacks *stacks;
    /* The next ones are called in a signal handler, in the thread that got the signal. */
    /* Whether the rank that was running belongs to this program; false if none was. */
    bool (*runs)(void *arg);
    /* Sets rank, clock, call, in_call and program of the rank that was running. */
    void (*who)(struct wf_live_crash *crash);
    /* The number of that rank's stack. */
    uint32_t (*stack)(void);
    /* Repairs a fault at this address. False if it cannot be repaired. */
    bool (*repair)(void *arg, const void *address);
    /* The place of this instruction in the file of the program; 0 if it is not in it. */
    uintptr_t (*place)(void *arg, const void *instruction);
    /* Leaves the rank, which was executing code of the program, for ever. Returns only if it
     * cannot be left. */
    void (*leave)(void *arg);
    /* The rank that was running has crashed, and nobody reports crashes: weft is a library of a process that
     * must go on. Leaves the rank for ever, and ends the run with words. Returns only if it cannot. */
    void (*lose)(void *arg, const struct wf_live_crash *crash);
    /* The rank executes code of the program, and has used the processor for a tick
     * (mpi/vrank/ticks.h). */
    void (*tick)(void *arg);
    void *arg;
    struct wf_vrank_crash_watch *next; /* of another program; set by wf_vrank_crash_watch() */
};

/* Installs the signal handlers if this is the first program. Keeps `watch` until wf_vrank_crash_ignore(), which is
 * called by the same thread when no rank runs any more. After the last one, handlers, timers, and the signal mask and
 * stack for handlers of this thread are what they were before. */
void wf_vrank_crash_watch(struct wf_vrank_crash_watch *watch);
void wf_vrank_crash_ignore(
    const struct wf_vrank_crash_watch *watch); /* one that does not watch is allowed */

/* This process is a child that a rank has created: signals end it as any process. */
void wf_vrank_crash_in_child(void);

/* Gives this thread a stack for its signal handlers. Called before it runs ranks. */
void wf_vrank_crash_prepare_thread(void);

/* From now on crashes are reported by this function, which does not return. It is called in a
 * signal handler. Null: a line and a backtrace are printed, and the process exits with code
 * 4. */
void wf_vrank_crash_report_by(void (*function)(const struct wf_live_crash *crash));

/* Leaves all ranks that execute code of the program right now; those in other code are to be
 * left by a later call. Called by a thread that runs no ranks. */
void wf_vrank_crash_leave(void);

/* Reports that a thread that is no rank did what weft does not allow, and ends the process. */
_Noreturn void wf_vrank_crash_refuse(const char *why);

/* Reports that a rank's stack has overflowed, and ends the process. */
_Noreturn void wf_vrank_crash_overflow(const struct wf_live_crash *crash);
