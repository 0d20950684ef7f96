/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRACE_LIVE_H
#define WF_TRACE_LIVE_H

/* What a source that is a running program has to know of the simulation. */

#include "trace/source.h"

/* What has come of the program's calls so far. */
struct wf_answer {
    int64_t clock; /* picoseconds */
    bool found;    /* of an iprobe or test */
    uint32_t seen_source;
    int32_t seen_tag;
};

/* All members are required. Ranks are those of the program. */
struct wf_live_ops {
    /* Before the next op is asked for: what came of those before. */
    void (*tell)(const struct wf_source *source, uint32_t rank, const struct wf_answer *answer);
    /* A receive that left something open has met its message; `request` is WF_REQUEST_MAX if it
     * has none. */
    void (*matched)(const struct wf_source *source, uint32_t rank, uint32_t request,
                    uint32_t peer, int32_t tag);
    /* A wait or test has completed a request. */
    void (*taken)(const struct wf_source *source, uint32_t rank, uint32_t request);
    /* Something one-sided has arrived at the rank from `origin`. */
    void (*remote)(const struct wf_source *source, uint32_t rank, uint32_t origin);
};

#endif
