/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Communicators as functions of the rank and the grid. */

#include "program/extrapolate/program.h"

enum wf_ext_group_type {
    WF_EXT_GROUP_WORLD,
    WF_EXT_GROUP_SELF,
    WF_EXT_GROUP_DIMS,   /* ranks that differ only in these dimensions, a set of bits */
    WF_EXT_GROUP_BLOCK,  /* `k` neighbouring ranks, or every `stride`th of them */
    WF_EXT_GROUP_STRIDE, /* ranks with the same remainder of a division by `k` */
    WF_EXT_GROUP_PART,   /* one of `k` equal parts of all ranks, or every `stride`th of it */
};

struct wf_ext_group {
    enum wf_ext_group_type type;
    uint32_t k;
    uint32_t stride; /* of BLOCK and PART; 0 counts as 1 */
};

/* The members in the communicator of a rank: sets members[0..n-1] and *own, and returns n; 0 if
 * the ranks cannot be divided so. `members` has room for all ranks. */
uint32_t wf_ext_group_members(const struct wf_ext_grid *grid, const struct wf_ext_group *group,
                              uint32_t rank, uint32_t *members, uint32_t *own);

/* Finds what communicator number `i`, in the order in which ranks meet them, is in all counts.
 * False: no rule fits; sets *count and *rank to an example. */
bool wf_ext_group_find(const struct wf_ext_input *input, uint32_t i, struct wf_ext_group *out,
                       uint32_t *count, uint32_t *rank);

/* The largest number of communicators of a rank. */
uint32_t wf_ext_groups_count(const struct wf_ext_input *input);

const char *wf_ext_group_text(const struct wf_ext_group *group, char *text, size_t size);
