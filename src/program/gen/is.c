/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Sorting of integers by buckets, after the benchmark IS of the NAS Parallel Benchmarks
 * (Bailey et al., NAS report RNR-94-007). In each iteration a rank counts how many of its
 * keys fall into each bucket (computes), the counts of all ranks are added up (allreduce),
 * every rank tells every other rank how many keys to expect (alltoall of 4 bytes), sends the
 * keys (alltoallv), and sorts the keys that it received (computes).
 *
 * The keys are spread evenly: each rank sends keys / ranks^2 keys of 4 bytes to each other
 * rank, more or less by the share `spread`.
 */

#include "program/gen/gen.h"
#include "program/gen/make.h"
#include "program/gen/vary.h"

#include <assert.h>
#include <stdlib.h>

struct params {
    uint64_t keys;
    uint64_t buckets;
    uint64_t iterations;
    int64_t compute;
    double spread;
};

enum { KEY_BYTES = 4 };

/* The steps of an iteration. */
enum { COUNT, ADD_UP, TELL, EXCHANGE, SORT, N_STEPS };

struct is {
    struct wf_source source;
    struct params given;
    uint64_t *blocks; /* for pairs of ranks, as in program/gen/vary.h */
};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct params, keys, COUNT, .def = "8388608", .max = "1000000000000000",
                 .doc = "Number of keys of all ranks together"),
    WF_PARAM_ROW(struct params, buckets, COUNT, .def = "1024", .max = "1000000000",
                 .doc = "Number of buckets"),
    WF_PARAM_ROW(struct params, iterations, COUNT, .def = "10",
                 .doc = "Number of times that the keys are sorted"),
    WF_PARAM_ROW(struct params, compute, TIME, .def = "1ms",
                 .doc = "Compute time before and after each exchange"),
    WF_PARAM_ROW(struct params, spread, REAL, .def = "0.1", .min = "0", .max = "1",
                 .doc = "How far the bytes between two ranks may differ from the average, as a "
                        "share of it"),
    WF_PARAM_END,
};

static enum wf_status is_create(const void *params, uint32_t n_ranks, struct wf_source **out,
                                struct wf_err *err)
{
    const struct params *given = params;
    uint64_t n_pairs = (uint64_t)n_ranks * n_ranks;
    WF_TRY(wf_gen_check_computing(wf_gen_is_ops.name, given->compute,
                                  wf_times_u64(given->iterations, 2), err));
    WF_TRY(wf_gen_check_table(wf_gen_is_ops.name, n_ranks, err));
    struct is *is = wf_gen_new(sizeof(*is), &wf_gen_is_ops, n_ranks, out);
    /* Two exchanges between all pairs; the messages of the allreduce are few in comparison. */
    is->source.messages_expected = wf_gen_expected(2 * (n_pairs - n_ranks), given->iterations);
    is->given = *given;
    is->blocks = wf_gen_vary_table(2 * (size_t)n_ranks,
                                   wf_gen_times_over(given->keys, KEY_BYTES, n_pairs),
                                   wf_gen_share(given->spread));
    return WF_OK;
}

static void is_destroy(struct wf_source *source)
{
    free(((struct is *)source)->blocks);
    free(source);
}

static bool is_next(const struct wf_source *source, uint32_t rank, struct wf_cursor *cursor,
                    struct wf_op *op)
{
    const struct is *is = (const struct is *)source;
    uint64_t step = cursor->word[1];

    assert(source->ops == &wf_gen_is_ops && rank < source->n_ranks);
    if (cursor->word[0] == is->given.iterations) {
        return false;
    }
    if (step == ADD_UP) {
        wf_gen_make_collective(op, WF_OP_ALLREDUCE, is->given.buckets * KEY_BYTES);
    } else if (step == TELL) {
        wf_gen_make_collective(op, WF_OP_ALLTOALL, KEY_BYTES);
    } else if (step == EXCHANGE) {
        wf_gen_make_collective(op, WF_OP_ALLTOALLV, 0);
        op->counts = is->blocks + rank;
        op->recv_counts = op->counts;
    } else {
        wf_gen_make_compute(op, is->given.compute);
    }
    cursor->word[1] = (step + 1) % N_STEPS;
    cursor->word[0] += cursor->word[1] == 0;
    return true;
}

WF_GENERATOR_OPS(is, "integer sort: keys exchanged between all ranks", .destroy = is_destroy);
