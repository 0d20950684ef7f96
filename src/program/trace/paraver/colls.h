/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The collectives and communicators of a Paraver trace. Extrae records of a call, on each rank by
 * itself, the communicator, the bytes that the rank sent and received, and a flag if it was the
 * root. So the calls of all ranks are collected first; then the k-th call of each member on a
 * communicator is the same collective, whose root and lengths all of them know.
 *
 * Memory: 56 bytes for each call of a rank.
 */

#include "base/map.h"
#include "program/trace/kit/kit.h"

/* Types of events with facts about a collective, which come with the event of the call. */
enum {
    WF_PARAVER_SENT = 50100001,
    WF_PARAVER_RECEIVED,
    WF_PARAVER_IS_ROOT, /* 1 on the root, absent elsewhere */
    WF_PARAVER_COMM,    /* the number of a line c: */
};

struct wf_paraver_comm {
    uint32_t *members; /* ranks; null if it is the world */
    uint32_t size;
    struct wf_paraver_meeting *meetings; /* the collectives, in order */
    uint32_t n_meetings, capacity;
};

struct wf_paraver_colls {
    uint32_t n_ranks;
    struct wf_paraver_comm *comms; /* the first is the world */
    uint32_t n_comms, comms_capacity;
    struct wf_map numbers; /* of lines c: -> place in `comms` + 1 */
    uint32_t *seen;        /* of each rank: the latest line c: with it */
    uint32_t n_lines;
    struct wf_paraver_call *calls;
    uint64_t n_calls, calls_capacity;
    struct wf_map joined; /* place in `comms` -> member << 32 | calls, of the rank in hand */
    /* For notes. */
    uint64_t n_unsized, n_unknown_comms, n_partial, n_equal, n_rootless;
};

void wf_paraver_colls_init(struct wf_paraver_colls *colls, uint32_t n_ranks);
void wf_paraver_colls_fini(struct wf_paraver_colls *colls); /* zeroed is allowed */

/* Reads a line "c:application:number:size:task:...", or fails at the place. */
void wf_paraver_colls_comm(struct wf_paraver_colls *colls, const char *line,
                           const struct wf_trace_place *place);

/* A rank makes the call of this name. Returns its number, or 0 if it is no collective that weft
 * replays. */
uint64_t wf_paraver_colls_call(struct wf_paraver_colls *colls, const char *name);
/* An event of one of the types above. */
void wf_paraver_colls_fact(struct wf_paraver_colls *colls, uint64_t number, uint64_t type,
                           uint64_t value);

/* When the trace is read: the calls of a rank in the order in which it made them, rank after
 * rank. */
void wf_paraver_colls_begin_rank(struct wf_paraver_colls *colls);
void wf_paraver_colls_join(struct wf_paraver_colls *colls, uint32_t rank, uint64_t number);

/* When all ranks have joined: the op of a call of the rank, and the group of its communicator.
 * False if it cannot be replayed, which is counted. */
bool wf_paraver_colls_op(struct wf_paraver_colls *colls, uint32_t rank, uint64_t call,
                         struct wf_op *op, struct wf_group *group);
