/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scan and exscan: from rank to rank, or by recursive doubling as in MPICH. In round k of the
 * latter a rank exchanges the sum over its group of 2^k ranks with the rank whose number
 * differs in bit k; a sum from a lower rank is also added to its result.
 */
#include "model/coll/parts.h"

static bool linear(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    if (k > 1) {
        return false;
    }
    *out = wf_coll_idle();
    if (k == 0 && args->rank > 0) {
        out->recv_from = args->rank - 1;
        out->recv = wf_coll_range(0, 1);
        out->take = WF_COLL_COMBINE_RESULT;
    }
    if (k == 1 && args->rank + 1 < args->size) {
        out->send_to = args->rank + 1;
        out->send = wf_coll_range(0, 1);
    }
    return true;
}

static bool doubling(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    struct wf_coll_slots all = wf_coll_range(0, 1);

    if (k >= wf_coll_log2_up(args->size)) {
        return false;
    }
    uint32_t other = args->rank ^ (UINT32_C(1) << k);
    *out = other < args->size
               ? wf_coll_exchange(other, all, all,
                                  other < args->rank ? WF_COLL_COMBINE_RESULT : WF_COLL_COMBINE)
               : wf_coll_idle();
    return true;
}

WF_COLL_OPS(SCAN, scan, recursive_doubling, "exchanges with partners 1, 2, 4, ... away",
            .n_slots = wf_coll_one_slot, .step = doubling);
WF_COLL_OPS(SCAN, scan, linear, "from rank to rank", .n_slots = wf_coll_one_slot,
            .step = linear);
WF_COLL_OPS(EXSCAN, exscan, recursive_doubling, "exchanges with partners 1, 2, 4, ... away",
            .n_slots = wf_coll_one_slot, .step = doubling);
WF_COLL_OPS(EXSCAN, exscan, linear, "from rank to rank", .n_slots = wf_coll_one_slot,
            .step = linear);
