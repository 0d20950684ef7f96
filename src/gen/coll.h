/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_GEN_COLL_H
#define WF_GEN_COLL_H

/*
 * One collective operation of all ranks again and again, to study its algorithms. In each
 * iteration a rank calls it and computes; with `nonblocking` it starts the operation, computes,
 * and waits for it.
 *
 * What `bytes` means depends on the kind: the whole data of bcast, reduce, allreduce, scan and
 * exscan, one block of the others. Where blocks may differ (gatherv, scatterv, allgatherv,
 * alltoallv, reduce_scatter) they have between half and one and a half times `bytes`. In the
 * collectives of neighbours, rank r sends to the `neighbors` ranks above it, beginning again
 * with rank 0 after the last.
 */

#include "gen/gen.h"

struct wf_gen_coll_params {
    int kind; /* as of wf_op_kind, counted from WF_OP_BARRIER */
    uint64_t bytes;
    uint64_t root;
    uint64_t neighbors;
    uint64_t iterations;
    int64_t compute;
    bool nonblocking;
};

#endif
