/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts random programs in which the length of every message and collective is a unique number.
 * The expected part is found by looking at both ends of each. */
#include "harness/wf_test.h"
#include "program/trace/cut/cut.h"
#include "program/trace/reader.h"
#include "program/trace/weft/native.h"

#include <stdbool.h>
#include <unistd.h>

enum { N_RANKS = 6, N_EVENTS = 300, OPS_MAX = 2000, N_SEEDS = 60 };

static char path[] = "/tmp/weft-cut-XXXXXX";

/* A program in memory. Rank r is rank N_RANKS - 1 - r of communicator 1. */
static const uint32_t backwards[N_RANKS] = {5, 4, 3, 2, 1, 0};

struct program {
    struct wf_source source;
    struct wf_op ops[N_RANKS][OPS_MAX];
    uint32_t n[N_RANKS];
};

static bool program_next(const struct wf_source *source, uint32_t rank,
                         struct wf_cursor *cursor, struct wf_op *op)
{
    const struct program *program = (const struct program *)source;

    if (cursor->word[0] == program->n[rank]) {
        return false;
    }
    *op = program->ops[rank][cursor->word[0]++];
    return true;
}

static bool program_group(const struct wf_source *source, uint32_t rank, uint32_t comm,
                          struct wf_group *out)
{
    *out = (struct wf_group){.id = comm,
                             .size = source->n_ranks,
                             .rank = rank,
                             .stride = 1,
                             .width = source->n_ranks};
    if (comm == 1) {
        out->members = backwards;
        out->rank = N_RANKS - 1 - rank;
    }
    return comm < 2;
}

static const char *program_name(const struct wf_source *source, enum wf_source_name kind,
                                uint32_t number)
{
    return number == 4 ? "solve" : number == 5 ? "other" : NULL;
}

static const struct wf_source_ops program_ops = {
    .name = "program",
    .next = program_next,
    .group = program_group,
    .name_of = program_name,
};

static void add(struct program *program, uint32_t rank, struct wf_op op)
{
    program->ops[rank][program->n[rank]++] = op;
}

/* The same communicator's number of a rank. */
static uint32_t peer_of(uint32_t rank, uint32_t comm)
{
    return comm == 1 ? N_RANKS - 1 - rank : rank;
}

static void add_message(struct program *program, uint64_t number, uint64_t random)
{
    uint32_t from = (uint32_t)(random % N_RANKS), to = (uint32_t)(random >> 8) % N_RANKS;
    uint32_t comm = (uint32_t)(random >> 16) % 2;
    struct wf_op op = {.comm = comm, .tag = (int32_t)(random >> 24 & 1), .bytes = number};

    op.kind = (random >> 32) % 2 == 0 ? WF_OP_ISEND : WF_OP_SEND;
    op.peer = peer_of(to, comm);
    add(program, from, op);
    op.kind = (random >> 33) % 2 == 0 ? WF_OP_IRECV : WF_OP_RECV;
    op.peer = peer_of(from, comm);
    if ((random >> 34) % 4 == 0) {
        op.matched_peer = op.peer;
        op.matched_tag = op.tag;
        op.recorded = true;
        op.peer = WF_ANY_SOURCE;
    }
    add(program, to, op);
}

static void make_program(struct program *program, uint64_t seed)
{
    memset(program, 0, sizeof(*program));
    program->source = (struct wf_source){.ops = &program_ops, .n_ranks = N_RANKS};
    for (uint64_t i = 0; i < N_EVENTS; i++) {
        uint64_t random = wf_test_rand(seed, 1, i);
        uint32_t rank = (uint32_t)(random >> 40) % N_RANKS;
        uint64_t what = wf_test_rand(seed, 2, i) % 20;

        if (what < 8) {
            add_message(program, i + 1, random);
        } else if (what < 14) {
            add(program, rank,
                (struct wf_op){.kind = WF_OP_COMPUTE, .duration = (int64_t)(random % 1000)});
        } else if (what < 16) {
            for (uint32_t r = 0; r < N_RANKS; r++) {
                add(program, r,
                    (struct wf_op){
                        .kind = WF_OP_ALLREDUCE, .bytes = i + 1, .comm = (uint32_t)random % 2});
            }
        } else {
            /* Regions begin and end at different places in each rank. */
            add(program, rank,
                (struct wf_op){.kind = what % 2 == 0 ? WF_OP_REGION_BEGIN : WF_OP_REGION_END,
                               .tag = what < 18 ? 4 : 5});
        }
    }
}

/* ---- what must be left ---- */

/* Whether the ops of a rank are wanted, by the definition of each option alone. */
static void find_wanted(const struct program *program, uint32_t rank,
                        const struct wf_cut_options *options, bool *wanted)
{
    int64_t time = 0;
    uint32_t depth = 0;

    for (uint32_t i = 0; i < program->n[rank]; i++) {
        const struct wf_op *op = &program->ops[rank][i];
        bool begins = op->kind == WF_OP_REGION_BEGIN && op->tag == 4;
        bool ends = op->kind == WF_OP_REGION_END && op->tag == 4;

        depth += begins ? 1 : 0;
        wanted[i] = options->ranks == NULL || options->ranks[rank];
        if (options->has_time) {
            wanted[i] = wanted[i] && time >= options->begin && time < options->end;
        }
        if (options->region != NULL) {
            wanted[i] = wanted[i] && depth > 0;
        }
        depth -= ends && depth > 0 ? 1 : 0;
        time += op->kind == WF_OP_COMPUTE ? op->duration : 0;
    }
}

static bool is_message(const struct wf_op *op)
{
    return op->kind == WF_OP_ISEND || op->kind == WF_OP_SEND || op->kind == WF_OP_IRECV ||
           op->kind == WF_OP_RECV;
}

/* How many ops of each number are wanted. */
static void count_wanted(const struct program *program, const struct wf_cut_options *options,
                         uint32_t *n_wanted)
{
    static bool wanted[OPS_MAX];

    memset(n_wanted, 0, (N_EVENTS + 1) * sizeof(*n_wanted));
    for (uint32_t rank = 0; rank < N_RANKS; rank++) {
        find_wanted(program, rank, options, wanted);
        for (uint32_t i = 0; i < program->n[rank]; i++) {
            const struct wf_op *op = &program->ops[rank][i];
            if (wanted[i] && (is_message(op) || op->kind == WF_OP_ALLREDUCE)) {
                n_wanted[op->bytes]++;
            }
        }
    }
}

static void check_rank(const struct program *program, const struct wf_source *piece,
                       const struct wf_cut_options *options, uint32_t rank, uint32_t to)
{
    static bool wanted[OPS_MAX];
    static uint32_t n_wanted[N_EVENTS + 1];
    uint32_t n_kept = options->ranks == NULL ? N_RANKS : 0;
    struct wf_cursor cursor;
    struct wf_op op;

    for (uint32_t r = 0; options->ranks != NULL && r < N_RANKS; r++) {
        n_kept += options->ranks[r] ? 1 : 0;
    }
    CHECK_U64(piece->n_ranks, n_kept);
    count_wanted(program, options, n_wanted);
    find_wanted(program, rank, options, wanted);
    memset(&cursor, 0, sizeof(cursor));
    for (uint32_t i = 0; i < program->n[rank]; i++) {
        const struct wf_op *was = &program->ops[rank][i];
        bool complete = is_message(was)                ? n_wanted[was->bytes] == 2
                        : was->kind == WF_OP_ALLREDUCE ? n_wanted[was->bytes] == n_kept
                                                       : true;
        if (was->kind == WF_OP_COMPUTE || !wanted[i] || !complete) {
            continue;
        }
        do {
            CHECK(wf_source_next(piece, to, &cursor, &op));
        } while (op.kind == WF_OP_COMPUTE);
        CHECK(op.kind == was->kind);
        if (is_message(was)) {
            CHECK_U64(op.bytes, was->bytes);
            CHECK_U64(op.comm, was->comm);
        }
    }
    while (wf_source_next(piece, to, &cursor, &op)) {
        CHECK(op.kind == WF_OP_COMPUTE);
    }
}

/* Both ends of a message name each other. */
static void check_ends(const struct wf_source *piece)
{
    static uint32_t from[N_EVENTS + 1], to[N_EVENTS + 1];

    memset(from, 0xff, sizeof(from));
    memset(to, 0xff, sizeof(to));
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t rank = 0; rank < piece->n_ranks; rank++) {
            struct wf_cursor cursor;
            struct wf_group group;
            struct wf_op op;

            memset(&cursor, 0, sizeof(cursor));
            while (wf_source_next(piece, rank, &cursor, &op)) {
                if (!is_message(&op)) {
                    continue;
                }
                CHECK(wf_source_group(piece, rank, op.comm, &group));
                bool sends = op.kind == WF_OP_ISEND || op.kind == WF_OP_SEND;
                uint32_t peer = op.peer == WF_ANY_SOURCE ? op.matched_peer : op.peer;
                CHECK(peer < group.size);
                if (pass == 0 && sends) {
                    from[op.bytes] = rank;
                    to[op.bytes] = wf_group_rank(&group, peer);
                } else if (pass == 1 && !sends) {
                    CHECK_U64(to[op.bytes], rank);
                    CHECK_U64(from[op.bytes], wf_group_rank(&group, peer));
                }
            }
        }
    }
}

static void check_piece(const struct program *program, const struct wf_cut_options *options)
{
    struct wf_cut *cut = NULL;
    struct wf_source *piece = NULL;
    struct wf_err err;

    /* Nothing may be left; then there is nothing to check. */
    if (wf_cut_new(&program->source, options, &cut, &err) != WF_OK) {
        return;
    }
    const struct wf_trace_writer_options how = {.n_ranks = wf_cut_n_ranks(cut), .force = true};
    struct wf_copy copy = {.source = &program->source, .changes = wf_cut_changes(cut)};
    CHECK(wf_native_writer_ops.create(path, &how, &copy.writer, &err) == WF_OK);
    enum wf_status status = wf_trace_copy(&copy, &err);
    if (status != WF_OK) {
        printf("# %s\n", err.text);
    }
    CHECK(status == WF_OK);
    CHECK(copy.writer->ops->finish(copy.writer, &err) == WF_OK);
    wf_cut_free(cut);

    CHECK(wf_trace_open_source(path, &piece, &err) == WF_OK);
    for (uint32_t rank = 0, to = 0; rank < N_RANKS && wf_test_failed == 0; rank++) {
        if (options->ranks == NULL || options->ranks[rank]) {
            check_rank(program, piece, options, rank, to++);
        }
    }
    if (wf_test_failed == 0) {
        check_ends(piece);
    }
    wf_source_free(piece);
}

static void what_is_left_has_both_ends(void)
{
    static struct program program;

    for (uint64_t seed = 0; seed < N_SEEDS; seed++) {
        struct wf_cut_options options = {.ranks = NULL};
        bool kept[N_RANKS];

        make_program(&program, seed);
        for (uint32_t rank = 0; rank < N_RANKS; rank++) {
            kept[rank] = rank == seed % N_RANKS || wf_test_rand(seed, 3, rank) % 3 > 0;
        }
        options.ranks = seed % 2 == 0 ? kept : NULL;
        options.has_time = seed % 3 != 0;
        options.begin = (int64_t)(wf_test_rand(seed, 4, 0) % 4000);
        options.end = options.begin + 1 + (int64_t)(wf_test_rand(seed, 4, 1) % 8000);
        options.region = seed % 5 == 0 ? "solve" : NULL;
        check_piece(&program, &options);
        if (wf_test_failed != 0) {
            printf("# seed %llu\n", (unsigned long long)seed);
        }
        CHECK(wf_test_failed == 0);
    }
}

/* The computing of the pieces of a cut sum up to what there was. */
static void computing_is_cut_at_the_right_place(void)
{
    static struct program program;
    int64_t sum[N_RANKS] = {0}, wanted[N_RANKS] = {0};

    make_program(&program, 77);
    for (int64_t begin = 0; begin < 60000; begin += 777) {
        const struct wf_cut_options options = {
            .has_time = true, .begin = begin, .end = begin + 777};
        struct wf_cut *cut = NULL;
        if (wf_cut_new(&program.source, &options, &cut, NULL) != WF_OK) {
            continue;
        }
        struct wf_copy_changes changes = wf_cut_changes(cut);
        for (uint32_t rank = 0; rank < N_RANKS; rank++) {
            uint32_t to = 0;
            CHECK(changes.rank_of(changes.arg, rank, &to) && to == rank);
            for (uint32_t i = 0; i < program.n[rank]; i++) {
                struct wf_op op = program.ops[rank][i];
                if (changes.change(changes.arg, rank, &op) && op.kind == WF_OP_COMPUTE) {
                    sum[rank] += op.duration;
                }
            }
        }
        wf_cut_free(cut);
    }
    for (uint32_t rank = 0; rank < N_RANKS; rank++) {
        for (uint32_t i = 0; i < program.n[rank]; i++) {
            wanted[rank] +=
                program.ops[rank][i].kind == WF_OP_COMPUTE ? program.ops[rank][i].duration : 0;
        }
        CHECK_U64((uint64_t)sum[rank], (uint64_t)wanted[rank]);
    }
}

static void what_cannot_be_cut_is_refused(void)
{
    static struct program program;
    struct wf_cut_options options = {.region = "sovle"};
    struct wf_cut *cut = NULL;
    struct wf_err err;

    make_program(&program, 3);
    CHECK(wf_cut_new(&program.source, &options, &cut, &err) == WF_EINVAL);
    CHECK(strstr(err.text, "'sovle'") != NULL);
    options =
        (struct wf_cut_options){.has_time = true, .begin = INT64_MAX - 1, .end = INT64_MAX};
    CHECK(wf_cut_new(&program.source, &options, &cut, &err) == WF_EINVAL);
    add(&program, 0, (struct wf_op){.kind = WF_OP_SEND_INIT});
    options = (struct wf_cut_options){.has_time = true, .end = INT64_MAX};
    CHECK(wf_cut_new(&program.source, &options, &cut, &err) == WF_EINVAL);
    CHECK(strstr(err.text, "persistent") != NULL);
}

int main(void)
{
    int fd = mkstemp(path);

    if (fd < 0) {
        return EXIT_FAILURE;
    }
    (void)close(fd);
    RUN(what_is_left_has_both_ends);
    RUN(computing_is_cut_at_the_right_place);
    RUN(what_cannot_be_cut_is_refused);
    (void)unlink(path);
    return wf_test_done();
}
