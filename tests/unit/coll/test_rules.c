/* SPDX-License-Identifier: Apache-2.0 */
/* The choice of algorithms. The expected names are taken from the sources that the rule tables
 * cite, on both sides of switch points. */
#include "model/coll/coll.h"

#include "harness/wf_test.h"

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)

enum { ANY = 0, N_SIZES = 70 };

struct point {
    enum wf_coll_rules rules;
    enum wf_coll_kind kind;
    uint32_t size;
    uint64_t bytes; /* of the call: one block where there are blocks */
    const char *name;
};

#define M(kind, size, bytes, name)                             \
    {                                                          \
        WF_COLL_RULES_MPICH, WF_COLL_##kind, size, bytes, name \
    }
#define O(kind, size, bytes, name)                               \
    {                                                            \
        WF_COLL_RULES_OPENMPI, WF_COLL_##kind, size, bytes, name \
    }

static const struct point mpich[] = {
    M(BARRIER, 16, ANY, "dissemination"),
    M(BCAST, 64, 12287, "binomial"),
    M(BCAST, 64, 12288, "scatter_allgather"),
    M(BCAST, 65, 12288, "scatter_ring_allgather"),
    M(BCAST, 64, 524287, "scatter_allgather"),
    M(BCAST, 64, 524288, "scatter_ring_allgather"),
    M(BCAST, 7, 1 * MIB, "binomial"),
    M(BCAST, 8, 1 * MIB, "scatter_ring_allgather"),
    M(REDUCE, 64, 2048, "binomial"),
    M(REDUCE, 64, 2049, "rabenseifner"),
    M(REDUCE, 511, 2055, "rabenseifner"), /* 256 elements, 256 members */
    M(REDUCE, 512, 4095, "binomial"),     /* 511 elements, 512 members */
    M(REDUCE, 512, 4096, "rabenseifner"),
    M(ALLREDUCE, 64, 2048, "recursive_doubling"),
    M(ALLREDUCE, 64, 2049, "rabenseifner"),
    M(ALLREDUCE, 1000, 4088, "recursive_doubling"),
    M(ALLREDUCE, 1000, 4096, "rabenseifner"),
    M(GATHER, 64, 1 * MIB, "binomial"),
    M(SCATTER, 64, 1 * MIB, "binomial"),
    M(GATHERV, 64, 8, "linear"),
    M(SCATTERV, 64, 8, "linear"),
    M(ALLGATHER, 64, 8191, "recursive_doubling"), /* 64 * 8192 are 524288 */
    M(ALLGATHER, 64, 8192, "ring"),
    M(ALLGATHER, 40, 2047, "bruck"), /* 40 * 2048 are 81920 */
    M(ALLGATHER, 40, 2048, "ring"),
    M(ALLTOALL, 8, 256, "bruck"),
    M(ALLTOALL, 7, 256, "scattered"),
    M(ALLTOALL, 8, 257, "scattered"),
    M(ALLTOALL, 8, 32768, "scattered"),
    M(ALLTOALL, 8, 32769, "pairwise"),
    M(ALLTOALL, 4, 32769, "pairwise"),
    M(ALLTOALLV, 64, 8, "scattered"),
    M(REDUCE_SCATTER_BLOCK, 64, 8191, "recursive_halving"),
    M(REDUCE_SCATTER_BLOCK, 64, 8192, "pairwise"),
    M(SCAN, 64, 8, "recursive_doubling"),
    M(EXSCAN, 64, 8, "recursive_doubling"),
    M(NEIGHBOR_ALLTOALL, 64, 8, "linear"),
};

static const struct point openmpi[] = {
    O(BARRIER, 3, ANY, "recursive_doubling"),
    O(BARRIER, 4, ANY, "linear"),
    O(BARRIER, 63, ANY, "recursive_doubling"),
    O(BARRIER, 64, ANY, "dissemination"),
    O(BARRIER, 256, ANY, "tree"),
    O(BARRIER, 4096, ANY, "dissemination"),
    O(BCAST, 3, 31, "chain"),
    O(BCAST, 3, 32, "binary"),
    O(BCAST, 3, 600, "knomial"),
    O(BCAST, 8, 16 * KIB, "binomial"),
    O(BCAST, 8, 32 * KIB, "linear"),
    O(BCAST, 16, 1 * MIB - 1, "binomial"),
    O(BCAST, 16, 1 * MIB, "scatter_allgather"),
    O(BCAST, 17, 1 * MIB, "scatter_ring_allgather"),
    O(BCAST, 100, 100, "knomial"),
    O(BCAST, 5000, 256 * KIB - 1, "knomial"),
    O(BCAST, 8192, 256 * KIB, "scatter_allgather"),
    O(REDUCE, 3, 262143, "linear"),
    O(REDUCE, 3, 262144, "chain"),
    O(REDUCE, 7, 4095, "binary"),
    O(REDUCE, 7, 4096, "chain"),
    O(REDUCE, 15, 8191, "binary"),
    O(REDUCE, 15, 8192, "binomial"),
    O(REDUCE, 3, 7, "linear"), /* rabenseifner, for want of elements */
    O(ALLREDUCE, 3, 4095, "recursive_doubling"),
    O(ALLREDUCE, 3, 4096, "ring"),
    O(ALLREDUCE, 3, 256 * KIB, "rabenseifner"),
    O(ALLREDUCE, 7, 8191, "recursive_doubling"),
    O(ALLREDUCE, 7, 8192, "rabenseifner"),
    O(ALLREDUCE, 16, 63, "recursive_doubling"), /* ring, for want of elements */
    O(ALLREDUCE, 200, 128 * KIB - 1, "reduce_bcast"),
    O(ALLREDUCE, 200, 128 * KIB, "recursive_doubling"),
    O(ALLREDUCE, 200, 256 * KIB, "rabenseifner"),
    O(ALLREDUCE, 5000, 16 * KIB, "recursive_doubling"),
    O(ALLREDUCE, 8192, 32 * KIB, "linear"), /* 4096 elements, 8192 members */
    O(GATHER, 7, 1023, "binomial"),
    O(GATHER, 7, 1024, "linear"),
    O(GATHER, 8, 1 * MIB, "binomial"),
    O(GATHERV, 8, 8, "linear"),
    O(SCATTER, 15, 16383, "binomial"),
    O(SCATTER, 15, 16384, "linear"),
    O(SCATTERV, 8, 8, "linear"),
    O(ALLGATHER, 2, 8, "recursive_doubling"),
    O(ALLGATHER, 31, 1 * MIB, "bruck"),
    O(ALLGATHER, 32, 1023, "recursive_doubling"),
    O(ALLGATHER, 32, 1024, "neighbor_exchange"),
    O(ALLGATHER, 33, 1024, "ring"),
    O(ALLGATHER, 34, 64 * KIB - 1, "neighbor_exchange"),
    O(ALLGATHER, 34, 64 * KIB, "ring"),
    O(ALLTOALL, 2, 1, "pairwise"),
    O(ALLTOALL, 20, 3, "linear"),
    O(ALLTOALL, 20, 4, "bruck"),
    O(ALLTOALL, 20, 512, "linear"),
    O(ALLTOALL, 100, 262143, "linear"),
    O(ALLTOALL, 100, 262144, "pairwise"),
    O(ALLTOALLV, 3, 8, "pairwise"),
    O(ALLTOALLV, 4, 8, "linear"),
    O(ALLTOALLV, 64, 8, "pairwise"),
    O(ALLTOALLV, 128, 8, "linear"),
    O(REDUCE_SCATTER_BLOCK, 6, 1 * MIB - 1, "recursive_halving"),
    O(REDUCE_SCATTER_BLOCK, 6, 1 * MIB, "reduce_scatterv"),
    O(REDUCE_SCATTER_BLOCK, 40, 15, "reduce_scatterv"),
    O(REDUCE_SCATTER_BLOCK, 40, 16, "recursive_halving"),
    O(SCAN, 64, 8, "linear"),
    O(EXSCAN, 64, 8, "linear"),
};

static void check_point(const struct point *point)
{
    const struct wf_coll_args args = {.kind = point->kind,
                                      .rank = point->size - 1,
                                      .size = point->size,
                                      .bytes = point->bytes};
    const struct wf_coll_ops *ops = wf_coll_choose(point->rules, &args);

    if (strcmp(ops->name, point->name) != 0) {
        printf("# %s, size %u, %llu bytes: %s\n", wf_coll_name(point->kind), point->size,
               (unsigned long long)point->bytes, ops->name);
    }
    CHECK_STR(ops->name, point->name);
    CHECK(ops->kind == point->kind);
    CHECK(wf_coll_applies(ops, &args));
}

static void mpich_switches_where_its_variables_say(void)
{
    for (size_t i = 0; i < sizeof(mpich) / sizeof(mpich[0]) && !wf_test_failed; i++) {
        check_point(&mpich[i]);
    }
}

static void open_mpi_switches_where_its_decision_functions_say(void)
{
    for (size_t i = 0; i < sizeof(openmpi) / sizeof(openmpi[0]) && !wf_test_failed; i++) {
        check_point(&openmpi[i]);
    }
}

/* A call with these blocks, whose counts are all known. */
static const char *choice(enum wf_coll_rules rules, enum wf_coll_kind kind, uint32_t size,
                          const uint64_t *counts)
{
    const struct wf_coll_args args = {.kind = kind, .size = size, .counts = counts};

    return wf_coll_choose(rules, &args)->name;
}

/* The rules use the sum or the mean of the blocks, not the size of a single block. */
static void counts_are_added_up(void)
{
    uint64_t counts[64] = {0};

    counts[5] = 524287;
    CHECK_STR(choice(WF_COLL_RULES_MPICH, WF_COLL_ALLGATHERV, 64, counts),
              "recursive_doubling");
    CHECK_STR(choice(WF_COLL_RULES_MPICH, WF_COLL_REDUCE_SCATTER, 64, counts),
              "recursive_halving");
    counts[63] = 1;
    CHECK_STR(choice(WF_COLL_RULES_MPICH, WF_COLL_ALLGATHERV, 64, counts), "ring");
    CHECK_STR(choice(WF_COLL_RULES_MPICH, WF_COLL_REDUCE_SCATTER, 64, counts), "pairwise");
    CHECK_STR(choice(WF_COLL_RULES_OPENMPI, WF_COLL_ALLGATHERV, 64, counts), "ring");
    CHECK_STR(choice(WF_COLL_RULES_OPENMPI, WF_COLL_REDUCE_SCATTER, 60, counts),
              "recursive_halving");
    counts[5] = 4096 * 64 - 1;
    counts[63] = 0;
    CHECK_STR(choice(WF_COLL_RULES_OPENMPI, WF_COLL_ALLGATHERV, 64, counts), "bruck");
    counts[5] = 256 * 64 - 1;
    CHECK_STR(choice(WF_COLL_RULES_OPENMPI, WF_COLL_ALLGATHERV, 64, counts), "gather_bcast");
    counts[0] = UINT64_MAX; /* too much to add up */
    CHECK_STR(choice(WF_COLL_RULES_MPICH, WF_COLL_ALLGATHERV, 64, counts), "ring");
}

/* Every kind has a choice that applies, whatever the size and the bytes. All ranks make the
 * same choice, even if they see different bytes. */
static void there_is_always_a_choice(void)
{
    static const uint64_t bytes[] = {0,    1,     7,      8,       255,     256,       2048,
                                     4097, 70000, 600000, 1 * MIB, 5 * MIB, UINT64_MAX};
    uint64_t counts[N_SIZES] = {0};

    for (int rules = 0; wf_coll_rules_names[rules] != NULL; rules++) {
        for (int kind = 0; kind < WF_COLL_KINDS; kind++) {
            for (uint32_t i = 0; i < N_SIZES * sizeof(bytes) / sizeof(bytes[0]); i++) {
                struct wf_coll_args args = {.kind = (enum wf_coll_kind)kind,
                                            .size = 1 + i % N_SIZES,
                                            .bytes = bytes[i / N_SIZES]};
                const struct wf_coll_ops *ops;

                if (kind == WF_COLL_ALLTOALLV || kind == WF_COLL_GATHERV) {
                    args.counts = counts;
                }
                ops = wf_coll_choose((enum wf_coll_rules)rules, &args);
                CHECK(ops != NULL && ops->kind == args.kind && wf_coll_applies(ops, &args));
                if (kind == WF_COLL_ALLTOALLV || kind == WF_COLL_GATHERV) {
                    args.counts = NULL;
                    args.bytes ^= 1000;
                    CHECK(wf_coll_choose((enum wf_coll_rules)rules, &args) == ops);
                }
            }
        }
    }
}

static void rules_have_names(void)
{
    CHECK_STR(wf_coll_rules_names[WF_COLL_RULES_MPICH], "mpich");
    CHECK_STR(wf_coll_rules_names[WF_COLL_RULES_OPENMPI], "openmpi");
    CHECK_STR(wf_coll_rules_names[WF_COLL_RULES_NCCL], "nccl");
    CHECK_STR(wf_coll_rules_names[WF_COLL_RULES_NCCL_FORMULA], "nccl_formula");
    CHECK(wf_coll_rules_names[WF_COLL_RULES_NCCL_FORMULA + 1] == NULL);
}

int main(void)
{
    RUN(mpich_switches_where_its_variables_say);
    RUN(open_mpi_switches_where_its_decision_functions_say);
    RUN(counts_are_added_up);
    RUN(there_is_always_a_choice);
    RUN(rules_have_names);
    return wf_test_done();
}
