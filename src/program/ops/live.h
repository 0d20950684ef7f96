/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The contract between the simulation and a source that is a running program. */

#include "base/buf.h"
#include "program/ops/decision.h"
#include "program/ops/finding.h"
#include "program/ops/source.h"

/* The outcome of the calls of a rank so far. */
struct wf_answer {
    int64_t clock; /* picoseconds */
    bool found;    /* the outcome of an iprobe or test */
    uint32_t seen_source;
    int32_t seen_tag;
};

/* Where each rank of the program runs: in which operating-system process, and on which node
 * of the simulated machine. */
struct wf_homes {
    uint32_t n_processes, own; /* `own` is the number of this process */
    /* The process that runs a rank. Valid as soon as the program runs. */
    uint32_t (*of)(const struct wf_homes *homes, uint32_t rank);
    /* The simulated node of a rank. Likewise. */
    uint32_t (*node)(const struct wf_homes *homes, uint32_t rank);
};

/* A crash of a rank of the program. */
enum { WF_LIVE_FRAMES = 32, WF_LIVE_PLACES = 12, WF_LIVE_WHAT_MAX = 128 };
struct wf_live_crash {
    bool
        has_no_rank; /* a thread that is no rank did what weft does not allow: only `what` counts */
    uint32_t rank;
    int64_t clock;                   /* picoseconds, when it was last known */
    char what[WF_LIVE_WHAT_MAX];     /* "Segmentation fault at address 0x10" */
    const char *call;                /* the MPI function that it called last, or null */
    bool in_call;                    /* it was still in it */
    const char *program;             /* its file */
    uint64_t places[WF_LIVE_PLACES]; /* of instructions in that file, the innermost first */
    uint32_t n_places;
    void *frames[WF_LIVE_FRAMES]; /* return addresses */
    uint32_t n_frames;
};

/* A function that was not executed but took the time of a formula. */
struct wf_live_kernel {
    const char *name;
    bool found;        /* the program or a library of it has it */
    bool kernel_found; /* ...or the same routine with another interface */
    uint64_t calls, executed, picoseconds;
};

/* What the ranks of this process cost, in wall time. */
struct wf_live_spent {
    uint64_t switches;     /* how often one was continued... */
    uint64_t polls;        /* ...after a test or probe that found nothing */
    double seconds;        /* that they took in all until they waited again */
    double switch_seconds; /* to put the variables of each into place */
};

/* How the ranks of this process ended. A rank is the number of ranks if there is none such. */
struct wf_live_ends {
    uint32_t left;   /* the first rank that has ended between MPI_Init() and MPI_Finalize() */
    uint32_t failed; /* the first that returned something else than 0 after MPI_Finalize()... */
    uint32_t code;   /* ...namely this, up to 255 */
    uint32_t n_failed; /* all that did */
};

/* All members are required, but for findings() and kernels(). Ranks are those of the program. */
struct wf_live_ops {
    /* Tells the outcome of the ops so far, before the next op is asked for. */
    void (*tell)(const struct wf_source *source, uint32_t rank, const struct wf_answer *answer);
    /* A wildcard receive has matched a message; `request` is WF_REQUEST_MAX if the receive has
     * none. */
    void (*matched)(const struct wf_source *source, uint32_t rank, uint32_t request,
                    uint32_t peer, int32_t tag);
    /* A wait or test has completed a request. */
    void (*taken)(const struct wf_source *source, uint32_t rank, uint32_t request);
    /* A one-sided operation of `origin` has arrived at the rank. */
    void (*remote)(const struct wf_source *source, uint32_t rank, uint32_t origin);

    /* Called before the program runs. `homes` is kept. */
    void (*place)(const struct wf_source *source, const struct wf_homes *homes);
    /* Likewise, after place(), if there are several processes. */
    void (*spread)(const struct wf_source *source, const struct wf_homes *homes);
    /* Data of ranks for ranks in other processes, as in engine/cargo.h. */
    void (*load)(const struct wf_source *source, uint32_t process, struct wf_buf *out);
    void (*unload)(const struct wf_source *source, const unsigned char *bytes, size_t size);
    /* The number in the whole run of a region that this process has numbered; after load() and
     * unload(). */
    uint32_t (*common_region)(const struct wf_source *source, uint32_t number);
    /* When the run is over: adds what the ranks of this process did wrong. Null: nothing is
     * known. */
    void (*findings)(const struct wf_source *source, struct wf_findings *out);
    /* After that, if the program has a schedule: its decisions, in the order in which they were begun. Null:
     * none are known. */
    const struct wf_decisions *(*decisions)(const struct wf_source *source);
    /* When the run is over. */
    struct wf_live_spent (*spent)(const struct wf_source *source);
    /* Likewise. */
    struct wf_live_ends (*ends)(const struct wf_source *source);
    /* Likewise: the calls of kernel i by ranks of this process; false if there are not as many.
     * Null: there are none. */
    bool (*kernels)(const struct wf_source *source, uint32_t i, struct wf_live_kernel *out);
};
