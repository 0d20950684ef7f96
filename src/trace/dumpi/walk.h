/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRACE_DUMPI_WALK_H
#define WF_TRACE_DUMPI_WALK_H

/*
 * From the records of a rank to ops. A rank is walked through at most twice: first to find out
 * what its open receives got, which is told only when they are completed, then to write.
 */

#include "trace/dumpi/comms.h"
#include "trace/kit/open_requests.h"
#include "trace/kit/spool.h"

/* What the ops do not hold; summed up over ranks. */
struct wf_dumpi_losses {
    uint64_t n_lost_comms; /* calls on communicators that are not known */
    uint64_t n_inter;      /* collectives between two groups */
    uint64_t n_types;      /* calls with datatypes of unknown size */
    uint64_t n_sync;       /* synchronisations of windows other than by fences */
    uint64_t n_threads;    /* calls of other threads than the first */
    uint64_t n_ignored;    /* calls that the program made while nothing was recorded */
    uint64_t n_unmatched;  /* wildcards of which it is not known what they got */
    uint64_t n_no_clock;   /* records without the clock that was asked for */
};

/* What an irecv got, or that it was cancelled, by its number among the rank's irecvs. */
struct wf_dumpi_match {
    uint64_t serial;
    int32_t source, tag;
    bool cancelled;
};

/* A handle of the rank and what it means: a communicator, by its place in the table. */
struct wf_dumpi_binding {
    int16_t number;
    uint32_t comm;
};

struct wf_dumpi_bindings {
    struct wf_dumpi_binding *items;
    uint32_t n, capacity;
};

struct wf_dumpi_walk {
    struct wf_dumpi_file *file;
    const struct wf_dumpi_comms *comms;
    struct wf_spool *spool; /* null: the first time, only for `matches` */
    enum wf_dumpi_clock clock;
    struct wf_dumpi_losses *losses;
    uint32_t rank;

    struct wf_open_requests requests;
    struct wf_dumpi_bindings handles, windows;
    struct wf_dumpi_match *matches; /* sorted by serial when they are used */
    uint32_t n_matches, matches_capacity, next_match;
    uint64_t serial;    /* of the next irecv */
    uint32_t next_made; /* see wf_dumpi_comms_made() */
    bool begun;         /* there was a record */
    int64_t latest;     /* when the call before returned, nanoseconds */
    int64_t first;      /* when the first did */
    bool told_self;     /* the writer knows the communicator of the rank alone */
    struct wf_buf numbers, kept, places, counts, recv_counts;
};

void wf_dumpi_walk_fini(struct wf_dumpi_walk *walk);

/* Walks through all records: with or without the first time, as `has_open` says. */
WF_NODISCARD
enum wf_status wf_dumpi_walk_rank(struct wf_dumpi_walk *walk, bool has_open,
                                  struct wf_err *err);

/* ---- for its parts ---- */

/* A record on its way. `op` has nothing but its kind before. */
struct wf_dumpi_step {
    struct wf_dumpi_walk *walk;
    const struct wf_dumpi_record *record;
    struct wf_op op;
    const struct wf_dumpi_comm *comm; /* of the op */
    struct wf_err *err;
};

/* Sets the op's communicator; false if it is not known. */
bool wf_dumpi_step_comm(struct wf_dumpi_step *step, int64_t handle);

/* The bytes of `count` items of a datatype. */
WF_NODISCARD
enum wf_status wf_dumpi_step_bytes(const struct wf_dumpi_step *step, int64_t count,
                                   int64_t type, uint64_t *bytes);

/* Writes the op, unless this is the first time. */
WF_NODISCARD
enum wf_status wf_dumpi_step_put(struct wf_dumpi_step *step);

/* Instead of an op that cannot be: the call with its time. */
WF_NODISCARD
enum wf_status wf_dumpi_step_call(struct wf_dumpi_step *step);

/* WF_EINVAL with the place of the record. */
enum wf_status wf_dumpi_step_bad(const struct wf_dumpi_step *step, const char *words);

/* What is done with the record of a call; `kind` is that of the op. Null: it is a call. */
typedef enum wf_status (*wf_dumpi_handler)(struct wf_dumpi_step *step);
wf_dumpi_handler wf_dumpi_p2p(uint32_t function, enum wf_op_kind *kind);
wf_dumpi_handler wf_dumpi_completion(uint32_t function, enum wf_op_kind *kind);
wf_dumpi_handler wf_dumpi_collective(uint32_t function, enum wf_op_kind *kind);

/* The bytes that the call names as its own, for counting; 0 if it has none. */
uint64_t wf_dumpi_own_bytes(const struct wf_dumpi_file *file,
                            const struct wf_dumpi_record *record);

/* The bytes of an item of a datatype; -1 if it is not known. */
int64_t wf_dumpi_type_size(const struct wf_dumpi_file *file, int64_t type);

/* What a handle is bound to; WF_DUMPI_NO_COMM if nothing. */
uint32_t wf_dumpi_find(const struct wf_dumpi_bindings *bindings, int64_t number);
void wf_dumpi_bind(struct wf_dumpi_bindings *bindings, int64_t number, uint32_t comm);

#endif
