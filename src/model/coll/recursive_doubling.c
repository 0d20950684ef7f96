/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exchanges with partners 1, 2, 4, ... away, as in Thakur, Rabenseifner and Gropp,
 * "Optimization of collective communication operations in MPICH", 2005. In barrier and
 * allreduce the largest power of two in the size takes part; each extra rank sends its data to
 * a neighbour first and gets the result from it at the end. The allgathers are for powers of
 * two only.
 */
#include "model/coll/parts.h"

static bool fold(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    struct wf_coll_fold power = wf_coll_fold(args->size, WF_COLL_NOBODY);
    uint32_t member = wf_coll_fold_member(&power, args->rank);
    struct wf_coll_slots all = wf_coll_range(0, 1);

    if (k > power.rounds + 1) {
        return false;
    }
    *out = wf_coll_idle();
    if (k == 0) {
        *out = wf_coll_fold_in(&power, args->rank, all);
    } else if (k == power.rounds + 1) {
        *out = wf_coll_fold_out(&power, args->rank, all);
    } else if (member != WF_COLL_NOBODY) {
        uint32_t other = wf_coll_fold_rank(&power, member ^ (UINT32_C(1) << (k - 1)));
        *out = wf_coll_exchange(other, all, all, WF_COLL_COMBINE);
    }
    return true;
}

static bool allgather(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    if (k >= wf_coll_log2_down(args->size)) {
        return false;
    }
    uint32_t bit = UINT32_C(1) << k, other = args->rank ^ bit;
    *out = wf_coll_exchange(other, wf_coll_range(args->rank & ~(bit - 1), bit),
                            wf_coll_range(other & ~(bit - 1), bit), WF_COLL_STORE);
    return true;
}

WF_COLL_OPS(BARRIER, barrier, recursive_doubling, "exchanges with partners 1, 2, 4, ... away",
            .n_slots = wf_coll_one_slot, .step = fold);
WF_COLL_OPS(ALLREDUCE, allreduce, recursive_doubling,
            "exchanges with partners 1, 2, 4, ... away; best for short data",
            .n_slots = wf_coll_one_slot, .step = fold);
WF_COLL_OPS(ALLGATHER, allgather, recursive_doubling,
            "exchanges with partners 1, 2, 4, ... away; powers of two",
            .applies = wf_coll_if_power, .n_slots = wf_coll_slot_per_rank, .step = allgather);
WF_COLL_OPS(ALLGATHERV, allgatherv, recursive_doubling,
            "exchanges with partners 1, 2, 4, ... away; powers of two",
            .applies = wf_coll_if_power, .n_slots = wf_coll_slot_per_rank, .step = allgather);
