/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_VRANK_PROGRAM_SOURCE_H
#define WF_VRANK_PROGRAM_SOURCE_H

/*
 * A running program as an op source. Each rank is a user-level thread that runs when the
 * simulation asks for its next op and there is none: until it makes a call whose answer the
 * simulation has to give, or has got far ahead.
 */

#include "mpilib/port.h"
#include "ops/live.h"

/* How the clock of a rank advances while its program computes. */
enum wf_vr_compute {
    WF_COMPUTE_MEASURED, /* by the processor time it takes */
    WF_COMPUTE_MODEL,    /* by what the program says (weft/mark.h) */
    WF_COMPUTE_NONE,     /* not at all */
    WF_COMPUTE_COUNTED,  /* by the instructions it takes */
};

/* What a rank takes at least while it waits: a page of its stack, and what is kept of it here
 * and in the library. Its variables, memory and messages come on top. Measured. */
enum { WF_LIVE_RANK_BYTES = 6000 };

struct wf_live_config {
    char **argv; /* null-terminated; argv[0] is the path of the program. Taken if it succeeds:
                    one piece of memory */
    uint32_t n_ranks;
    size_t stack_bytes;
    enum wf_vr_compute compute;
    double rate;     /* instructions in a second, if they are counted */
    bool labels;     /* lines that ranks write to stdout begin with their number */
    bool no_payload; /* large data need not arrive */
    bool check;      /* whether data changes on its way */
    uint32_t copies; /* of the program's own data: threads of the simulation */
};

/* Loads the program and prepares its ranks; nothing of it runs yet. WF_EINVAL if it cannot be
 * loaded or was not built with weftcc. The caller owns *out. */
WF_NODISCARD
enum wf_status wf_live_new(const struct wf_live_config *config, struct wf_source **out,
                           struct wf_err *err);

/* How a rank ended, if one ended the whole run: by MPI_Abort, exit() or a signal. */
#define WF_LIVE_NOBODY UINT32_MAX
struct wf_live_end {
    bool ended;
    uint32_t rank; /* WF_LIVE_NOBODY: memory was short */
    int code;
    int64_t clock; /* picoseconds, when it was last known */
};
struct wf_live_end wf_live_end(const struct wf_source *source);

/* The communicator that the rank has made of its last answer, as its ops call it; WF_COMM_WORLD
 * if it has made none. */
uint32_t wf_live_made(const struct wf_source *source, uint32_t rank);

#endif
