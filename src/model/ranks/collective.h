/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Collectives in progress. Private to ranks/. */

#include "model/ranks/request.h"

/* The tag of a collective's messages: the kind, the root, the number of the call. */
enum { WF_COLL_TAG_KIND_BITS = 5, WF_COLL_TAG_ROOT_BITS = 10 };
_Static_assert(WF_COLL_KINDS <= 1 << WF_COLL_TAG_KIND_BITS, "a kind fits into its bits");

static inline enum wf_coll_kind wf_coll_tag_kind(int32_t tag)
{
    return (enum wf_coll_kind)((uint32_t)tag & ((1U << WF_COLL_TAG_KIND_BITS) - 1));
}

static inline uint32_t wf_coll_tag_root(int32_t tag)
{
    return (uint32_t)tag >> WF_COLL_TAG_KIND_BITS & ((1U << WF_COLL_TAG_ROOT_BITS) - 1);
}

/* wf_coll_request.algorithm: an index in wf_coll_table(), and a protocol (enum wf_coll_protocol)
 * above it; or that of a formula (model/ranks/formula.h). */
enum {
    WF_COLL_PROTOCOL_SHIFT = 12,
    WF_ALGORITHM_FORMULA = UINT16_MAX,
    WF_ALGORITHM_TRAFFIC = UINT16_MAX - 1, /* likewise, with messages between nodes */
};

static inline bool wf_collective_is_formula(const struct wf_coll_request *coll)
{
    return coll->algorithm >= WF_ALGORITHM_TRAFFIC;
}

/* Of a collective that is no formula. */
static inline const struct wf_coll_ops *wf_collective_ops(const struct wf_coll_request *coll)
{
    return wf_coll_table()[coll->algorithm & ((1U << WF_COLL_PROTOCOL_SHIFT) - 1)];
}

static inline enum wf_coll_protocol wf_collective_protocol(const struct wf_coll_request *coll)
{
    return (enum wf_coll_protocol)(coll->algorithm >> WF_COLL_PROTOCOL_SHIFT);
}

/* Whether the tags belong to different collectives with the same number: ranks that call them
 * disagree about what to call. */
static inline bool wf_coll_tags_disagree(int32_t tag, int32_t other)
{
    return tag != other &&
           (uint32_t)(tag ^ other) >> (WF_COLL_TAG_KIND_BITS + WF_COLL_TAG_ROOT_BITS) == 0;
}

/* ---- the choice (model/ranks/coll_choice.c) ---- */

/* What does not fit into the request of a collective: a cell, wf_coll_request.more. */
struct wf_coll_more {
    uint64_t last_word; /* of the cookie */
    int64_t began;      /* WF_ALGORITHM_TRAFFIC; -1 before that */
};

/* Keeps the cookie in the request. Few cookies have a last word other than 0; it gets a cell. */
void wf_collective_keep_cookie(const struct wf_caller *who, struct wf_rank_request *coll,
                               const uint64_t *cookie);

/* The time at which a collective began: its clock in the first call of this function. */
int64_t wf_collective_began(const struct wf_caller *who, struct wf_rank_request *coll);

/* The algorithm and protocol for a call, for wf_coll_request.algorithm. */
uint16_t wf_collective_choose(const struct wf_ranks *ranks, const struct wf_coll_args *args);

/* What a protocol of GPUs costs before the first message. */
int64_t wf_collective_launch_ps(const struct wf_coll_request *coll,
                                const struct wf_coll_args *args);

/* Adds what the machine tells about the call to its arguments. */
void wf_collective_complete(const struct wf_ranks *ranks, const struct wf_rank_group *group,
                            struct wf_coll_args *args);

/* The arguments and the communicator of the collective in this cell, which is not complete. */
void wf_collective_recall(const struct wf_caller *who, uint32_t cell, struct wf_coll_args *args,
                          struct wf_rank_group *group);

/* ---- collectives in progress ---- */

/* Continues a collective as far as possible now. */
void wf_collective_continue(const struct wf_caller *who, uint32_t cell);

/* Charges CPU time to the clock of the collective in this cell, at the earliest from `from`
 * on. Returns the clock. */
int64_t wf_collective_charge(const struct wf_caller *who, uint32_t cell, int64_t from,
                             int64_t cpu_ps);

/* The core has served the claim of the rank's blocking collective: continues the collective. */
void wf_collective_served(const struct wf_caller *who);

/* Continues a deferred collective in a call that the rank makes at the time `at`. */
void wf_collective_run_deferred(const struct wf_caller *who, uint32_t cell, int64_t at);
