/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/cut/ranks.h"

#include "base/array.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "program/ops/fields.h"

#include <stdlib.h>

/* A communicator: the new number of each of its ranks (WF_PROC_NULL if the rank is cut), and
 * the members that are left. */
struct known {
    uint32_t size; /* number of members left */
    uint32_t *numbers, *members;
};

struct wf_cut_ranks {
    const struct wf_source *source;
    const bool *kept;  /* per rank; null: all are kept */
    uint32_t *numbers; /* new numbers of the kept ranks */
    uint32_t n;
    struct wf_map places; /* id and first member of a communicator: 1 + index in `known` */
    struct known *known;
    size_t n_known, capacity;
    struct wf_buf arrays[4];
};

struct wf_cut_ranks *wf_cut_ranks_new(const struct wf_source *source, const bool *kept)
{
    struct wf_cut_ranks *ranks = wf_xcalloc(1, sizeof(*ranks));

    ranks->source = source;
    ranks->kept = kept;
    ranks->numbers = wf_xcalloc(source->n_ranks, sizeof(*ranks->numbers));
    for (uint32_t rank = 0; rank < source->n_ranks; rank++) {
        ranks->numbers[rank] = ranks->n;
        ranks->n += kept == NULL || kept[rank] ? 1 : 0;
    }
    return ranks;
}

void wf_cut_ranks_free(struct wf_cut_ranks *ranks)
{
    if (ranks == NULL) {
        return;
    }
    for (size_t i = 0; i < ranks->n_known; i++) {
        free(ranks->known[i].numbers);
        free(ranks->known[i].members);
    }
    for (size_t i = 0; i < 4; i++) {
        wf_buf_fini(&ranks->arrays[i]);
    }
    wf_map_fini(&ranks->places);
    free(ranks->known);
    free(ranks->numbers);
    free(ranks);
}

uint32_t wf_cut_ranks_n(const struct wf_cut_ranks *ranks)
{
    return ranks->n;
}

bool wf_cut_ranks_number(const struct wf_cut_ranks *ranks, uint32_t rank, uint32_t *out)
{
    if (ranks->kept != NULL && !ranks->kept[rank]) {
        return false;
    }
    *out = ranks->numbers[rank];
    return true;
}

static const struct known *learn(struct wf_cut_ranks *ranks, const struct wf_group *group)
{
    uint64_t *place =
        wf_map_put(&ranks->places, (uint64_t)group->id << 32 | wf_group_rank(group, 0));

    if (*place != 0) {
        return &ranks->known[*place - 1];
    }
    WF_GROW(ranks->known, ranks->n_known, ranks->capacity);
    struct known *known = &ranks->known[ranks->n_known];
    *place = ++ranks->n_known;
    *known = (struct known){
        .numbers = wf_xmalloc((size_t)group->size * sizeof(*known->numbers)),
        .members = wf_xmalloc((size_t)group->size * sizeof(*known->members)),
    };
    for (uint32_t r = 0; r < group->size; r++) {
        uint32_t number = 0;
        known->numbers[r] = WF_PROC_NULL;
        if (wf_cut_ranks_number(ranks, wf_group_rank(group, r), &number)) {
            known->numbers[r] = known->size;
            known->members[known->size++] = number;
        }
    }
    return known;
}

bool wf_cut_ranks_group(struct wf_cut_ranks *ranks, uint32_t rank, uint32_t comm,
                        struct wf_group *out)
{
    struct wf_group group;

    if (!wf_source_group(ranks->source, rank, comm, &group)) {
        return false;
    }
    if (ranks->kept == NULL) {
        *out = group;
        return true;
    }
    const struct known *known = learn(ranks, &group);
    *out = (struct wf_group){.id = group.id,
                             .size = known->size,
                             .rank = known->numbers[group.rank],
                             .members = known->members};
    return true;
}

uint32_t wf_cut_ranks_size(struct wf_cut_ranks *ranks, uint32_t rank, uint32_t comm)
{
    struct wf_group group = {.size = 0};

    return wf_cut_ranks_group(ranks, rank, comm, &group) ? group.size : 0;
}

static uint32_t renumbered(const struct known *known, uint32_t size, uint32_t peer)
{
    return peer < size ? known->numbers[peer] : peer;
}

void wf_cut_ranks_message(struct wf_cut_ranks *ranks, uint32_t rank, struct wf_op *op)
{
    struct wf_group group;
    const struct wf_op_layout *layout = wf_op_layout_of(op->kind);

    if (ranks->kept == NULL || !wf_source_group(ranks->source, rank, op->comm, &group)) {
        return;
    }
    const struct known *known = learn(ranks, &group);
    op->peer = renumbered(known, group.size, op->peer);
    if (wf_op_info(op->kind)->family == WF_FAMILY_SENDRECV) {
        op->recv_peer = renumbered(known, group.size, op->recv_peer);
    }
    if ((layout->flags & WF_HAS_RECORD) != 0 && op->recorded) {
        op->matched_peer = renumbered(known, group.size, op->matched_peer);
    }
}

/* Returns the counts of the ranks that are left, in `buf`. Count i belongs to rank of[i] of the
 * communicator, or to rank i if `of` is null. */
static const uint64_t *left_counts(struct wf_buf *buf, const struct known *known,
                                   const uint64_t *counts, const uint32_t *of, uint32_t n)
{
    buf->size = 0;
    wf_buf_reserve(buf, 8);
    for (uint32_t i = 0; i < n && counts != NULL; i++) {
        if (of != NULL ? of[i] == WF_PROC_NULL || known->numbers[of[i]] != WF_PROC_NULL
                       : known->numbers[i] != WF_PROC_NULL) {
            wf_buf_append(buf, &counts[i], sizeof(counts[i]));
        }
    }
    return counts == NULL ? NULL : (const uint64_t *)(const void *)buf->data;
}

static const uint32_t *left_ranks(struct wf_buf *buf, const struct known *known,
                                  const uint32_t *ranks, uint32_t *n)
{
    uint32_t left = 0;

    buf->size = 0;
    wf_buf_reserve(buf, 8);
    for (uint32_t i = 0; i < *n; i++) {
        uint32_t number = ranks[i] == WF_PROC_NULL ? WF_PROC_NULL : known->numbers[ranks[i]];
        if (number != WF_PROC_NULL || ranks[i] == WF_PROC_NULL) {
            wf_buf_append(buf, &number, sizeof(number));
            left++;
        }
    }
    *n = left;
    return (const uint32_t *)(const void *)buf->data;
}

static void cut_neighbors(struct wf_cut_ranks *ranks, const struct known *known,
                          struct wf_op *op)
{
    op->counts =
        left_counts(&ranks->arrays[0], known, op->counts, op->destinations, op->n_destinations);
    op->recv_counts =
        left_counts(&ranks->arrays[1], known, op->recv_counts, op->sources, op->n_sources);
    op->sources = left_ranks(&ranks->arrays[2], known, op->sources, &op->n_sources);
    op->destinations =
        left_ranks(&ranks->arrays[3], known, op->destinations, &op->n_destinations);
}

bool wf_cut_ranks_collective(struct wf_cut_ranks *ranks, const struct wf_group *group,
                             struct wf_op *op)
{
    const struct wf_op_layout *layout = wf_op_layout_of(op->kind);

    if (ranks->kept == NULL) {
        return true;
    }
    const struct known *known = learn(ranks, group);
    if ((layout->flags & WF_HAS_ROOT) != 0) {
        op->root = renumbered(known, group->size, op->root);
        if (op->root == WF_PROC_NULL) {
            return false;
        }
    }
    if (layout->n_arrays == WF_ARRAYS_MAX) {
        cut_neighbors(ranks, known, op);
        return true;
    }
    if (layout->n_arrays > 0) {
        op->counts = left_counts(&ranks->arrays[0], known, op->counts, NULL, group->size);
    }
    if (layout->n_arrays > 1) {
        op->recv_counts =
            left_counts(&ranks->arrays[1], known, op->recv_counts, NULL, group->size);
    }
    return true;
}
