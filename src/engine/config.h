/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* How a run is scheduled. Only `seed` and `end` change results. */

#include "base/param.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

enum wf_scheduler {
    WF_SEQUENTIAL,
    WF_CONSERVATIVE,
    WF_OPTIMISTIC,
    WF_CHECK_UNDO, /* sequential; every event forward, back, compared, forward */
    WF_PERTURB,    /* optimistic with injected rollbacks, delays and reorderings */
    WF_AUTO,       /* sequential on one thread, conservative on several */
};

enum wf_partition {
    WF_PARTITION_BLOCK,
    WF_PARTITION_CYCLIC,
    WF_PARTITION_SPREAD, /* single processes in turn, or stretches of 8 or 32 */
    WF_PARTITION_SPREAD_8,
    WF_PARTITION_SPREAD_32,
    WF_PARTITION_AUTO, /* blocks, or spread if a trial shows that it is better */
};

enum { WF_STOP_SOON = 1, WF_STOP_NOW = 2 };

struct wf_progress {
    int64_t time; /* committed simulated time */
    uint64_t events;
    uint64_t rolled_back;
    const void *tally; /* of the reporting thread, so far; null if the model has none */
    uint64_t n_shares; /* the number of threads that have about as much in their tallies */
};

struct wf_engine_config {
    int scheduler; /* enum wf_scheduler */
    uint64_t threads;
    uint64_t seed;
    int64_t end; /* events at or after this time are dropped; 0 is no end */

    /* The optimistic scheduler. */
    uint64_t batch;        /* events between two looks at the incoming queue */
    uint64_t gvt_interval; /* batches between two GVT rounds; 0 adapts it */
    uint64_t lps_per_kp;   /* processes that roll back together */
    int64_t leash;         /* how far past GVT to run; 0 adapts it */
    uint64_t memory;       /* bytes of undo log per thread */
    bool safe;             /* events that nothing can precede any more are not logged */
    uint64_t perturb_seed;

    int partition; /* enum wf_partition */
    bool pin;      /* threads to cores */
    bool fit;      /* use no more threads than are worth it */
    /* One thread executes so many events first, which show what more are worth: engine/sched/trial.c. 0:
     * a usual number with `fit`, else none. */
    uint64_t trial;
    /* Whether processes may be moved to other threads after a trial: nothing but the engine relies on
     * all events of a process being executed by one thread. */
    bool moves;

    bool forecast; /* what a run on one thread would take on several is counted */

    /* Asks a running engine to stop, if it is not 0; polled. May be null. With WF_STOP_SOON the
     * engine stops between two windows: it has executed all events up to its time. With
     * WF_STOP_NOW it need not have. */
    const volatile sig_atomic_t *stop;
    /* Called by one thread of each process when it begins to handle events, and when it ends
     * to: meanwhile `stop` is polled. May be null. */
    void (*running)(void *arg, bool running);
    void *running_arg;
    /* Called now and then from one thread of process 0. May be null. */
    void (*progress)(void *arg, const struct wf_progress *progress);
    void *progress_arg;
};

/* The settings of engine/params.def, a table over struct wf_engine_config. */
extern const struct wf_param wf_engine_params[];

/* The names of enum wf_scheduler and enum wf_partition, null-terminated. */
extern const char *const wf_scheduler_names[];
extern const char *const wf_engine_partition_names[];
