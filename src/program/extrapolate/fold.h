/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Programs of ranks as trees of loops and ops. Ops of one rank are equal here if they have the
 * same shape, the same symbols and, where a rank uses few sizes, the same size. Ranks with equal
 * trees are of one kind.
 */

#include "program/extrapolate/program.h"

struct wf_ext_node {
    uint32_t count; /* rounds of a loop; 0: an op */
    uint32_t op;    /* op: number of the first occurrence in the rank */
    uint32_t *children;
    uint32_t n_children;
    uint64_t hash;      /* with sizes */
    uint32_t statement; /* set when kinds are merged */
};

/* One kind of rank. Node 0 is the program: a loop with one round. */
struct wf_ext_kind {
    uint32_t count, rank; /* of the first rank of this kind */
    uint32_t n_ranks;
    uint64_t hash; /* without sizes */
    struct wf_ext_node *nodes;
    uint32_t n_nodes, capacity;
    uint32_t length; /* nodes in the tree, as a measure of its size */
};

struct wf_ext_kinds {
    struct wf_ext_kind *all;
    uint32_t n, capacity;
};

/* Folds all ranks, and sets their kinds. */
void wf_ext_fold(struct wf_ext_input *input, struct wf_ext_kinds *out);
void wf_ext_kinds_fini(struct wf_ext_kinds *kinds);
