/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * From the records of a rank to ops. A rank is walked through at most twice: first to find out
 * what its wildcard receives matched, which the trace tells only when they are complete, then to
 * write.
 */

#include "base/map.h"
#include "program/trace/dumpi/comms.h"
#include "program/trace/kit/open_requests.h"
#include "program/trace/spool/spool.h"

/* What the ops do not hold, which is counted over all ranks; in the order of the notes. */
enum wf_dumpi_loss {
    WF_DUMPI_IGNORED,    /* calls that the program made while nothing was recorded */
    WF_DUMPI_UNRESOLVED, /* communicators */
    WF_DUMPI_LOST_COMM,  /* calls on communicators that are not known */
    WF_DUMPI_INTER,      /* collectives between two groups */
    WF_DUMPI_TYPE,       /* calls with datatypes of unknown size */
    WF_DUMPI_SYNC,       /* synchronisations of windows other than by fences */
    WF_DUMPI_THREAD,     /* calls of other threads than the first */
    WF_DUMPI_UNMATCHED,  /* wildcard receives whose match is not known */
    WF_DUMPI_NO_CLOCK,   /* records without the clock that was asked for */
    WF_DUMPI_LOSSES
};

/* What an irecv matched, or that it was cancelled, by its number among the rank's irecvs. */
struct wf_dumpi_match {
    uint64_t serial;
    int32_t source, tag;
    bool cancelled;
};

struct wf_dumpi_walk {
    struct wf_dumpi_file *file;
    const struct wf_dumpi_comms *comms;
    struct wf_spool *spool; /* null: the first walk, only for `matches` */
    enum wf_dumpi_clock clock;
    uint64_t *losses; /* by enum wf_dumpi_loss */
    uint32_t rank;

    struct wf_open_requests requests;
    struct wf_map handles, windows; /* communicators, by their places in the table */
    struct wf_dumpi_match *matches; /* sorted by serial when they are used */
    uint32_t n_matches, matches_capacity, next_match;
    uint64_t serial;       /* of the next irecv */
    uint32_t next_created; /* see wf_dumpi_comms_created() */
    bool begun;            /* there was a record */
    int64_t latest;        /* when the call before returned, nanoseconds */
    int64_t first;         /* when the first did */
    struct wf_buf numbers, kept, places, counts, recv_counts;
};

/* Walks through all records: with the first walk if the rank has wildcard receives. The caller
 * has set the members before the empty line. */
void wf_dumpi_walk_rank(struct wf_dumpi_walk *walk, bool has_wildcards);

/* ---- for its parts ---- */

/* A record and the op that it becomes, whose kind is set. */
struct wf_dumpi_step {
    struct wf_dumpi_walk *walk;
    const struct wf_dumpi_record *record;
    struct wf_op op;
    const struct wf_dumpi_comm *comm; /* of the op */
};

/* Sets the op's communicator. If it is not known, writes the call instead and returns false. */
bool wf_dumpi_step_comm(struct wf_dumpi_step *step, int64_t handle);

/* The bytes of `count` items of a datatype. */
uint64_t wf_dumpi_step_bytes(struct wf_dumpi_step *step, int64_t count, int64_t type);

/* Writes the op, or instead of it the call with its time. The first walk writes nothing. */
void wf_dumpi_step_put(struct wf_dumpi_step *step);
void wf_dumpi_step_call(struct wf_dumpi_step *step);

/* Fails with the place of the record and the name of the call. */
void wf_dumpi_step_bad(const struct wf_dumpi_step *step, const char *words);

/* Counts a loss, but not in the first walk. */
static inline void wf_dumpi_step_lose(struct wf_dumpi_step *step, enum wf_dumpi_loss loss)
{
    step->walk->losses[loss] += step->walk->spool != NULL ? 1 : 0;
}

/* What is done with the records of calls: the handlers of program/trace/dumpi/calls.c. */
wf_dumpi_handler wf_dumpi_on_plain;
wf_dumpi_handler wf_dumpi_on_send, wf_dumpi_on_recv, wf_dumpi_on_sendrecv, wf_dumpi_on_probe;
wf_dumpi_handler wf_dumpi_on_wait, wf_dumpi_on_wait_set, wf_dumpi_on_start, wf_dumpi_on_free,
    wf_dumpi_on_cancel;
wf_dumpi_handler wf_dumpi_on_collective, wf_dumpi_on_comm, wf_dumpi_on_comm_free;
wf_dumpi_handler wf_dumpi_on_win_create, wf_dumpi_on_win_free, wf_dumpi_on_window,
    wf_dumpi_on_onesided, wf_dumpi_on_sync;

/* Whether the survey of a trace needs only the numbers of a function: it makes no communicator or
 * group, and has its size in a number. */
bool wf_dumpi_survey_skims(uint32_t function);
/* Whether it is a collective whose size is in arrays only. */
bool wf_dumpi_has_counts(const struct wf_dumpi_call *call);

/* The bytes that the call names as its own, for counting; 0 if it has none. */
uint64_t wf_dumpi_own_bytes(const struct wf_dumpi_file *file,
                            const struct wf_dumpi_record *record);

/* The bytes of an item of a datatype; -1 if it is not known. */
int64_t wf_dumpi_type_size(const struct wf_dumpi_file *file, int64_t type);
