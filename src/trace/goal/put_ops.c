/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/mem.h"
#include "ops/fields.h"
#include "trace/goal/out.h"
#include "trace/kit/completion.h"
#include "trace/kit/open_requests.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A request, by its number. */
struct request {
    uint32_t peer;
    int32_t tag;
    uint64_t bytes;
    uint64_t label; /* of its op; 0: it is not active */
    bool receives, persistent;
};

/* A rank on its way. */
struct writing {
    FILE *out;
    const struct wf_source *source;
    struct wf_losses *losses;
    uint32_t rank;
    uint64_t n_labels, last; /* label of the op that the next waits for; 0: none */
    int64_t rest;            /* of rounding */
    struct wf_open_requests names;
    struct request *requests; /* by the numbers of the names */
    uint32_t room;
    struct wf_buf joined; /* labels that a wait waits for */
};

static void lose(const struct writing *w, const char *what)
{
    wf_losses_add(w->losses, what);
}

/* Begins an op that waits for the last; the caller writes the rest of the line. */
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

static void put_compute(struct writing *w, int64_t ps)
{
    int64_t units = ps / WF_GOAL_PS;

    w->rest += ps % WF_GOAL_PS;
    if (ps % WF_GOAL_PS != 0) {
        lose(w, "times that are no whole nanoseconds, rounded");
    }
    if (w->rest >= WF_GOAL_PS) {
        units++;
        w->rest -= WF_GOAL_PS;
    }
    if (units > 0) {
        uint64_t label = begin_op(w);
        (void)fprintf(w->out, "calc %" PRId64 "\n", units);
        end_op(w, label, true);
    }
}

/* ---- messages ---- */

static uint64_t put_message(struct writing *w, const struct request *message, bool blocks)
{
    uint64_t label = begin_op(w);
    int64_t peer = message->peer == WF_ANY_SOURCE ? -1 : (int64_t)message->peer;

    (void)fprintf(w->out, "%s %" PRIu64 "b %s %" PRId64 " tag %" PRId32 "\n",
                  message->receives ? "recv" : "send", message->bytes,
                  message->receives ? "from" : "to", peer, message->tag);
    end_op(w, label, blocks);
    return label;
}

static struct request *find_request(struct writing *w, uint32_t number)
{
    wf_open_requests_call(&w->names);
    const struct wf_open_request *name = wf_open_requests_find(&w->names, number);
    return name != NULL ? &w->requests[name->number] : NULL;
}

static struct request *make_request(struct writing *w, uint32_t number)
{
    struct request *known = find_request(w, number);

    if (known == NULL) {
        uint32_t place = wf_open_requests_add(&w->names, number)->number;
        if (place >= w->room) {
            w->room = place * 2 + 16;
            w->requests = wf_xrealloc(w->requests, w->room, sizeof(*w->requests));
        }
        known = &w->requests[place];
    }
    *known = (struct request){.peer = WF_PROC_NULL};
    return known;
}

static void start(struct writing *w, struct request *request)
{
    if (request->peer != WF_PROC_NULL && request->label == 0) {
        request->label = put_message(w, request, false);
    }
}

static uint32_t world_rank(const struct wf_group *group, uint32_t peer)
{
    return peer < group->size ? wf_group_rank(group, peer) : peer;
}

/* A receive that was open is written as what it got. */
static void close_receive(const struct writing *w, const struct wf_op *op,
                          struct request *message)
{
    if (message->peer != WF_ANY_SOURCE && message->tag != WF_ANY_TAG) {
        return;
    }
    if (op->recorded) {
        lose(w, "open receives, written as what they got");
        message->peer = op->matched_peer;
        message->tag = op->matched_tag;
    }
}

static void on_message(struct writing *w, const struct wf_op *op, const struct wf_group *group)
{
    const struct wf_op_info *info = wf_op_info(op->kind);
    bool persistent = info->family == WF_FAMILY_PERSISTENT;
    struct request message = {.peer = op->peer,
                              .tag = op->tag,
                              .bytes = op->bytes,
                              .persistent = persistent,
                              .receives = info->family == WF_FAMILY_RECV ||
                                          op->kind == WF_OP_RECV_INIT};

    if (message.receives && !persistent) {
        close_receive(w, op, &message);
    }
    if (!message.receives && info->detail != WF_SEND_STANDARD) {
        lose(w, "sends of another mode, written as standard ones");
    }
    if (op->comm != WF_COMM_WORLD) {
        lose(w, "messages of other communicators, written as messages of the world");
    }
    message.peer = world_rank(group, message.peer);
    if (info->returns_request || persistent) {
        struct request *request = make_request(w, op->request);
        *request = message;
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
    if (request != NULL && request->label != 0) {
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
    uint64_t label = begin_op(w);
    (void)fprintf(w->out, "calc 0\n");
    end_op(w, label, true);
    for (size_t i = 0; i < n; i++) {
        (void)fprintf(w->out, "l%" PRIu64 " requires l%" PRIu64 "\n", label, labels[i]);
    }
    w->joined.size = 0;
}

static void on_sendrecv(struct writing *w, const struct wf_op *op, const struct wf_group *group)
{
    struct request from = {
        .peer = op->recv_peer, .tag = op->recv_tag, .bytes = op->recv_bytes, .receives = true};
    struct request to = {
        .peer = world_rank(group, op->peer), .tag = op->tag, .bytes = op->bytes};

    close_receive(w, op, &from);
    from.peer = world_rank(group, from.peer);
    start(w, &from);
    start(w, &to);
    join(w, &from);
    join(w, &to);
    put_join(w);
}

static void complete(void *arg, uint32_t request)
{
    struct writing *w = arg;

    join(w, find_request(w, request));
}

static void on_completion(struct writing *w, const struct wf_op *op)
{
    if (wf_completion_visit(op, complete, w, w->losses)) {
        put_join(w);
    }
}

static void on_start(struct writing *w, const struct wf_op *op)
{
    uint32_t n = op->kind == WF_OP_STARTALL ? op->count : 1;

    for (uint32_t i = 0; i < n; i++) {
        struct request *request = find_request(w, wf_op_request_at(op, i));
        if (request != NULL) {
            start(w, request);
        }
    }
}

/* ---- ranks ---- */

static void put_op(struct writing *w, const struct wf_op *op)
{
    struct wf_group group = {.size = 0};

    if (wf_op_has_comm(op->kind) && !wf_source_group(w->source, w->rank, op->comm, &group)) {
        return;
    }
    switch (wf_op_info(op->kind)->family) {
    case WF_FAMILY_COMPUTE:
        put_compute(w, op->duration);
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
        on_completion(w, op);
        break;
    case WF_FAMILY_COLLECTIVE:
        lose(w, "collectives, left out");
        break;
    case WF_FAMILY_PROBE:
        lose(w, "probes, left out");
        break;
    case WF_FAMILY_COMM:
        lose(w, "calls that make a communicator, left out");
        break;
    case WF_FAMILY_ONESIDED:
    case WF_FAMILY_EPOCH:
        lose(w, "one-sided operations and their synchronisation, left out");
        break;
    case WF_FAMILY_MARKER:
        lose(w, "markers, left out");
        break;
    case WF_FAMILY_FREE:
    case WF_FAMILY_CALL:
        break;
    }
}

static enum wf_status put_rank(struct writing *w)
{
    struct wf_cursor cursor;
    struct wf_op op;

    memset(&cursor, 0, sizeof(cursor));
    w->n_labels = 0;
    w->last = 0;
    w->rest = 0;
    wf_open_requests_init(&w->names);
    (void)fprintf(w->out, "\nrank %" PRIu32 " {\n", w->rank);
    while (wf_source_next(w->source, w->rank, &cursor, &op)) {
        put_op(w, &op);
    }
    (void)fprintf(w->out, "}\n");
    wf_open_requests_fini(&w->names);
    return WF_OK;
}

enum wf_status wf_goal_put_source(FILE *out, const struct wf_source *source,
                                  struct wf_losses *losses, struct wf_err *err)
{
    struct writing w = {.out = out, .source = source, .losses = losses};
    enum wf_status status = WF_OK;

    (void)fprintf(out, "num_ranks %" PRIu32 "\n", source->n_ranks);
    for (w.rank = 0; w.rank < source->n_ranks && status == WF_OK; w.rank++) {
        status = put_rank(&w);
    }
    free(w.requests);
    wf_buf_fini(&w.joined);
    return status == WF_OK ? wf_source_check(source, err) : status;
}
