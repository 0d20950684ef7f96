/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What nodes of ranks and nodes of PEs have in common: checks before a run, and what they add to
 * the tally. Private to ranks/. */

#include "model/ranks/place.h"
#include "model/ranks/record/recorder.h"

enum { WF_RANK_SLOTS_MAX = 65536 }; /* ranks on a node: their slots are numbered with 16 bits */

/* WF_EINVAL unless the network has the nodes of the place, and these have slots for `n`
 * ranks or PEs (`what`). */
enum wf_status wf_node_check(const struct wf_place *place, const struct wf_net *net, uint32_t n,
                             const char *what, struct wf_err *err);

/* The largest payload of an event for a node, in bytes. */
static inline size_t wf_node_payload_max(const struct wf_net *net)
{
    return net->payload_max > sizeof(struct wf_net_message) ? net->payload_max
                                                            : sizeof(struct wf_net_message);
}

/* In commit: the network's statistics, and the recording. */
void wf_node_commit(const struct wf_net *net, const struct wf_recorder *recorder,
                    const struct wf_event *ev, struct wf_ctx *ctx);
/* In commit: counts a message with this latency. */
void wf_node_count_latency(const struct wf_recorder *recorder, struct wf_ranks_tally *tally,
                           int64_t latency);

/* In finish: lays out the tally and adds the network's part of the node. */
void wf_node_finish(const struct wf_net *net, const struct wf_recorder *recorder,
                    const void *node, struct wf_ranks_tally *tally, struct wf_ctx *ctx);

#define WF_NO_WAIT INT64_C(-1)

/* In finish: adds the totals of a rank or PE. */
struct wf_rank_totals {
    uint32_t number, job;
    uint64_t messages, bytes; /* sent */
    uint64_t longest;         /* bytes of the longest message */
    int64_t clock, compute_ps, overhead_ps;
    int64_t wait_ps[WF_IN_KINDS]; /* WF_NO_WAIT: it has no such calls */
    struct wf_job_files files;
    bool ended; /* the rank reached its end */
};
void wf_node_count_rank(const struct wf_recorder *recorder, struct wf_ranks_tally *tally,
                        const struct wf_rank_totals *totals);
