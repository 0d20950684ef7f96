/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/clog2/walk.h"

#include "base/buf.h"
#include "base/mem.h"
#include "trace/kit/open_requests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A message that a rank has received or will receive. */
struct message {
    int32_t comm, peer, tag;
    uint32_t bytes;
};

/* The messages that waits of a rank receive, from the oldest that is not used. */
struct ahead {
    struct message *items;
    uint32_t first, n, capacity;
};

/* A rank. */
struct walker {
    double first, latest; /* when its record begins, and when its last call ended */
    double entered;
    bool begun;
    const struct wf_clog2_state *call; /* that it is in, or null */
    int32_t comm;                      /* of the call */
    struct ahead ahead;
    const struct wf_clog2_state *ahead_call; /* where the reader ahead sees it */
    struct wf_open_requests requests;        /* 0: isends, 1: irecvs */
    struct message sent, received;           /* in this call */
    bool has_sent, has_received;
    struct wf_buf done; /* numbers of requests that this call completed */
    uint64_t *told;     /* communicators that the writer knows, as bits */
};

enum { NAME_SEND = 0, NAME_RECV = 1, WORD = 64 };

struct walk {
    struct wf_clog2_file *file, ahead;
    struct wf_clog2_tables *tables;
    struct wf_spool *spool;
    struct walker *ranks;
    bool ahead_ends;
    struct wf_err *err;
};

static bool is_event(const struct wf_clog2_record *record)
{
    return record->type == WF_CLOG2_BAREEVT || record->type == WF_CLOG2_CARGOEVT;
}

static bool receives_later(const struct wf_clog2_state *state)
{
    return state != NULL && (state->role == WF_CLOG2_WAITS || state->role == WF_CLOG2_WAITALL ||
                             state->role == WF_CLOG2_TESTS);
}

/* The outermost call of MPI that a rank is in, after this event. */
static const struct wf_clog2_state *call_after(const struct walk *walk,
                                               const struct wf_clog2_state *call,
                                               const struct wf_clog2_record *record)
{
    bool begins = false;
    const struct wf_clog2_state *state =
        wf_clog2_state(walk->tables, record->values[0], &begins);

    if (state == NULL || state->role >= WF_CLOG2_INNER) {
        return call;
    }
    if (begins) {
        return call != NULL ? call : state;
    }
    return state == call ? NULL : call;
}

/* ---- ahead ---- */

static struct message message_of(const struct wf_clog2_record *record)
{
    return (struct message){record->values[1], record->values[2], record->values[3],
                            record->values[4] > 0 ? (uint32_t)record->values[4] : 0};
}

static void remember(struct ahead *ahead, struct message message)
{
    if (ahead->n == ahead->capacity && ahead->first > ahead->n / 2) {
        memmove(ahead->items, ahead->items + ahead->first,
                (ahead->n - ahead->first) * sizeof(*ahead->items));
        ahead->n -= ahead->first;
        ahead->first = 0;
    }
    if (ahead->n == ahead->capacity) {
        ahead->capacity = ahead->capacity * 2 + 4;
        ahead->items = wf_xrealloc(ahead->items, ahead->capacity, sizeof(*ahead->items));
    }
    ahead->items[ahead->n++] = message;
}

static enum wf_status look_further(struct walk *walk)
{
    struct wf_clog2_record record;
    bool more = true;

    enum wf_status status = wf_clog2_next(&walk->ahead, &record, &more, walk->err);
    if (status != WF_OK || !more) {
        walk->ahead_ends = true;
        return status;
    }
    uint32_t rank = wf_clog2_rank(walk->tables, record.comm, record.rank);
    if (rank == UINT32_MAX) {
        return WF_OK;
    }
    struct walker *walker = &walk->ranks[rank];
    if (is_event(&record)) {
        walker->ahead_call = call_after(walk, walker->ahead_call, &record);
    } else if (record.type == WF_CLOG2_MSGEVT && record.values[0] == WF_CLOG2_RECV &&
               receives_later(walker->ahead_call)) {
        remember(&walker->ahead, message_of(&record));
    }
    return WF_OK;
}

/* ---- ops ---- */

static enum wf_status put(struct walk *walk, uint32_t rank, const struct wf_op *op,
                          uint64_t offset)
{
    enum wf_status status = wf_spool_op(walk->spool, rank, op, walk->err);

    if (status == WF_EINVAL) {
        wf_err_prefix(walk->err, "%.200s: byte %llu, rank %u: ", walk->file->in.place.path,
                      (unsigned long long)offset, rank);
    }
    return status;
}

static int64_t ps_between(double from, double to)
{
    return to > from ? (int64_t)llround((to - from) * 1e12) : 0;
}

/* Sets the communicator of an op, and tells the writer what it is. False if not all of it is
 * known. */
static bool set_comm(struct walk *walk, uint32_t rank, int32_t number, struct wf_op *op)
{
    const struct wf_clog2_comm *comm = wf_clog2_comm(walk->tables, number);
    struct walker *walker = &walk->ranks[rank];

    if (comm == NULL) {
        return false;
    }
    /* The number of the world is 0 in both. */
    uint32_t place = (uint32_t)(comm - walk->tables->comms);
    op->comm = comm->number == 0 ? WF_COMM_WORLD : place + 1;
    struct wf_group group = {
        .id = op->comm, .size = comm->size, .members = comm->members, .width = 1};
    while (group.rank < comm->size && comm->members[group.rank] != rank) {
        group.rank++;
    }
    if (comm->number == 0 || group.rank == comm->size) {
        return comm->number == 0;
    }
    if (walker->told == NULL) {
        walker->told = wf_xcalloc(walk->tables->n_comms / WORD + 1, sizeof(*walker->told));
    }
    if ((walker->told[place / WORD] >> (place % WORD) & 1) == 0) {
        struct wf_trace_writer *writer = wf_spool_writer(walk->spool);
        if (writer->ops->group(writer, rank, op->comm, &group, walk->err) != WF_OK) {
            return false;
        }
        walker->told[place / WORD] |= UINT64_C(1) << (place % WORD);
    }
    return true;
}

/* An op for a message; false if its communicator, or the other side in it, is not known. */
static bool set_message(struct walk *walk, uint32_t rank, const struct message *message,
                        struct wf_op *op)
{
    uint32_t peer = wf_clog2_rank(walk->tables, message->comm, message->peer);

    op->peer = (uint32_t)message->peer;
    op->tag = message->tag < 0 ? 0 : message->tag;
    op->bytes = message->bytes;
    if (peer == UINT32_MAX) {
        walk->tables->n_lost++;
        return false;
    }
    if (!set_comm(walk, rank, message->comm, op)) {
        /* Between two groups the log names the communicator of the other one, of which this
         * rank is no member. */
        op->peer = peer;
        op->comm = WF_COMM_WORLD;
        walk->tables->n_between++;
    }
    return true;
}

static enum wf_status put_call(struct walk *walk, uint32_t rank,
                               const struct wf_clog2_record *record)
{
    struct walker *walker = &walk->ranks[rank];
    struct wf_trace_writer *writer = wf_spool_writer(walk->spool);
    uint32_t number = walker->call->record;
    const struct wf_op op = {.kind = WF_OP_CALL, .tag = (int32_t)number};

    enum wf_status status = wf_spool_compute(
        walk->spool, rank, ps_between(walker->entered, record->time), walk->err);
    writer->ops->name_of(writer, WF_NAME_CALL, number, walker->call->name);
    return status == WF_OK ? put(walk, rank, &op, record->offset) : status;
}

static enum wf_status put_message(struct walk *walk, uint32_t rank, enum wf_op_kind kind,
                                  const struct message *message, uint64_t offset)
{
    struct wf_op op = {.kind = kind};

    if (!set_message(walk, rank, message, &op)) {
        return WF_OK;
    }
    if (wf_op_info(kind)->returns_request) {
        bool receives = wf_op_info(kind)->family == WF_FAMILY_RECV;
        op.request =
            wf_open_requests_add(&walk->ranks[rank].requests, receives ? NAME_RECV : NAME_SEND)
                ->number;
    }
    return put(walk, rank, &op, offset);
}

/* An irecv: what will it get? */
static enum wf_status post_receive(struct walk *walk, uint32_t rank,
                                   const struct wf_clog2_record *record)
{
    struct ahead *ahead = &walk->ranks[rank].ahead;
    enum wf_status status = WF_OK;

    while (status == WF_OK && ahead->first == ahead->n && !walk->ahead_ends) {
        status = look_further(walk);
    }
    if (status != WF_OK || ahead->first == ahead->n) {
        return status == WF_OK ? put_call(walk, rank, record) : status;
    }
    return put_message(walk, rank, WF_OP_IRECV, &ahead->items[ahead->first++], record->offset);
}

/* ---- what ends ---- */

static void complete(struct walker *walker, int64_t name)
{
    wf_open_requests_call(&walker->requests);
    struct wf_open_request *request = wf_open_requests_find(&walker->requests, name);

    if (request != NULL) {
        wf_buf_append(&walker->done, &request->number, sizeof(request->number));
        wf_open_requests_remove(&walker->requests, request);
    }
}

/* A message that a wait received: of the first irecv, or of none that was seen. */
static enum wf_status receive_late(struct walk *walk, uint32_t rank,
                                   const struct wf_clog2_record *record)
{
    struct walker *walker = &walk->ranks[rank];
    struct ahead *ahead = &walker->ahead;
    const struct message message = message_of(record);
    size_t before = walker->done.size;

    complete(walker, NAME_RECV);
    if (walker->done.size > before) {
        return WF_OK;
    }
    /* Nobody posted it; nobody may take it from those ahead. */
    enum wf_status status = WF_OK;
    while (status == WF_OK && ahead->first == ahead->n && !walk->ahead_ends) {
        status = look_further(walk);
    }
    ahead->first += ahead->first < ahead->n ? 1 : 0;
    return status == WF_OK ? put_message(walk, rank, WF_OP_RECV, &message, record->offset)
                           : status;
}

static enum wf_status end_wait(struct walk *walk, uint32_t rank,
                               const struct wf_clog2_record *record)
{
    struct walker *walker = &walk->ranks[rank];

    if (walker->call->role == WF_CLOG2_WAITALL) {
        size_t before;
        do {
            before = walker->done.size;
            complete(walker, NAME_SEND);
        } while (walker->done.size > before);
    } else if (walker->call->role == WF_CLOG2_WAITS && walker->done.size == 0) {
        complete(walker, NAME_SEND);
    }
    uint32_t n = (uint32_t)(walker->done.size / sizeof(uint32_t));
    if (n == 0) {
        return put_call(walk, rank, record);
    }
    struct wf_op op = {.kind = n == 1 ? WF_OP_WAIT : WF_OP_WAITALL, .count = n};
    op.requests = (const uint32_t *)(const void *)walker->done.data;
    op.request = op.requests[0];
    walker->done.size = 0;
    return put(walk, rank, &op, record->offset);
}

static enum wf_status end_sendrecv(struct walk *walk, uint32_t rank,
                                   const struct wf_clog2_record *record)
{
    struct walker *walker = &walk->ranks[rank];
    struct wf_op op = {.kind = WF_OP_SENDRECV, .peer = WF_PROC_NULL}, from = {.tag = 0};

    if (walker->has_received && set_message(walk, rank, &walker->received, &from)) {
        op.comm = from.comm;
    } else {
        from = (struct wf_op){.peer = WF_PROC_NULL};
    }
    if (walker->has_sent && !set_message(walk, rank, &walker->sent, &op)) {
        op.peer = WF_PROC_NULL;
    }
    op.recv_peer = from.peer;
    op.recv_tag = from.tag;
    op.recv_bytes = from.bytes;
    return put(walk, rank, &op, record->offset);
}

static enum wf_status end_call(struct walk *walk, uint32_t rank,
                               const struct wf_clog2_record *record)
{
    struct walker *walker = &walk->ranks[rank];
    enum wf_clog2_role role = walker->call->role;
    struct wf_op op = {.kind = WF_OP_BARRIER};

    switch (role) {
    case WF_CLOG2_SENDS:
        return walker->has_sent ? WF_OK : put_call(walk, rank, record);
    case WF_CLOG2_RECEIVES:
        return walker->has_received
                   ? put_message(walk, rank, WF_OP_RECV, &walker->received, record->offset)
                   : put_call(walk, rank, record);
    case WF_CLOG2_IRECV:
        return post_receive(walk, rank, record);
    case WF_CLOG2_BOTH:
        return end_sendrecv(walk, rank, record);
    case WF_CLOG2_WAITS:
    case WF_CLOG2_WAITALL:
    case WF_CLOG2_TESTS:
        return end_wait(walk, rank, record);
    case WF_CLOG2_BARRIER:
        if (set_comm(walk, rank, walker->comm, &op)) {
            return put(walk, rank, &op, record->offset);
        }
        return put_call(walk, rank, record);
    case WF_CLOG2_COLLECTIVE:
        walk->tables->n_collectives++;
        return put_call(walk, rank, record);
    case WF_CLOG2_OTHER:
    case WF_CLOG2_INNER:
    case WF_CLOG2_PAUSE:
    case WF_CLOG2_REGION:
        break;
    }
    return put_call(walk, rank, record);
}

/* ---- records ---- */

/* The computing up to now. */
static enum wf_status pass_time(struct walk *walk, uint32_t rank, double now)
{
    struct walker *walker = &walk->ranks[rank];
    int64_t ps = walker->begun ? ps_between(walker->latest, now) : 0;

    walker->first = walker->begun ? walker->first : now;
    walker->begun = true;
    walker->latest = now;
    return wf_spool_compute(walk->spool, rank, ps, walk->err);
}

/* The beginning or end of something that is no call. */
static enum wf_status on_region(struct walk *walk, uint32_t rank, bool begins,
                                const struct wf_clog2_state *state,
                                const struct wf_clog2_record *record)
{
    struct walker *walker = &walk->ranks[rank];

    if (state->role == WF_CLOG2_INNER || walker->call != NULL) {
        return WF_OK;
    }
    if (state->role == WF_CLOG2_PAUSE && !begins) {
        walker->latest = record->time;
        return WF_OK;
    }
    enum wf_status status = pass_time(walk, rank, record->time);
    if (status == WF_OK && state->role == WF_CLOG2_REGION) {
        struct wf_trace_writer *writer = wf_spool_writer(walk->spool);
        struct wf_op op = {.kind = begins ? WF_OP_REGION_BEGIN : WF_OP_REGION_END,
                           .tag = (int32_t)state->record};
        writer->ops->name_of(writer, WF_NAME_REGION, state->record, state->name);
        status = put(walk, rank, &op, record->offset);
    }
    return status;
}

static enum wf_status on_event(struct walk *walk, uint32_t rank,
                               const struct wf_clog2_record *record)
{
    struct walker *walker = &walk->ranks[rank];
    bool begins = false;
    const struct wf_clog2_state *state =
        wf_clog2_state(walk->tables, record->values[0], &begins);
    enum wf_status status = WF_OK;

    if (state == NULL) {
        return WF_OK;
    }
    if (state->role >= WF_CLOG2_INNER) {
        return on_region(walk, rank, begins, state, record);
    }
    if (begins && walker->call == NULL) {
        status = pass_time(walk, rank, record->time);
        walker->call = state;
        walker->comm = record->comm;
        walker->entered = record->time;
        walker->has_sent = false;
        walker->has_received = false;
        walker->done.size = 0;
    } else if (!begins && walker->call == state) {
        status = end_call(walk, rank, record);
        walker->call = NULL;
        walker->latest = record->time;
    }
    return status;
}

static enum wf_status on_message(struct walk *walk, uint32_t rank,
                                 const struct wf_clog2_record *record)
{
    struct walker *walker = &walk->ranks[rank];
    bool both = walker->call != NULL && walker->call->role == WF_CLOG2_BOTH;

    if (record->values[0] == WF_CLOG2_SEND) {
        walker->sent = message_of(record);
        walker->has_sent = true;
        bool sends = walker->call != NULL && walker->call->role == WF_CLOG2_SENDS;
        return both ? WF_OK
                    : put_message(walk, rank, sends ? walker->call->kind : WF_OP_SEND,
                                  &walker->sent, record->offset);
    }
    if (receives_later(walker->call)) {
        return receive_late(walk, rank, record);
    }
    walker->received = message_of(record);
    walker->has_received = true;
    if (walker->call != NULL && (both || walker->call->role == WF_CLOG2_RECEIVES)) {
        return WF_OK;
    }
    return put_message(walk, rank, WF_OP_RECV, &walker->received, record->offset);
}

static enum wf_status walk_records(struct walk *walk)
{
    struct wf_clog2_record record;
    bool more = true;

    wf_clog2_rewind(walk->file);
    enum wf_status status = wf_clog2_next(walk->file, &record, &more, walk->err);
    while (status == WF_OK && more) {
        uint32_t rank = wf_clog2_rank(walk->tables, record.comm, record.rank);

        if (rank != UINT32_MAX && is_event(&record)) {
            status = on_event(walk, rank, &record);
        } else if (rank != UINT32_MAX && record.type == WF_CLOG2_MSGEVT) {
            status = on_message(walk, rank, &record);
        }
        if (status == WF_OK) {
            status = wf_clog2_next(walk->file, &record, &more, walk->err);
        }
    }
    return status;
}

enum wf_status wf_clog2_walk(struct wf_clog2_file *file, struct wf_clog2_tables *tables,
                             struct wf_spool *spool, struct wf_err *err)
{
    struct walk walk = {.file = file, .tables = tables, .spool = spool, .err = err};

    enum wf_status status = wf_clog2_open(&walk.ahead, file->in.place.path, err);
    if (status != WF_OK) {
        return status;
    }
    walk.ranks = wf_xcalloc(file->n_ranks, sizeof(*walk.ranks));
    status = walk_records(&walk);
    struct wf_trace_writer *writer = wf_spool_writer(spool);
    for (uint32_t rank = 0; rank < file->n_ranks && status == WF_OK; rank++) {
        const struct walker *walker = &walk.ranks[rank];
        if (walker->begun) {
            writer->ops->wall(writer, rank, ps_between(walker->first, walker->latest));
        }
    }
    for (uint32_t rank = 0; rank < file->n_ranks; rank++) {
        wf_open_requests_fini(&walk.ranks[rank].requests);
        free(walk.ranks[rank].ahead.items);
        free(walk.ranks[rank].told);
        wf_buf_fini(&walk.ranks[rank].done);
    }
    free(walk.ranks);
    wf_clog2_close(&walk.ahead);
    return status;
}
