/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of NCCL for messages. Its tuning model (model/coll/nccl.h) chooses between rings and trees
 * for allreduce. The other collectives of NCCL are rings or groups of sends and receives. What
 * NCCL does not have is done as PyTorch does it, by sends and receives, or as MPICH does it.
 */
#include "model/coll/rules.h"

#define USE(ops) WF_COLL_ONLY(WF_COLL_PICK(ops))

const struct wf_coll_kind_rules wf_coll_rules_nccl[WF_COLL_KINDS] = {
    [WF_COLL_BARRIER] = USE(wf_coll_barrier_dissemination),
    [WF_COLL_BCAST] = USE(wf_coll_bcast_pipeline),
    [WF_COLL_REDUCE] = USE(wf_coll_reduce_pipeline),
    [WF_COLL_ALLREDUCE] = USE(wf_coll_allreduce_channel_ring),
    [WF_COLL_GATHER] = USE(wf_coll_gather_linear),
    [WF_COLL_GATHERV] = USE(wf_coll_gatherv_linear),
    [WF_COLL_SCATTER] = USE(wf_coll_scatter_linear),
    [WF_COLL_SCATTERV] = USE(wf_coll_scatterv_linear),
    [WF_COLL_ALLGATHER] = USE(wf_coll_allgather_channel_ring),
    [WF_COLL_ALLGATHERV] = USE(wf_coll_allgatherv_ring),
    [WF_COLL_ALLTOALL] = USE(wf_coll_alltoall_scattered),
    [WF_COLL_ALLTOALLV] = USE(wf_coll_alltoallv_scattered),
    [WF_COLL_REDUCE_SCATTER] = USE(wf_coll_reduce_scatter_ring),
    [WF_COLL_REDUCE_SCATTER_BLOCK] = USE(wf_coll_reduce_scatter_block_channel_ring),
    [WF_COLL_SCAN] = USE(wf_coll_scan_recursive_doubling),
    [WF_COLL_EXSCAN] = USE(wf_coll_exscan_recursive_doubling),
    [WF_COLL_NEIGHBOR_ALLGATHER] = USE(wf_coll_neighbor_allgather_linear),
    [WF_COLL_NEIGHBOR_ALLTOALL] = USE(wf_coll_neighbor_alltoall_linear),
};
