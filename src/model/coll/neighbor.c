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

const struct wf_coll_ops wf_coll_neighbor_allgather_linear = {
    .name = "linear",
    .summary = "all messages at once",
    .kind = WF_COLL_NEIGHBOR_ALLGATHER,
    .n_slots = n_slots,
    .step = step,
};

const struct wf_coll_ops wf_coll_neighbor_alltoall_linear = {
    .name = "linear",
    .summary = "all messages at once",
    .kind = WF_COLL_NEIGHBOR_ALLTOALL,
    .n_slots = n_slots,
    .step = step,
};
