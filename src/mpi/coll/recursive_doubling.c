/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allreduce by recursive doubling, as in Thakur, Rabenseifner and Gropp, "Optimization of
 * collective communication operations in MPICH", 2005. Of n ranks, the largest power of two p
 * takes part in log2 p exchanges. The n - p ranks too many are the even ones among the first
 * 2(n - p): each hands its data to its upper neighbour before and gets the result from it
 * after.
 */
#include "mpi/coll/coll.h"

static bool applies(uint32_t size, uint64_t bytes)
{
    (void)size;
    (void)bytes;
    return true;
}

static uint32_t log2_down(uint32_t n)
{
    uint32_t bits = 0;

    while (n > 1) {
        n /= 2;
        bits++;
    }
    return bits;
}

/* Ranks below 2 * extra stand in pairs of which the odd one takes part. */
static uint32_t to_member(uint32_t rank, uint32_t extra)
{
    return rank < 2 * extra ? rank / 2 : rank - extra;
}

static uint32_t to_rank(uint32_t member, uint32_t extra)
{
    return member < extra ? 2 * member + 1 : member + extra;
}

/* The step before the exchanges and the one after them: between the ranks of a pair. */
static struct wf_coll_step fold(const struct wf_coll_place *place, uint32_t extra, bool in)
{
    struct wf_coll_step out = {WF_COLL_NOBODY, WF_COLL_NOBODY, place->bytes};
    bool even = place->rank % 2 == 0;

    if (place->rank < 2 * extra) {
        uint32_t other = even ? place->rank + 1 : place->rank - 1;
        *(even == in ? &out.send_to : &out.recv_from) = other;
    }
    return out;
}

static bool step(const struct wf_coll_place *place, uint32_t k, struct wf_coll_step *out)
{
    uint32_t rounds = log2_down(place->size);
    uint32_t extra = place->size - (UINT32_C(1) << rounds);

    if (place->size == 1 || k > rounds + 1) {
        return false;
    }
    if (k == 0 || k == rounds + 1) {
        *out = fold(place, extra, k == 0);
        return true;
    }
    *out = (struct wf_coll_step){WF_COLL_NOBODY, WF_COLL_NOBODY, place->bytes};
    if (place->rank >= 2 * extra || place->rank % 2 == 1) {
        uint32_t member = to_member(place->rank, extra);
        uint32_t other = to_rank(member ^ (UINT32_C(1) << (k - 1)), extra);
        out->send_to = other;
        out->recv_from = other;
    }
    return true;
}

const struct wf_coll_ops wf_coll_allreduce_recursive_doubling = {
    .name = "recursive_doubling",
    .summary = "exchanges with partners 1, 2, 4, ... away; best for short data",
    .kind = WF_COLL_ALLREDUCE,
    .applies = applies,
    .step = step,
};
