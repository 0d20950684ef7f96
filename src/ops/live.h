/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_OPS_LIVE_H
#define WF_OPS_LIVE_H

/* What a source that is a running program has to know of the simulation. */

#include "base/buf.h"
#include "ops/source.h"

/* What has come of the program's calls so far. */
struct wf_answer {
    int64_t clock; /* picoseconds */
    bool found;    /* of an iprobe or test */
    uint32_t seen_source;
    int32_t seen_tag;
};

/* Where the ranks of the program run: each in one of several operating-system processes. */
struct wf_homes {
    uint32_t n_processes, own; /* how many, and which one this is */
    /* The one in which a rank runs. Can be asked as soon as the program runs. */
    uint32_t (*of)(const struct wf_homes *homes, uint32_t rank);
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

    /* Before it runs, if there is more than one operating-system process. `homes` is kept. */
    void (*spread)(const struct wf_source *source, const struct wf_homes *homes);
    /* What ranks have for those in other processes, as in engine/cargo.h. */
    void (*load)(const struct wf_source *source, uint32_t process, struct wf_buf *out);
    void (*unload)(const struct wf_source *source, const unsigned char *bytes, size_t size);
    /* After that, of a region that this process has numbered: its number in the whole run. */
    uint32_t (*common_region)(const struct wf_source *source, uint32_t number);
};

#endif
