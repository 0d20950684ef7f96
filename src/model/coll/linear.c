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

WF_COLL_OPS(BARRIER, barrier, linear, "everybody tells rank 0, which then releases everybody",
            .n_slots = wf_coll_one_slot, .step = there_and_back);
WF_COLL_OPS(BCAST, bcast, linear, "the root sends to everybody", .n_slots = wf_coll_one_slot,
            .step = bcast);
WF_COLL_OPS(REDUCE, reduce, linear, "everybody sends to the root", .n_slots = wf_coll_one_slot,
            .step = reduce);
WF_COLL_OPS(ALLREDUCE, allreduce, linear,
            "everybody sends to rank 0, which sends the result to everybody",
            .n_slots = wf_coll_one_slot, .step = there_and_back);
WF_COLL_OPS(GATHER, gather, linear, "everybody sends to the root",
            .n_slots = wf_coll_slot_per_rank, .step = gather);
WF_COLL_OPS(GATHERV, gatherv, linear, "everybody sends to the root",
            .n_slots = wf_coll_slot_per_rank, .step = gather);
WF_COLL_OPS(SCATTER, scatter, linear, "the root sends to everybody",
            .n_slots = wf_coll_slot_per_rank, .step = scatter);
WF_COLL_OPS(SCATTERV, scatterv, linear, "the root sends to everybody",
            .n_slots = wf_coll_slot_per_rank, .step = scatter);
