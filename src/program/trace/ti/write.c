/* SPDX-License-Identifier: Apache-2.0 */
/* Writes time-independent traces: one file, or a directory with a file for each rank and a list
 * of them, as SimGrid's replay wants it; sizes in bytes, computing in nanoseconds, which
 * equal flops at the reader's default rate. */
#include "base/guard.h"
#include "program/ops/fields.h"
#include "program/trace/kit/basic.h"
#include "program/trace/spool/writer.h"
#include "program/trace/ti/actions.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct request {
    struct wf_basic_message message;
    bool active;
};

/* The state of writing a rank. */
struct writing {
    FILE *out;
    const struct wf_source *source;
    struct wf_losses *losses;
    uint32_t rank;
    struct wf_basic_requests requests;
    uint32_t n_active;
    bool ended;
};

static void lose(const struct writing *w, const char *what)
{
    wf_losses_add(w->losses, what);
}

/* ---- messages ---- */

/* Wildcards as SimGrid's replay takes them: MPI_ANY_SOURCE and MPI_ANY_TAG of its mpi.h. */
enum { ANY_SOURCE = -555, ANY_TAG = -444 };

static int64_t peer_of(const struct wf_basic_message *message)
{
    return message->peer == WF_ANY_SOURCE ? ANY_SOURCE : (int64_t)message->peer;
}

static int32_t tag_of(const struct wf_basic_message *message)
{
    return message->tag == WF_ANY_TAG ? ANY_TAG : message->tag;
}

static void put_message(struct writing *w, const char *prefix,
                        const struct wf_basic_message *message)
{
    (void)fprintf(w->out, "%" PRIu32 " %s%s %" PRId64 " %" PRId32 " %" PRIu64 "\n", w->rank,
                  prefix, message->receives ? "recv" : "send", peer_of(message),
                  tag_of(message), message->bytes);
}

static void put_start(struct writing *w, struct request *request)
{
    if (request->message.peer != WF_PROC_NULL && !request->active) {
        put_message(w, "i", &request->message);
        request->active = true;
        w->n_active++;
    }
}

/* The format names a request by its sender, receiver and tag. */
static void put_wait(struct writing *w, struct request *request)
{
    if (request != NULL && request->active) {
        int64_t peer = peer_of(&request->message);
        bool receives = request->message.receives;
        (void)fprintf(w->out, "%" PRIu32 " wait %" PRId64 " %" PRId64 " %" PRId32 "\n", w->rank,
                      receives ? peer : (int64_t)w->rank, receives ? (int64_t)w->rank : peer,
                      tag_of(&request->message));
        request->active = false;
        w->n_active--;
    }
}

static struct request *find_request(struct writing *w, uint32_t number)
{
    return wf_basic_requests_find(&w->requests, number);
}

static struct request *make_request(struct writing *w, uint32_t number)
{
    const struct request *before = find_request(w, number);

    w->n_active -= before != NULL && before->active ? 1 : 0;
    return wf_basic_requests_make(&w->requests, number);
}

static void on_message(struct writing *w, const struct wf_op *op, const struct wf_group *group)
{
    const struct wf_op_info *info = wf_op_info(op->kind);
    bool persistent = info->family == WF_FAMILY_PERSISTENT;
    struct wf_basic_message message =
        wf_basic_message(op, wf_basic_receives(op->kind), group, w->losses);

    if (message.peer == WF_PROC_NULL) {
        return;
    }
    if (info->returns_request || persistent) {
        struct request *request = make_request(w, op->request);
        request->message = message;
        if (!persistent) {
            put_start(w, request);
        }
    } else {
        put_message(w, "", &message);
    }
}

/* The format's own sendRecv has no tags. */
static void put_sendrecv(struct writing *w, const struct wf_op *op,
                         const struct wf_group *group)
{
    struct wf_losses *losses = w->losses;
    struct request from = {.message = wf_basic_message(op, true, group, losses)};
    struct request to = {.message = wf_basic_message(op, false, group, losses)};

    put_start(w, &from);
    put_start(w, &to);
    put_wait(w, &to);
    put_wait(w, &from);
}

/* ---- waits ---- */

static void put_waitall(struct writing *w, const struct wf_op *op)
{
    struct request *all = (struct request *)(void *)w->requests.items;
    uint32_t n = 0;

    for (uint32_t i = 0; i < op->count; i++) {
        const struct request *request = find_request(w, wf_op_request_at(op, i));
        n += request != NULL && request->active ? 1 : 0;
    }
    if (w->n_active == 0 || n < w->n_active) {
        for (uint32_t i = 0; i < op->count; i++) {
            put_wait(w, find_request(w, wf_op_request_at(op, i)));
        }
        return;
    }
    (void)fprintf(w->out, "%" PRIu32 " waitall\n", w->rank);
    for (size_t i = 0; i < w->requests.n; i++) {
        all[i].active = false;
    }
    w->n_active = 0;
}

static void complete(void *arg, uint32_t number)
{
    struct writing *w = arg;

    put_wait(w, find_request(w, number));
}

static void put_completion(struct writing *w, const struct wf_op *op)
{
    if (op->kind == WF_OP_WAITALL ||
        (op->kind == WF_OP_TESTALL && op->recorded && op->outcome == 1)) {
        put_waitall(w, op);
    } else {
        (void)wf_completion_visit(op, complete, w, w->losses);
    }
}

static void put_starts(struct writing *w, const struct wf_op *op)
{
    uint32_t n = op->kind == WF_OP_STARTALL ? op->count : 1;

    for (uint32_t i = 0; i < n; i++) {
        struct request *request = find_request(w, wf_op_request_at(op, i));
        if (request != NULL) {
            put_start(w, request);
        }
    }
}

/* ---- collectives ---- */

static void put_counts(FILE *out, const uint64_t *counts, uint32_t n, uint64_t same)
{
    for (uint32_t i = 0; i < n; i++) {
        (void)fprintf(out, " %" PRIu64, counts != NULL ? counts[i] : same);
    }
}

static uint64_t sum_of(const uint64_t *counts, uint32_t n)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < n; i++) {
        sum += counts[i];
    }
    return sum;
}

/* Returns the action for this kind of op, or null. */
static const struct wf_ti_action *action_of(enum wf_op_kind kind)
{
    for (const struct wf_ti_action *action = wf_ti_actions; action->name != NULL; action++) {
        const struct wf_op_info *info = wf_op_info(action->kind);
        if (action->shape == WF_TI_COLLECTIVE && info->detail == wf_op_info(kind)->detail) {
            return action;
        }
    }
    return NULL;
}

static void put_args(struct writing *w, const struct wf_op *op, const char *args)
{
    bool has_counts = wf_op_layout_of(op->kind)->n_arrays > 0;
    const uint64_t *counts = has_counts ? op->counts : NULL;
    const uint64_t *vectors[] = {counts, has_counts ? op->recv_counts : NULL};
    uint32_t n_vectors = 0; /* at most two vectors, each after its sum */

    for (const char *letter = args; *letter != '\0' && *letter != 't'; letter++) {
        switch (*letter) {
        case 'n':
            (void)fprintf(w->out, " %" PRIu64, op->bytes);
            break;
        case 'N':
            /* Other ranks do not know the lengths of the root, which do not matter there. */
            put_counts(w->out, vectors[n_vectors], w->source->n_ranks, op->bytes);
            n_vectors = 1;
            break;
        case 'x':
            (void)fprintf(w->out, " %" PRIu64,
                          vectors[n_vectors] != NULL
                              ? sum_of(vectors[n_vectors], w->source->n_ranks)
                              : 0);
            break;
        case 'f':
            (void)fputs(" 0", w->out);
            break;
        case 'r':
            (void)fprintf(w->out, " %" PRIu32, op->root);
            break;
        default:
            break;
        }
    }
}

/* Returns whether a communicator has all ranks in the order of the world. */
static bool is_world(const struct writing *w, const struct wf_group *group)
{
    bool same = group->size == w->source->n_ranks;

    for (uint32_t i = 0; i < group->size && same; i++) {
        same = wf_group_rank(group, i) == i;
    }
    return same;
}

static void put_collective(struct writing *w, const struct wf_op *op,
                           const struct wf_group *group)
{
    const struct wf_op_info *info = wf_op_info(op->kind);
    const struct wf_ti_action *action = action_of(op->kind);
    bool is_block = action == NULL && strstr(info->name, "reduce_scatter_block") != NULL;

    if (op->comm != WF_COMM_WORLD && !is_world(w, group)) {
        lose(w, "collectives of other communicators, left out");
        return;
    }
    if (action == NULL && !is_block) {
        lose(w, "collectives of neighbours, left out");
        return;
    }
    if (info->returns_request) {
        lose(w, "nonblocking collectives, written as blocking ones");
    }
    (void)fprintf(w->out, "%" PRIu32 " %s", w->rank, is_block ? "reducescatter" : action->name);
    put_args(w, op, is_block ? "Nf" : action->args);
    (void)fputc('\n', w->out);
}

/* ---- ranks ---- */

static void end(struct writing *w)
{
    if (!w->ended) {
        w->ended = true;
        (void)fprintf(w->out, "%" PRIu32 " finalize\n", w->rank);
    }
}

static void put_op(struct writing *w, const struct wf_op *op, const struct wf_group *group)
{
    switch (wf_op_info(op->kind)->family) {
    case WF_FAMILY_COMPUTE:
        (void)fprintf(w->out, "%" PRIu32 " compute %" PRId64 ".%03d\n", w->rank,
                      op->duration / 1000, (int)(op->duration % 1000));
        break;
    case WF_FAMILY_SEND:
    case WF_FAMILY_RECV:
    case WF_FAMILY_PERSISTENT:
        on_message(w, op, group);
        break;
    case WF_FAMILY_SENDRECV:
        put_sendrecv(w, op, group);
        break;
    case WF_FAMILY_START:
        put_starts(w, op);
        break;
    case WF_FAMILY_WAIT:
    case WF_FAMILY_TEST:
        put_completion(w, op);
        break;
    case WF_FAMILY_COLLECTIVE:
        put_collective(w, op, group);
        break;
    case WF_FAMILY_PROBE:
    case WF_FAMILY_FREE:
    case WF_FAMILY_COMM:
    case WF_FAMILY_ONESIDED:
    case WF_FAMILY_EPOCH:
    case WF_FAMILY_MARKER:
    case WF_FAMILY_FILE:
        wf_basic_left_out(op->kind, w->losses);
        break;
    case WF_FAMILY_CALL:
        if (op->kind == WF_OP_FINALIZE) {
            end(w);
        } else if (op->kind != WF_OP_INIT) {
            wf_basic_left_out(op->kind, w->losses);
        }
        break;
    }
}

static void put_rank(struct writing *w)
{
    struct wf_cursor cursor = {.word = {0}};
    struct wf_op op;

    w->n_active = 0;
    w->ended = false;
    (void)fprintf(w->out, "%" PRIu32 " init\n", w->rank);
    while (ferror(w->out) == 0 && wf_source_next(w->source, w->rank, &cursor, &op)) {
        struct wf_group group = {.size = 0};
        if (!wf_op_has_comm(op.kind) || wf_source_group(w->source, w->rank, op.comm, &group)) {
            put_op(w, &op, &group);
        }
    }
    end(w);
    wf_basic_requests_fini(&w->requests);
}

/* ---- files ---- */

#define RANK_FILE "rank-%" PRIu32 ".ti"

static bool close_file(FILE *file)
{
    bool failed = file == NULL || ferror(file) != 0;

    return (file == NULL || wf_fclose(file) == 0) && !failed;
}

/* Writes the rank to a file of its own. */
static bool put_rank_file(struct writing *w, const struct wf_sheet *sheet)
{
    char name[32];

    (void)snprintf(name, sizeof(name), RANK_FILE, w->rank);
    w->out = wf_target_create(sheet->target, name);
    if (w->out != NULL) {
        put_rank(w);
    }
    return close_file(w->out);
}

/* Writes the list of files. */
static bool put_list(const struct wf_sheet *sheet)
{
    FILE *out = wf_target_create(sheet->target, "index.ti");

    for (uint32_t rank = 0; out != NULL && rank < sheet->n_ranks; rank++) {
        (void)fprintf(out, RANK_FILE "\n", rank);
    }
    return close_file(out);
}

static enum wf_status write_ops(const struct wf_sheet *sheet, const struct wf_source *source,
                                struct wf_err *err)
{
    struct writing w = {.out = sheet->file,
                        .source = source,
                        .losses = sheet->losses,
                        .requests = {.size = sizeof(struct request)}};
    bool fits = sheet->file != NULL || put_list(sheet);

    for (; w.rank < source->n_ranks && fits; w.rank++) {
        if (sheet->file != NULL) {
            put_rank(&w);
        } else {
            fits = put_rank_file(&w, sheet);
        }
    }
    return fits ? wf_source_check(source, err) : wf_target_cannot_write(sheet->target, err);
}

static const struct wf_spooled_format format = {
    .ops = &wf_ti_writer_ops, .sheet = WF_SHEET_EITHER, .write = write_ops};

static enum wf_status create(const char *path, const struct wf_trace_writer_options *options,
                             struct wf_trace_writer **out, struct wf_err *err)
{
    return wf_spooled_create(&format, path, options, out, err);
}

const struct wf_trace_writer_ops wf_ti_writer_ops = {
    .name = "ti",
    .extension = ".ti",
    .summary = "SimGrid's time-independent actions: bytes, and nanoseconds as flops",
    .lacks = "names, communicators other than the world, recorded times, what reductions "
             "reduce with",
    .create = create,
    WF_SPOOLED_MEMBERS,
};
