/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A collective that is being continued, for model/ranks/collective.c and model/ranks/coll_steps.c only. */

#include "model/ranks/collective.h"

struct wf_collective_run {
    const struct wf_caller *who;
    uint32_t cell;
    struct wf_rank_request *coll;
    const struct wf_coll_ops *ops;
    struct wf_coll_args args;
    struct wf_rank_group group;
    uint32_t n_slots;
    enum wf_coll_protocol protocol;
    uint64_t traffic; /* the length of all messages; 0: by their slots */
};

static inline bool wf_collective_blocks(const struct wf_rank_request *coll)
{
    return coll->number == WF_RANK_NO_REQUEST && (coll->flags & WF_REQ_DETACHED) == 0;
}

/* Messages of different collectives on a communicator never match: ranks block if they do
 * not call the same collective with the same root. After some ten thousand calls the numbers
 * repeat. By then the earlier call is complete; if it is not, messages of a pair match in
 * order. */
static inline int32_t wf_collective_tag(const struct wf_collective_run *run)
{
    uint32_t root = wf_coll_has_root(run->args.kind)
                        ? run->args.root & ((1U << WF_COLL_TAG_ROOT_BITS) - 1)
                        : 0;
    uint32_t tag = (uint32_t)run->coll->coll.sequence
                       << (WF_COLL_TAG_KIND_BITS + WF_COLL_TAG_ROOT_BITS) |
                   root << WF_COLL_TAG_KIND_BITS | (uint32_t)run->args.kind;

    return (int32_t)(tag & INT32_MAX);
}

/* Charges CPU time of a message to the rank, if it is in this collective. */
void wf_collective_account(const struct wf_caller *who, const struct wf_rank_request *coll,
                           int64_t overhead);

/* Continues the collective at the time `at`, which is later than now. */
void wf_collective_continue_at(const struct wf_collective_run *run, int64_t at);

/* While the rank computes, messages for the collective wait for its next call. A message
 * that a call began to send is sent nevertheless. */
bool wf_collective_is_deferred(const struct wf_collective_run *run);

/* Goes through the steps as far as possible; true if the last one is complete
 * (model/ranks/coll_steps.c). */
bool wf_collective_steps(struct wf_collective_run *run);
