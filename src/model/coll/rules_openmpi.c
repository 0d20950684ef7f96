/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of Open MPI 4.1 and 5.0: ompi/mca/coll/tuned/coll_tuned_decision_fixed.c, whose
 * switch points its developers averaged from measurements on several clusters, for commutative
 * operations. We compared the tables with that file rule by rule. What replaces an algorithm
 * that cannot serve a call, or that weft does not have (below), is our choice. Scan, exscan,
 * gatherv, scatterv and the neighbourhood collectives are not in coll/tuned; they are linear in
 * coll/basic.
 *
 * The rules do not segment data: Open MPI's "pipeline" is our chain, its "segmented ring" our
 * ring. An algorithm that cannot serve a call gives way to another: recursive doubling to bruck
 * if the size is not a power of two, neighbor exchange to the ring if the size is odd, the ring
 * to recursive doubling and rabenseifner to linear if there are too few elements.
 *
 * Algorithms that weft does not have, and what replaces them:
 *   bcast split_binary_tree (each half of the tree gets half of the data): binary
 *   bcast scatter_allgather of a size that is not a power of two: scatter_ring_allgather
 *   reduce in-order_binary: binary, a tree of the same depth
 *   reduce_scatter(_block) butterfly and reduce_scatter_block recursive_doubling:
 *       recursive_halving
 *   alltoall linear_sync (without a limit to its requests, which is the default): linear
 *   gather linear_sync, scatter linear_nb: linear
 *   two_proc: an algorithm that exchanges one message each way between two ranks
 */
#include "model/coll/rules.h"

#define ANY_SIZE  WF_COLL_ANY_SIZE
#define ANY_BYTES WF_COLL_ANY_BYTES

/* An algorithm, and its replacement if it does not apply or there are too few elements. */
#define ALWAYS(name, algorithm) \
    static const struct wf_coll_pick name = {.use = &wf_coll_##algorithm}
#define OR_ELSE(name, algorithm, other, elements)                                    \
    static const struct wf_coll_pick name = {&wf_coll_##algorithm, &wf_coll_##other, \
                                             WF_COLL_ENOUGH_##elements}

ALWAYS(allreduce_doubling, allreduce_recursive_doubling);
ALWAYS(allreduce_two, allreduce_reduce_bcast);
OR_ELSE(allreduce_ring, allreduce_ring, allreduce_recursive_doubling, FOR_RANKS);
OR_ELSE(allreduce_rabenseifner, allreduce_rabenseifner, allreduce_linear, FOR_MEMBERS);
ALWAYS(alltoall_linear, alltoall_linear);
ALWAYS(alltoall_pairwise, alltoall_pairwise);
ALWAYS(alltoall_bruck, alltoall_bruck);
ALWAYS(alltoallv_linear, alltoallv_linear);
ALWAYS(alltoallv_pairwise, alltoallv_pairwise);
ALWAYS(barrier_linear, barrier_linear);
ALWAYS(barrier_doubling, barrier_recursive_doubling);
ALWAYS(barrier_bruck, barrier_dissemination);
ALWAYS(barrier_tree, barrier_tree);
ALWAYS(bcast_linear, bcast_linear);
ALWAYS(bcast_chain, bcast_chain);
ALWAYS(bcast_binary, bcast_binary);
ALWAYS(bcast_binomial, bcast_binomial);
ALWAYS(bcast_knomial, bcast_knomial);
OR_ELSE(bcast_scatter, bcast_scatter_allgather, bcast_scatter_ring_allgather, ANY);
ALWAYS(reduce_linear, reduce_linear);
ALWAYS(reduce_chain, reduce_chain);
ALWAYS(reduce_binary, reduce_binary);
ALWAYS(reduce_binomial, reduce_binomial);
OR_ELSE(reduce_rabenseifner, reduce_rabenseifner, reduce_linear, FOR_MEMBERS);
ALWAYS(rs_scatterv, reduce_scatter_reduce_scatterv);
ALWAYS(rs_halving, reduce_scatter_recursive_halving);
ALWAYS(rs_ring, reduce_scatter_ring);
ALWAYS(rsb_scatterv, reduce_scatter_block_reduce_scatterv);
ALWAYS(rsb_halving, reduce_scatter_block_recursive_halving);
ALWAYS(allgather_bruck, allgather_bruck);
OR_ELSE(allgather_doubling, allgather_recursive_doubling, allgather_bruck, ANY);
ALWAYS(allgather_ring, allgather_ring);
OR_ELSE(allgather_neighbor, allgather_neighbor_exchange, allgather_ring, ANY);
ALWAYS(allgatherv_default, allgatherv_gather_bcast);
ALWAYS(allgatherv_bruck, allgatherv_bruck);
ALWAYS(allgatherv_ring, allgatherv_ring);
OR_ELSE(allgatherv_neighbor, allgatherv_neighbor_exchange, allgatherv_ring, ANY);
ALWAYS(gather_linear, gather_linear);
ALWAYS(gather_binomial, gather_binomial);
ALWAYS(scatter_linear, scatter_linear);
ALWAYS(scatter_binomial, scatter_binomial);
ALWAYS(gatherv_linear, gatherv_linear);
ALWAYS(scatterv_linear, scatterv_linear);
ALWAYS(scan_linear, scan_linear);
ALWAYS(exscan_linear, exscan_linear);
ALWAYS(neighbor_allgather_linear, neighbor_allgather_linear);
ALWAYS(neighbor_alltoall_linear, neighbor_alltoall_linear);

/* Limits: below this number of ranks, below this number of bytes. One line for each number
 * of ranks. */
/* clang-format off */
static const struct wf_coll_rule allreduce[] = {
    {4, 8, &allreduce_ring}, {4, 4096, &allreduce_doubling}, {4, 8192, &allreduce_ring},
    {4, 16384, &allreduce_doubling}, {4, 262144, &allreduce_ring},
    {4, ANY_BYTES, &allreduce_rabenseifner},
    {8, 16, &allreduce_ring}, {8, 8192, &allreduce_doubling},
    {8, ANY_BYTES, &allreduce_rabenseifner},
    {16, 8192, &allreduce_doubling}, {16, ANY_BYTES, &allreduce_rabenseifner},
    {32, 64, &allreduce_ring}, {32, 4096, &allreduce_doubling},
    {32, ANY_BYTES, &allreduce_rabenseifner},
    {64, 128, &allreduce_ring}, {64, ANY_BYTES, &allreduce_rabenseifner},
    {128, 262144, &allreduce_doubling}, {128, ANY_BYTES, &allreduce_rabenseifner},
    {256, 131072, &allreduce_two}, {256, 262144, &allreduce_doubling},
    {256, ANY_BYTES, &allreduce_rabenseifner},
    {512, 4096, &allreduce_two}, {512, ANY_BYTES, &allreduce_rabenseifner},
    {2048, 2048, &allreduce_two}, {2048, 16384, &allreduce_doubling},
    {2048, ANY_BYTES, &allreduce_rabenseifner},
    {4096, 2048, &allreduce_two}, {4096, 4096, &allreduce_ring},
    {4096, 16384, &allreduce_doubling}, {4096, ANY_BYTES, &allreduce_rabenseifner},
    {ANY_SIZE, 2048, &allreduce_two}, {ANY_SIZE, 16384, &allreduce_ring},
    {ANY_SIZE, 32768, &allreduce_doubling}, {ANY_SIZE, ANY_BYTES, &allreduce_rabenseifner},
};

static const struct wf_coll_rule alltoall[] = {
    {3, 32768, &alltoall_pairwise}, {3, 262144, &alltoall_linear},
    {3, ANY_BYTES, &alltoall_pairwise},
    {8, 524288, &alltoall_linear}, {8, 1048576, &alltoall_pairwise},
    {8, ANY_BYTES, &alltoall_linear},
    {16, ANY_BYTES, &alltoall_linear},
    {32, 4, &alltoall_linear}, {32, 512, &alltoall_bruck}, {32, ANY_BYTES, &alltoall_linear},
    {64, 512, &alltoall_bruck}, {64, ANY_BYTES, &alltoall_linear},
    {128, 1024, &alltoall_bruck}, {128, 262144, &alltoall_linear},
    {128, ANY_BYTES, &alltoall_pairwise},
    {256, 1024, &alltoall_bruck}, {256, 262144, &alltoall_linear},
    {256, ANY_BYTES, &alltoall_pairwise},
    {512, 1024, &alltoall_bruck}, {512, 32768, &alltoall_linear},
    {512, ANY_BYTES, &alltoall_pairwise},
    {1024, 512, &alltoall_bruck}, {1024, 262144, &alltoall_linear},
    {1024, ANY_BYTES, &alltoall_pairwise},
    {2048, 512, &alltoall_bruck}, {2048, ANY_BYTES, &alltoall_linear},
    {4096, 1024, &alltoall_bruck}, {4096, ANY_BYTES, &alltoall_linear},
    {ANY_SIZE, 2048, &alltoall_bruck}, {ANY_SIZE, ANY_BYTES, &alltoall_linear},
};

static const struct wf_coll_rule alltoallv[] = {
    {4, ANY_BYTES, &alltoallv_pairwise},
    {64, ANY_BYTES, &alltoallv_linear},
    {128, ANY_BYTES, &alltoallv_pairwise},
    {256, ANY_BYTES, &alltoallv_linear},
    {1024, ANY_BYTES, &alltoallv_pairwise},
    {ANY_SIZE, ANY_BYTES, &alltoallv_linear},
};

static const struct wf_coll_rule barrier[] = {
    {4, ANY_BYTES, &barrier_doubling},
    {8, ANY_BYTES, &barrier_linear},
    {64, ANY_BYTES, &barrier_doubling},
    {256, ANY_BYTES, &barrier_bruck},
    {512, ANY_BYTES, &barrier_tree},
    {1024, ANY_BYTES, &barrier_bruck},
    {4096, ANY_BYTES, &barrier_tree},
    {ANY_SIZE, ANY_BYTES, &barrier_bruck},
};

static const struct wf_coll_rule bcast[] = {
    {4, 32, &bcast_chain}, {4, 256, &bcast_binary}, {4, 512, &bcast_chain},
    {4, 1024, &bcast_knomial}, {4, 32768, &bcast_linear}, {4, 131072, &bcast_binary},
    {4, 262144, &bcast_chain}, {4, 524288, &bcast_linear}, {4, 1048576, &bcast_binomial},
    {4, ANY_BYTES, &bcast_binary},
    {8, 64, &bcast_binary}, {8, 128, &bcast_binomial}, {8, 2048, &bcast_binary},
    {8, 8192, &bcast_binomial}, {8, 1048576, &bcast_linear}, {8, ANY_BYTES, &bcast_chain},
    {16, 8, &bcast_knomial}, {16, 64, &bcast_binary}, {16, 4096, &bcast_knomial},
    {16, 16384, &bcast_binary}, {16, 32768, &bcast_binomial}, {16, ANY_BYTES, &bcast_linear},
    {32, 4096, &bcast_knomial}, {32, 1048576, &bcast_binomial}, {32, ANY_BYTES, &bcast_scatter},
    {64, 2048, &bcast_binomial}, {64, ANY_BYTES, &bcast_knomial},
    {128, ANY_BYTES, &bcast_knomial},
    {256, 2, &bcast_binomial}, {256, 16384, &bcast_binary}, {256, 32768, &bcast_linear},
    {256, 65536, &bcast_binary}, {256, ANY_BYTES, &bcast_knomial},
    {1024, 16384, &bcast_knomial}, {1024, 32768, &bcast_binary},
    {1024, ANY_BYTES, &bcast_knomial},
    {2048, 524288, &bcast_knomial}, {2048, ANY_BYTES, &bcast_scatter},
    {4096, 262144, &bcast_knomial}, {4096, ANY_BYTES, &bcast_scatter},
    {ANY_SIZE, 8192, &bcast_knomial}, {ANY_SIZE, 16384, &bcast_binary},
    {ANY_SIZE, 262144, &bcast_knomial}, {ANY_SIZE, ANY_BYTES, &bcast_scatter},
};

static const struct wf_coll_rule reduce[] = {
    {4, 8, &reduce_rabenseifner}, {4, 16, &reduce_binary}, {4, 32, &reduce_chain},
    {4, 262144, &reduce_linear}, {4, ANY_BYTES, &reduce_chain},
    {8, 4096, &reduce_binary}, {8, 65536, &reduce_chain}, {8, 262144, &reduce_binomial},
    {8, 524288, &reduce_linear}, {8, 1048576, &reduce_binomial}, {8, ANY_BYTES, &reduce_linear},
    {16, 8192, &reduce_binary}, {16, ANY_BYTES, &reduce_binomial},
    {32, 4096, &reduce_binary}, {32, ANY_BYTES, &reduce_binomial},
    {256, ANY_BYTES, &reduce_binomial},
    {512, 8192, &reduce_binomial}, {512, 16384, &reduce_binary},
    {512, ANY_BYTES, &reduce_binomial},
    {2048, ANY_BYTES, &reduce_binomial},
    {4096, 512, &reduce_binomial}, {4096, 1024, &reduce_binary}, {4096, 8192, &reduce_binomial},
    {4096, 16384, &reduce_binary}, {4096, ANY_BYTES, &reduce_binomial},
    {ANY_SIZE, 16, &reduce_binomial}, {ANY_SIZE, 32, &reduce_binary},
    {ANY_SIZE, 1024, &reduce_binomial}, {ANY_SIZE, 2048, &reduce_binary},
    {ANY_SIZE, 8192, &reduce_binomial}, {ANY_SIZE, 16384, &reduce_binary},
    {ANY_SIZE, ANY_BYTES, &reduce_binomial},
};

static const struct wf_coll_rule reduce_scatter[] = {
    {4, 65536, &rs_ring}, {4, 131072, &rs_halving}, {4, ANY_BYTES, &rs_ring},
    {8, 8, &rs_scatterv}, {8, 262144, &rs_halving}, {8, ANY_BYTES, &rs_ring},
    {32, 262144, &rs_halving}, {32, ANY_BYTES, &rs_ring},
    {64, 64, &rs_scatterv}, {64, 524288, &rs_halving}, {64, ANY_BYTES, &rs_ring},
    {128, 256, &rs_scatterv}, {128, ANY_BYTES, &rs_halving},
    {256, 256, &rs_scatterv}, {256, ANY_BYTES, &rs_halving},
    {512, 256, &rs_scatterv}, {512, ANY_BYTES, &rs_halving},
    {1024, 512, &rs_scatterv}, {1024, ANY_BYTES, &rs_halving},
    {2048, 512, &rs_scatterv}, {2048, ANY_BYTES, &rs_halving},
    {4096, 512, &rs_scatterv}, {4096, ANY_BYTES, &rs_halving},
    {ANY_SIZE, 1024, &rs_scatterv}, {ANY_SIZE, ANY_BYTES, &rs_halving},
};

static const struct wf_coll_rule reduce_scatter_block[] = {
    {4, 131072, &rsb_halving}, {4, ANY_BYTES, &rsb_scatterv},
    {8, 1048576, &rsb_halving}, {8, ANY_BYTES, &rsb_scatterv},
    {16, 4, &rsb_scatterv}, {16, 524288, &rsb_halving}, {16, 4194304, &rsb_scatterv},
    {16, ANY_BYTES, &rsb_halving},
    {32, 32, &rsb_scatterv}, {32, 524288, &rsb_halving}, {32, 2097152, &rsb_scatterv},
    {32, ANY_BYTES, &rsb_halving},
    {ANY_SIZE, 4, &rsb_halving}, {ANY_SIZE, 16, &rsb_scatterv}, {ANY_SIZE, 65536, &rsb_halving},
    {ANY_SIZE, 262144, &rsb_scatterv}, {ANY_SIZE, ANY_BYTES, &rsb_halving},
};

static const struct wf_coll_rule allgather[] = {
    {3, ANY_BYTES, &allgather_doubling},
    {32, ANY_BYTES, &allgather_doubling},
    {64, 1024, &allgather_doubling}, {64, 65536, &allgather_neighbor},
    {64, ANY_BYTES, &allgather_ring},
    {128, 512, &allgather_doubling}, {128, 65536, &allgather_neighbor},
    {128, ANY_BYTES, &allgather_ring},
    {256, 512, &allgather_doubling}, {256, 131072, &allgather_neighbor},
    {256, 524288, &allgather_ring}, {256, 1048576, &allgather_neighbor},
    {256, ANY_BYTES, &allgather_ring},
    {512, 32, &allgather_doubling}, {512, 128, &allgather_bruck},
    {512, 1024, &allgather_doubling}, {512, 131072, &allgather_neighbor},
    {512, 524288, &allgather_ring}, {512, 1048576, &allgather_neighbor},
    {512, ANY_BYTES, &allgather_ring},
    {1024, 64, &allgather_doubling}, {1024, 256, &allgather_bruck},
    {1024, 2048, &allgather_doubling}, {1024, ANY_BYTES, &allgather_neighbor},
    {2048, 4, &allgather_doubling}, {2048, 8, &allgather_bruck},
    {2048, 16, &allgather_doubling}, {2048, 32, &allgather_bruck},
    {2048, 256, &allgather_doubling}, {2048, 512, &allgather_bruck},
    {2048, 4096, &allgather_doubling}, {2048, ANY_BYTES, &allgather_neighbor},
    {4096, 32, &allgather_bruck}, {4096, 128, &allgather_doubling},
    {4096, 512, &allgather_bruck}, {4096, 4096, &allgather_doubling},
    {4096, ANY_BYTES, &allgather_neighbor},
    {ANY_SIZE, 2, &allgather_doubling}, {ANY_SIZE, 8, &allgather_bruck},
    {ANY_SIZE, 16, &allgather_doubling}, {ANY_SIZE, 512, &allgather_bruck},
    {ANY_SIZE, 4096, &allgather_doubling}, {ANY_SIZE, ANY_BYTES, &allgather_neighbor},
};

static const struct wf_coll_rule allgatherv[] = {
    {3, ANY_BYTES, &allgatherv_ring},
    {8, 256, &allgatherv_default}, {8, 4096, &allgatherv_neighbor}, {8, 8192, &allgatherv_ring},
    {8, 16384, &allgatherv_neighbor}, {8, 262144, &allgatherv_bruck},
    {8, ANY_BYTES, &allgatherv_neighbor},
    {16, 1024, &allgatherv_default}, {16, ANY_BYTES, &allgatherv_bruck},
    {32, 128, &allgatherv_default}, {32, 262144, &allgatherv_bruck},
    {32, ANY_BYTES, &allgatherv_ring},
    {64, 256, &allgatherv_default}, {64, 8192, &allgatherv_bruck},
    {64, ANY_BYTES, &allgatherv_ring},
    {128, 256, &allgatherv_default}, {128, 4096, &allgatherv_bruck},
    {128, ANY_BYTES, &allgatherv_ring},
    {256, 1024, &allgatherv_bruck}, {256, 65536, &allgatherv_neighbor},
    {256, ANY_BYTES, &allgatherv_ring},
    {512, 1024, &allgatherv_bruck}, {512, ANY_BYTES, &allgatherv_ring},
    {1024, 512, &allgatherv_bruck}, {1024, 1024, &allgatherv_default},
    {1024, 4096, &allgatherv_bruck}, {1024, 1048576, &allgatherv_neighbor},
    {1024, ANY_BYTES, &allgatherv_ring},
    {ANY_SIZE, 4096, &allgatherv_bruck}, {ANY_SIZE, ANY_BYTES, &allgatherv_neighbor},
};

static const struct wf_coll_rule gather[] = {
    {4, 4, &gather_linear}, {4, 32768, &gather_binomial}, {4, 65536, &gather_linear},
    {4, 131072, &gather_binomial}, {4, ANY_BYTES, &gather_linear},
    {8, 1024, &gather_binomial}, {8, 8192, &gather_linear}, {8, 32768, &gather_binomial},
    {8, ANY_BYTES, &gather_linear},
    {256, ANY_BYTES, &gather_binomial},
    {512, 2048, &gather_binomial}, {512, 8192, &gather_linear},
    {512, ANY_BYTES, &gather_binomial},
    {ANY_SIZE, ANY_BYTES, &gather_binomial},
};

static const struct wf_coll_rule scatter[] = {
    {4, ANY_BYTES, &scatter_linear},
    {8, 2048, &scatter_binomial}, {8, 4096, &scatter_linear}, {8, 8192, &scatter_binomial},
    {8, ANY_BYTES, &scatter_linear},
    {16, 16384, &scatter_binomial}, {16, ANY_BYTES, &scatter_linear},
    {32, 16384, &scatter_binomial}, {32, ANY_BYTES, &scatter_linear},
    {64, 512, &scatter_binomial}, {64, 8192, &scatter_linear}, {64, 16384, &scatter_binomial},
    {64, ANY_BYTES, &scatter_linear},
    {ANY_SIZE, 512, &scatter_binomial}, {ANY_SIZE, ANY_BYTES, &scatter_linear},
};

/* clang-format on */

const struct wf_coll_kind_rules wf_coll_rules_openmpi[WF_COLL_KINDS] = {
    [WF_COLL_ALLREDUCE] = {WF_COLL_MEASURE_GIVEN, allreduce},
    [WF_COLL_ALLTOALL] = {WF_COLL_MEASURE_GIVEN, alltoall},
    [WF_COLL_ALLTOALLV] = {WF_COLL_MEASURE_GIVEN, alltoallv},
    [WF_COLL_BARRIER] = {WF_COLL_MEASURE_GIVEN, barrier},
    [WF_COLL_BCAST] = {WF_COLL_MEASURE_GIVEN, bcast},
    [WF_COLL_REDUCE] = {WF_COLL_MEASURE_GIVEN, reduce},
    [WF_COLL_REDUCE_SCATTER] = {WF_COLL_MEASURE_TOTAL, reduce_scatter},
    [WF_COLL_REDUCE_SCATTER_BLOCK] = {WF_COLL_MEASURE_GIVEN, reduce_scatter_block},
    [WF_COLL_ALLGATHER] = {WF_COLL_MEASURE_GIVEN, allgather},
    [WF_COLL_ALLGATHERV] = {WF_COLL_MEASURE_MEAN, allgatherv},
    [WF_COLL_GATHER] = {WF_COLL_MEASURE_GIVEN, gather},
    [WF_COLL_SCATTER] = {WF_COLL_MEASURE_GIVEN, scatter},
    [WF_COLL_GATHERV] = WF_COLL_ONLY(&gatherv_linear),
    [WF_COLL_SCATTERV] = WF_COLL_ONLY(&scatterv_linear),
    [WF_COLL_SCAN] = WF_COLL_ONLY(&scan_linear),
    [WF_COLL_EXSCAN] = WF_COLL_ONLY(&exscan_linear),
    [WF_COLL_NEIGHBOR_ALLGATHER] = WF_COLL_ONLY(&neighbor_allgather_linear),
    [WF_COLL_NEIGHBOR_ALLTOALL] = WF_COLL_ONLY(&neighbor_alltoall_linear),
};
