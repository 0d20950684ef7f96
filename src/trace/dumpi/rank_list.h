/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRACE_DUMPI_RANK_LIST_H
#define WF_TRACE_DUMPI_RANK_LIST_H

/* Ranks of a program in an order, none twice: what MPI calls a group. */

#include <stdbool.h>
#include <stdint.h>

struct wf_rank_list {
    uint32_t n;
    uint32_t *ranks; /* to be freed */
};

/* To find out quickly which ranks are in a list. */
struct wf_rank_marks {
    uint32_t n_ranks, serial;
    uint32_t *marks;
};

void wf_rank_marks_init(struct wf_rank_marks *marks, uint32_t n_ranks);
void wf_rank_marks_fini(struct wf_rank_marks *marks);

/* An empty one with room for `most`, and one more rank in it. */
struct wf_rank_list wf_rank_list_new(uint64_t most);
void wf_rank_list_append(struct wf_rank_list *list, uint32_t rank);

/* Those of `a`, then those of `b` that are not in `a`. */
struct wf_rank_list wf_rank_list_union(struct wf_rank_marks *marks,
                                       const struct wf_rank_list *a,
                                       const struct wf_rank_list *b);
/* Those of `a` that are in `b`, or that are not. */
struct wf_rank_list wf_rank_list_common(struct wf_rank_marks *marks,
                                        const struct wf_rank_list *a,
                                        const struct wf_rank_list *b, bool in_b);
/* Those at these places, or all but those; places that are not there do not count. */
struct wf_rank_list wf_rank_list_pick(struct wf_rank_marks *marks,
                                      const struct wf_rank_list *from, const int32_t *places,
                                      uint32_t n);
struct wf_rank_list wf_rank_list_drop(struct wf_rank_marks *marks,
                                      const struct wf_rank_list *from, const int32_t *places,
                                      uint32_t n);

#endif
