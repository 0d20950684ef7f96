/* SPDX-License-Identifier: Apache-2.0 */
/* Writes time-independent traces: one file, or a directory with a file for each rank and a list
 * of them, as SimGrid's replay wants it; sizes in bytes, computing in nanoseconds, which
 * equal flops at the reader's default rate. */
#include "base/guard.h"
#include "base/mem.h"
#include "program/ops/fields.h"
#include "program/ops/groups.h"
#include "program/trace/kit/basic.h"
#include "program/trace/kit/target.h"
#include "program/trace/ti/actions.h"
#include "program/trace/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct request {
    struct wf_basic_message message;
    bool active;
};

struct rank_out {
    struct wf_basic_requests requests;
    uint32_t n_active;
    bool begun, ended;
};

struct ti {
    struct wf_trace_writer writer;
    struct wf_target *target;
    FILE *out;
    struct wf_groups *groups;
    uint32_t n_ranks;
    bool by_rank;     /* each rank has a file of its own... */
    uint32_t current; /* ...and `out` is that of this one */
    struct rank_out *ranks;
};

static void lose(struct ti *ti, const char *what)
{
    wf_losses_add(ti->writer.losses, what);
}

#define RANK_FILE "rank-%" PRIu32 ".ti"

/* Writes and closes the list of files. */
static bool put_list(FILE *out, uint32_t n_ranks)
{
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        (void)fprintf(out, RANK_FILE "\n", rank);
    }
    bool failed = ferror(out) != 0;
    return wf_fclose(out) == 0 && !failed;
}

static bool close_out(struct ti *ti)
{
    bool failed = ti->out != NULL && ferror(ti->out) != 0;

    failed |= ti->out != NULL && wf_fclose(ti->out) != 0;
    ti->out = NULL;
    return !failed;
}

/* Makes `out` the file of this rank. One file is open at a time, since there may be more ranks
 * than a process may have open files. */
static bool select_rank(struct ti *ti, uint32_t rank)
{
    char path[4096];

    if (!ti->by_rank || ti->current == rank) {
        return ti->out != NULL;
    }
    ti->current = UINT32_MAX;
    if (!close_out(ti)) {
        return false;
    }
    int n = snprintf(path, sizeof(path), "%s/" RANK_FILE, wf_target_place(ti->target), rank);
    ti->out = n > 0 && (size_t)n < sizeof(path) ? wf_guard_file(fopen(path, "a")) : NULL;
    ti->current = rank;
    return ti->out != NULL;
}

static enum wf_status ti_create(const char *path, const struct wf_trace_writer_options *options,
                                struct wf_trace_writer **result, struct wf_err *err)
{
    struct wf_target *target = NULL;
    FILE *out = NULL;

    if (options->n_parts > 0) {
        WF_TRY(wf_target_open(path, true, options->force, &target, err));
        out = wf_target_create(target, "index.ti");
        if (out == NULL || !put_list(out, options->n_ranks)) {
            enum wf_status status = wf_target_cannot_write(target, err);
            wf_target_discard(target);
            return status;
        }
    } else {
        WF_TRY(wf_target_open_file(path, options->force, &target, &out, err));
    }
    struct ti *ti = wf_xcalloc(1, sizeof(*ti));
    ti->writer.ops = &wf_ti_writer_ops;
    ti->target = target;
    ti->out = options->n_parts > 0 ? NULL : out;
    ti->by_rank = options->n_parts > 0;
    ti->current = UINT32_MAX;
    ti->n_ranks = options->n_ranks;
    ti->groups = wf_groups_new(options->n_ranks);
    ti->ranks = wf_xcalloc(options->n_ranks, sizeof(*ti->ranks));
    for (uint32_t rank = 0; rank < options->n_ranks; rank++) {
        ti->ranks[rank].requests.size = sizeof(struct request);
    }
    *result = &ti->writer;
    return WF_OK;
}

static enum wf_status ti_group(struct wf_trace_writer *writer, uint32_t rank, uint32_t comm,
                               const struct wf_group *group, struct wf_err *err)
{
    return wf_groups_tell(((struct ti *)writer)->groups, rank, comm, group, err);
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

static void put_message(struct ti *ti, uint32_t rank, const char *prefix,
                        const struct wf_basic_message *message)
{
    (void)fprintf(ti->out, "%" PRIu32 " %s%s %" PRId64 " %" PRId32 " %" PRIu64 "\n", rank,
                  prefix, message->receives ? "recv" : "send", peer_of(message),
                  tag_of(message), message->bytes);
}

static void put_start(struct ti *ti, uint32_t rank, struct request *request)
{
    if (request->message.peer != WF_PROC_NULL && !request->active) {
        put_message(ti, rank, "i", &request->message);
        request->active = true;
        ti->ranks[rank].n_active++;
    }
}

/* The format names a request by its sender, receiver and tag. */
static void put_wait(struct ti *ti, uint32_t rank, struct request *request)
{
    if (request != NULL && request->active) {
        int64_t peer = peer_of(&request->message);
        bool receives = request->message.receives;
        (void)fprintf(ti->out, "%" PRIu32 " wait %" PRId64 " %" PRId64 " %" PRId32 "\n", rank,
                      receives ? peer : (int64_t)rank, receives ? (int64_t)rank : peer,
                      tag_of(&request->message));
        request->active = false;
        ti->ranks[rank].n_active--;
    }
}

static struct request *find_request(struct ti *ti, uint32_t rank, uint32_t number)
{
    return wf_basic_requests_find(&ti->ranks[rank].requests, number);
}

static struct request *make_request(struct ti *ti, uint32_t rank, uint32_t number)
{
    const struct request *before = find_request(ti, rank, number);

    ti->ranks[rank].n_active -= before != NULL && before->active ? 1 : 0;
    return wf_basic_requests_make(&ti->ranks[rank].requests, number);
}

static void on_message(struct ti *ti, uint32_t rank, const struct wf_op *op,
                       const struct wf_group *group)
{
    const struct wf_op_info *info = wf_op_info(op->kind);
    bool persistent = info->family == WF_FAMILY_PERSISTENT;
    struct wf_basic_message message =
        wf_basic_message(op, wf_basic_receives(op->kind), group, ti->writer.losses);

    if (message.peer == WF_PROC_NULL) {
        return;
    }
    if (info->returns_request || persistent) {
        struct request *request = make_request(ti, rank, op->request);
        request->message = message;
        if (!persistent) {
            put_start(ti, rank, request);
        }
    } else {
        put_message(ti, rank, "", &message);
    }
}

/* The format's own sendRecv has no tags. */
static void put_sendrecv(struct ti *ti, uint32_t rank, const struct wf_op *op,
                         const struct wf_group *group)
{
    struct wf_losses *losses = ti->writer.losses;
    struct request from = {.message = wf_basic_message(op, true, group, losses)};
    struct request to = {.message = wf_basic_message(op, false, group, losses)};

    put_start(ti, rank, &from);
    put_start(ti, rank, &to);
    put_wait(ti, rank, &to);
    put_wait(ti, rank, &from);
}

/* ---- waits ---- */

static void put_waitall(struct ti *ti, uint32_t rank, const struct wf_op *op)
{
    struct rank_out *of = &ti->ranks[rank];
    struct request *all = (struct request *)(void *)of->requests.items;
    uint32_t n = 0;

    for (uint32_t i = 0; i < op->count; i++) {
        const struct request *request = find_request(ti, rank, wf_op_request_at(op, i));
        n += request != NULL && request->active ? 1 : 0;
    }
    if (of->n_active == 0 || n < of->n_active) {
        for (uint32_t i = 0; i < op->count; i++) {
            put_wait(ti, rank, find_request(ti, rank, wf_op_request_at(op, i)));
        }
        return;
    }
    (void)fprintf(ti->out, "%" PRIu32 " waitall\n", rank);
    for (size_t i = 0; i < of->requests.n; i++) {
        all[i].active = false;
    }
    of->n_active = 0;
}

/* The rank that waits: the argument of complete(). */
struct waiter {
    struct ti *ti;
    uint32_t rank;
};

static void complete(void *arg, uint32_t number)
{
    const struct waiter *waiter = arg;

    put_wait(waiter->ti, waiter->rank, find_request(waiter->ti, waiter->rank, number));
}

static void put_completion(struct ti *ti, uint32_t rank, const struct wf_op *op)
{
    struct waiter waiter = {ti, rank};

    if (op->kind == WF_OP_WAITALL ||
        (op->kind == WF_OP_TESTALL && op->recorded && op->outcome == 1)) {
        put_waitall(ti, rank, op);
    } else {
        (void)wf_completion_visit(op, complete, &waiter, ti->writer.losses);
    }
}

static void put_starts(struct ti *ti, uint32_t rank, const struct wf_op *op)
{
    uint32_t n = op->kind == WF_OP_STARTALL ? op->count : 1;

    for (uint32_t i = 0; i < n; i++) {
        struct request *request = find_request(ti, rank, wf_op_request_at(op, i));
        if (request != NULL) {
            put_start(ti, rank, request);
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

static void put_args(struct ti *ti, const struct wf_op *op, const char *args)
{
    bool has_counts = wf_op_layout_of(op->kind)->n_arrays > 0;
    const uint64_t *counts = has_counts ? op->counts : NULL;
    const uint64_t *vectors[] = {counts, has_counts ? op->recv_counts : NULL};
    uint32_t n_vectors = 0; /* at most two vectors, each after its sum */

    for (const char *letter = args; *letter != '\0' && *letter != 't'; letter++) {
        switch (*letter) {
        case 'n':
            (void)fprintf(ti->out, " %" PRIu64, op->bytes);
            break;
        case 'N':
            /* Other ranks do not know the lengths of the root, which do not matter there. */
            put_counts(ti->out, vectors[n_vectors], ti->n_ranks, op->bytes);
            n_vectors = 1;
            break;
        case 'x':
            (void)fprintf(ti->out, " %" PRIu64,
                          vectors[n_vectors] != NULL ? sum_of(vectors[n_vectors], ti->n_ranks)
                                                     : 0);
            break;
        case 'f':
            (void)fputs(" 0", ti->out);
            break;
        case 'r':
            (void)fprintf(ti->out, " %" PRIu32, op->root);
            break;
        default:
            break;
        }
    }
}

/* Returns whether a communicator has all ranks in the order of the world. */
static bool is_world(const struct ti *ti, const struct wf_group *group)
{
    bool same = group->size == ti->n_ranks;

    for (uint32_t i = 0; i < group->size && same; i++) {
        same = wf_group_rank(group, i) == i;
    }
    return same;
}

static void put_collective(struct ti *ti, uint32_t rank, const struct wf_op *op,
                           const struct wf_group *group)
{
    const struct wf_op_info *info = wf_op_info(op->kind);
    const struct wf_ti_action *action = action_of(op->kind);
    bool is_block = action == NULL && strstr(info->name, "reduce_scatter_block") != NULL;

    if (op->comm != WF_COMM_WORLD && !is_world(ti, group)) {
        lose(ti, "collectives of other communicators, left out");
        return;
    }
    if (action == NULL && !is_block) {
        lose(ti, "collectives of neighbours, left out");
        return;
    }
    if (info->returns_request) {
        lose(ti, "nonblocking collectives, written as blocking ones");
    }
    (void)fprintf(ti->out, "%" PRIu32 " %s", rank, is_block ? "reducescatter" : action->name);
    put_args(ti, op, is_block ? "Nf" : action->args);
    (void)fputc('\n', ti->out);
}

/* ---- the writer ---- */

static void begin(struct ti *ti, uint32_t rank)
{
    if (!ti->ranks[rank].begun) {
        ti->ranks[rank].begun = true;
        (void)fprintf(ti->out, "%" PRIu32 " init\n", rank);
    }
}

static void end(struct ti *ti, uint32_t rank)
{
    begin(ti, rank);
    if (!ti->ranks[rank].ended) {
        ti->ranks[rank].ended = true;
        (void)fprintf(ti->out, "%" PRIu32 " finalize\n", rank);
    }
}

static void put_op(struct ti *ti, uint32_t rank, const struct wf_op *op,
                   const struct wf_group *group)
{
    switch (wf_op_info(op->kind)->family) {
    case WF_FAMILY_COMPUTE:
        (void)fprintf(ti->out, "%" PRIu32 " compute %" PRId64 ".%03d\n", rank,
                      op->duration / 1000, (int)(op->duration % 1000));
        break;
    case WF_FAMILY_SEND:
    case WF_FAMILY_RECV:
    case WF_FAMILY_PERSISTENT:
        on_message(ti, rank, op, group);
        break;
    case WF_FAMILY_SENDRECV:
        put_sendrecv(ti, rank, op, group);
        break;
    case WF_FAMILY_START:
        put_starts(ti, rank, op);
        break;
    case WF_FAMILY_WAIT:
    case WF_FAMILY_TEST:
        put_completion(ti, rank, op);
        break;
    case WF_FAMILY_COLLECTIVE:
        put_collective(ti, rank, op, group);
        break;
    case WF_FAMILY_PROBE:
    case WF_FAMILY_FREE:
    case WF_FAMILY_COMM:
    case WF_FAMILY_ONESIDED:
    case WF_FAMILY_EPOCH:
    case WF_FAMILY_MARKER:
        wf_basic_left_out(op->kind, ti->writer.losses);
        break;
    case WF_FAMILY_CALL:
        if (op->kind == WF_OP_FINALIZE) {
            end(ti, rank);
        } else if (op->kind != WF_OP_INIT) {
            wf_basic_left_out(op->kind, ti->writer.losses);
        }
        break;
    }
}

static enum wf_status ti_add(struct wf_trace_writer *writer, uint32_t rank,
                             const struct wf_op *op, struct wf_err *err)
{
    struct ti *ti = (struct ti *)writer;
    struct wf_group group = {.size = 0};

    if (wf_op_has_comm(op->kind) && !wf_groups_find(ti->groups, rank, op->comm, &group)) {
        return wf_err_set(err, WF_EINVAL, "a %s of rank %" PRIu32 " has no communicator",
                          wf_op_name(op->kind), rank);
    }
    if (!select_rank(ti, rank)) {
        return wf_target_cannot_write(ti->target, err);
    }
    begin(ti, rank);
    put_op(ti, rank, op, &group);
    return ferror(ti->out) != 0 ? wf_target_cannot_write(ti->target, err) : WF_OK;
}

/* The last action of a rank follows the others, so that whoever reads the file can divide it. A
 * rank without a file gets one in ti_finish(). */
static void ti_rank_ends(struct wf_trace_writer *writer, uint32_t rank)
{
    struct ti *ti = (struct ti *)writer;

    if (ti->out != NULL && (!ti->by_rank || ti->current == rank)) {
        end(ti, rank);
    }
}

static void release(struct ti *ti)
{
    for (uint32_t rank = 0; rank < ti->n_ranks; rank++) {
        wf_basic_requests_fini(&ti->ranks[rank].requests);
    }
    free(ti->ranks);
    wf_groups_free(ti->groups);
    free(ti);
}

static enum wf_status ti_finish(struct wf_trace_writer *writer, struct wf_err *err)
{
    struct ti *ti = (struct ti *)writer;
    enum wf_status status = WF_OK;
    bool failed = false;

    for (uint32_t rank = 0; rank < ti->n_ranks && !failed; rank++) {
        failed = !select_rank(ti, rank);
        if (!failed) {
            end(ti, rank);
        }
    }
    if (!close_out(ti) || failed) {
        status = wf_target_cannot_write(ti->target, err);
        wf_target_discard(ti->target);
    } else {
        status = wf_target_commit(ti->target, err);
    }
    release(ti);
    return status;
}

static void ti_discard(struct wf_trace_writer *writer)
{
    struct ti *ti = (struct ti *)writer;

    (void)close_out(ti);
    wf_target_discard(ti->target);
    release(ti);
}

const struct wf_trace_writer_ops wf_ti_writer_ops = {
    .name = "ti",
    .extension = ".ti",
    .summary = "SimGrid's time-independent actions: bytes, and nanoseconds as flops",
    .lacks = "names, communicators other than the world, recorded times, what reductions "
             "reduce with",
    .create = ti_create,
    .group = ti_group,
    .add = ti_add,
    .rank_ends = ti_rank_ends,
    .finish = ti_finish,
    .discard = ti_discard,
};
