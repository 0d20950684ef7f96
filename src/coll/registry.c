/* SPDX-License-Identifier: Apache-2.0 */
#include "coll/algorithms.h"

#include <string.h>

/* The one place that lists collective algorithms. */
static const struct wf_coll_ops *const coll_table[] = {
    &wf_coll_barrier_dissemination,
    &wf_coll_barrier_linear,
    &wf_coll_barrier_tree,
    &wf_coll_barrier_recursive_doubling,
    &wf_coll_bcast_linear,
    &wf_coll_bcast_binomial,
    &wf_coll_bcast_knomial,
    &wf_coll_bcast_chain,
    &wf_coll_bcast_pipeline,
    &wf_coll_bcast_binary,
    &wf_coll_bcast_binary_pipeline,
    &wf_coll_bcast_scatter_allgather,
    &wf_coll_bcast_scatter_ring_allgather,
    &wf_coll_reduce_linear,
    &wf_coll_reduce_binomial,
    &wf_coll_reduce_chain,
    &wf_coll_reduce_pipeline,
    &wf_coll_reduce_binary,
    &wf_coll_reduce_binary_pipeline,
    &wf_coll_reduce_rabenseifner,
    &wf_coll_allreduce_recursive_doubling,
    &wf_coll_allreduce_rabenseifner,
    &wf_coll_allreduce_ring,
    &wf_coll_allreduce_reduce_bcast,
    &wf_coll_allreduce_linear,
    &wf_coll_gather_linear,
    &wf_coll_gather_binomial,
    &wf_coll_gatherv_linear,
    &wf_coll_scatter_linear,
    &wf_coll_scatter_binomial,
    &wf_coll_scatterv_linear,
    &wf_coll_allgather_recursive_doubling,
    &wf_coll_allgather_bruck,
    &wf_coll_allgather_ring,
    &wf_coll_allgather_neighbor_exchange,
    &wf_coll_allgather_gather_bcast,
    &wf_coll_allgatherv_recursive_doubling,
    &wf_coll_allgatherv_bruck,
    &wf_coll_allgatherv_ring,
    &wf_coll_allgatherv_neighbor_exchange,
    &wf_coll_allgatherv_gather_bcast,
    &wf_coll_alltoall_linear,
    &wf_coll_alltoall_scattered,
    &wf_coll_alltoall_pairwise,
    &wf_coll_alltoall_bruck,
    &wf_coll_alltoallv_linear,
    &wf_coll_alltoallv_scattered,
    &wf_coll_alltoallv_pairwise,
    &wf_coll_reduce_scatter_recursive_halving,
    &wf_coll_reduce_scatter_pairwise,
    &wf_coll_reduce_scatter_ring,
    &wf_coll_reduce_scatter_reduce_scatterv,
    &wf_coll_reduce_scatter_block_recursive_halving,
    &wf_coll_reduce_scatter_block_pairwise,
    &wf_coll_reduce_scatter_block_ring,
    &wf_coll_reduce_scatter_block_reduce_scatterv,
    &wf_coll_scan_recursive_doubling,
    &wf_coll_scan_linear,
    &wf_coll_exscan_recursive_doubling,
    &wf_coll_exscan_linear,
    &wf_coll_neighbor_allgather_linear,
    &wf_coll_neighbor_alltoall_linear,
    NULL,
};

struct kind {
    const char *name;
    bool has_root;
};

static const struct kind kinds[] = {
#define X(name, text, rooted) [WF_COLL_##name] = {text, rooted},
    WF_COLL_MAP(X)
#undef X
};

const struct wf_coll_ops *const *wf_coll_table(void)
{
    return coll_table;
}

const char *wf_coll_name(enum wf_coll_kind kind)
{
    return kinds[kind].name;
}

bool wf_coll_has_root(enum wf_coll_kind kind)
{
    return kinds[kind].has_root;
}

const struct wf_coll_ops *wf_coll_find(enum wf_coll_kind kind, const char *name)
{
    for (const struct wf_coll_ops *const *ops = coll_table; *ops != NULL; ops++) {
        if ((*ops)->kind == kind && strcmp((*ops)->name, name) == 0) {
            return *ops;
        }
    }
    return NULL;
}
