/* SPDX-License-Identifier: Apache-2.0 */
/* What happens in the tasks of a Paraver trace becomes ops. */
#include "base/array.h"
#include "base/units.h"
#include "program/trace/paraver/paraver.h"

#include <stdlib.h>

/* A rank whose items become ops. */
struct walk {
    struct wf_paraver_reading *r;
    uint32_t rank;
    struct wf_trace_place place;
    uint64_t clock;             /* until when its time is accounted for */
    uint64_t flushed;           /* the time of flushes */
    struct wf_paraver_item run; /* the latest span of computing */
    bool in_call;
    uint32_t name;                       /* of the call */
    uint64_t coll;                       /* of the call, or 0 */
    struct wf_buf sent, posted, arrived; /* numbers of messages, in the call */
    struct wf_buf sends;                 /* requests of isends that are open */
    struct wf_buf numbers;
    uint32_t n_requests;
};

static void put(struct walk *w, const struct wf_op *op)
{
    wf_spool_put(w->r->spool, op, &w->place);
}

static void put_computing(struct walk *w, uint64_t until)
{
    if (until > w->clock) {
        uint64_t span = until - w->clock, most = (uint64_t)WF_TIME_MAX / w->r->unit;
        wf_spool_compute(w->r->spool, w->rank,
                         span < most ? (int64_t)(span * w->r->unit) : WF_TIME_MAX, w->r->err);
    }
}

static const char *call_name(const struct walk *w)
{
    return w->in_call ? wf_strings_at(&w->r->names, w->name) : "";
}

static size_t n_of(const struct wf_buf *list)
{
    return list->size / sizeof(uint64_t);
}

static uint64_t item_of(const struct wf_buf *list, size_t i)
{
    return ((const uint64_t *)(const void *)list->data)[i];
}

static bool has(const struct wf_buf *list, uint64_t value)
{
    for (size_t i = 0; i < n_of(list); i++) {
        if (item_of(list, i) == value) {
            return true;
        }
    }
    return false;
}

/* The op that sends a message in a call. Messages may leave later than MPI_Isend returns, in any
 * call. Which call waits for an isend is a guess, so that MPI_Issend must not wait for its receiver. */
static enum wf_op_kind send_of(const char *name)
{
    enum wf_op_kind kind = wf_op_of_call(name);
    const struct wf_op_info *info = wf_op_info(kind);

    if (info->family == WF_FAMILY_SEND) {
        return info->returns_request ? WF_OP_ISEND : kind;
    }
    return name[0] == '\0' || kind == WF_OP_SENDRECV ? WF_OP_SEND : WF_OP_ISEND;
}

static void put_sends(struct walk *w)
{
    enum wf_op_kind kind = send_of(call_name(w));

    for (size_t i = 0; i < n_of(&w->sent); i++) {
        const struct wf_paraver_message *message = &w->r->messages[item_of(&w->sent, i)];
        struct wf_op op = {
            .kind = kind, .peer = message->dst, .tag = message->tag, .bytes = message->bytes};
        if (kind == WF_OP_ISEND) {
            op.request = ++w->n_requests;
            wf_buf_append(&w->sends, &op.request, sizeof(op.request));
        }
        put(w, &op);
    }
}

/* Receives that are posted and completed in one call are blocking ones. Of several messages, a
 * send of the same call must not wait for a receive: all are posted first. */
static void put_posts(struct walk *w)
{
    for (size_t i = 0; i < n_of(&w->posted); i++) {
        uint64_t number = item_of(&w->posted, i);
        struct wf_paraver_message *message = &w->r->messages[number];
        bool completes =
            has(&w->arrived, number) && n_of(&w->sent) == 0 && n_of(&w->posted) == 1;
        struct wf_op op = {.kind = completes ? WF_OP_RECV : WF_OP_IRECV,
                           .peer = message->src,
                           .tag = message->tag,
                           .bytes = message->bytes};
        if (!completes) {
            op.request = ++w->n_requests;
            message->request = op.request;
        }
        put(w, &op);
    }
}

/* Waits for the receives that complete in the call, and for isends: a wait that completes no
 * receive is for the oldest, MPI_Waitall for all. */
static void put_waits(struct walk *w)
{
    const char *name = call_name(w);

    w->numbers.size = 0;
    for (size_t i = 0; i < n_of(&w->arrived); i++) {
        struct wf_paraver_message *message = &w->r->messages[item_of(&w->arrived, i)];
        if (message->request != 0) {
            wf_buf_append(&w->numbers, &message->request, sizeof(message->request));
            message->request = 0;
        }
    }
    size_t n_open = w->sends.size / sizeof(uint32_t), n_done = 0;
    if (strcmp(name, "MPI_Waitall") == 0) {
        n_done = n_open;
    } else if (strncmp(name, "MPI_Wait", 8) == 0 && w->numbers.size == 0) {
        n_done = n_open > 0 ? 1 : 0;
    }
    if (n_done > 0) {
        size_t bytes = n_done * sizeof(uint32_t);
        wf_buf_append(&w->numbers, w->sends.data, bytes);
        memmove(w->sends.data, w->sends.data + bytes, w->sends.size - bytes);
        w->sends.size -= bytes;
    }
    if (w->numbers.size > 0) {
        wf_spool_waits(w->r->spool, &w->numbers, &w->place);
    }
}

/* A collective that can be replayed; else false. */
static bool put_collective(struct walk *w)
{
    struct wf_group group;
    struct wf_op op;

    if (w->coll == 0 || !wf_paraver_colls_op(&w->r->colls, w->rank, w->coll, &op, &group)) {
        return false;
    }
    if (op.comm == WF_COMM_WORLD ||
        wf_spool_group(w->r->spool, w->rank, op.comm, &group, w->r->err)) {
        put(w, &op);
    }
    return true;
}

static void put_call(struct walk *w, const char *name, uint64_t until)
{
    const struct wf_op op = {.kind = WF_OP_CALL, .tag = (int32_t)w->name};

    if (wf_paraver_is_init(name) || wf_paraver_is_finalize(name)) {
        put(w, &(struct wf_op){.kind = wf_paraver_is_init(name) ? WF_OP_INIT : WF_OP_FINALIZE});
        return;
    }
    const struct wf_op_info *info = wf_op_info(wf_op_of_call(name));
    bool is_collective = info->family == WF_FAMILY_COLLECTIVE;
    if (is_collective && info->returns_request) {
        w->r->n_nonblocking++;
    } else if (is_collective) {
        w->r->colls.n_unsized += w->coll == 0 ? 1 : 0;
        put_computing(w, until); /* it cannot be replayed: it takes its time */
    }
    wf_spool_name(w->r->spool, WF_NAME_CALL, w->name, name);
    put(w, &op);
}

/* What has happened in a call, or outside of calls at one time. */
static void end_call(struct walk *w, uint64_t time)
{
    const char *name = call_name(w);
    bool has_messages = w->sent.size + w->posted.size + w->arrived.size > 0;
    bool waits = strncmp(name, "MPI_Wait", 8) == 0;

    if (has_messages || waits) {
        put_posts(w);
        put_sends(w);
        put_waits(w);
    } else if (w->in_call && !put_collective(w)) {
        put_call(w, name, time);
    }
    w->sent.size = 0;
    w->posted.size = 0;
    w->arrived.size = 0;
    w->coll = 0;
    w->clock = time > w->clock ? time : w->clock;
    w->in_call = false;
}

/* The time in which the tracer flushes its buffer is not time of the program. */
static void pass_flush(struct walk *w, uint64_t from, uint64_t to)
{
    uint64_t begin = from > w->clock ? from : w->clock, end = w->r->tasks[w->rank].end;

    if (end > 0 && from >= end) {
        return;
    }
    w->r->n_flushes++;
    w->flushed += to > begin ? to - begin : 0;
    if (!w->in_call) {
        put_computing(w, begin);
        w->clock = to > begin ? to : begin;
    }
}

static void do_item(struct walk *w, const struct wf_paraver_item *item)
{
    switch ((enum wf_paraver_item_kind)item->kind) {
    case WF_PARAVER_ITEM_CALL:
        if (w->in_call) { /* a call within a call counts as a part of it */
            return;
        }
        end_call(w, w->clock);
        put_computing(w, item->time);
        w->clock = item->time > w->clock ? item->time : w->clock;
        w->in_call = true;
        w->name = item->name;
        w->coll = item->value;
        break;
    case WF_PARAVER_ITEM_END:
        if (w->in_call) {
            end_call(w, item->time);
        }
        break;
    case WF_PARAVER_ITEM_RUN:
        if (!w->r->has_calls) {
            w->clock = item->time;
            put_computing(w, item->value);
        }
        w->run = *item;
        break;
    case WF_PARAVER_ITEM_FLUSH:
        pass_flush(w, item->time, item->value);
        break;
    case WF_PARAVER_ITEM_SEND:
    case WF_PARAVER_ITEM_POST:
    case WF_PARAVER_ITEM_ARRIVAL:
        wf_buf_append(item->kind == WF_PARAVER_ITEM_SEND   ? &w->sent
                      : item->kind == WF_PARAVER_ITEM_POST ? &w->posted
                                                           : &w->arrived,
                      &item->value, sizeof(item->value));
        if (!w->in_call) {
            put_computing(w, w->r->has_calls ? item->time : w->clock);
            end_call(w, w->r->has_calls ? item->time : w->clock);
        }
        break;
    }
}

/* What happens at the time at which a call begins or ends belongs to the call. */
static uint32_t rank_of_kind(uint8_t kind)
{
    static const uint8_t places[] = {
        [WF_PARAVER_ITEM_CALL] = 0,    [WF_PARAVER_ITEM_SEND] = 1, [WF_PARAVER_ITEM_POST] = 2,
        [WF_PARAVER_ITEM_ARRIVAL] = 3, [WF_PARAVER_ITEM_END] = 4,  [WF_PARAVER_ITEM_RUN] = 5,
        [WF_PARAVER_ITEM_FLUSH] = 6};

    return places[kind];
}

/* Of calls that follow each other at once, the one ends before the other begins: the order in
 * the file decides between ends and beginnings. */
static int by_time(const void *a, const void *b)
{
    const struct wf_paraver_item *x = a, *y = b;
    bool calls = x->kind <= WF_PARAVER_ITEM_CALL && y->kind <= WF_PARAVER_ITEM_CALL;
    uint32_t p = calls ? x->order : rank_of_kind(x->kind);
    uint32_t q = calls ? y->order : rank_of_kind(y->kind);

    return 4 * WF_ORDER(x->time, y->time) + 2 * WF_ORDER(p, q) + WF_ORDER(x->order, y->order);
}

/* Sorts what happens in a rank, and joins its collectives with those of the others. */
static void join_rank(struct wf_paraver_reading *r, uint32_t rank)
{
    struct wf_paraver_task *task = &r->tasks[rank];

    WF_SORT(task->items, task->n, by_time);
    wf_paraver_colls_begin_rank(&r->colls);
    for (uint64_t i = 0; i < task->n; i++) {
        if (task->items[i].kind == WF_PARAVER_ITEM_CALL && task->items[i].value != 0) {
            wf_paraver_colls_join(&r->colls, rank, task->items[i].value);
        }
    }
}

/* From the end of MPI_Init, which takes no time in a replay, to that of MPI_Finalize or of the
 * trace, without flushes. */
static void put_recorded(const struct walk *w)
{
    const struct wf_paraver_reading *r = w->r;
    const struct wf_paraver_task *task = &r->tasks[w->rank];
    uint64_t end = task->end > 0 ? task->end : r->recorded, left = task->begin + w->flushed;
    uint64_t span = end > left ? end - left : 0;

    if (span > 0 && span < (uint64_t)WF_TIME_MAX / r->unit) {
        wf_spool_wall(r->spool, w->rank, (int64_t)(span * r->unit));
    }
}

static void walk_rank(struct wf_paraver_reading *r, uint32_t rank)
{
    struct wf_paraver_task *task = &r->tasks[rank];
    struct walk w = {.r = r, .rank = rank, .place = r->file.place, .clock = task->begin};

    w.place.rank = rank;
    for (uint64_t i = 0; i < task->n && !wf_trace_failed(r->err); i++) {
        do_item(&w, &task->items[i]);
    }
    end_call(&w, w.clock);
    if (r->has_calls && task->end == 0 && w.run.value > w.clock && !wf_trace_failed(r->err)) {
        w.clock = w.run.time > w.clock ? w.run.time : w.clock;
        put_computing(&w, w.run.value);
    }
    put_recorded(&w);
    free(task->items);
    task->items = NULL;
    wf_buf_fini(&w.sent);
    wf_buf_fini(&w.posted);
    wf_buf_fini(&w.arrived);
    wf_buf_fini(&w.sends);
    wf_buf_fini(&w.numbers);
}

void wf_paraver_ops_write(struct wf_paraver_reading *r)
{
    for (uint32_t rank = 0; rank < r->n_ranks; rank++) {
        join_rank(r, rank);
    }
    for (uint32_t rank = 0; rank < r->n_ranks; rank++) {
        walk_rank(r, rank);
    }
}
