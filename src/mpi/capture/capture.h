/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* clang-format off */
/*
 * The library that is preloaded into a running MPI program and records its calls.
 *
 * It never changes what the program does: any failure here ends the recording with one line on
 * stderr. So it allocates with malloc(), checks the result, and uses nothing of base/mem.h.
 * Every wrapper, which generate.py writes, is
 *
 *     wf_cap_enter()     reads the clocks; false if the call is not recorded: it is made inside
 *                        another call, or the recording is off
 *     hooks before       keep what the call destroys: handles of requests, ignored statuses
 *     the call itself
 *     wf_cap_returned()  records the computing before the call; false if the call failed
 *     hooks after        record the op
 *     wf_cap_leave()     reads the clocks
 *
 * From wf_cap_returned() to wf_cap_leave(), and inside hooks before, a thread is alone. The
 * calls of all threads of a rank form one sequence, in the order in which they return. A thread
 * is alone during a nonblocking send too: otherwise the message could be received, and answered,
 * and the answer be recorded by another thread, before the send is.
 */
/* clang-format on */

#include "mpi/capture/clock.h"
#include "mpi/capture/requests.h"
#include "program/ops/op.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WF_EXPORT __attribute__((visibility("default")))

enum { WF_CALL_SMALL = 16 }; /* requests of a call that need no allocation */

/* The state of a thread between its calls. */
struct wf_cap_thread {
    struct wf_cap_clock clock;
    uint32_t depth; /* 1 inside a call */
    uint32_t n_calls;
};

/* The state of a call. */
struct wf_cap_call {
    uint64_t entered;
    int64_t gap;                        /* nanoseconds of computing before */
    uint64_t counters[WF_COUNTERS_MAX]; /* ...and what was counted */
    uint32_t disturbances;              /* ...and what the operating system did */
    const void *site;                   /* where the program made the call... */
    uint32_t place;                     /* ...as in struct wf_op */
    bool is_measured;     /* whether its recording is timed (mpi/capture/cost.h)... */
    uint64_t entering;    /* ...before the call, in nanoseconds */
    uint64_t returned;    /* ...and when it returned */
    bool is_alone;        /* no other thread records anything until it ends */
    uint32_t reduction;   /* enum wf_reduction */
    int first_index;      /* of places in sets: 0 in C, 1 in Fortran */
    const MPI_Fint *seen; /* requests as the Fortran program has them, or null */
    uint32_t n;           /* handles that were kept */
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
    bool on;       /* wrappers do their work */
    bool emits;    /* ops are recorded: not outside of a region of interest */
    bool is_dead;  /* the recording has ended */
    bool threaded; /* several threads make calls at once */
    enum wf_cap_clock_choice clock;
    bool keeps_stacks;       /* of the calls, see mpi/capture/stacks.h */
    bool keeps_polls;        /* records every poll, see mpi/capture/ops.h */
    bool waits_for_pcontrol; /* MPI_Pcontrol switches the recording on and off */
    const char *region;      /* regions of this name do; or null */
    uint32_t region_depth;
    uint32_t rank, n_ranks;
    uint64_t began;      /* the clock when the recording began */
    uint64_t left;       /* ...when the last call was recorded */
    uint32_t n_counters; /* hardware counters */
    uint64_t n_open;     /* receives in progress whose source is not known yet */
};

extern struct wf_cap wf_cap;
extern _Thread_local struct wf_cap_thread wf_cap_thread
    __attribute__((tls_model("initial-exec")));

/* Ends the recording with one line on stderr. The file stays readable up to here. */
void wf_cap_give_up(const char *why);

/* Before a call that is not recorded: binds the imports of MPI, if there was none when this
 * library was loaded. */
void wf_cap_need_mpi(void);

void wf_cap_enter_slowly(struct wf_cap_call *call, struct wf_cap_thread *thread);
bool wf_cap_returned(struct wf_cap_call *call, int rc);
void wf_cap_leave(struct wf_cap_call *call);

/* Inlined, so that the return address is the program's. */
__attribute__((always_inline)) static inline bool wf_cap_enter(struct wf_cap_call *call)
{
    struct wf_cap_thread *thread = &wf_cap_thread;

    if (!wf_cap.on || thread->depth != 0) {
        wf_cap_need_mpi();
        return false;
    }
    call->site = __builtin_return_address(0);
    wf_cap_enter_slowly(call, thread);
    return true;
}

/* Memory until wf_cap_leave(). Without memory ends the recording and returns null. */
void *wf_cap_call_memory(struct wf_cap_call *call, size_t bytes);
