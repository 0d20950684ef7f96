/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * One program for all ranks and counts: the trees of all kinds of ranks merged by aligning their
 * items. Every op of every rank belongs to one statement; a rank that lacks a statement does not
 * execute it.
 */

#include "program/extrapolate/fold.h"
#include "program/extrapolate/vocabulary.h"

struct wf_ext_statement {
    bool loop;
    uint32_t shape;
    uint32_t set[WF_EXT_SLOTS];
    uint32_t parent;
    uint32_t *children;
    uint32_t n_children, capacity;
    uint32_t size;     /* ops in it, at any depth */
    uint32_t favoured; /* number of the kind, plus 1, that should have it: merge.c only */
    /* Set by rollup.c: the statement is round `index` of statement `rolled`. */
    uint32_t rolled, index;
};

#define WF_EXT_NO_STATEMENT UINT32_MAX

/* Statement 0 is the program. */
struct wf_ext_merged {
    struct wf_ext_statement *all;
    uint32_t n, capacity;
};

/* Merges all kinds and sets the statements of all ops and nodes. */
void wf_ext_merge(struct wf_ext_input *input, struct wf_ext_kinds *kinds,
                  struct wf_ext_sets *sets, struct wf_ext_merged *out);
void wf_ext_merged_fini(struct wf_ext_merged *merged);

/* Walks through the program of a rank: calls visit() for every op, in order, and for every entry
 * of a loop with its number of rounds (op is null). */
struct wf_ext_walk {
    void (*visit)(void *arg, uint32_t statement, struct wf_ext_op *op, uint32_t rounds);
    void *arg;
};
void wf_ext_walk(const struct wf_ext_kinds *kinds, struct wf_ext_rank *rank,
                 const struct wf_ext_walk *walk);
