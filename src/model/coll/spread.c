/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All-to-all by direct messages, n - 1 to and from every rank. Each rank starts with another
 * partner, except in Open MPI's linear alltoallv (and alltoallw), where all send to rank 0 first,
 * then to rank 1: the last ranks get their data late. Messages are sent all at once (Open MPI's
 * linear), 32 at a time (MPICH's scattered, with its default MPIR_CVAR_ALLTOALL_THROTTLE), or
 * one after the other (pairwise; Thakur, Rabenseifner and Gropp, "Optimization of collective
 * communication operations in MPICH", 2005).
 */
#include "model/coll/parts.h"

enum { THROTTLE = 32 };

/* Sends to the rank i above and receives from the rank i below. */
static struct wf_coll_step distance(const struct wf_coll_args *args, uint32_t i)
{
    uint32_t to = wf_coll_above(args->rank, i, args->size);
    uint32_t from = wf_coll_below(args->rank, i, args->size);

    return (struct wf_coll_step){.send_to = to,
                                 .recv_from = from,
                                 .send = wf_coll_range(to, 1),
                                 .recv = wf_coll_range(from, 1)};
}

/* Sends to another rank and receives from it. */
static struct wf_coll_step with(uint32_t other)
{
    return wf_coll_exchange(other, wf_coll_range(other, 1), wf_coll_range(other, 1),
                            WF_COLL_STORE);
}

static bool linear(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    if (k >= args->size - 1) {
        return false;
    }
    *out = distance(args, k + 1);
    out->go_on = true;
    return true;
}

static bool linear_by_rank(const struct wf_coll_args *args, uint32_t k,
                           struct wf_coll_step *out)
{
    uint32_t other = k < args->rank ? k : k + 1;

    if (k >= args->size - 1) {
        return false;
    }
    *out = with(other);
    out->go_on = true;
    return true;
}

/* The rank's own block, which needs no step, counts as the first one. */
static bool scattered(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    if (k >= args->size - 1) {
        return false;
    }
    *out = distance(args, k + 1);
    out->go_on = (k + 1) % THROTTLE != THROTTLE - 1;
    return true;
}

/* If the size is a power of two, a rank sends to and receives from the same partner. */
static bool pairwise(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    if (k >= args->size - 1) {
        return false;
    }
    *out = distance(args, k + 1);
    if (wf_coll_is_power(args->size)) {
        *out = with(args->rank ^ (k + 1));
    }
    return true;
}

WF_COLL_OPS(ALLTOALL, alltoall, linear, "all messages at once",
            .n_slots = wf_coll_slot_per_rank, .step = linear);
WF_COLL_OPS(ALLTOALL, alltoall, scattered, "32 messages at once",
            .n_slots = wf_coll_slot_per_rank, .step = scattered);
WF_COLL_OPS(ALLTOALL, alltoall, pairwise, "one partner after the other; for long blocks",
            .n_slots = wf_coll_slot_per_rank, .step = pairwise);
WF_COLL_OPS(ALLTOALLV, alltoallv, linear, "all messages at once, in the order of ranks",
            .n_slots = wf_coll_slot_per_rank, .step = linear_by_rank);
WF_COLL_OPS(ALLTOALLV, alltoallv, scattered, "32 messages at once",
            .n_slots = wf_coll_slot_per_rank, .step = scattered);
WF_COLL_OPS(ALLTOALLV, alltoallv, pairwise, "one partner after the other; for long blocks",
            .n_slots = wf_coll_slot_per_rank, .step = pairwise);
