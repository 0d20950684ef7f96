/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The root exchanges one message with every other rank. Open MPI calls these "basic linear"; it
 * posts the receives one after the other, weft posts them all at once.
 */
#include "model/coll/parts.h"

/* One message per rank, from the root or to it. */
static bool once(const struct wf_coll_args *args, uint32_t k, const struct wf_coll_flow *flow,
                 struct wf_coll_step *out)
{
    if (k >= wf_coll_star_steps(args, args->root)) {
        return false;
    }
    *out = wf_coll_star_step(args, args->root, k, flow);
    return true;
}

/* One message per rank to rank 0, then one back from it. */
static bool there_and_back(const struct wf_coll_args *args, uint32_t k,
                           struct wf_coll_step *out)
{
    static const struct wf_coll_flow there = {
        .up = true, .whole = true, .n_slots = 1, .take = WF_COLL_COMBINE};
    static const struct wf_coll_flow back = {.whole = true, .n_slots = 1};
    uint32_t half = wf_coll_star_steps(args, 0);

    if (k >= 2 * half) {
        return false;
    }
    *out = k < half ? wf_coll_star_step(args, 0, k, &there)
                    : wf_coll_star_step(args, 0, k - half, &back);
    return true;
}

static bool bcast(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    return once(args, k, &(struct wf_coll_flow){.whole = true, .n_slots = 1}, out);
}

static bool reduce(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    static const struct wf_coll_flow flow = {
        .up = true, .whole = true, .n_slots = 1, .take = WF_COLL_COMBINE};

    return once(args, k, &flow, out);
}

static bool gather(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    return once(args, k, &(struct wf_coll_flow){.up = true}, out);
}

static bool scatter(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    return once(args, k, &(struct wf_coll_flow){.up = false}, out);
}

const struct wf_coll_ops wf_coll_barrier_linear = {
    .name = "linear",
    .summary = "everybody tells rank 0, which then releases everybody",
    .kind = WF_COLL_BARRIER,
    .n_slots = wf_coll_one_slot,
    .step = there_and_back,
};

const struct wf_coll_ops wf_coll_bcast_linear = {
    .name = "linear",
    .summary = "the root sends to everybody",
    .kind = WF_COLL_BCAST,
    .n_slots = wf_coll_one_slot,
    .step = bcast,
};

const struct wf_coll_ops wf_coll_reduce_linear = {
    .name = "linear",
    .summary = "everybody sends to the root",
    .kind = WF_COLL_REDUCE,
    .n_slots = wf_coll_one_slot,
    .step = reduce,
};

const struct wf_coll_ops wf_coll_allreduce_linear = {
    .name = "linear",
    .summary = "everybody sends to rank 0, which sends the result to everybody",
    .kind = WF_COLL_ALLREDUCE,
    .n_slots = wf_coll_one_slot,
    .step = there_and_back,
};

const struct wf_coll_ops wf_coll_gather_linear = {
    .name = "linear",
    .summary = "everybody sends to the root",
    .kind = WF_COLL_GATHER,
    .n_slots = wf_coll_slot_per_rank,
    .step = gather,
};

const struct wf_coll_ops wf_coll_gatherv_linear = {
    .name = "linear",
    .summary = "everybody sends to the root",
    .kind = WF_COLL_GATHERV,
    .n_slots = wf_coll_slot_per_rank,
    .step = gather,
};

const struct wf_coll_ops wf_coll_scatter_linear = {
    .name = "linear",
    .summary = "the root sends to everybody",
    .kind = WF_COLL_SCATTER,
    .n_slots = wf_coll_slot_per_rank,
    .step = scatter,
};

const struct wf_coll_ops wf_coll_scatterv_linear = {
    .name = "linear",
    .summary = "the root sends to everybody",
    .kind = WF_COLL_SCATTERV,
    .n_slots = wf_coll_slot_per_rank,
    .step = scatter,
};
