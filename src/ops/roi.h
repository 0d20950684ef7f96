/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_OPS_ROI_H
#define WF_OPS_ROI_H

/*
 * Regions of interest: a source that plays parts of another one.
 *
 * What is left out is left out entirely: its messages are not sent, its communicators are there
 * nevertheless, and waiting for a request that was made outside takes no time. Persistent
 * requests are made wherever it happens. A message that is sent inside and received outside, or
 * the other way round, has no other side; parts are best cut where the ranks owe each other
 * nothing, as between iterations.
 */

#include "ops/source.h"

struct wf_roi {
    const char *region; /* what is inside the regions of this name; null or "": everywhere */
    /* From the beginning of iteration `first` to the end of `last`, counted from 0, `repeat` >=
     * 1 times. */
    bool has_iterations;
    uint32_t first, last, repeat;
};

/* Reads "3:7" or "3" into first and last. Anything else is WF_EUSAGE. */
WF_NODISCARD
enum wf_status wf_roi_parse_iterations(const char *text, struct wf_roi *roi,
                                       struct wf_err *err);

/* Plays these parts of `inner`, which is taken on success. Fails with WF_EINVAL if there is no
 * such region, or if rank 0 has no such region or iterations. */
WF_NODISCARD
enum wf_status wf_roi_new(struct wf_source *inner, const struct wf_roi *roi,
                          struct wf_source **out, struct wf_err *err);

#endif
