/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRACE_CUT_CUT_H
#define WF_TRACE_CUT_CUT_H

/*
 * A piece of a trace that is a trace by itself: some of its ranks, and of these what they do in
 * a span of time, a region, or some iterations.
 *
 * Time is the sum of the computing times of a rank so far, the only clock in a trace without
 * time stamps. Sends and receives whose other end is left out are left out, and so are
 * collectives that not all members that are left call. To know that, all ranks are read once
 * before. Partners are found by order: the n-th send on a communicator with a tag to a rank
 * meets the n-th receive of it. A receive from anybody of which it is not recorded what it got
 * stays as it is.
 */

#include "trace/copy.h"

struct wf_cut_options {
    const bool *ranks; /* which are kept, one for each; null is all */
    bool has_time, has_iterations;
    int64_t begin, end;   /* picoseconds; what begins before `end` */
    uint64_t first, last; /* iterations of a rank, counted from 0, both kept */
    const char *region;   /* name; null is everything */
};

/* What was left out because of what else was. */
struct wf_cut_losses {
    uint64_t n_messages;    /* sends and receives without partner */
    uint64_t n_collectives; /* that not all call, or whose root is gone */
    uint64_t n_open;        /* receives from anybody that stay as they are */
};

struct wf_cut;

/* Reads the source once if that is needed. WF_EINVAL if there is no such region, or nothing is
 * left, or the source cannot be read. The options are kept. */
WF_NODISCARD
enum wf_status wf_cut_new(const struct wf_source *source, const struct wf_cut_options *options,
                          struct wf_cut **out, struct wf_err *err);
void wf_cut_free(struct wf_cut *cut); /* null is allowed */

uint32_t wf_cut_n_ranks(const struct wf_cut *cut);

/* The changes to a copy of the source that make it the piece; `cut` is needed as long. */
struct wf_copy_changes wf_cut_changes(struct wf_cut *cut);

/* Of the copy that was made. */
const struct wf_cut_losses *wf_cut_losses(const struct wf_cut *cut);

#endif
