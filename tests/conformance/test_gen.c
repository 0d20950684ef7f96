/* SPDX-License-Identifier: Apache-2.0 */
/* What every registered generator promises, whoever wrote it: a program that ends, with a
 * receive for every message, a wait for every request and the same collectives on all ranks. */
#include "gen/gen.h"

#include "base/mem.h"
#include "wf_test.h"

enum { N_RANKS = 40, N_TAGS = 64, N_REQUESTS = 256, N_COLLECTIVES = 4096 };

struct books {
    /* Sends minus receives for each (source, destination, tag). */
    int64_t open[N_RANKS][N_RANKS][N_TAGS];
    uint64_t sent_bytes, received_bytes;
    bool in_use[N_REQUESTS];
    struct wf_op collectives[N_COLLECTIVES]; /* of rank 0 */
};

static struct wf_source *make(const struct wf_source_ops *ops, uint32_t n_ranks)
{
    void *params = wf_xcalloc(1, ops->params_size);
    struct wf_source *source = NULL;

    if (wf_param_defaults(ops->params, params, NULL) != WF_OK ||
        (wf_param_find(ops->params, "allreduce") != NULL &&
         wf_param_set(ops->params, params, "", "allreduce", "true", NULL) != WF_OK) ||
        ops->create(params, n_ranks, &source, NULL) != WF_OK) {
        abort();
    }
    wf_param_release(ops->params, params);
    free(params);
    return source;
}

static void enter_message(struct books *books, uint32_t rank, const struct wf_op *op)
{
    CHECK(op->peer < N_RANKS && op->tag >= 0 && op->tag < N_TAGS);
    if (op->kind == WF_OP_SEND || op->kind == WF_OP_ISEND) {
        books->open[rank][op->peer][op->tag]++;
        books->sent_bytes += op->bytes;
    } else {
        books->open[op->peer][rank][op->tag]--;
        books->received_bytes += op->bytes;
    }
    if (op->kind == WF_OP_ISEND || op->kind == WF_OP_IRECV) {
        CHECK(op->request < N_REQUESTS && !books->in_use[op->request]);
        books->in_use[op->request] = true;
    }
}

static void enter_wait(struct books *books, const struct wf_op *op)
{
    uint32_t count = op->kind == WF_OP_WAIT ? 1 : op->count;

    for (uint32_t i = 0; i < count; i++) {
        CHECK(op->request + i < N_REQUESTS);
        books->in_use[op->request + i] = false;
    }
}

/* Every rank must call the collectives that rank 0 called. */
static void enter_collective(struct books *books, uint32_t rank, uint32_t n,
                             const struct wf_op *op)
{
    CHECK(n + 1 < N_COLLECTIVES);
    if (rank == 0) {
        books->collectives[n] = *op;
    }
    CHECK(books->collectives[n].kind == op->kind);
    CHECK_U64(books->collectives[n].bytes, op->bytes);
}

static void enter_rank(struct books *books, const struct wf_source *source, uint32_t rank)
{
    struct wf_cursor cursor = {{0}};
    struct wf_op op;
    uint32_t n_collectives = 0;

    while (wf_test_failed == 0 && wf_source_next(source, rank, &cursor, &op)) {
        switch (op.kind) {
        case WF_OP_SEND:
        case WF_OP_RECV:
        case WF_OP_ISEND:
        case WF_OP_IRECV:
            CHECK(op.peer < source->n_ranks);
            enter_message(books, rank, &op);
            break;
        case WF_OP_WAIT:
        case WF_OP_WAITALL:
            enter_wait(books, &op);
            break;
        case WF_OP_BARRIER:
        case WF_OP_ALLREDUCE:
            enter_collective(books, rank, n_collectives++, &op);
            break;
        case WF_OP_COMPUTE:
            CHECK(op.duration >= 0);
            break;
        case WF_OP_MARKER:
        case WF_OP_FINALIZE:
            break;
        case WF_OP_KINDS:
            CHECK(op.kind != WF_OP_KINDS);
        }
    }
    for (uint32_t i = 0; i < N_REQUESTS; i++) {
        CHECK(!books->in_use[i]);
    }
    CHECK(books->collectives[n_collectives].kind == WF_OP_KINDS);
}

static void sends_and_receives_match_up(void)
{
    struct books *books = wf_xmalloc(sizeof(*books));

    for (const struct wf_source_ops *const *ops = wf_gen_table(); *ops != NULL; ops++) {
        for (uint32_t n = 1; n <= N_RANKS; n++) {
            struct wf_source *source = make(*ops, n);
            memset(books, 0, sizeof(*books));
            for (uint32_t i = 0; i < N_COLLECTIVES; i++) {
                books->collectives[i].kind = WF_OP_KINDS;
            }
            CHECK_U64(source->n_ranks, n);
            for (uint32_t rank = 0; rank < n; rank++) {
                enter_rank(books, source, rank);
                CHECK(wf_test_failed == 0);
            }
            for (uint32_t i = 0; i < N_RANKS * N_RANKS * N_TAGS; i++) {
                CHECK((&books->open[0][0][0])[i] == 0);
            }
            CHECK_U64(books->sent_bytes, books->received_bytes);
            wf_source_free(source);
        }
    }
    free(books);
}

static void every_generator_is_described(void)
{
    for (const struct wf_source_ops *const *ops = wf_gen_table(); *ops != NULL; ops++) {
        const struct wf_source_ops *found = NULL;
        CHECK(wf_gen_find((*ops)->name, &found, NULL) == WF_OK && found == *ops);
        CHECK((*ops)->summary != NULL);
        for (const struct wf_param *row = (*ops)->params; row->name != NULL; row++) {
            CHECK(row->doc != NULL && row->offset < (*ops)->params_size);
        }
    }
}

int main(void)
{
    RUN(every_generator_is_described);
    RUN(sends_and_receives_match_up);
    return wf_test_done();
}
