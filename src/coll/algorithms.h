/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_COLL_ALGORITHMS_H
#define WF_COLL_ALGORITHMS_H

/* All algorithms, by their addresses: for the registry and the rules. */

#include "coll/coll.h"

extern const struct wf_coll_ops wf_coll_barrier_dissemination;
extern const struct wf_coll_ops wf_coll_barrier_linear;
extern const struct wf_coll_ops wf_coll_barrier_tree;
extern const struct wf_coll_ops wf_coll_barrier_recursive_doubling;

extern const struct wf_coll_ops wf_coll_bcast_linear;
extern const struct wf_coll_ops wf_coll_bcast_binomial;
extern const struct wf_coll_ops wf_coll_bcast_knomial;
extern const struct wf_coll_ops wf_coll_bcast_chain;
extern const struct wf_coll_ops wf_coll_bcast_pipeline;
extern const struct wf_coll_ops wf_coll_bcast_binary;
extern const struct wf_coll_ops wf_coll_bcast_binary_pipeline;
extern const struct wf_coll_ops wf_coll_bcast_scatter_allgather;
extern const struct wf_coll_ops wf_coll_bcast_scatter_ring_allgather;

extern const struct wf_coll_ops wf_coll_reduce_linear;
extern const struct wf_coll_ops wf_coll_reduce_binomial;
extern const struct wf_coll_ops wf_coll_reduce_chain;
extern const struct wf_coll_ops wf_coll_reduce_pipeline;
extern const struct wf_coll_ops wf_coll_reduce_binary;
extern const struct wf_coll_ops wf_coll_reduce_binary_pipeline;
extern const struct wf_coll_ops wf_coll_reduce_rabenseifner;

extern const struct wf_coll_ops wf_coll_allreduce_recursive_doubling;
extern const struct wf_coll_ops wf_coll_allreduce_rabenseifner;
extern const struct wf_coll_ops wf_coll_allreduce_ring;
extern const struct wf_coll_ops wf_coll_allreduce_reduce_bcast;
extern const struct wf_coll_ops wf_coll_allreduce_linear;

extern const struct wf_coll_ops wf_coll_gather_linear;
extern const struct wf_coll_ops wf_coll_gather_binomial;
extern const struct wf_coll_ops wf_coll_gatherv_linear;
extern const struct wf_coll_ops wf_coll_scatter_linear;
extern const struct wf_coll_ops wf_coll_scatter_binomial;
extern const struct wf_coll_ops wf_coll_scatterv_linear;

extern const struct wf_coll_ops wf_coll_allgather_recursive_doubling;
extern const struct wf_coll_ops wf_coll_allgather_bruck;
extern const struct wf_coll_ops wf_coll_allgather_ring;
extern const struct wf_coll_ops wf_coll_allgather_neighbor_exchange;
extern const struct wf_coll_ops wf_coll_allgather_gather_bcast;
extern const struct wf_coll_ops wf_coll_allgatherv_recursive_doubling;
extern const struct wf_coll_ops wf_coll_allgatherv_bruck;
extern const struct wf_coll_ops wf_coll_allgatherv_ring;
extern const struct wf_coll_ops wf_coll_allgatherv_neighbor_exchange;
extern const struct wf_coll_ops wf_coll_allgatherv_gather_bcast;

extern const struct wf_coll_ops wf_coll_alltoall_linear;
extern const struct wf_coll_ops wf_coll_alltoall_scattered;
extern const struct wf_coll_ops wf_coll_alltoall_pairwise;
extern const struct wf_coll_ops wf_coll_alltoall_bruck;
extern const struct wf_coll_ops wf_coll_alltoallv_linear;
extern const struct wf_coll_ops wf_coll_alltoallv_scattered;
extern const struct wf_coll_ops wf_coll_alltoallv_pairwise;

extern const struct wf_coll_ops wf_coll_reduce_scatter_recursive_halving;
extern const struct wf_coll_ops wf_coll_reduce_scatter_pairwise;
extern const struct wf_coll_ops wf_coll_reduce_scatter_ring;
extern const struct wf_coll_ops wf_coll_reduce_scatter_reduce_scatterv;
extern const struct wf_coll_ops wf_coll_reduce_scatter_block_recursive_halving;
extern const struct wf_coll_ops wf_coll_reduce_scatter_block_pairwise;
extern const struct wf_coll_ops wf_coll_reduce_scatter_block_ring;
extern const struct wf_coll_ops wf_coll_reduce_scatter_block_reduce_scatterv;

extern const struct wf_coll_ops wf_coll_scan_recursive_doubling;
extern const struct wf_coll_ops wf_coll_scan_linear;
extern const struct wf_coll_ops wf_coll_exscan_recursive_doubling;
extern const struct wf_coll_ops wf_coll_exscan_linear;

extern const struct wf_coll_ops wf_coll_neighbor_allgather_linear;
extern const struct wf_coll_ops wf_coll_neighbor_alltoall_linear;

#endif
