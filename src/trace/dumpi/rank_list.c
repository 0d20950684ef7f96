/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/dumpi/rank_list.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>

void wf_rank_marks_init(struct wf_rank_marks *marks, uint32_t n_ranks)
{
    *marks = (struct wf_rank_marks){.n_ranks = n_ranks};
    marks->marks = wf_xcalloc((size_t)n_ranks + 1, sizeof(*marks->marks));
}

void wf_rank_marks_fini(struct wf_rank_marks *marks)
{
    free(marks->marks);
    marks->marks = NULL;
}

/* Marks a rank; false if it was marked already. */
static bool mark(struct wf_rank_marks *marks, uint32_t rank)
{
    assert(rank < marks->n_ranks);
    bool is_new = marks->marks[rank] != marks->serial;

    marks->marks[rank] = marks->serial;
    return is_new;
}

struct wf_rank_list wf_rank_list_new(uint64_t most)
{
    return (struct wf_rank_list){0, wf_xcalloc(most + 1, sizeof(uint32_t))};
}

void wf_rank_list_append(struct wf_rank_list *list, uint32_t rank)
{
    list->ranks[list->n++] = rank;
}

struct wf_rank_list wf_rank_list_union(struct wf_rank_marks *marks,
                                       const struct wf_rank_list *a,
                                       const struct wf_rank_list *b)
{
    struct wf_rank_list list = wf_rank_list_new((uint64_t)a->n + b->n);

    marks->serial++;
    for (uint32_t i = 0; i < a->n + b->n; i++) {
        uint32_t rank = i < a->n ? a->ranks[i] : b->ranks[i - a->n];
        if (mark(marks, rank)) {
            wf_rank_list_append(&list, rank);
        }
    }
    return list;
}

struct wf_rank_list wf_rank_list_common(struct wf_rank_marks *marks,
                                        const struct wf_rank_list *a,
                                        const struct wf_rank_list *b, bool in_b)
{
    struct wf_rank_list list = wf_rank_list_new(a->n);

    marks->serial++;
    for (uint32_t i = 0; i < b->n; i++) {
        (void)mark(marks, b->ranks[i]);
    }
    for (uint32_t i = 0; i < a->n; i++) {
        if ((marks->marks[a->ranks[i]] == marks->serial) == in_b) {
            wf_rank_list_append(&list, a->ranks[i]);
        }
    }
    return list;
}

struct wf_rank_list wf_rank_list_pick(struct wf_rank_marks *marks,
                                      const struct wf_rank_list *from, const int32_t *places,
                                      uint32_t n)
{
    struct wf_rank_list list = wf_rank_list_new(from->n);

    marks->serial++;
    for (uint32_t i = 0; i < n; i++) {
        if (places[i] >= 0 && (uint32_t)places[i] < from->n &&
            mark(marks, from->ranks[places[i]])) {
            wf_rank_list_append(&list, from->ranks[places[i]]);
        }
    }
    return list;
}

struct wf_rank_list wf_rank_list_drop(struct wf_rank_marks *marks,
                                      const struct wf_rank_list *from, const int32_t *places,
                                      uint32_t n)
{
    struct wf_rank_list dropped = wf_rank_list_pick(marks, from, places, n);
    struct wf_rank_list list = wf_rank_list_common(marks, from, &dropped, false);

    free(dropped.ranks);
    return list;
}
