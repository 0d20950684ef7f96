/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Broadcast of long data: a scatter down a binomial tree, then an allgather. Barnett,
 * Gupta, Payne, Shuler, van de Geijn and Watts, "Interprocessor collective communication
 * library", 1994; as in MPICH (Thakur, Rabenseifner and Gropp, 2005). There is a piece for each
 * place; places are ranks counted from the root.
 */
#include "model/coll/parts.h"

static bool scatter(const struct wf_coll_args *args, uint32_t *k, struct wf_coll_step *out)
{
    const struct wf_coll_phase phase = {2, args->root, {.whole = false}};

    return wf_coll_in_phases(args, &phase, 1, k, out);
}

/* Round k is an exchange with the place whose number differs in bit k. Each place has the 2^k
 * pieces whose numbers agree with its own in all bits from k on. */
static bool doubling(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    uint32_t place = wf_coll_below(args->rank, args->root, args->size);

    if (scatter(args, &k, out)) {
        return true;
    }
    if (k >= wf_coll_log2_down(args->size)) {
        return false;
    }
    uint32_t bit = UINT32_C(1) << k, other = place ^ bit;
    *out = wf_coll_exchange(wf_coll_above(other, args->root, args->size),
                            wf_coll_range(place & ~(bit - 1), bit),
                            wf_coll_range(other & ~(bit - 1), bit), WF_COLL_STORE);
    return true;
}

static bool ring(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    uint32_t place = wf_coll_below(args->rank, args->root, args->size);

    if (scatter(args, &k, out)) {
        return true;
    }
    if (k >= args->size - 1) {
        return false;
    }
    *out = (struct wf_coll_step){.send_to = wf_coll_above(args->rank, 1, args->size),
                                 .recv_from = wf_coll_below(args->rank, 1, args->size),
                                 .send = wf_coll_range(wf_coll_below(place, k, args->size), 1),
                                 .recv =
                                     wf_coll_range(wf_coll_below(place, k + 1, args->size), 1)};
    return true;
}

WF_COLL_OPS(BCAST, bcast, scatter_allgather,
            "scatter, then allgather by recursive doubling; powers of two",
            .applies = wf_coll_if_power, .n_slots = wf_coll_slot_per_rank, .step = doubling);
WF_COLL_OPS(BCAST, bcast, scatter_ring_allgather, "scatter, then allgather around a ring",
            .n_slots = wf_coll_slot_per_rank, .step = ring);
