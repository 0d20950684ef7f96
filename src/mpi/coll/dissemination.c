/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dissemination barrier: Hensgen, Finkel and Manber, "Two algorithms for barrier
 * synchronization", 1988. In step k every rank tells the one 2^k above it; after ceil(log2 n)
 * steps everyone has heard of everyone.
 */
#include "mpi/coll/coll.h"

static bool applies(uint32_t size, uint64_t bytes)
{
    (void)size;
    (void)bytes;
    return true;
}

static bool step(const struct wf_coll_place *place, uint32_t k, struct wf_coll_step *out)
{
    uint64_t far = UINT64_C(1) << k;
    uint64_t size = place->size;

    if (far >= size) {
        return false;
    }
    *out = (struct wf_coll_step){
        .send_to = (uint32_t)((place->rank + far) % size),
        .recv_from = (uint32_t)((place->rank + size - far) % size),
    };
    return true;
}

const struct wf_coll_ops wf_coll_barrier_dissemination = {
    .name = "dissemination",
    .summary = "every rank tells the one 2^k above it, ceil(log2 n) steps",
    .kind = WF_COLL_BARRIER,
    .applies = applies,
    .step = step,
};
