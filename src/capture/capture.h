/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_CAPTURE_CAPTURE_H
#define WF_CAPTURE_CAPTURE_H

/*
 * The library that is preloaded into a running MPI program and records what it calls.
 *
 * It must never change what the program does: whatever goes wrong here turns the recording off
 * with one line on stderr. So it allocates with malloc() and looks at the answer, and calls
 * nothing of base/mem.h. Every wrapper (made by generate.py) is
 *
 *     wf_cap_enter()       clocks; false if this call is none of ours: inside another, or switched
 * off hooks before     what the call is about to forget: handles of requests, what was ignored
 *     the call
 *     wf_cap_returned()    the computing before it is recorded; false if the call failed
 *     hooks after      the op is recorded
 *     wf_cap_leave()       clocks
 *
 * From wf_cap_returned() to wf_cap_leave(), and inside hooks before, a thread is alone. What threads of
 * a rank do is one sequence, in the order in which their calls return.
 */

#include "capture/clock.h"
#include "capture/requests.h"
#include "ops/op.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WF_EXPORT __attribute__((visibility("default")))

enum { WF_CALL_SMALL = 16 }; /* requests of a call without allocation */

/* What a thread remembers between its calls. */
struct wf_cap_thread {
    struct wf_cap_clock clock;
    uint32_t depth; /* of calls in calls */
    uint32_t n_calls;
};

/* What a call remembers. */
struct wf_cap_call {
    uint64_t entered;
    int64_t gap;                        /* nanoseconds of computing before */
    uint64_t counters[WF_COUNTERS_MAX]; /* ...and what was counted */
    bool is_measured;                   /* what recording it takes (capture/cost.h)... */
    uint64_t entering;                  /* ...before the call, in nanoseconds */
    uint64_t returned;                  /* ...and from when on behind it */
    uint32_t reduction;                 /* enum wf_reduction */
    int first_index;                    /* of places in sets: 0 in C, 1 in Fortran */
    const MPI_Fint *seen;               /* requests as the Fortran program has them, or null */
    uint32_t n;                         /* handles that were kept */
    uint64_t *handles;
    MPI_Status *statuses; /* in place of those the program did not want, or null */
    uint32_t n_blocks;
    void *blocks[8]; /* to be freed */
    uint64_t small[WF_CALL_SMALL];
    MPI_Status small_statuses[WF_CALL_SMALL];
    uint32_t used; /* of... */
    _Alignas(16) unsigned char arena[1536];
};

enum wf_cap_clock_choice { WF_CLOCK_CPU, WF_CLOCK_WALL, WF_CLOCK_NONE };

struct wf_cap {
    bool on;       /* calls are looked at */
    bool emits;    /* and recorded: not outside of a region of interest */
    bool is_dead;  /* nothing will be recorded any more */
    bool threaded; /* calls come from several threads at once */
    enum wf_cap_clock_choice clock;
    bool keeps_polls;        /* all of them, see capture/ops.h */
    bool waits_for_pcontrol; /* MPI_Pcontrol switches the recording on and off */
    const char *region;      /* likewise a region of this name; or null */
    uint32_t region_depth;
    uint32_t rank, n_ranks;
    uint64_t began;      /* the clock when the recording began */
    uint64_t left;       /* ...when the last call was recorded */
    uint32_t n_counters; /* hardware counters */
    uint64_t n_open;     /* receives under way whose source is not known yet */
};

extern struct wf_cap wf_cap;
extern _Thread_local struct wf_cap_thread wf_cap_thread
    __attribute__((tls_model("initial-exec")));

/* Ends the recording, with one line on stderr. What was written stays readable. */
void wf_cap_give_up(const char *why);

void wf_cap_enter_slowly(struct wf_cap_call *call, struct wf_cap_thread *thread);
bool wf_cap_returned(struct wf_cap_call *call, int rc);
void wf_cap_leave(struct wf_cap_call *call);

static inline bool wf_cap_enter(struct wf_cap_call *call)
{
    struct wf_cap_thread *thread = &wf_cap_thread;

    if (!wf_cap.on || thread->depth != 0) {
        return false;
    }
    wf_cap_enter_slowly(call, thread);
    return true;
}

/* Memory until the call is left; null, and the recording ended, if there is none. */
void *wf_cap_call_memory(struct wf_cap_call *call, size_t bytes);

#endif
