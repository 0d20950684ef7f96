/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The fewest symbols that explain all peers of a program, found for each shape of op by a greedy
 * cover over all ranks and counts. The grid is the one with which fewest symbols are needed.
 */

#include "program/extrapolate/peer.h"
#include "program/extrapolate/program.h"

/* Sets of symbols in struct wf_ext_op. */
enum {
    WF_EXT_SET_NONE, /* no peer, or a wildcard */
    WF_EXT_SET_NULL, /* MPI_PROC_NULL, where other ranks have a peer */
    WF_EXT_SET_FIRST,
};

/* Lists of packed symbols, the best first; number i is set WF_EXT_SET_FIRST + i. */
struct wf_ext_sets {
    struct wf_strings table;
};

/* Chooses the rule of the grid, which must fit `target` ranks too, and sets the grid of each
 * count. */
void wf_ext_choose_grid(struct wf_ext_input *input, uint32_t target, struct wf_ext_rule *rule);

/* Sets the sets of all ops. Peers that need too many symbols are WF_EINVAL. */
enum wf_status wf_ext_assign(struct wf_ext_input *input, struct wf_ext_sets *sets,
                             struct wf_err *err);

/* The symbols of a set; their number in *n. */
const uint64_t *wf_ext_set_at(const struct wf_ext_sets *sets, uint32_t set, uint32_t *n);
/* The set of the symbols that both have. WF_EXT_SET_NULL is a part of every set.
 * WF_EXT_SET_NONE: they have none in common. */
uint32_t wf_ext_set_common(struct wf_ext_sets *sets, uint32_t a, uint32_t b);
