/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of MPICH 3.3 for a communicator without a hierarchy of nodes: the functions
 * MPIR_<Kind>_intra_auto in src/mpi/coll/<kind>/<kind>.c, with the defaults of their variables
 * MPIR_CVAR_*, which are named below. The table of MPICH 4 (src/mpi/coll/coll_selection.json)
 * is the same, with these exceptions: allreduce uses recursive doubling only up to 8 bytes, the
 * two limits of bcast are inclusive, and nonblocking barriers use recursive doubling.
 *
 * Not included: variants for several ranks per node (bcast, reduce, allreduce and barrier
 * within the node first), operations that are not commutative or not predefined, and
 * MPI_IN_PLACE in alltoall.
 */
#include "model/coll/rules.h"

#define ANY_SIZE  WF_COLL_ANY_SIZE
#define ANY_BYTES WF_COLL_ANY_BYTES
#define PICK(ops) WF_COLL_PICK(ops)
#define USE(ops)  WF_COLL_ONLY(WF_COLL_PICK(ops))

enum {
    BCAST_MIN_PROCS = 8,
    BCAST_SHORT_MSG_SIZE = 12288,
    BCAST_LONG_MSG_SIZE = 524288,
    REDUCE_SHORT_MSG_SIZE = 2048,    /* up to and including */
    ALLREDUCE_SHORT_MSG_SIZE = 2048, /* up to and including */
    ALLGATHER_SHORT_MSG_SIZE = 81920,
    ALLGATHER_LONG_MSG_SIZE = 524288,
    ALLTOALL_MIN_PROCS = 8,           /* a constant in MPICH, not a variable */
    ALLTOALL_SHORT_MSG_SIZE = 256,    /* up to and including */
    ALLTOALL_MEDIUM_MSG_SIZE = 32768, /* up to and including */
    REDSCAT_COMMUTATIVE_LONG_MSG_SIZE = 524288,
};

static const struct wf_coll_rule bcast[] = {
    {ANY_SIZE, BCAST_SHORT_MSG_SIZE, PICK(wf_coll_bcast_binomial)},
    {BCAST_MIN_PROCS, ANY_BYTES, PICK(wf_coll_bcast_binomial)},
    {ANY_SIZE, BCAST_LONG_MSG_SIZE, PICK(wf_coll_bcast_scatter_allgather)},
    {ANY_SIZE, ANY_BYTES, PICK(wf_coll_bcast_scatter_ring_allgather)},
};

static const struct wf_coll_pick reduce_scatter_gather = {
    &wf_coll_reduce_rabenseifner, &wf_coll_reduce_binomial, WF_COLL_ENOUGH_FOR_MEMBERS};

static const struct wf_coll_rule reduce[] = {
    {ANY_SIZE, REDUCE_SHORT_MSG_SIZE + 1, PICK(wf_coll_reduce_binomial)},
    {ANY_SIZE, ANY_BYTES, &reduce_scatter_gather},
};

static const struct wf_coll_pick reduce_scatter_allgather = {
    &wf_coll_allreduce_rabenseifner, &wf_coll_allreduce_recursive_doubling,
    WF_COLL_ENOUGH_FOR_MEMBERS};

static const struct wf_coll_rule allreduce[] = {
    {ANY_SIZE, ALLREDUCE_SHORT_MSG_SIZE + 1, PICK(wf_coll_allreduce_recursive_doubling)},
    {ANY_SIZE, ANY_BYTES, &reduce_scatter_allgather},
};

static const struct wf_coll_rule allgather[] = {
    {ANY_SIZE, ALLGATHER_LONG_MSG_SIZE, PICK(wf_coll_allgather_recursive_doubling)},
    {ANY_SIZE, ALLGATHER_SHORT_MSG_SIZE, PICK(wf_coll_allgather_bruck)},
    {ANY_SIZE, ANY_BYTES, PICK(wf_coll_allgather_ring)},
};

static const struct wf_coll_rule allgatherv[] = {
    {ANY_SIZE, ALLGATHER_LONG_MSG_SIZE, PICK(wf_coll_allgatherv_recursive_doubling)},
    {ANY_SIZE, ALLGATHER_SHORT_MSG_SIZE, PICK(wf_coll_allgatherv_bruck)},
    {ANY_SIZE, ANY_BYTES, PICK(wf_coll_allgatherv_ring)},
};

static const struct wf_coll_rule alltoall[] = {
    {ALLTOALL_MIN_PROCS, ALLTOALL_MEDIUM_MSG_SIZE + 1, PICK(wf_coll_alltoall_scattered)},
    {ANY_SIZE, ALLTOALL_SHORT_MSG_SIZE + 1, PICK(wf_coll_alltoall_bruck)},
    {ANY_SIZE, ALLTOALL_MEDIUM_MSG_SIZE + 1, PICK(wf_coll_alltoall_scattered)},
    {ANY_SIZE, ANY_BYTES, PICK(wf_coll_alltoall_pairwise)},
};

static const struct wf_coll_rule reduce_scatter[] = {
    {ANY_SIZE, REDSCAT_COMMUTATIVE_LONG_MSG_SIZE,
     PICK(wf_coll_reduce_scatter_recursive_halving)},
    {ANY_SIZE, ANY_BYTES, PICK(wf_coll_reduce_scatter_pairwise)},
};

static const struct wf_coll_rule reduce_scatter_block[] = {
    {ANY_SIZE, REDSCAT_COMMUTATIVE_LONG_MSG_SIZE,
     PICK(wf_coll_reduce_scatter_block_recursive_halving)},
    {ANY_SIZE, ANY_BYTES, PICK(wf_coll_reduce_scatter_block_pairwise)},
};

const struct wf_coll_kind_rules wf_coll_rules_mpich[WF_COLL_KINDS] = {
    [WF_COLL_BARRIER] = USE(wf_coll_barrier_dissemination),
    [WF_COLL_BCAST] = {WF_COLL_MEASURE_GIVEN, bcast},
    [WF_COLL_REDUCE] = {WF_COLL_MEASURE_GIVEN, reduce},
    [WF_COLL_ALLREDUCE] = {WF_COLL_MEASURE_GIVEN, allreduce},
    [WF_COLL_GATHER] = USE(wf_coll_gather_binomial),
    [WF_COLL_GATHERV] = USE(wf_coll_gatherv_linear),
    [WF_COLL_SCATTER] = USE(wf_coll_scatter_binomial),
    [WF_COLL_SCATTERV] = USE(wf_coll_scatterv_linear),
    [WF_COLL_ALLGATHER] = {WF_COLL_MEASURE_TOTAL, allgather},
    [WF_COLL_ALLGATHERV] = {WF_COLL_MEASURE_TOTAL, allgatherv},
    [WF_COLL_ALLTOALL] = {WF_COLL_MEASURE_GIVEN, alltoall},
    [WF_COLL_ALLTOALLV] = USE(wf_coll_alltoallv_scattered),
    [WF_COLL_REDUCE_SCATTER] = {WF_COLL_MEASURE_TOTAL, reduce_scatter},
    [WF_COLL_REDUCE_SCATTER_BLOCK] = {WF_COLL_MEASURE_TOTAL, reduce_scatter_block},
    [WF_COLL_SCAN] = USE(wf_coll_scan_recursive_doubling),
    [WF_COLL_EXSCAN] = USE(wf_coll_exscan_recursive_doubling),
    [WF_COLL_NEIGHBOR_ALLGATHER] = USE(wf_coll_neighbor_allgather_linear),
    [WF_COLL_NEIGHBOR_ALLTOALL] = USE(wf_coll_neighbor_alltoall_linear),
};
