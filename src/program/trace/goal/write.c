/* SPDX-License-Identifier: Apache-2.0 */
/* Writes GOAL schedules: one file; a unit of local work is a nanosecond. */
#include "program/trace/goal/write.h"

#include "base/buf.h"
#include "program/ops/fields.h"
#include "program/trace/kit/basic.h"
#include "program/trace/spool/writer.h"

#include <inttypes.h>
#include <string.h>

enum { PS_PER_UNIT = 1000 };

/* A request, found by its number. */
struct request {
    struct wf_basic_message message;
    uint64_t label; /* label of its op; 0: the request is not active */
};

/* The state of writing a rank. */
struct writing {
    FILE *out;
    const struct wf_source *source;
    struct wf_losses *losses;
    uint32_t rank;
    uint64_t n_labels, last; /* last: label that the next op waits for; 0: none */
    int64_t rest;            /* rounding error so far */
    struct wf_basic_requests requests;
    struct wf_buf joined; /* labels of the ops that a wait waits for */
};

int64_t wf_goal_units(int64_t ps, int64_t *rest, struct wf_losses *losses)
{
    if (ps % PS_PER_UNIT != 0) {
        wf_losses_add(losses, "times that are no whole nanoseconds, rounded");
    }
    *rest += ps % PS_PER_UNIT;
    int64_t more = *rest / PS_PER_UNIT;
    *rest %= PS_PER_UNIT;
    return ps / PS_PER_UNIT + more;
}

/* ---- ops ---- */

/* Begins an op that waits for the last one. The caller writes the rest of the line. */
static uint64_t begin_op(struct writing *w)
{
    (void)fprintf(w->out, "l%" PRIu64 ": ", ++w->n_labels);
    return w->n_labels;
}

static void end_op(struct writing *w, uint64_t label, bool blocks)
{
    if (w->last != 0) {
        (void)fprintf(w->out, "l%" PRIu64 " requires l%" PRIu64 "\n", label, w->last);
    }
    w->last = blocks ? label : w->last;
}

static uint64_t put_calc(struct writing *w, int64_t units)
{
    uint64_t label = begin_op(w);

    (void)fprintf(w->out, "calc %" PRId64 "\n", units);
    end_op(w, label, true);
    return label;
}

static uint64_t put_message(struct writing *w, const struct wf_basic_message *message,
                            bool blocks)
{
    uint64_t label = begin_op(w);

    (void)fprintf(w->out, "%s %" PRIu64 "b %s %" PRId64 " tag %" PRId32 "\n",
                  message->receives ? "recv" : "send", message->bytes,
                  message->receives ? "from" : "to", wf_basic_peer(message->peer),
                  message->tag);
    end_op(w, label, blocks);
    return label;
}

static void start(struct writing *w, struct request *request)
{
    if (request->message.peer != WF_PROC_NULL && request->label == 0) {
        request->label = put_message(w, &request->message, false);
    }
}

static void on_message(struct writing *w, const struct wf_op *op, const struct wf_group *group)
{
    const struct wf_op_info *info = wf_op_info(op->kind);
    bool persistent = info->family == WF_FAMILY_PERSISTENT;
    struct wf_basic_message message =
        wf_basic_message(op, wf_basic_receives(op->kind), group, w->losses);

    if (info->returns_request || persistent) {
        struct request *request = wf_basic_requests_make(&w->requests, op->request);
        request->message = message;
        if (!persistent) {
            start(w, request);
        }
    } else if (message.peer != WF_PROC_NULL) {
        (void)put_message(w, &message, true);
    }
}

/* ---- waits ---- */

static void join(struct writing *w, struct request *request)
{
    if (request->label != 0) {
        wf_buf_append(&w->joined, &request->label, sizeof(request->label));
        request->label = 0;
    }
}

static void put_join(struct writing *w)
{
    const uint64_t *labels = (const uint64_t *)(const void *)w->joined.data;
    size_t n = w->joined.size / sizeof(*labels);

    if (n == 0) {
        return;
    }
    uint64_t label = put_calc(w, 0);
    for (size_t i = 0; i < n; i++) {
        (void)fprintf(w->out, "l%" PRIu64 " requires l%" PRIu64 "\n", label, labels[i]);
    }
    w->joined.size = 0;
}

static void on_sendrecv(struct writing *w, const struct wf_op *op, const struct wf_group *group)
{
    struct request from = {.message = wf_basic_message(op, true, group, w->losses)};
    struct request to = {.message = wf_basic_message(op, false, group, w->losses)};

    start(w, &from);
    start(w, &to);
    join(w, &from);
    join(w, &to);
    put_join(w);
}

static void complete(void *arg, uint32_t number)
{
    struct writing *w = arg;
    struct request *request = wf_basic_requests_find(&w->requests, number);

    if (request != NULL) {
        join(w, request);
    }
}

static void on_start(struct writing *w, const struct wf_op *op)
{
    uint32_t n = op->kind == WF_OP_STARTALL ? op->count : 1;

    for (uint32_t i = 0; i < n; i++) {
        struct request *request = wf_basic_requests_find(&w->requests, wf_op_request_at(op, i));
        if (request != NULL) {
            start(w, request);
        }
    }
}

/* ---- ranks ---- */

static void put_op(struct writing *w, const struct wf_op *op)
{
    struct wf_group group = {.size = 0};
    int64_t units;

    if (wf_op_has_comm(op->kind) && !wf_source_group(w->source, w->rank, op->comm, &group)) {
        return;
    }
    switch (wf_op_info(op->kind)->family) {
    case WF_FAMILY_COMPUTE:
        units = wf_goal_units(op->duration, &w->rest, w->losses);
        if (units > 0) {
            (void)put_calc(w, units);
        }
        break;
    case WF_FAMILY_SEND:
    case WF_FAMILY_RECV:
    case WF_FAMILY_PERSISTENT:
        on_message(w, op, &group);
        break;
    case WF_FAMILY_SENDRECV:
        on_sendrecv(w, op, &group);
        break;
    case WF_FAMILY_START:
        on_start(w, op);
        break;
    case WF_FAMILY_WAIT:
    case WF_FAMILY_TEST:
        if (wf_completion_visit(op, complete, w, w->losses)) {
            put_join(w);
        }
        break;
    case WF_FAMILY_COLLECTIVE:
    case WF_FAMILY_PROBE:
    case WF_FAMILY_COMM:
    case WF_FAMILY_ONESIDED:
    case WF_FAMILY_EPOCH:
    case WF_FAMILY_MARKER:
    case WF_FAMILY_FILE:
        wf_basic_left_out(op->kind, w->losses);
        break;
    case WF_FAMILY_FREE:
    case WF_FAMILY_CALL:
        break;
    }
}

static enum wf_status write_ops(const struct wf_sheet *sheet, const struct wf_source *source,
                                struct wf_err *err)
{
    FILE *out = sheet->file;
    struct writing w = {.out = out,
                        .source = source,
                        .losses = sheet->losses,
                        .requests = {.size = sizeof(struct request)}};
    struct wf_cursor cursor;
    struct wf_op op;

    (void)fprintf(out, "num_ranks %" PRIu32 "\n", source->n_ranks);
    for (w.rank = 0; w.rank < source->n_ranks; w.rank++) {
        memset(&cursor, 0, sizeof(cursor));
        w.n_labels = 0;
        w.last = 0;
        w.rest = 0;
        (void)fprintf(out, "\nrank %" PRIu32 " {\n", w.rank);
        while (wf_source_next(source, w.rank, &cursor, &op)) {
            put_op(&w, &op);
        }
        (void)fprintf(out, "}\n");
        wf_basic_requests_fini(&w.requests);
    }
    wf_buf_fini(&w.joined);
    return wf_source_check(source, err);
}

/* ---- the writer ---- */

static const struct wf_spooled_format format = {.ops = &wf_goal_writer_ops,
                                                .sheet = WF_SHEET_FILE,
                                                .write = write_ops,
                                                .write_graph = wf_goal_write_graph};

static enum wf_status create(const char *path, const struct wf_trace_writer_options *options,
                             struct wf_trace_writer **out, struct wf_err *err)
{
    return wf_spooled_create(&format, path, options, out, err);
}

const struct wf_trace_writer_ops wf_goal_writer_ops = {
    .name = "goal",
    .extension = ".goal",
    .summary = "GOAL schedules of LogGOPSim: messages and local work in nanoseconds",
    .lacks = "collectives, names, communicators other than the world, recorded times, times "
             "below a nanosecond; tasks that send may be interrupted where they do",
    .create = create,
    .add_graph = wf_spooled_add_graph,
    WF_SPOOLED_MEMBERS,
};
