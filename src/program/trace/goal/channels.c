/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/goal/channels.h"

#include "base/array.h"
#include "base/mem.h"
#include "base/rng.h"
#include "program/trace/goal/order.h"
#include "program/trace/goal/progress.h"
#include "program/trace/kit/workers.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>

/* A send or a receive of a channel. */
struct member {
    uint32_t op;
    /* Of a receive, its segment. Of a send, the number of segments that its rank has begun when
     * it is done (progress.h). */
    uint32_t when;
};

/* The sends or the receives of a rank that have the same peer and tag. */
struct channel {
    uint64_t key;       /* peer and tag */
    uint64_t first;     /* member, among those of the worker */
    uint32_t n, latest; /* members, and the op of the latest one */
};

/* The channels of a rank, of sends or of receives: where the worker that found them has them. */
struct place {
    uint64_t first;
    uint32_t n, worker;
};

/* An entry of the table by which a worker finds the channel of an op. Those of other ranks have
 * other stamps, so that the table is not cleared for each rank. */
struct slot {
    uint64_t key;
    uint32_t stamp, channel;
};

/* An op of the rank and its channel. */
struct found {
    uint32_t op, channel;
};

struct worker {
    alignas(WF_CACHE_LINE) struct channel *channels; /* aligned: workers share no cache line */
    uint64_t n_channels, channels_capacity;
    struct member *members;
    uint64_t n_members, members_capacity;
    uint64_t n_sends, n_recvs; /* sends that have met a receive; receives */
    struct wf_goal_order order;
    struct slot *slots;
    uint64_t n_slots; /* a power of 2 */
    uint32_t stamp;
    struct found *found; /* ops of one kind of the rank */
    uint64_t found_capacity;
    struct wf_goal_need *needs;
    uint64_t n_needs, needs_capacity;
};

struct matching {
    struct wf_goal *goal;
    struct place *sends, *recvs; /* of each rank */
    atomic_bool is_other;        /* channels cannot be matched independently */
    atomic_bool is_out_of_step;  /* a send may be in a later segment than its receive */
    struct place *needs;         /* of each rank: its needs instead of channels */
    struct worker workers[WF_TRACE_WORKERS_MAX];
};

static uint64_t key_of(uint32_t peer, uint32_t tag)
{
    return (uint64_t)peer << 32 | tag;
}

/* ---- the channels of a rank ---- */

static void reserve(struct worker *w, uint64_t n)
{
    if (2 * n > w->n_slots) {
        w->n_slots = w->n_slots > 0 ? w->n_slots : 64;
        while (2 * n > w->n_slots) {
            w->n_slots *= 2;
        }
        free(w->slots);
        w->slots = wf_xcalloc(w->n_slots, sizeof(*w->slots));
        w->stamp = 0;
    }
    if (n > w->found_capacity) {
        free(w->found);
        w->found = wf_xmalloc(n * sizeof(*w->found));
        w->found_capacity = n;
    }
}

/* The number of the channel among those from `first` on; it is added if it is new. */
static uint32_t channel_of(struct worker *w, uint64_t first, uint64_t key)
{
    uint64_t at = wf_rng_mix(key) & (w->n_slots - 1);

    while (w->slots[at].stamp == w->stamp && w->slots[at].key != key) {
        at = (at + 1) & (w->n_slots - 1);
    }
    struct slot *slot = &w->slots[at];
    if (slot->stamp != w->stamp) {
        *slot = (struct slot){key, w->stamp, (uint32_t)(w->n_channels - first)};
        WF_PUSH(w->channels, w->n_channels, w->channels_capacity, (struct channel){.key = key});
    }
    return slot->channel;
}

/* Finds the channel of each op of a kind; false if the ops of one may start in several orders. */
static bool find_channels(struct worker *w, const struct wf_goal_op *ops, uint64_t n,
                          enum wf_goal_kind kind, uint64_t first, uint64_t *n_found)
{
    *n_found = 0;
    w->stamp++;
    for (uint32_t i = 0; i < n; i++) {
        if (ops[i].kind != kind) {
            continue;
        }
        uint32_t number = channel_of(w, first, key_of(ops[i].peer, ops[i].tag));
        struct channel *channel = &w->channels[first + number];
        if (channel->n > 0 && !wf_goal_order_knows(&w->order, channel->latest, i)) {
            return false;
        }
        channel->n++;
        channel->latest = i;
        w->found[(*n_found)++] = (struct found){i, number};
    }
    return true;
}

static int by_key(const void *a, const void *b)
{
    const struct channel *x = a, *y = b;

    return WF_ORDER(x->key, y->key);
}

/* Most ranks have few channels, and qsort() would take longer than all the rest. */
static void sort_channels(struct channel *channels, uint64_t n)
{
    if (n > 32) {
        WF_SORT(channels, n, by_key);
        return;
    }
    for (uint64_t i = 1; i < n; i++) {
        struct channel channel = channels[i];
        uint64_t at = i;
        for (; at > 0 && channels[at - 1].key > channel.key; at--) {
            channels[at] = channels[at - 1];
        }
        channels[at] = channel;
    }
}

/* Groups the ops of a kind by channel. */
static bool collect(struct worker *w, const struct wf_goal_op *ops, uint64_t n,
                    enum wf_goal_kind kind, struct place *place)
{
    uint64_t first = w->n_channels, n_found = 0;

    if (!find_channels(w, ops, n, kind, first, &n_found)) {
        return false;
    }
    for (uint64_t i = first; i < w->n_channels; i++) {
        w->channels[i].first = w->n_members;
        w->n_members += w->channels[i].n;
        w->channels[i].n = 0;
    }
    WF_GROW(w->members, w->n_members, w->members_capacity);
    for (uint64_t i = 0; i < n_found; i++) {
        struct channel *channel = &w->channels[first + w->found[i].channel];
        uint32_t op = w->found[i].op, segment = w->order.segment[op];
        uint32_t done = segment + 1 + (w->order.is_late[op] ? 1 : 0);
        w->members[channel->first + channel->n++] =
            (struct member){op, kind == WF_GOAL_RECV ? segment : done};
    }
    if (n_found > 0) {
        sort_channels(w->channels + first, w->n_channels - first);
    }
    place->first = first;
    place->n = (uint32_t)(w->n_channels - first);
    w->n_recvs += kind == WF_GOAL_RECV ? n_found : 0;
    return true;
}

static void collect_rank(void *arg, uint32_t worker, uint32_t number, struct wf_err *err)
{
    struct matching *m = arg;
    struct worker *w = &m->workers[worker];
    const struct wf_goal_rank *rank = &m->goal->ranks[number];

    (void)err;
    if (atomic_load_explicit(&m->is_other, memory_order_relaxed)) {
        return;
    }
    m->sends[number].worker = m->recvs[number].worker = worker;
    reserve(w, rank->n);
    if (!wf_goal_order_find(&w->order, rank) ||
        !collect(w, rank->ops, rank->n, WF_GOAL_SEND, &m->sends[number]) ||
        !collect(w, rank->ops, rank->n, WF_GOAL_RECV, &m->recvs[number])) {
        atomic_store_explicit(&m->is_other, true, memory_order_relaxed);
    }
}

/* ---- both sides of a channel ---- */

static const struct channel *channels_at(const struct matching *m, const struct place *place)
{
    return m->workers[place->worker].channels + place->first;
}

static const struct member *members_at(const struct matching *m, const struct place *place,
                                       const struct channel *channel)
{
    return m->workers[place->worker].members + channel->first;
}

/* The channel with a key, or null. */
static const struct channel *find_channel(const struct matching *m, const struct place *place,
                                          uint64_t key)
{
    if (place->n == 0) {
        return NULL;
    }
    const struct channel *channels = channels_at(m, place);
    uint32_t low = 0;

    WF_BISECT(low, place->n, middle, channels[middle].key < key);
    return low < place->n && channels[low].key == key ? &channels[low] : NULL;
}

/* The i-th send meets the i-th receive. */
static void match_rank(void *arg, uint32_t worker, uint32_t number, struct wf_err *err)
{
    struct matching *m = arg;
    const struct place *sends = &m->sends[number];
    struct wf_goal_op *ops = m->goal->ranks[number].ops;
    uint64_t n_met = 0;
    bool in_step = true;

    (void)err;
    for (uint32_t i = 0; i < sends->n; i++) {
        const struct channel *channel = &channels_at(m, sends)[i];
        const struct place *recvs = &m->recvs[channel->key >> 32];
        const struct channel *other =
            find_channel(m, recvs, key_of(number, (uint32_t)channel->key));
        uint32_t n = other == NULL ? 0 : other->n < channel->n ? other->n : channel->n;
        const struct member *send = members_at(m, sends, channel);
        const struct member *recv = n > 0 ? members_at(m, recvs, other) : NULL;

        for (uint32_t k = 0; k < n; k++) {
            ops[send[k].op].match = recv[k].op;
            in_step = in_step && send[k].when <= recv[k].when + 1;
        }
        n_met += n;
    }
    m->workers[worker].n_sends += n_met;
    if (!in_step) {
        atomic_store_explicit(&m->is_out_of_step, true, memory_order_relaxed);
    }
}

/* ---- whether all ops can run ---- */

static int by_segment(const void *a, const void *b)
{
    const struct wf_goal_need *x = a, *y = b;

    return WF_ORDER(x->segment, y->segment);
}

/* Lists what the receives of a rank need, by segment. All have met a send. */
static void list_needs(void *arg, uint32_t worker, uint32_t number, struct wf_err *err)
{
    struct matching *m = arg;
    const struct place *recvs = &m->recvs[number];
    struct worker *w = &m->workers[worker];
    uint64_t first = w->n_needs;

    (void)err;
    for (uint32_t i = 0; i < recvs->n; i++) {
        const struct channel *channel = &channels_at(m, recvs)[i];
        uint32_t peer = (uint32_t)(channel->key >> 32);
        const struct place *sends = &m->sends[peer];
        const struct channel *other =
            find_channel(m, sends, key_of(number, (uint32_t)channel->key));
        const struct member *recv = members_at(m, recvs, channel);
        const struct member *send = members_at(m, sends, other);

        for (uint32_t k = 0; k < channel->n; k++) {
            WF_PUSH(w->needs, w->n_needs, w->needs_capacity,
                    (struct wf_goal_need){recv[k].when, peer, send[k].when});
        }
    }
    m->needs[number] = (struct place){first, (uint32_t)(w->n_needs - first), worker};
    if (w->n_needs > first) {
        WF_SORT(w->needs + first, w->n_needs - first, by_segment);
    }
}

/* Not all sends are in step with their receives: looks closer. */
static bool can_end(struct matching *m, uint32_t n_workers)
{
    uint32_t n_ranks = m->goal->n_ranks;
    struct wf_goal_needs *needs = wf_xcalloc(n_ranks, sizeof(*needs));
    struct wf_err err = {.status = WF_OK};

    m->needs = wf_xcalloc(n_ranks, sizeof(*m->needs));
    wf_trace_visit_all(n_ranks, n_workers, list_needs, m, &err);
    for (uint32_t i = 0; i < n_ranks; i++) {
        const struct place *place = &m->needs[i];
        if (place->n > 0) {
            needs[i].items = m->workers[place->worker].needs + place->first;
            needs[i].n = place->n;
        }
    }
    bool can = wf_goal_can_end(needs, n_ranks);
    free(needs);
    free(m->needs);
    return can;
}

/* ---- all ranks ---- */

static void forget_rank(void *arg, uint32_t worker, uint32_t number, struct wf_err *err)
{
    const struct wf_goal_rank *rank = &((const struct matching *)arg)->goal->ranks[number];

    (void)worker;
    (void)err;
    for (uint64_t i = 0; i < rank->n; i++) {
        rank->ops[i].match = WF_NO_TASK;
    }
}

/* Matches the channels. False if not all receives meet a send, or not all ops can run: then
 * matches may have to be forgotten. */
static bool match_all(struct matching *m, uint32_t n_workers)
{
    uint64_t n_sends = 0, n_recvs = 0;
    struct wf_err err = {.status = WF_OK};

    wf_trace_visit_all(m->goal->n_ranks, n_workers, match_rank, m, &err);
    for (uint32_t i = 0; i < n_workers; i++) {
        n_sends += m->workers[i].n_sends;
        n_recvs += m->workers[i].n_recvs;
    }
    return n_sends == n_recvs && (!atomic_load(&m->is_out_of_step) || can_end(m, n_workers));
}

static void release(struct matching *m)
{
    for (uint32_t i = 0; i < WF_TRACE_WORKERS_MAX; i++) {
        struct worker *w = &m->workers[i];
        free(w->channels);
        free(w->members);
        free(w->slots);
        free(w->found);
        free(w->needs);
        wf_goal_order_fini(&w->order);
    }
    free(m->sends);
    free(m->recvs);
    free(m);
}

bool wf_goal_match_channels(struct wf_goal *goal)
{
    uint32_t n_workers = wf_trace_workers(goal->n_ranks);
    struct wf_err err = {.status = WF_OK};
    bool good = false;

    if (goal->n_wildcards > 0) {
        return false;
    }
    struct matching *m = wf_xaligned_zero(sizeof(*m));
    m->goal = goal;
    m->sends = wf_xcalloc(goal->n_ranks, sizeof(*m->sends));
    m->recvs = wf_xcalloc(goal->n_ranks, sizeof(*m->recvs));
    wf_trace_visit_all(goal->n_ranks, n_workers, collect_rank, m, &err);
    if (!atomic_load(&m->is_other)) {
        good = match_all(m, n_workers);
        if (!good) {
            wf_trace_visit_all(goal->n_ranks, n_workers, forget_rank, m, &err);
        }
    }
    release(m);
    return good;
}
