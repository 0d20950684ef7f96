/* SPDX-License-Identifier: Apache-2.0 */
/* Neighbourhood collectives: all messages at once, as in MPICH and Open MPI. */
#include "model/coll/parts.h"

static uint32_t n_slots(const struct wf_coll_args *args)
{
    return args->n_sources > args->n_destinations ? args->n_sources : args->n_destinations;
}

static bool step(const struct wf_coll_args *args, uint32_t k, struct wf_coll_step *out)
{
    if (k >= n_slots(args)) {
        return false;
    }
    *out = wf_coll_idle();
    out->go_on = true;
    if (k < args->n_destinations) {
        out->send_to = args->destinations[k];
        out->send = wf_coll_range(k, 1);
    }
    if (k < args->n_sources) {
        out->recv_from = args->sources[k];
        out->recv = wf_coll_range(k, 1);
    }
    return true;
}

WF_COLL_OPS(NEIGHBOR_ALLGATHER, neighbor_allgather, linear, "all messages at once",
            .n_slots = n_slots, .step = step);
WF_COLL_OPS(NEIGHBOR_ALLTOALL, neighbor_alltoall, linear, "all messages at once",
            .n_slots = n_slots, .step = step);
