/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Executes a collective with real slots. The contents of a slot are the set of ranks that
 * contributed to it, the index of its part of the data, and its length. Messages carry the
 * contents of their slots.
 */

#include "model/coll/coll.h"

#include "harness/wf_test.h"

enum {
    N_RANKS = 33,
    N_SLOTS = 288,
    N_PENDING = 128,
    N_NEIGHBORS = 8,
};

struct content {
    uint64_t from; /* bit set of the ranks that contributed; 0 if the slot is empty */
    uint64_t length;
    uint32_t piece; /* index among the contributor's parts or blocks */
};

struct message {
    struct message *next;
    uint64_t bytes;
    uint32_t n;
    struct content contents[];
};

struct wire {
    struct message *first, **end;
    uint32_t n_sent, n_posted, n_waiting;
};

struct pending {
    uint32_t from;
    struct wf_coll_slots slots;
    enum wf_coll_take take;
};

struct rank {
    struct wf_coll_args args;
    uint32_t n_slots, step;
    bool entered, at_end, ended; /* began its step; has no further one; finished waiting too */
    /* `own` are the outgoing slots, if there are incoming slots as well. */
    struct content own[N_SLOTS], incoming[N_RANKS], result[N_SLOTS];
    struct pending pending[N_PENDING]; /* receives since the last wait */
    uint32_t n_pending;
    bool sent[N_SLOTS], received[N_SLOTS], combined[N_SLOTS]; /* in steps since the last wait */
};

/* An execution in which messages take no time. Ranks take turns; a rank that waits for a
 * message does not step. If `synchronous` is set, a send completes only when its receive is
 * posted. */
struct world {
    const struct wf_coll_ops *ops;
    uint32_t size, root;
    bool two_sided, synchronous;
    struct rank ranks[N_RANKS];
    struct wire wires[N_RANKS][N_RANKS];
    uint64_t counts[N_RANKS][N_RANKS], recv_counts[N_RANKS][N_RANKS];
    uint32_t sources[N_RANKS][N_RANKS], destinations[N_RANKS][N_RANKS];
    uint64_t n_messages, n_bytes, sent_bytes[N_RANKS];
    uint32_t most_pending; /* maximum number of pending receives of one rank */
    const char *fault;     /* the first fault that was found */
};

/* The collective to run. */
struct trial {
    const struct wf_coll_ops *ops;
    uint32_t size, root;
    uint64_t bytes, seed;
    int order; /* 0 rising, 1 falling, 2 random */
    bool synchronous;
};

static void fail(struct world *w, const char *fault)
{
    w->fault = w->fault == NULL ? fault : w->fault;
}

static bool is_neighborhood(enum wf_coll_kind kind)
{
    return kind == WF_COLL_NEIGHBOR_ALLGATHER || kind == WF_COLL_NEIGHBOR_ALLTOALL;
}

static bool is_selected(const struct wf_coll_slots *slots, uint32_t i)
{
    return slots->mask == 0 || (i & slots->mask) != 0;
}

static uint32_t slot_at(const struct rank *rank, const struct wf_coll_slots *slots, uint32_t i)
{
    return (slots->first + i) % rank->n_slots;
}

/* Whether a set of slots is within bounds and contains no slot twice. */
static bool is_sound(const struct rank *rank, const struct wf_coll_slots *slots)
{
    return slots->first < rank->n_slots && slots->count <= rank->n_slots;
}

/* Whether any of the slots is marked. */
static bool any(const struct rank *rank, const struct wf_coll_slots *slots, const bool *marks)
{
    for (uint32_t i = 0; i < slots->count; i++) {
        if (is_selected(slots, i) && marks[slot_at(rank, slots, i)]) {
            return true;
        }
    }
    return false;
}

static void mark(const struct rank *rank, const struct wf_coll_slots *slots, bool *marks)
{
    for (uint32_t i = 0; i < slots->count; i++) {
        if (is_selected(slots, i)) {
            marks[slot_at(rank, slots, i)] = true;
        }
    }
}
