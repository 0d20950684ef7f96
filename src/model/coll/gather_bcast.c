/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every rank sends its block to rank 0, which broadcasts all blocks down a binomial tree, like
 * Open MPI's "linear" allgather and "default" allgatherv. These use whatever gather and
 * broadcast the other rules of Open MPI choose.
 */
#include "model/coll/parts.h"

WF_COLL_PHASES(step, {WF_COLL_STAR, 0, {.up = true}},
               {2, 0, {.whole = true, .n_slots = args->size}})

WF_COLL_OPS(ALLGATHER, allgather, gather_bcast, "gathered at rank 0, then broadcast",
            .n_slots = wf_coll_slot_per_rank, .step = step);
WF_COLL_OPS(ALLGATHERV, allgatherv, gather_bcast, "gathered at rank 0, then broadcast",
            .n_slots = wf_coll_slot_per_rank, .step = step);
