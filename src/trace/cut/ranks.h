/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRACE_CUT_RANKS_H
#define WF_TRACE_CUT_RANKS_H

/*
 * Ranks and communicators when some ranks are left out: the others are numbered anew, in the
 * same order, in the program and in every communicator.
 */

#include "ops/source.h"

struct wf_cut_ranks;

/* `kept` has one member for each rank, and is kept; null is all. */
struct wf_cut_ranks *wf_cut_ranks_new(const struct wf_source *source, const bool *kept);
void wf_cut_ranks_free(struct wf_cut_ranks *ranks); /* null is allowed */

uint32_t wf_cut_ranks_n(const struct wf_cut_ranks *ranks);
/* The new number of a rank; false if it is left out. */
bool wf_cut_ranks_number(const struct wf_cut_ranks *ranks, uint32_t rank, uint32_t *out);

/* A communicator of a rank as it is now, and its size. */
bool wf_cut_ranks_group(struct wf_cut_ranks *ranks, uint32_t rank, uint32_t comm,
                        struct wf_group *out);
uint32_t wf_cut_ranks_size(struct wf_cut_ranks *ranks, uint32_t rank, uint32_t comm);

/* Renumbers the partners of a message; those that are left out become WF_PROC_NULL. */
void wf_cut_ranks_message(struct wf_cut_ranks *ranks, uint32_t rank, struct wf_op *op);

/* Renumbers the root, and leaves out what belongs to ranks that are left out. The arrays are
 * valid until the next call. False if the root is left out. `group` is the communicator as it
 * was. */
bool wf_cut_ranks_collective(struct wf_cut_ranks *ranks, const struct wf_group *group,
                             struct wf_op *op);

#endif
