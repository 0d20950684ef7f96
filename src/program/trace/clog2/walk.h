/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * From the records of a CLOG2 log to ops.
 *
 * The log tells when calls begin and end, and the sender and receiver of each message. It does
 * not tell which request a wait is for. So the first message that a wait of a rank receives
 * belongs to the oldest open irecv of the rank, and a wait that receives nothing completes the
 * oldest open isend. A second reader, as far ahead as it must be, finds what an irecv will get.
 */

#include "base/map.h"
#include "program/trace/clog2/file.h"
#include "program/trace/kit/records.h"
#include "program/trace/spool/spool.h"

/* What a state is. */
enum wf_clog2_role {
    WF_CLOG2_OTHER,    /* a call of MPI without messages of its own */
    WF_CLOG2_SENDS,    /* messages that are sent in it are of `kind` */
    WF_CLOG2_IRECV,    /* a receive that is completed later */
    WF_CLOG2_RECEIVES, /* messages are received when the call returns */
    WF_CLOG2_BOTH,     /* sendrecv */
    WF_CLOG2_WAITS,    /* for one or some */
    WF_CLOG2_WAITALL,
    WF_CLOG2_TESTS,
    WF_CLOG2_BARRIER,
    WF_CLOG2_COLLECTIVE, /* of unknown size */
    WF_CLOG2_INNER,      /* of the logging itself, within calls */
    WF_CLOG2_PAUSE,      /* likewise, between calls: no time of the program */
    WF_CLOG2_REGION,     /* the program's own */
};

struct wf_clog2_state {
    int32_t begin, end; /* events */
    char name[WF_CLOG2_NAME_BYTES + 1];
    enum wf_clog2_role role;
    enum wf_op_kind kind;
    uint32_t record; /* its number in the counts */
};

/* A rank of a communicator is this rank of the program. */
struct wf_clog2_member {
    int32_t comm, rank;
    uint32_t world, serial;
};

/* A communicator: which rank of the program each of its ranks is. */
struct wf_clog2_comm {
    int32_t number;
    uint32_t size;
    uint32_t *members;
};

/* What the survey of the log found. */
struct wf_clog2_tables {
    struct wf_clog2_state *states;
    uint32_t n_states, states_capacity;
    struct wf_map events;            /* which state an event begins or ends */
    struct wf_clog2_member *members; /* as they come */
    uint32_t n_members, members_capacity;
    struct wf_clog2_comm *comms; /* by number */
    uint32_t n_comms;
    struct wf_map numbers; /* places of communicators by their numbers */
    struct wf_records *records;
    uint32_t sent, received; /* numbers of messages among the records */
    uint64_t n_collectives, n_lost;
    uint64_t n_between; /* messages between two groups */
};

void wf_clog2_tables_fini(struct wf_clog2_tables *tables);

/* Reads all of the log: communicators, states, counts. */
void wf_clog2_survey(struct wf_clog2_file *file, struct wf_clog2_tables *tables);

/* Whether a record is the beginning or the end of a state. */
static inline bool wf_clog2_is_event(const struct wf_clog2_record *record)
{
    return record->type == WF_CLOG2_BAREEVT || record->type == WF_CLOG2_CARGOEVT;
}

/* The rank of the program that a rank of a communicator is; UINT32_MAX if it is not known. */
uint32_t wf_clog2_rank(const struct wf_clog2_tables *tables, int32_t comm, int32_t rank);
const struct wf_clog2_comm *wf_clog2_comm(const struct wf_clog2_tables *tables, int32_t comm);
/* The state that an event begins or ends, or null. */
const struct wf_clog2_state *wf_clog2_state(const struct wf_clog2_tables *tables, int32_t event,
                                            bool *begins);

/* Writes all ops. */
void wf_clog2_walk(struct wf_clog2_file *file, struct wf_clog2_tables *tables,
                   struct wf_spool *spool);
