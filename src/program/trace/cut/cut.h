/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Cuts a smaller trace out of a trace: some ranks, and what they do in a span of time, in a region,
 * or in some iterations.
 *
 * Time is the sum of the computing times of a rank so far: ops have no time stamps. A send or
 * receive is left out if its partner is, and a collective if one of the remaining members does
 * not call it. To find partners, all ranks are read once before. Partners meet in order: the
 * n-th send to a rank with a communicator and a tag meets the n-th such receive. A wildcard
 * receive whose match is not recorded stays as it is.
 */

#include "program/trace/copy.h"

struct wf_cut_options {
    const bool *ranks; /* for each rank whether it is kept; null: all */
    bool has_time, has_iterations;
    int64_t begin, end;   /* picoseconds; keeps what begins before `end` */
    uint64_t first, last; /* iterations of a rank, counted from 0, both kept */
    const char *region;   /* name; null is everything */
    struct wf_pass pass;  /* who waits for the first reading */
};

/* Ops that were left out because their partners were. */
struct wf_cut_losses {
    uint64_t n_messages;    /* sends and receives without partner */
    uint64_t n_collectives; /* that not all call, or whose root is gone */
    uint64_t n_open;        /* wildcard receives that stay as they are */
};

struct wf_cut;

/* Reads the source once if necessary. WF_EINVAL if there is no such region, if nothing is left,
 * or if the source cannot be read. The options must live as long as the cut. */
enum wf_status wf_cut_new(const struct wf_source *source, const struct wf_cut_options *options,
                          struct wf_cut **out, struct wf_err *err);
void wf_cut_free(struct wf_cut *cut); /* null is allowed */

uint32_t wf_cut_n_ranks(const struct wf_cut *cut);

/* The changes that make a copy of the source the piece; `cut` must live as long as the copy. */
struct wf_copy_changes wf_cut_changes(struct wf_cut *cut);

/* The losses of the copy. */
const struct wf_cut_losses *wf_cut_losses(const struct wf_cut *cut);
