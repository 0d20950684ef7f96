/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Regions of interest: a source that plays parts of another one.
 *
 * Ops outside the parts are not played, except those that create and free persistent requests.
 * Communicators exist everywhere, and waiting for a request that was created outside takes no
 * time. A message that is sent inside and received outside, or the other way round, has no
 * partner. So parts are best cut where no message is in flight, as between iterations.
 */

#include "program/ops/source.h"

struct wf_roi {
    const char *region; /* plays what is inside regions of this name; null or "": everything */
    /* Plays from the beginning of iteration `first` to the end of `last`, counted from 0,
     * `repeat` >= 1 times. */
    bool has_iterations;
    uint32_t first, last, repeat;
};

/* Reads "3:7" or "3" into first and last. Anything else is WF_EUSAGE. */
enum wf_status wf_roi_parse_iterations(const char *text, struct wf_roi *roi,
                                       struct wf_err *err);

/* Makes a source that plays parts of `inner` and owns it. WF_EINVAL if rank 0 has no such
 * region or iterations; then the caller still owns `inner`. */
enum wf_status wf_roi_new(struct wf_source *inner, const struct wf_roi *roi,
                          struct wf_source **out, struct wf_err *err);
