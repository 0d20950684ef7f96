/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * New numbers of ranks when some ranks are left out: the others keep their order, in the
 * program and in every communicator.
 */

#include "program/ops/source.h"

struct wf_cut_ranks;

/* `kept` tells for each rank whether it is kept, and must live as long; null: all. */
struct wf_cut_ranks *wf_cut_ranks_new(const struct wf_source *source, const bool *kept);
void wf_cut_ranks_free(struct wf_cut_ranks *ranks); /* null is allowed */

uint32_t wf_cut_ranks_n(const struct wf_cut_ranks *ranks);
/* The new number of a rank; false if it is left out. */
bool wf_cut_ranks_number(const struct wf_cut_ranks *ranks, uint32_t rank, uint32_t *out);

/* A communicator of a rank without the ranks that are left out, and its size. */
bool wf_cut_ranks_group(struct wf_cut_ranks *ranks, uint32_t rank, uint32_t comm,
                        struct wf_group *out);
uint32_t wf_cut_ranks_size(struct wf_cut_ranks *ranks, uint32_t rank, uint32_t comm);

/* Renumbers the peers of a message; a peer that is left out becomes WF_PROC_NULL. */
void wf_cut_ranks_message(struct wf_cut_ranks *ranks, uint32_t rank, struct wf_op *op);

/* Renumbers the root, and removes the counts and neighbours of ranks that are left out. `group`
 * is the communicator of the source. The arrays are valid until the next call. False if the
 * root is left out. */
bool wf_cut_ranks_collective(struct wf_cut_ranks *ranks, const struct wf_group *group,
                             struct wf_op *op);
