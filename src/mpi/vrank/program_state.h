/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The state of a running program, which two files share: program_port.c, whose functions the MPI
 * library calls in the thread of a rank, and program_source.c, whose functions the simulation
 * calls.
 */

#include "base/buf.h"
#include "base/mem.h"
#include "mpi/vrank/compute_meter.h"
#include "mpi/vrank/context.h"
#include "mpi/vrank/crash.h"
#include "mpi/vrank/memory_watch.h"
#include "mpi/vrank/oplog.h"
#include "mpi/vrank/output_labels.h"
#include "mpi/vrank/overlay.h"
#include "mpi/vrank/program_image.h"
#include "mpi/vrank/program_source.h"
#include "mpi/vrank/shared_state.h"
#include "mpi/vrank/spill.h"
#include "mpi/vrank/stacks.h"
#include "program/ops/live.h"

#include <stdatomic.h>

enum wf_vrank_rank_state { WF_VRANK_RANK_NEW, WF_VRANK_RANK_RUNS, WF_VRANK_RANK_ENDED };

struct wf_vrank_program;
struct wf_vrank_kernels;
struct wf_vrank_kernel_counts;

struct wf_vrank_answers {
    struct wf_port_answer answer;
    struct wf_buf matches, taken;
};

struct wf_vrank_rank {
    struct wf_port_rank self; /* must be first */
    struct wf_vrank_program *program;
    struct wf_vrank_context context;
    char **arguments; /* of main() */
    struct wf_vrank_oplog log;
    int64_t clock;                  /* picoseconds, when it was last known */
    struct wf_vrank_answers *heard; /* what the simulation has told it; null: nothing yet */
    struct wf_port_comm *comms;     /* [number - 1] */
    uint32_t n_comms;
    uint32_t created; /* first communicator created since the last answer, or WF_COMM_WORLD */
    uint32_t stack;   /* its number, while the rank runs */
    uint8_t state;    /* enum wf_vrank_rank_state */
    uint8_t in_library;
    bool has_section;   /* the next is known */
    uint32_t in_kernel; /* calls of kernels that are executed, one in the other */
    uint32_t section;   /* of the file of kernels */
    uint64_t kernel_draws, kernel_calls;
    struct wf_vrank_blocks blocks; /* of shared memory */
    int64_t kernel_time;           /* picoseconds: kernels that are no op yet */
    int64_t computing_since;       /* reading of its thread's meter */
    uint32_t polls;                /* that found nothing */
    uint8_t exit_code;             /* when it has ended, as the system would see it */
    uint64_t switches;             /* how often it was continued... */
    double seconds;                /* ...and for how long, of wall time */
};

struct wf_vrank_program {
    struct wf_source source; /* must be first */
    struct wf_vrank_config config;
    struct wf_vrank_image *image;
    struct wf_vrank_labels *labels; /* may be null */
    const struct wf_port_library *library;
    struct wf_port_simulator port;
    const struct wf_homes *places; /* null: not placed */
    struct wf_vrank_meter meter;
    struct wf_vrank_stacks stacks;
    struct wf_vrank_spill *spill; /* null: memory is not spilled */
    struct wf_vrank_crash_watch watch;
    struct wf_vrank_shared shared;
    struct wf_vrank_overlay *overlay;             /* null: no memory is shared */
    struct wf_vrank_kernels *kernels;             /* null: all functions are executed */
    struct wf_vrank_kernel_counts *kernel_counts; /* [function] */
    struct wf_vrank_rank *ranks;
    struct wf_schedule schedule;
    struct wf_decisions decisions; /* with a schedule, when the run is over */
    struct wf_vrank_memory memory; /* state of the memory when it became short */
    bool is_short;
    bool set_unbuffered;     /* a variable of the environment, which goes with the program */
    atomic_bool has_crashed; /* a rank, in a process that goes on: */
    struct wf_live_crash crash;
    atomic_bool is_left; /* the run is being interrupted: no rank continues */
};

static inline struct wf_vrank_program *wf_vrank_program_of(const struct wf_source *source)
{
    return (struct wf_vrank_program *)wf_unconst(source);
}

/* ---- program_port.c ---- */

/* What the library may ask of the simulator. */
extern const struct wf_port_simulator wf_vrank_port;

/* The rank that runs in this thread of the simulation; null if none does. */
struct wf_vrank_rank *wf_vrank_running(void);
/* Runs a rank until it asks something of the simulation, or is left. */
void wf_vrank_resume(struct wf_vrank_rank *rank);
/* Goes back to the simulation from the running rank, as if it had asked something. */
void wf_vrank_leave(struct wf_vrank_rank *rank);
/* The function that a rank executes; its argument is the rank. */
void wf_vrank_rank_main(void *arg);
/* A span of computing begins. */
void wf_vrank_span_begin(struct wf_vrank_rank *rank);
/* What the simulation has told a rank; allocated if it is the first. */
struct wf_vrank_answers *wf_vrank_heard_by(struct wf_vrank_rank *rank);

/* ---- program_kernels.c ---- */

/* Reads the file of kernels; nothing if there is no path. */
enum wf_status wf_vrank_program_kernels(struct wf_vrank_program *program, const char *path,
                                        struct wf_err *err);
/* The time of kernels since the last op becomes an op. */
void wf_vrank_kernels_flush(struct wf_vrank_rank *rank);
/* As kernels() of struct wf_live_ops. */
bool wf_vrank_kernels_counted(const struct wf_vrank_program *program, uint32_t i,
                              struct wf_live_kernel *out);
