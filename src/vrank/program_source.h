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
enum wf_vrank_compute {
    WF_VRANK_COMPUTE_MEASURED, /* by the processor time it takes */
    WF_VRANK_COMPUTE_MODEL,    /* by what the program says (weft/mark.h) */
    WF_VRANK_COMPUTE_NONE,     /* not at all */
    WF_VRANK_COMPUTE_COUNTED,  /* by the instructions it takes */
};

/* What a rank takes at least while it waits: a page of its stack, and what is kept of it here
 * and in the library. Its variables, memory and messages come on top. Measured. */
enum { WF_VRANK_BYTES_PER_RANK = 6000 };

struct wf_vrank_config {
    char **argv; /* null-terminated; argv[0] is the path of the program. Taken if it succeeds:
                    one piece of memory */
    uint32_t n_ranks;
    size_t stack_bytes;
    enum wf_vrank_compute compute;
    double rate;     /* instructions in a second, if they are counted */
    bool labels;     /* lines that ranks write to stdout begin with their number */
    bool no_payload; /* large data need not arrive */
    bool check;      /* whether data changes on its way */
    uint32_t copies; /* of the program's own data: threads of the simulation */
};

/* Loads the program and prepares its ranks; nothing of it runs yet. WF_EINVAL if it cannot be
 * loaded or was not built with weftcc. The caller owns *out. */
WF_NODISCARD
enum wf_status wf_vrank_source_new(const struct wf_vrank_config *config, struct wf_source **out,
                                   struct wf_err *err);

/* How a rank ended, if one ended the whole run: by MPI_Abort, exit() or a signal. */
#define WF_VRANK_END_NO_RANK UINT32_MAX
struct wf_vrank_end {
    bool ended;
    uint32_t rank; /* WF_VRANK_END_NO_RANK: memory was short */
    int code;
    int64_t clock; /* picoseconds, when it was last known */
};
struct wf_vrank_end wf_vrank_end(const struct wf_source *source);

/* The communicator that the rank has made of its last answer, as its ops call it; WF_COMM_WORLD
 * if it has made none. */
uint32_t wf_vrank_created_comm(const struct wf_source *source, uint32_t rank);

#endif
