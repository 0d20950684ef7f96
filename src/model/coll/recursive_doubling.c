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
        *out = (struct wf_coll_step){other, other, all, all, WF_COLL_COMBINE, false};
    }
    return true;
}

static bool allgather(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    uint32_t bit, other;

    if (k >= wf_coll_log2_down(args->size)) {
        return false;
    }
    bit = UINT32_C(1) << k;
    other = args->rank ^ bit;
    *out = wf_coll_idle();
    out->send_to = other;
    out->recv_from = other;
    out->send = wf_coll_range(args->rank & ~(bit - 1), bit);
    out->recv = wf_coll_range(other & ~(bit - 1), bit);
    return true;
}

const struct wf_coll_ops wf_coll_barrier_recursive_doubling = {
    .name = "recursive_doubling",
    .summary = "exchanges with partners 1, 2, 4, ... away",
    .kind = WF_COLL_BARRIER,
    .n_slots = wf_coll_one_slot,
    .step = fold,
};

const struct wf_coll_ops wf_coll_allreduce_recursive_doubling = {
    .name = "recursive_doubling",
    .summary = "exchanges with partners 1, 2, 4, ... away; best for short data",
    .kind = WF_COLL_ALLREDUCE,
    .n_slots = wf_coll_one_slot,
    .step = fold,
};

const struct wf_coll_ops wf_coll_allgather_recursive_doubling = {
    .name = "recursive_doubling",
    .summary = "exchanges with partners 1, 2, 4, ... away; powers of two",
    .kind = WF_COLL_ALLGATHER,
    .applies = wf_coll_if_power,
    .n_slots = wf_coll_slot_per_rank,
    .step = allgather,
};

const struct wf_coll_ops wf_coll_allgatherv_recursive_doubling = {
    .name = "recursive_doubling",
    .summary = "exchanges with partners 1, 2, 4, ... away; powers of two",
    .kind = WF_COLL_ALLGATHERV,
    .applies = wf_coll_if_power,
    .n_slots = wf_coll_slot_per_rank,
    .step = allgather,
};
