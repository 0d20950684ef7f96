/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives that ranks call differently: one rank uses another size, another root or another
 * kind. None of these programs may complete without an error. */
#include "model/coll/coll.h"
#include "model/net/alphabeta.h"

#include "harness/replay_harness.h"
#include "harness/wf_test.h"

enum { RANKS = 9 };

static bool ends_well(const struct outcome *out)
{
    return out->status == WF_OK && out->tally.unfinished == 0 && out->tally.unreceived == 0 &&
           out->tally.uncalled == 0;
}

static struct outcome run_odd(const struct setup *setup, struct wf_op common, struct wf_op odd,
                              uint32_t who, uint32_t n_ranks)
{
    struct wf_op ops[RANKS][3];
    const struct wf_op *ranks[RANKS];

    for (uint32_t i = 0; i < n_ranks; i++) {
        ops[i][0] = (struct wf_op)COMPUTE(i == who ? 5000 : 0);
        ops[i][1] = i == who ? odd : common;
        ops[i][2] = (struct wf_op)END;
        ranks[i] = ops[i];
    }
    return replay_script(*setup, ranks, n_ranks);
}

/* Whether the run says that `who` and another rank have these sizes, or parts of them. */
static bool names_sizes(const struct outcome *out, enum wf_coll_kind kind, uint32_t who)
{
    const struct wf_blocked *first = &out->tally.blocked[0];
    const struct wf_blocked_on *on = &first->on;

    return on->coll == (uint32_t)kind + 1 && on->bytes != on->other_bytes && on->group == 0 &&
           (first->rank == who || on->peer == who);
}

static const enum wf_op_kind kinds[] = {
    WF_OP_BCAST,   WF_OP_REDUCE,    WF_OP_ALLREDUCE, WF_OP_GATHER,
    WF_OP_SCATTER, WF_OP_ALLGATHER, WF_OP_ALLTOALL,  WF_OP_REDUCE_SCATTER_BLOCK,
    WF_OP_SCAN,    WF_OP_EXSCAN,
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

struct tried {
    uint32_t runs, failed, named;
};

static void try_sizes(const struct setup *setup, enum wf_op_kind kind, struct tried *tried)
{
    static const uint64_t sizes[][2] = {{1000, 10}, {10, 1000},        {4096, 4097},
                                        {8, 0},     {100, 3000000},    {3000000, 100},
                                        {0, 8},     {3000000, 2999999}};

    for (uint32_t n = 2; n <= RANKS; n += n < 5 ? 1 : 2) {
        for (uint32_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            uint32_t who = (i * 5 + n) % n, root = (uint32_t)kind % n;
            const struct wf_op common = {.kind = kind, .bytes = sizes[i][0], .root = root};
            const struct wf_op odd = {.kind = kind, .bytes = sizes[i][1], .root = root};
            struct outcome out = run_odd(setup, common, odd, who, n);
            enum wf_coll_kind coll = (enum wf_coll_kind)wf_op_info(kind)->detail;

            tried->runs++;
            tried->failed += out.tally.blocked[0].failure == WF_FAILURE_SIZES;
            tried->named += names_sizes(&out, coll, who);
            if (ends_well(&out)) {
                printf("# %s of %d and %d bytes at rank %d of %d\n", wf_op_name(kind),
                       (int)sizes[i][0], (int)sizes[i][1], (int)who, (int)n);
            }
            CHECK(!ends_well(&out));
        }
    }
}

static void sizes_that_differ(void)
{
    static const char *const mpich[] = {NULL};
    static const char *const openmpi[] = {"rules", "openmpi", NULL};
    static const char *const asks[] = {"eager_max", "100", NULL};
    static const char *const *const settings[] = {mpich, openmpi, asks};
    struct tried tried = {0, 0, 0};

    for (int s = 0; s < 3; s++) {
        const struct setup setup = {.net = &wf_net_alphabeta_ops, .mpi = settings[s]};
        for (uint32_t k = 0; k < KINDS; k++) {
            try_sizes(&setup, kinds[k], &tried);
        }
    }
    /* Ranks that choose different algorithms may all wait before anything of theirs meets. */
    CHECK(tried.named * 100 >= tried.runs * 98);
}

/* The rules of NCCL choose a protocol besides the algorithm. Few ranks can be named: with two sizes
 * half of them take a tree, the others a ring. */
static void sizes_that_differ_on_gpus(void)
{
    static const char *const mpi[] = {"rules", "nccl", NULL};
    const struct setup setup = {.net = &wf_net_alphabeta_ops, .mpi = mpi};
    const struct wf_op shorter = {.kind = WF_OP_ALLREDUCE, .bytes = 1024};
    const struct wf_op longer = {.kind = WF_OP_ALLREDUCE, .bytes = 256 << 20};

    for (uint32_t n = 4; n <= RANKS; n++) {
        for (uint32_t who = 0; who < n; who++) {
            struct outcome out = run_odd(&setup, longer, shorter, who, n);

            CHECK(out.status == WF_OK && out.tally.unfinished == n);
        }
    }
}

static void sizes_that_differ_by_a_formula(void)
{
    static const char *const formulas[] = {"ideal", "hardware"};
    struct tried tried = {0, 0, 0};

    for (int f = 0; f < 2; f++) {
        for (uint32_t k = 0; k < KINDS; k++) {
            enum wf_coll_kind coll = (enum wf_coll_kind)wf_op_info(kinds[k])->detail;
            const char *const mpi[] = {wf_coll_name(coll), formulas[f], NULL};
            const struct setup setup = {.net = &wf_net_alphabeta_ops, .mpi = mpi};

            try_sizes(&setup, kinds[k], &tried);
        }
    }
    CHECK_U64(tried.named, tried.runs);
    CHECK_U64(tried.failed, tried.runs);
}

/* Block lengths that one side believes to be others. */
static void vectors_that_differ(void)
{
    static const char *const formula[] = {"gatherv", "ideal", "scatterv", "hardware", NULL};
    static const char *const *const settings[] = {NULL, formula};
    static const uint64_t right[4] = {10, 20, 30, 40}, wrong[4] = {10, 20, 31, 40};
    static const enum wf_op_kind rooted[] = {WF_OP_GATHERV, WF_OP_SCATTERV};

    for (int i = 0; i < 4; i++) {
        for (int bad = 0; bad < 2; bad++) {
            const struct setup setup = {.net = &wf_net_alphabeta_ops, .mpi = settings[i / 2]};
            struct wf_op ops[4][2];
            const struct wf_op *ranks[4];

            for (uint32_t r = 0; r < 4; r++) {
                ops[r][0] = (struct wf_op){.kind = rooted[i % 2],
                                           .root = 1,
                                           .bytes = right[r],
                                           .counts = r == 1 && bad ? wrong : right};
                ops[r][1] = (struct wf_op)END;
                ranks[r] = ops[r];
            }
            struct outcome out = replay_script(setup, ranks, 4);
            CHECK(ends_well(&out) == !bad);
            if (bad) {
                const struct wf_blocked *first = &out.tally.blocked[0];
                CHECK_U64(first->failure, WF_FAILURE_SIZES);
                CHECK_U64(first->rank, i % 2 == 0 ? 1 : 2);
                CHECK(first->on.bytes - first->on.other_bytes == 1 ||
                      first->on.other_bytes - first->on.bytes == 1);
            }
        }
    }
}

/* In a binomial tree on four ranks rank 3 has the same parent for the roots 0 and 2. */
static void roots_that_differ(void)
{
    static const char *const ways[] = {"binomial", "linear", "ideal", "hardware", "auto"};
    static const enum wf_op_kind rooted[] = {WF_OP_BCAST, WF_OP_REDUCE, WF_OP_GATHER,
                                             WF_OP_SCATTER};

    for (uint32_t i = 0; i < 4 * 5; i++) {
        enum wf_coll_kind kind = (enum wf_coll_kind)wf_op_info(rooted[i % 4])->detail;
        const char *const mpi[] = {wf_coll_name(kind), ways[i / 4], NULL};
        const struct setup setup = {.net = &wf_net_alphabeta_ops, .mpi = mpi};

        for (uint32_t n = 2; n <= RANKS; n++) {
            for (uint32_t odd_root = 1; odd_root < n; odd_root++) {
                for (uint32_t who = 0; who < n; who++) {
                    const struct wf_op common = {.kind = rooted[i % 4], .bytes = 64};
                    const struct wf_op odd = {
                        .kind = rooted[i % 4], .bytes = 64, .root = odd_root};
                    struct outcome out = run_odd(&setup, common, odd, who, n);
                    CHECK(!ends_well(&out));
                }
            }
        }
    }
}

/* "rank 1 waits in bcast with root 2 for rank 0, which called it with root 0" */
static void roots_are_named(void)
{
    static const char *const mpi[] = {"bcast", "linear", NULL};
    const struct setup setup = {.net = &wf_net_alphabeta_ops, .mpi = mpi};
    const struct wf_op common = {.kind = WF_OP_BCAST, .bytes = 8, .root = 0};
    const struct wf_op odd = {.kind = WF_OP_BCAST, .bytes = 8, .root = 2};
    struct outcome out = run_odd(&setup, common, odd, 1, 3);
    const struct wf_blocked *blocked = &out.tally.blocked[0];

    CHECK_U64(out.tally.n_blocked, 1);
    CHECK_U64(out.tally.unreceived, 1);
    CHECK(blocked->rank == 1 && blocked->on.coll == WF_COLL_BCAST + 1);
    CHECK(blocked->on.other == WF_COLL_BCAST + 1 && blocked->on.peer == 0);
    CHECK(blocked->on.root == 2 && blocked->on.other_root == 0);
}

static void kinds_that_differ(void)
{
    static const char *const ideal[] = {"barrier", "ideal", "bcast",     "ideal",  "allreduce",
                                        "ideal",   "scan",  "hardware",  "reduce", "hardware",
                                        "gather",  "ideal", "allgather", "ideal",  NULL};
    static const char *const *const settings[] = {NULL, ideal};
    static const enum wf_op_kind some[] = {WF_OP_BARRIER,   WF_OP_BCAST,  WF_OP_REDUCE,
                                           WF_OP_ALLREDUCE, WF_OP_GATHER, WF_OP_ALLGATHER,
                                           WF_OP_SCAN};

    for (int i = 0; i < 2 * 7 * 7; i++) {
        const struct setup setup = {.net = &wf_net_alphabeta_ops, .mpi = settings[i / 49]};
        const struct wf_op common = {.kind = some[i % 7], .bytes = 64};
        const struct wf_op odd = {.kind = some[i / 7 % 7], .bytes = 64};

        for (uint32_t who = 0; who < 5; who++) {
            struct outcome out = run_odd(&setup, common, odd, who, 5);
            CHECK(ends_well(&out) == (i % 7 == i / 7 % 7));
        }
    }
}

int main(void)
{
    RUN(sizes_that_differ);
    RUN(sizes_that_differ_on_gpus);
    RUN(sizes_that_differ_by_a_formula);
    RUN(vectors_that_differ);
    RUN(roots_that_differ);
    RUN(roots_are_named);
    RUN(kinds_that_differ);
    return wf_test_done();
}
