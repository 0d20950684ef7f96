/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/otf2/sums.h"

#include "base/array.h"
#include "base/int128.h"
#include "base/mem.h"
#include "base/units.h"

#include <stdlib.h>
#include <string.h>

/* The sizes that one rank has in a collective call. */
struct part {
    uint32_t comm, call; /* index of the communicator; number of the call on it */
    uint32_t member, rank;
    uint64_t number; /* number of the event */
    struct wf_otf2_sizes sizes;
};

struct wf_otf2_sums {
    struct part *parts; /* sorted by comm, call, member */
    size_t n, capacity;
    struct part **by_event; /* sorted by rank, number */
    uint32_t *calls;        /* per communicator: calls so far of the present rank */
};

static int by_call(const void *a, const void *b)
{
    const struct part *x = a, *y = b;

    return 4 * WF_ORDER(x->comm, y->comm) + 2 * WF_ORDER(x->call, y->call) +
           WF_ORDER(x->member, y->member);
}

static int by_event(const void *a, const void *b)
{
    const struct part *x = *(struct part *const *)a, *y = *(struct part *const *)b;

    return 2 * WF_ORDER(x->rank, y->rank) + WF_ORDER(x->number, y->number);
}

static bool differs(enum wf_op_kind kind)
{
    return kind == WF_OP_GATHERV || kind == WF_OP_SCATTERV || kind == WF_OP_ALLTOALLV ||
           kind == WF_OP_ALLTOALLW;
}

static bool is_needed(const struct wf_otf2_defs *defs)
{
    static const char *const names[] = {"atherv", "catterv", "lltoallv", "lltoallw"};
    bool found = false;

    for (uint32_t i = 0; i < defs->n_regions && !found; i++) {
        const char *name = wf_otf2_defs_name(defs, &defs->regions[i]);
        for (int k = 0; k < 4; k++) {
            found = found || strstr(name, names[k]) != NULL;
        }
    }
    return found;
}

static void add(struct wf_otf2_sums *sums, const struct wf_otf2_defs *defs, uint32_t rank,
                const struct wf_otf2_event *event)
{
    const struct wf_otf2_comm *comm = wf_otf2_defs_find_comm(defs, event->comm);
    uint32_t member = 0;

    if (comm == NULL || comm->ranks == NULL) {
        return;
    }
    while (member < comm->n && comm->ranks[member] != rank) {
        member++;
    }
    if (member == comm->n) {
        return;
    }
    WF_GROW(sums->parts, sums->n, sums->capacity);
    uint32_t place = (uint32_t)(comm - defs->comms);
    sums->parts[sums->n++] = (struct part){.comm = place,
                                           .call = sums->calls[place]++,
                                           .member = member,
                                           .rank = rank,
                                           .number = event->number,
                                           .sizes = {event->bytes, event->received}};
}

struct wf_otf2_sums *wf_otf2_sums_new(const struct wf_otf2_defs *defs)
{
    if (!is_needed(defs)) {
        return NULL;
    }
    struct wf_otf2_sums *sums = wf_xcalloc(1, sizeof(*sums));
    sums->calls = wf_xcalloc((size_t)defs->n_comms + 1, sizeof(*sums->calls));
    return sums;
}

void wf_otf2_sums_read(struct wf_otf2_sums *sums, struct wf_otf2_events *events, uint32_t rank,
                       struct wf_err *err)
{
    const struct wf_otf2_defs *defs = events->defs;
    struct wf_otf2_event event;

    memset(sums->calls, 0, (defs->n_comms + 1) * sizeof(*sums->calls));
    wf_otf2_events_open(events, defs->places[rank], rank, err);
    while (wf_otf2_events_next(events, &event)) {
        if ((event.kind == WF_OTF2_COLL_END || event.kind == WF_OTF2_ICOLL_COMPLETE) &&
            differs(wf_otf2_coll_kind(event.region, true))) {
            add(sums, defs, rank, &event);
        }
    }
}

void wf_otf2_sums_join(struct wf_otf2_sums *sums, const struct wf_otf2_sums *more)
{
    for (size_t i = 0; i < more->n; i++) {
        WF_PUSH(sums->parts, sums->n, sums->capacity, more->parts[i]);
    }
}

void wf_otf2_sums_finish(struct wf_otf2_sums *sums)
{
    sums->by_event = wf_xcalloc(sums->n + 1, sizeof(struct part *));
    WF_SORT(sums->parts, sums->n, by_call);
    for (size_t i = 0; i < sums->n; i++) {
        sums->by_event[i] = &sums->parts[i];
    }
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    WF_SORT(sums->by_event, sums->n, by_event);
}

void wf_otf2_sums_free(struct wf_otf2_sums *sums)
{
    if (sums != NULL) {
        free(sums->parts);
        free(sums->by_event);
        free(sums->calls);
        free(sums);
    }
}

/* Returns the parts of all members of a call, in order; null if some are missing. */
static const struct part *find_parts(const struct wf_otf2_sums *sums, uint32_t rank,
                                     uint64_t number, uint32_t n_members)
{
    struct part wanted = {.rank = rank, .number = number}, *key = &wanted;

    if (sums == NULL || sums->n == 0) {
        return NULL;
    }
    struct part *const *found =
        bsearch(&key, sums->by_event, sums->n, sizeof(struct part *), by_event);
    if (found == NULL || (size_t)(*found - sums->parts) < (*found)->member) {
        return NULL;
    }
    const struct part *first = *found - (*found)->member;
    if ((size_t)(first - sums->parts) + n_members > sums->n) {
        return NULL;
    }
    for (uint32_t i = 0; i < n_members; i++) {
        if (first[i].comm != (*found)->comm || first[i].call != (*found)->call ||
            first[i].member != i) {
            return NULL;
        }
    }
    return first;
}

/* Estimates the bytes that one rank sends to another. Sender and receiver get the same result,
 * since both know all sums. */
static uint64_t share(uint64_t sent, uint64_t received, uint64_t all)
{
    return all > 0 ? (uint64_t)((wf_u128)sent * received / all) : 0;
}

bool wf_otf2_sums_set(const struct wf_otf2_sums *sums, uint32_t rank, uint64_t number,
                      const struct wf_group *group, struct wf_op *op, struct wf_buf *counts)
{
    enum wf_op_kind kind = wf_otf2_coll_kind(wf_otf2_coll_number(op->kind), true);
    uint32_t n = group->size;
    const struct part *parts = differs(kind) ? find_parts(sums, rank, number, n) : NULL;
    uint64_t all = 0;

    if (parts == NULL) {
        return false;
    }
    bool is_root = group->rank == op->root,
         to_all = kind != WF_OP_GATHERV && kind != WF_OP_SCATTERV;
    counts->size = 0;
    wf_buf_reserve(counts, (size_t)n * 2 * sizeof(uint64_t));
    uint64_t *first = wf_buf_extend(counts, (size_t)n * sizeof(*first));
    uint64_t *second = wf_buf_extend(counts, (size_t)n * sizeof(*second));
    for (uint32_t i = 0; i < n; i++) {
        all = wf_count_add(all, parts[i].sizes.sent);
        first[i] = kind == WF_OP_GATHERV ? parts[i].sizes.sent : parts[i].sizes.received;
    }
    for (uint32_t i = 0; to_all && i < n; i++) {
        first[i] = share(parts[group->rank].sizes.sent, parts[i].sizes.received, all);
        second[i] = share(parts[i].sizes.sent, parts[group->rank].sizes.received, all);
    }
    op->counts = to_all || is_root ? first : NULL;
    op->recv_counts = to_all ? second : NULL;
    return true;
}
