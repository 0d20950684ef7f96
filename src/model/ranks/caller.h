/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A rank in one of its events: what every function of ranks/ gets that acts for a rank. Private to
 * ranks/.
 */

#include "model/ranks/rank.h"
#include "model/ranks/run.h"

/* A rank slot in the state of a node. */
struct wf_rank_slot {
    struct wf_rank rank; /* first */
    struct wf_script {
        uint64_t word[3]; /* position in the source: wf_cursor.word */
        int64_t compute_ps;
        int64_t stalled_at; /* the rank's clock when it was last resumed... */
        uint64_t stalled;   /* ...and the ops that it has executed since the clock moved */
        uint32_t part;      /* parts done of an op that is executed in parts */
        uint32_t cold;      /* cell with a struct wf_script_cold; 0: all its members are zero */
    } progress;
};

_Static_assert(sizeof(struct wf_rank_slot) % 8 == 0, "slots are aligned");

/* A rank in one of its events. */
struct wf_caller {
    const struct wf_ranks *ranks;
    struct wf_ctx *ctx;
    void *node;
    struct wf_rank *rank;
    struct wf_recording *sums; /* wf_recorder_sums() */
    uint32_t slot;             /* rank slot on the node */
    uint32_t number;           /* number of the rank in the run */
};

/* The rank in a slot of the node that handles the event. */
static inline struct wf_caller wf_caller_at(const struct wf_ranks *ranks, struct wf_ctx *ctx,
                                            void *node, uint32_t slot)
{
    unsigned char *slots = (unsigned char *)node + ranks->slots_at;

    return (struct wf_caller){
        .ranks = ranks,
        .ctx = ctx,
        .node = node,
        .rank = (struct wf_rank *)(void *)(slots + slot * sizeof(struct wf_rank_slot)),
        .sums = wf_recorder_sums(&ranks->recorder, ctx),
        .slot = slot,
        .number = wf_place_rank(ranks->place, wf_self(ctx) - ranks->net->first_node, slot),
    };
}

/* Likewise at the beginning of an event, and announces that the rank's state may change. */
static inline struct wf_caller wf_caller_enter(const struct wf_ranks *ranks, struct wf_ctx *ctx,
                                               void *node, uint32_t slot)
{
    struct wf_caller who = wf_caller_at(ranks, ctx, node, slot);

    wf_touch(ctx, who.rank, sizeof(*who.rank));
    who.rank->noted = 0;
    return who;
}

extern const struct wf_rank_cold wf_rank_no_cold;

/* The cold part of the rank's state (model/ranks/rank.h), to read... */
static inline const struct wf_rank_cold *wf_rank_cold(const struct wf_caller *who)
{
    return who->rank->cold != 0 ? wf_cell_read(who->ctx, who->rank->cold) : &wf_rank_no_cold;
}

/* ...and to change, until the handler returns. */
struct wf_rank_cold *wf_rank_cold_edit(const struct wf_caller *who);

/* A wildcard receive or a probe has found a message from `source`, a rank of the run. */
void wf_rank_note_match(const struct wf_caller *who, uint32_t source, int32_t tag);

/* Frees the cold part of a rank that has ended and waits for nothing any more. A rank that can still
 * ask for a long message keeps the number of its last handle there. */
void wf_rank_cold_release(const struct wf_caller *who);

/* Records an activity of the rank. */
static inline void wf_rank_did(const struct wf_caller *who, enum wf_spent what, int64_t from,
                               int64_t until)
{
    if (wf_recorder_is_on(&who->ranks->recorder) && until > from) {
        wf_recorder_add(&who->ranks->recorder, who->ctx, who->sums,
                        &(struct wf_span){from, until, who->number, (uint32_t)what});
    }
}

/* Likewise, from its clock until a later time. */
static inline void wf_rank_spent(const struct wf_caller *who, enum wf_spent what, int64_t until)
{
    wf_rank_did(who, what, who->rank->clock, until);
}

/* Records why a track of the rank continues; fills in cause.rank. */
static inline void wf_cause_note(const struct wf_caller *who, struct wf_cause cause)
{
    if (wf_recorder_wants_causes(&who->ranks->recorder)) {
        cause.rank = who->number;
        wf_recorder_cause(&who->ranks->recorder, who->ctx, &cause);
    }
}

/* The note that an event leaves for its commit; at most one for each event (rank.noted). */
struct wf_node_note {
    uint16_t what, job; /* enum wf_node_noted; job of the region or iteration */
    uint32_t number;    /* number of the region or iteration */
    int64_t at;         /* when the rank passed the mark; or the latency of the message */
    int64_t time;       /* time spent in the region; absent for messages */
};

enum wf_node_noted { WF_NOTED_LATENCY, WF_NOTED_REGION, WF_NOTED_BEGIN, WF_NOTED_END };
