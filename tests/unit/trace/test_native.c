/* SPDX-License-Identifier: Apache-2.0 */
/* Ops that are written to a native trace are read back unchanged, however they were written. */
#include "base/mem.h"
#include "harness/trace_ops.h"
#include "program/gen/gen.h"
#include "program/trace/copy.h"
#include "program/trace/reader.h"
#include "program/trace/weft/encode.h"
#include "program/trace/weft/native.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/weft-native-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[256];

    (void)snprintf(path, sizeof(path), "%s/%s", directory, name);
    return path;
}

static struct wf_trace_writer *create(const char *path, uint32_t n_ranks, uint32_t n_parts)
{
    const struct wf_trace_writer_options options = {
        .n_ranks = n_ranks, .force = true, .n_parts = n_parts, .creator = "test"};
    struct wf_trace_writer *writer = NULL;
    struct wf_err err;

    if (wf_native_writer_ops.create(path, &options, &writer, &err) != WF_OK) {
        printf("# %s\n", err.text);
        exit(EXIT_FAILURE);
    }
    return writer;
}

static struct wf_source *reopen(const char *path)
{
    struct wf_source *source = NULL;
    struct wf_err err;

    if (wf_trace_open_source(path, &source, &err) != WF_OK) {
        printf("# %s\n", err.text);
        exit(EXIT_FAILURE);
    }
    return source;
}

/* ---- programs at random ---- */

enum { N_RANKS = 9, N_COMMS = 4 };

/* Communicator 1 is a row, 2 a column of 3 x 3 ranks, 3 all ranks backwards; number 7 is what
 * rank 0 calls its row. */
static uint32_t backwards[N_RANKS] = {8, 7, 6, 5, 4, 3, 2, 1, 0};

static struct wf_group group_of(uint32_t rank, uint32_t comm)
{
    struct wf_group all = {0, N_RANKS, rank, 0, 1, N_RANKS, 0, NULL};
    struct wf_group row = {5, 3, rank % 3, rank / 3 * 3, 1, 3, 0, NULL};
    struct wf_group column = {6, 3, rank / 3, rank % 3, 0, 1, 3, NULL};
    struct wf_group back = {7, N_RANKS, N_RANKS - 1 - rank, 0, 0, 0, 0, backwards};

    return comm == 0 ? all : comm == 1 || comm == 7 ? row : comm == 2 ? column : back;
}

static uint32_t roll_comm(struct trace_dice *dice, uint32_t rank)
{
    uint32_t comm = (uint32_t)trace_roll(dice, N_COMMS);

    return comm == 1 && rank == 0 ? 7 : comm;
}

/* Op `i` of a rank, a function of its arguments: with seeds that are even every rank repeats
 * what it did, in loops of several lengths within each other. */
static void op_at(uint64_t seed, uint32_t rank, uint64_t i, struct trace_op *to)
{
    uint64_t place = i;

    if (i < TRACE_MADE) {
        *to = (struct trace_op){
            .op = {.kind = WF_OP_ISEND, .request = trace_request((uint32_t)i)}};
        return;
    }
    if (seed % 2 == 0) {
        uint64_t outer = i % 220;
        place = outer < 60 ? outer % 6 : outer < 200 ? 10 + outer % 10 % 3 : outer;
        place += i / 3000 * 1000;
    }
    struct trace_dice dice = {seed, rank, place * 1000};
    uint32_t comm = roll_comm(&dice, rank);
    struct wf_group group = group_of(rank, comm);

    trace_roll_op(&dice, (enum wf_op_kind)trace_roll(&dice, WF_OP_KINDS), comm, &group, to);
}

static void write_random(const char *path, uint64_t seed, uint64_t n, uint32_t n_parts)
{
    struct wf_trace_writer *writer = create(path, N_RANKS, n_parts);
    uint64_t at[N_RANKS] = {0};
    struct trace_dice dice = {seed, 99, 0};
    static struct trace_op to;
    uint64_t left = n * N_RANKS;
    struct wf_err err;

    for (uint32_t rank = 0; rank < N_RANKS; rank++) {
        for (uint32_t comm = 1; comm < N_COMMS; comm++) {
            uint32_t number = comm == 1 && rank == 0 ? 7 : comm;
            struct wf_group group = group_of(rank, number);
            CHECK(writer->ops->group(writer, rank, number, &group, &err) == WF_OK);
        }
        writer->ops->wall(writer, rank, 1000 + rank);
        if (rank % 2 == 0) {
            writer->ops->cost(writer, rank, 70 + rank);
        }
    }
    writer->ops->name_of(writer, WF_NAME_REGION, 3, "solve");
    writer->ops->name_of(writer, WF_NAME_CALL, 0, "MPI_Comm_rank");
    writer->ops->name_of(writer, WF_NAME_COUNTER, 1, "flops");
    while (left > 0) {
        uint32_t rank = (uint32_t)trace_roll(&dice, N_RANKS);
        for (uint64_t run = trace_roll(&dice, 40); run > 0 && at[rank] < n; run--) {
            op_at(seed, rank, at[rank]++, &to);
            enum wf_status status = writer->ops->add(writer, rank, &to.op, &err);
            if (status != WF_OK) {
                printf("# %s\n", err.text);
            }
            CHECK(status == WF_OK);
            left--;
        }
    }
    CHECK(writer->ops->finish(writer, &err) == WF_OK);
}

static void check_random(const struct wf_source *source, uint64_t seed, uint64_t n)
{
    static struct trace_op to;

    CHECK_U64(source->n_ranks, N_RANKS);
    for (uint32_t rank = 0; rank < N_RANKS; rank++) {
        struct wf_cursor cursor;
        struct wf_op op;

        memset(&cursor, 0, sizeof(cursor));
        for (uint64_t i = 0; i < n; i++) {
            CHECK(wf_source_next(source, rank, &cursor, &op));
            op_at(seed, rank, i, &to);
            CHECK(trace_same_op(&to.op, &op, group_of(rank, to.op.comm).size));
        }
        CHECK(!wf_source_next(source, rank, &cursor, &op));
        CHECK_U64(cursor.word[0], n);
    }
    CHECK(wf_source_check(source, NULL) == WF_OK);
}

static void all_kinds_come_back(void)
{
    for (uint64_t seed = 1; seed <= 24; seed++) {
        uint64_t n = seed < 20 ? 400 * seed : 100;
        uint32_t n_parts = seed % 3 == 0 ? (uint32_t)(seed % 5) + 1 : 0;
        const char *path = path_of(n_parts > 0 ? "parts.weft" : "random.weft");

        write_random(path, seed, n, n_parts);
        CHECK(wf_test_failed == 0);
        struct wf_source *source = reopen(path);
        check_random(source, seed, n);
        CHECK(wf_test_failed == 0);
        wf_source_free(source);
    }
}

static void tables_come_back(void)
{
    struct wf_source *source = reopen(path_of("random.weft"));
    struct wf_native_facts facts;
    struct wf_group group;
    int64_t ps = 0;

    CHECK_STR(wf_source_name_of(source, WF_NAME_REGION, 3), "solve");
    CHECK(wf_source_name_of(source, WF_NAME_REGION, 2) == NULL);
    CHECK_STR(wf_source_name_of(source, WF_NAME_CALL, 0), "MPI_Comm_rank");
    CHECK_STR(wf_source_name_of(source, WF_NAME_COUNTER, 1), "flops");
    CHECK(wf_native_facts(source, &facts) && facts.damage == NULL && facts.totals_known);
    CHECK_STR(facts.creator, "test");
    CHECK(wf_source_wall(source, 8, &ps) && ps == 1008);
    CHECK(wf_source_cost(source, 8, &ps) && ps == 78 && !wf_source_cost(source, 7, &ps));
    for (uint32_t rank = 0; rank < N_RANKS; rank++) {
        for (uint32_t comm = 0; comm < N_COMMS; comm++) {
            uint32_t number = comm == 1 && rank == 0 ? 7 : comm;
            struct wf_group wanted = group_of(rank, number);
            CHECK(wf_source_group(source, rank, number, &group));
            CHECK_U64(group.id, wanted.id);
            CHECK_U64(group.size, wanted.size);
            CHECK_U64(group.rank, wanted.rank);
            for (uint32_t r = 0; r < group.size; r++) {
                CHECK_U64(wf_group_rank(&group, r), wf_group_rank(&wanted, r));
            }
        }
        CHECK(!wf_source_group(source, rank, 4, &group));
    }
    wf_source_free(source);
}

/* ---- cursors ---- */

static void cursors_can_be_restored_in_any_order(void)
{
    enum { N = 7000, N_PROBES = 3000 };
    static struct trace_op to;

    for (uint64_t seed = 101; seed <= 102; seed++) {
        write_random(path_of("seek.weft"), seed, N, 0);
        struct wf_source *source = reopen(path_of("seek.weft"));
        struct trace_dice dice = {seed, 5, 0};

        for (uint32_t probe = 0; probe < N_PROBES; probe++) {
            uint32_t rank = (uint32_t)trace_roll(&dice, N_RANKS);
            struct wf_cursor cursor;
            struct wf_op op;

            memset(&cursor, 0, sizeof(cursor));
            cursor.word[0] = trace_roll(&dice, N);
            for (uint64_t k = trace_roll(&dice, 20); k > 0 && cursor.word[0] < N; k--) {
                uint64_t i = cursor.word[0];
                CHECK(wf_source_next(source, rank, &cursor, &op));
                CHECK_U64(cursor.word[0], i + 1);
                op_at(seed, rank, i, &to);
                CHECK(trace_same_op(&to.op, &op, group_of(rank, to.op.comm).size));
            }
        }
        wf_source_free(source);
    }
}

/* ---- generators ---- */

static struct wf_source *generate(const struct wf_source_ops *ops, uint32_t n_ranks)
{
    void *params = wf_xcalloc(1, ops->params_size > 0 ? ops->params_size : 1);
    struct wf_source *source = NULL;
    struct wf_err err;

    if (wf_param_defaults(ops->params, params, &err) != WF_OK ||
        ops->create(params, n_ranks, &source, &err) != WF_OK) {
        source = NULL;
    }
    wf_param_release(ops->params, params);
    free(params);
    return source;
}

/* Requests that a rank made, as simply as it can be. */
enum { REQUESTS_MAX = 1 << 16 };
static bool made[REQUESTS_MAX];
static uint32_t left[REQUESTS_MAX];

/* Leaves out of a set what was never created; false if nothing is left. */
static bool leave_out(struct wf_op *op)
{
    const struct wf_op_info *info = wf_op_info(op->kind);
    uint32_t n = 0;

    if (info->returns_request && op->kind != WF_OP_IPROBE) {
        made[op->request] = true;
    }
    if (info->family != WF_FAMILY_WAIT || info->detail == WF_WAIT_ONE) {
        return true;
    }
    for (uint32_t i = 0; i < op->count; i++) {
        uint32_t request = op->requests != NULL ? op->requests[i] : op->request + i;
        if (made[request]) {
            left[n++] = request;
        }
    }
    if (n == op->count) {
        return true; /* even of none */
    }
    op->requests = left;
    op->count = n;
    op->request = 0;
    return n > 0;
}

static void compare(const struct wf_source *a, const struct wf_source *b)
{
    CHECK_U64(a->n_ranks, b->n_ranks);
    for (uint32_t rank = 0; rank < a->n_ranks; rank++) {
        struct wf_cursor at, bt;
        struct wf_op x, y;
        struct wf_group group, other;

        memset(&at, 0, sizeof(at));
        memset(&bt, 0, sizeof(bt));
        memset(made, 0, sizeof(made));
        while (wf_source_next(a, rank, &at, &x)) {
            if (!leave_out(&x)) {
                continue;
            }
            CHECK(wf_source_next(b, rank, &bt, &y));
            bool known = wf_source_group(a, rank, x.comm, &group);
            CHECK(trace_same_op(&x, &y, known ? group.size : 0));
            if (known && x.comm != 0 && wf_source_group(b, rank, x.comm, &other)) {
                CHECK_U64(group.rank, other.rank);
                CHECK_U64(group.size, other.size);
            }
        }
        CHECK(!wf_source_next(b, rank, &bt, &y));
    }
}

static void every_generator_comes_back(void)
{
    static const uint32_t sizes[] = {1, 2, 8, 27, 64};
    uint32_t n_compared = 0;

    for (const struct wf_source_ops *const *ops = wf_gen_table(); *ops != NULL; ops++) {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            struct wf_source *source = generate(*ops, sizes[i]);
            struct wf_err err;

            /* Not every program takes every number of ranks, and some need to be run. */
            if (source == NULL || source->depends_on_time) {
                wf_source_free(source);
                continue;
            }
            struct wf_copy copy = {.source = source,
                                   .tidy = true,
                                   .writer = create(path_of("gen.weft"), sizes[i], 0)};
            enum wf_status status = wf_trace_copy(&copy, &err);
            if (status != WF_OK) {
                printf("# %s, %u ranks: %s\n", (*ops)->name, sizes[i], err.text);
            }
            CHECK(status == WF_OK);
            CHECK(copy.writer->ops->finish(copy.writer, &err) == WF_OK);
            struct wf_source *again = reopen(path_of("gen.weft"));
            compare(source, again);
            CHECK(wf_test_failed == 0);
            CHECK(!again->depends_on_time);
            n_compared++;
            wf_source_free(again);
            wf_source_free(source);
        }
    }
    CHECK(n_compared >= 10);
}

/* ---- what is refused ---- */

static void requests_that_were_never_made_are_refused(void)
{
    static const enum wf_op_kind kinds[] = {
        WF_OP_WAIT,  WF_OP_WAITALL,  WF_OP_WAITANY,      WF_OP_WAITSOME,
        WF_OP_TEST,  WF_OP_TESTALL,  WF_OP_TESTANY,      WF_OP_TESTSOME,
        WF_OP_START, WF_OP_STARTALL, WF_OP_REQUEST_FREE,
    };
    static const uint32_t some[] = {3, 5, 4};

    for (size_t i = 0; i < 2 * sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct wf_trace_writer *writer = create(path_of("bad.weft"), 2, 0);
        struct wf_op make = {.kind = WF_OP_RECV_INIT, .request = 3, .peer = 1};
        struct wf_op op = {.kind = kinds[i / 2], .request = 3, .count = 3};
        struct wf_err err = {.status = WF_OK};

        op.requests = i % 2 == 0 ? some : NULL;
        op.request = op.requests != NULL ? 0 : 3;
        for (; make.request < 6; make.request++) {
            bool single = wf_op_info(op.kind)->family == WF_FAMILY_FREE ||
                          wf_op_info(op.kind)->detail == WF_WAIT_ONE;
            op.request = single ? make.request : op.request;
            CHECK(writer->ops->add(writer, 0, &op, &err) == WF_EINVAL);
            CHECK(strstr(err.text, "never created") != NULL &&
                  strstr(err.text, "rank 0") != NULL);
            CHECK(writer->ops->add(writer, 0, &make, &err) == WF_OK);
        }
        CHECK(writer->ops->add(writer, 0, &op, &err) == WF_OK);
        CHECK(writer->ops->add(writer, 1, &op, &err) == WF_EINVAL);
        writer->ops->discard(writer);
    }
}

static void negative_sizes_are_refused(void)
{
    static const uint64_t counts[] = {1, (uint64_t)-5};
    static const struct wf_op ops[] = {
        {.kind = WF_OP_SEND, .bytes = (uint64_t)-1},
        {.kind = WF_OP_IRECV, .bytes = (uint64_t)1 << 63},
        {.kind = WF_OP_SENDRECV, .recv_bytes = (uint64_t)-1},
        {.kind = WF_OP_ALLREDUCE, .bytes = (uint64_t)-1},
        {.kind = WF_OP_ALLGATHERV, .counts = counts},
        {.kind = WF_OP_PUT, .bytes = (uint64_t)-1},
        {.kind = WF_OP_SEND_INIT, .bytes = (uint64_t)-1},
        {.kind = WF_OP_COMPUTE, .duration = -1},
    };
    struct wf_trace_writer *writer = create(path_of("bad.weft"), 2, 0);

    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
        struct wf_err err = {.status = WF_OK};
        CHECK(writer->ops->add(writer, 0, &ops[i], &err) == WF_EINVAL);
        CHECK(strstr(err.text, "negative") != NULL);
    }
    writer->ops->discard(writer);
}

/* ---- loops ---- */

static uint64_t size_of_loop(uint64_t iterations)
{
    struct wf_trace_writer *writer = create(path_of("loop.weft"), 8, 0);
    struct stat st;
    struct wf_err err;

    for (uint32_t rank = 0; rank < 8; rank++) {
        for (uint64_t i = 0; i < iterations * 14; i++) {
            uint32_t step = (uint32_t)(i % 14);
            struct wf_op op = {.kind = step < 6    ? WF_OP_IRECV
                                       : step < 12 ? WF_OP_ISEND
                                       : step < 13 ? WF_OP_WAITALL
                                                   : WF_OP_COMPUTE};
            op.peer = (rank + step) % 8;
            op.request = step < 12 ? step : 0;
            op.count = 12;
            op.bytes = 4096;
            op.duration = 1000;
            if (writer->ops->add(writer, rank, &op, &err) != WF_OK) {
                return 0;
            }
        }
    }
    if (writer->ops->finish(writer, &err) != WF_OK || stat(path_of("loop.weft"), &st) != 0) {
        return 0;
    }
    return (uint64_t)st.st_size;
}

static void a_thousand_iterations_take_little_more_than_one(void)
{
    uint64_t one = size_of_loop(1), many = size_of_loop(1000);

    printf("# 1 iteration: %llu bytes, 1000: %llu\n", (unsigned long long)one,
           (unsigned long long)many);
    CHECK(one > 0 && many > 0);
    CHECK(many < one + 200);
}

/* ---- memory ---- */

static void memory_is_bounded(void)
{
    enum { N = 60000, LIMIT = 1 << 20, RANKS = 200 };
    struct wf_trace_writer *writer = create(path_of("big.weft"), RANKS, 0);
    struct wf_err err;

    /* Nothing repeats itself: sizes grow in no simple way. */
    for (uint32_t i = 0; i < N; i++) {
        for (uint32_t rank = i % 20; rank < RANKS; rank += 20) {
            struct wf_op op = {.kind = WF_OP_COMPUTE,
                               .duration = (int64_t)(wf_test_rand(1, rank, i) >> 30)};
            CHECK(writer->ops->add(writer, rank, &op, &err) == WF_OK);
        }
    }
    CHECK(writer->ops->finish(writer, &err) == WF_OK);

    struct wf_source *source = reopen(path_of("big.weft"));
    struct wf_cursor cursors[RANKS];
    uint64_t n_read = 0, largest = 0;
    memset(cursors, 0, sizeof(cursors));
    wf_native_limit(source, LIMIT);
    for (uint32_t round = 0; round < N / 20; round += 50) {
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            for (uint32_t k = 0; k < 50; k++) {
                struct wf_op op;
                uint64_t i = cursors[rank].word[0] * 20 + rank % 20;
                CHECK(wf_source_next(source, rank, &cursors[rank], &op));
                CHECK_U64((uint64_t)op.duration, wf_test_rand(1, rank, i) >> 30);
                n_read++;
            }
            uint64_t memory = wf_native_memory(source);
            largest = memory > largest ? memory : largest;
        }
    }
    CHECK_U64(n_read, (uint64_t)N * RANKS / 20);
    printf("# most memory: %llu bytes\n", (unsigned long long)largest);
    CHECK(largest <= LIMIT + (1 << 17));
    wf_source_free(source);
}

/* ---- refusals ---- */

static void ops_that_make_no_sense_are_refused(void)
{
    static const uint64_t none[1];
    static const uint32_t seventeen[] = {17};
    const struct wf_op wrong[] = {
        {.kind = WF_OP_KINDS},
        {.kind = WF_OP_SEND, .peer = 4},
        {.kind = WF_OP_SEND, .peer = WF_ANY_SOURCE},
        {.kind = WF_OP_SEND, .tag = -1},
        {.kind = WF_OP_RECV, .tag = -2},
        {.kind = WF_OP_RECV, .comm = 3},
        {.kind = WF_OP_RECV, .recorded = true, .matched_peer = 4},
        {.kind = WF_OP_COMPUTE, .duration = -1},
        {.kind = WF_OP_COMPUTE, .n_counters = 5},
        {.kind = WF_OP_ISEND, .request = WF_REQUEST_MAX},
        {.kind = WF_OP_WAITALL, .request = 1, .count = WF_REQUEST_MAX},
        {.kind = WF_OP_WAITANY, .count = 2, .recorded = true, .outcome = 3},
        {.kind = WF_OP_WAITSOME, .count = 2, .recorded = true, .outcome = 1},
        {.kind = WF_OP_WAITSOME,
         .count = 2,
         .recorded = true,
         .outcome = 1,
         .outcomes = seventeen},
        {.kind = WF_OP_BCAST, .root = 4},
        {.kind = WF_OP_ALLGATHERV},
        {.kind = WF_OP_ALLTOALLV, .counts = none},
        {.kind = WF_OP_GATHERV},
        {.kind = WF_OP_NEIGHBOR_ALLTOALL, .n_sources = 1, .sources = seventeen},
        {.kind = WF_OP_SENDRECV, .recv_peer = 9},
        {.kind = WF_OP_REGION_BEGIN, .tag = -5},
    };
    struct wf_trace_writer *writer = create(path_of("wrong.weft"), 4, 0);

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct wf_err err = {.status = WF_OK};
        enum wf_status status = writer->ops->add(writer, 0, &wrong[i], &err);
        if (status != WF_EINVAL) {
            printf("# op %zu is accepted\n", i);
        }
        CHECK(status == WF_EINVAL && err.text[0] != '\0');
    }
    writer->ops->discard(writer);
    CHECK(access(path_of("wrong.weft"), F_OK) != 0);
}

/* An op of a kind with all its members 0 and, where it has no members, these bytes. */
static struct wf_op bare_op(enum wf_op_kind kind, int others)
{
    static const size_t sizes[] = {[WF_FIELD_32] = 4, [WF_FIELD_64] = 8, [WF_FIELD_BOOL] = 1};
    const struct wf_op_layout *layout = wf_op_layout_of(kind);
    struct wf_op op;

    memset(&op, others, sizeof(op));
    op.kind = kind;
    for (uint32_t i = 0; i < layout->n_fields; i++) {
        memset((char *)&op + layout->fields[i].offset, 0, sizes[layout->fields[i].width]);
    }
    return op;
}

/* Sources do not set members that ops of the kind do not have. */
static void counts_do_not_depend_on_what_ops_do_not_have(void)
{
    for (uint32_t kind = 0; kind < WF_OP_KINDS; kind++) {
        struct wf_op set = bare_op((enum wf_op_kind)kind, 0);
        struct wf_op unset = bare_op((enum wf_op_kind)kind, 0xff);
        struct wf_native_totals expected = {.n_ops = 0}, found = {.n_ops = 0};

        wf_native_totals_add(&expected, &set);
        wf_native_totals_add(&found, &unset);
        CHECK_U64(found.n_messages, expected.n_messages);
        CHECK(found.acts_in_background == expected.acts_in_background);
        CHECK(found.depends_on_time == expected.depends_on_time);
    }
}

static void clear(const char *path)
{
    DIR *dir = opendir(path);

    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        char inner[512];
        int n = snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name);
        if (n > 0 && (size_t)n < sizeof(inner) && entry->d_name[0] != '.' &&
            unlink(inner) != 0) {
            clear(inner);
        }
    }
    (void)closedir(dir);
    (void)rmdir(path);
}

int main(void)
{
    if (mkdtemp(directory) == NULL) {
        return EXIT_FAILURE;
    }
    RUN(all_kinds_come_back);
    RUN(tables_come_back);
    RUN(cursors_can_be_restored_in_any_order);
    RUN(every_generator_comes_back);
    RUN(requests_that_were_never_made_are_refused);
    RUN(negative_sizes_are_refused);
    RUN(a_thousand_iterations_take_little_more_than_one);
    RUN(memory_is_bounded);
    RUN(ops_that_make_no_sense_are_refused);
    RUN(counts_do_not_depend_on_what_ops_do_not_have);
    clear(directory);
    return wf_test_done();
}
