/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A running program as a source of ops. Each rank is a user-level thread. It runs when the
 * simulation asks for an op that it has not produced yet, and stops when it makes a call whose
 * answer the simulation has to give, or when it is far ahead.
 */

#include "mpi/port.h"
#include "program/ops/live.h"

/* How the clock of a rank advances while its program computes: weft run --compute. */
enum wf_vrank_compute {
    WF_VRANK_COMPUTE_MEASURED, /* by the processor time it takes */
    WF_VRANK_COMPUTE_MODEL,    /* by what the program says (weft/mark.h) */
    WF_VRANK_COMPUTE_NONE,     /* not at all */
    WF_VRANK_COMPUTE_COUNTED,  /* by the instructions it takes */
};

/* Measured memory of a rank that waits: a page of its stack, and the state of the simulator and
 * of the library. Its variables, its heap and its messages come on top. */
enum { WF_VRANK_BYTES_PER_RANK = 6000 };

struct wf_vrank_config {
    char **
        argv; /* null-terminated; argv[0] is the path of the program. One block of memory, which
                    is taken on success */
    uint32_t n_ranks; /* with... */
    uint32_t n_spare; /* ...those that wait until the program starts them; the last ones */
    size_t stack_bytes;
    enum wf_vrank_compute compute;
    double rate;           /* instructions per second, if they are counted */
    bool labels;           /* lines on stdout begin with the rank */
    uint64_t payload_kept; /* data of more bytes need not arrive, but for its ends */
    bool check;            /* check that data does not change on its way */
    bool check_use;        /* find errors in the use of MPI */
    /* With check_use: decisions that are fixed, and all are told; null or empty: they are not.
     * Borrowed. */
    const char *schedule;
    double scale;    /* of compute times, in the simulation */
    uint32_t cores;  /* for the threads of a rank; 0: any number */
    bool host_clock; /* the program reads the clocks of the host */
    const char
        *kernels;  /* file of functions that are not executed; null or empty: none. Borrowed */
    uint64_t seed; /* of the random part of their times */
    const char *spill; /* directory for memory of ranks; null or empty: none. Borrowed */
    uint32_t copies;   /* of the program's variables: one for each thread of the simulation */
};

/* Loads the program and prepares its ranks; none runs yet. WF_EINVAL if it cannot be loaded or
 * was not built with weftcc. The caller owns *out. */
enum wf_status wf_vrank_source_new(const struct wf_vrank_config *config, struct wf_source **out,
                                   struct wf_err *err);

/* How the run ended, if it ended early: by MPI_Abort(), exit() or for lack of memory. */
#define WF_VRANK_END_NO_RANK UINT32_MAX
struct wf_vrank_end {
    bool ended;
    uint32_t rank; /* WF_VRANK_END_NO_RANK: memory was short */
    int code;
    int64_t clock; /* picoseconds, when it was last known */
};
struct wf_vrank_end wf_vrank_end(const struct wf_source *source);

/* The number in ops of the communicator that the rank has created since its last answer;
 * WF_COMM_WORLD if it has created none. */
uint32_t wf_vrank_created_comm(const struct wf_source *source, uint32_t rank);
