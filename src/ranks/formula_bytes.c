/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks/formula.h"

/* Of blocks: `counts` says how long each is, or they have `each` bytes. Those of neighbours
 * that are nobody do not count; `ranks` may be null. */
static uint64_t sum_blocks(const struct wf_coll_args *args, const uint64_t *counts, uint32_t n,
                           const uint32_t *ranks)
{
    uint64_t sum = 0;

    if (counts == NULL && ranks == NULL) {
        return __builtin_mul_overflow(args->bytes, (uint64_t)n, &sum) ? UINT64_MAX : sum;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (ranks == NULL || ranks[i] < args->size) {
            sum = wf_count_add(sum, counts != NULL ? counts[i] : args->bytes);
        }
    }
    return sum;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

uint64_t wf_formula_bytes(const struct wf_coll_args *args)
{
    uint64_t sum;

    switch (args->kind) {
    case WF_COLL_BARRIER:
        return 0;
    case WF_COLL_BCAST:
    case WF_COLL_REDUCE:
    case WF_COLL_ALLREDUCE:
    case WF_COLL_SCAN:
    case WF_COLL_EXSCAN:
        return args->bytes;
    case WF_COLL_NEIGHBOR_ALLGATHER:
    case WF_COLL_NEIGHBOR_ALLTOALL:
        sum = sum_blocks(args, args->recv_counts, args->n_sources, args->sources);
        return larger(sum,
                      sum_blocks(args, args->counts, args->n_destinations, args->destinations));
    case WF_COLL_ALLTOALLV:
        sum = sum_blocks(args, args->recv_counts, args->size, NULL);
        return larger(sum, sum_blocks(args, args->counts, args->size, NULL));
    case WF_COLL_GATHER:
    case WF_COLL_GATHERV:
    case WF_COLL_SCATTER:
    case WF_COLL_SCATTERV:
        if (args->rank != args->root) {
            return args->bytes;
        }
        break;
    case WF_COLL_ALLGATHER:
    case WF_COLL_ALLGATHERV:
    case WF_COLL_ALLTOALL:
    case WF_COLL_REDUCE_SCATTER:
    case WF_COLL_REDUCE_SCATTER_BLOCK:
    case WF_COLL_KINDS:
        break;
    }
    return sum_blocks(args, args->counts, args->size, NULL);
}
