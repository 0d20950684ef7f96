/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/clog2/walk.h"

#include "base/array.h"
#include "base/buf.h"
#include "base/mem.h"
#include "program/trace/kit/open_requests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A message that a rank has received or will receive. */
struct message {
    int32_t comm, peer, tag;
    uint32_t bytes;
};

/* The messages that later waits of a rank receive, as a queue filled by reading ahead. */
struct ahead {
    struct message *items;
    uint32_t first, n, capacity;
};

/* The state of a rank. */
struct walker {
    double first, latest; /* when its first record begins; when its last call ended */
    double entered;
    bool begun;
    const struct wf_clog2_state *call; /* current call, or null */
    int32_t comm;                      /* communicator of the call */
    struct ahead ahead;
    const struct wf_clog2_state *ahead_call; /* current call of the reader ahead */
    struct wf_open_requests requests;        /* names: NAME_SEND, NAME_RECV */
    struct message sent, received;           /* in this call */
    bool has_sent, has_received;
    struct wf_buf done; /* numbers of requests that this call completed */
};

enum { NAME_SEND = 0, NAME_RECV = 1 };

struct walk {
    struct wf_clog2_file *file, ahead;
    struct wf_clog2_tables *tables;
    struct wf_spool *spool;
    struct walker *ranks;
    bool ahead_ends;
    struct wf_err *err;
    /* The present record, and its rank in the world. */
    struct wf_clog2_record record;
    uint32_t rank;
    struct walker *at;
};

static bool receives_later(const struct wf_clog2_state *state)
{
    return state != NULL && (state->role == WF_CLOG2_WAITS || state->role == WF_CLOG2_WAITALL ||
                             state->role == WF_CLOG2_TESTS);
}

static struct message message_of(const struct wf_clog2_record *record)
{
    return (struct message){record->values[1], record->values[2], record->values[3],
                            record->values[4] > 0 ? (uint32_t)record->values[4] : 0};
}

/* ---- reading ahead ---- */

/* Returns the outermost MPI call that a rank is in after this event. */
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

static void remember(struct ahead *ahead, struct message message)
{
    if (ahead->n == ahead->capacity && ahead->first > ahead->n / 2) {
        memmove(ahead->items, ahead->items + ahead->first,
                (ahead->n - ahead->first) * sizeof(*ahead->items));
        ahead->n -= ahead->first;
        ahead->first = 0;
    }
    WF_PUSH(ahead->items, ahead->n, ahead->capacity, message);
}

/* Takes the message that the next wait of the rank receives from the queue, reading ahead until
 * there is one. Returns null if there is none. */
static const struct message *next_received(struct walk *walk)
{
    struct ahead *ahead = &walk->at->ahead;
    struct wf_clog2_record record;

    while (ahead->first == ahead->n && !walk->ahead_ends) {
        walk->ahead_ends = !wf_clog2_next(&walk->ahead, &record);
        uint32_t rank = wf_clog2_rank(walk->tables, record.comm, record.rank);
        if (walk->ahead_ends || rank == UINT32_MAX) {
            continue;
        }
        struct walker *walker = &walk->ranks[rank];
        if (wf_clog2_is_event(&record)) {
            walker->ahead_call = call_after(walk, walker->ahead_call, &record);
        } else if (record.type == WF_CLOG2_MSGEVT && record.values[0] == WF_CLOG2_RECV &&
                   receives_later(walker->ahead_call)) {
            remember(&walker->ahead, message_of(&record));
        }
    }
    return ahead->first < ahead->n ? &ahead->items[ahead->first++] : NULL;
}

/* ---- ops ---- */

static void put(struct walk *walk, const struct wf_op *op)
{
    wf_spool_put(walk->spool, op, &walk->file->in.place);
}

static int64_t ps_between(double from, double to)
{
    return to > from ? (int64_t)llround((to - from) * 1e12) : 0;
}

/* Sets the communicator of an op, and gives it to the spool. Returns false if some of its
 * members are unknown. */
static bool set_comm(struct walk *walk, int32_t number, struct wf_op *op)
{
    const struct wf_clog2_comm *comm = wf_clog2_comm(walk->tables, number);

    if (comm == NULL || comm->number == 0) { /* the world has number 0 in the log and in weft */
        op->comm = WF_COMM_WORLD;
        return comm != NULL;
    }
    op->comm = (uint32_t)(comm - walk->tables->comms) + 1;
    struct wf_group group;
    return wf_group_of(op->comm, comm->size, comm->members, walk->rank, &group) &&
           wf_spool_group(walk->spool, walk->rank, op->comm, &group, NULL);
}

/* Sets the op of a message. Returns false if its communicator or its peer is unknown. */
static bool set_message(struct walk *walk, const struct message *message, struct wf_op *op)
{
    uint32_t peer = wf_clog2_rank(walk->tables, message->comm, message->peer);

    op->peer = (uint32_t)message->peer;
    op->tag = message->tag < 0 ? 0 : message->tag;
    op->bytes = message->bytes;
    if (peer == UINT32_MAX) {
        walk->tables->n_lost++;
        return false;
    }
    if (!set_comm(walk, message->comm, op)) {
        /* For messages between two groups, the log names the communicator of the other group,
         * of which this rank is no member. */
        op->peer = peer;
        op->comm = WF_COMM_WORLD;
        walk->tables->n_between++;
    }
    return true;
}

static void put_call(struct walk *walk)
{
    const struct wf_clog2_state *call = walk->at->call;
    const struct wf_op op = {.kind = WF_OP_CALL, .tag = (int32_t)call->record};

    wf_spool_compute(walk->spool, walk->rank, ps_between(walk->at->entered, walk->record.time),
                     walk->err);
    wf_spool_name(walk->spool, WF_NAME_CALL, call->record, call->name);
    put(walk, &op);
}

static void put_message(struct walk *walk, enum wf_op_kind kind, const struct message *message)
{
    struct wf_op op = {.kind = kind};

    if (!set_message(walk, message, &op)) {
        return;
    }
    if (wf_op_info(kind)->returns_request) {
        bool receives = wf_op_info(kind)->family == WF_FAMILY_RECV;
        op.request =
            wf_open_requests_add(&walk->at->requests, receives ? NAME_RECV : NAME_SEND)->number;
    }
    put(walk, &op);
}

/* ---- ends of calls ---- */

/* Completes the oldest request with this name. Returns false if there is none. */
static bool complete(struct walker *walker, int64_t name)
{
    wf_open_requests_call(&walker->requests);
    struct wf_open_request *request = wf_open_requests_find(&walker->requests, name);

    if (request != NULL) {
        wf_buf_append(&walker->done, &request->number, sizeof(request->number));
        wf_open_requests_remove(&walker->requests, request);
    }
    return request != NULL;
}

static void end_irecv(struct walk *walk)
{
    const struct message *message = next_received(walk);

    if (message != NULL) {
        put_message(walk, WF_OP_IRECV, message);
    } else {
        put_call(walk);
    }
}

static void end_wait(struct walk *walk)
{
    struct walker *walker = walk->at;

    if (walker->call->role == WF_CLOG2_WAITALL) {
        while (complete(walker, NAME_SEND)) {
        }
    } else if (walker->call->role == WF_CLOG2_WAITS && walker->done.size == 0) {
        (void)complete(walker, NAME_SEND);
    }
    if (walker->done.size == 0) {
        put_call(walk);
    } else {
        wf_spool_waits(walk->spool, &walker->done, &walk->file->in.place);
    }
}

static void end_sendrecv(struct walk *walk)
{
    const struct walker *walker = walk->at;
    struct wf_op to = {.tag = 0}, from = {.tag = 0};
    bool received = walker->has_received && set_message(walk, &walker->received, &from);
    bool sent = walker->has_sent && set_message(walk, &walker->sent, &to);

    wf_spool_sendrecv(walk->spool, sent ? &to : NULL, received ? &from : NULL,
                      &walk->file->in.place);
}

static void end_barrier(struct walk *walk)
{
    struct wf_op op = {.kind = WF_OP_BARRIER};

    if (set_comm(walk, walk->at->comm, &op)) {
        put(walk, &op);
    } else {
        put_call(walk);
    }
}

static void end_call(struct walk *walk)
{
    struct walker *walker = walk->at;

    switch (walker->call->role) {
    case WF_CLOG2_SENDS:
        if (!walker->has_sent) {
            put_call(walk);
        }
        break;
    case WF_CLOG2_RECEIVES:
        if (walker->has_received) {
            put_message(walk, WF_OP_RECV, &walker->received);
        } else {
            put_call(walk);
        }
        break;
    case WF_CLOG2_IRECV:
        end_irecv(walk);
        break;
    case WF_CLOG2_BOTH:
        end_sendrecv(walk);
        break;
    case WF_CLOG2_WAITS:
    case WF_CLOG2_WAITALL:
    case WF_CLOG2_TESTS:
        end_wait(walk);
        break;
    case WF_CLOG2_BARRIER:
        end_barrier(walk);
        break;
    case WF_CLOG2_COLLECTIVE:
        walk->tables->n_collectives++;
        put_call(walk);
        break;
    case WF_CLOG2_OTHER:
    case WF_CLOG2_INNER:
    case WF_CLOG2_PAUSE:
    case WF_CLOG2_REGION:
        put_call(walk);
        break;
    }
}

/* ---- records ---- */

/* Writes the computing up to now. */
static void pass_time(struct walk *walk)
{
    struct walker *walker = walk->at;
    double now = walk->record.time;
    int64_t ps = walker->begun ? ps_between(walker->latest, now) : 0;

    walker->first = walker->begun ? walker->first : now;
    walker->begun = true;
    walker->latest = now;
    wf_spool_compute(walk->spool, walk->rank, ps, walk->err);
}

/* Writes the beginning or the end of a state that is no MPI call. */
static void on_region(struct walk *walk, bool begins, const struct wf_clog2_state *state)
{
    if (state->role == WF_CLOG2_INNER || walk->at->call != NULL) {
        return;
    }
    if (state->role == WF_CLOG2_PAUSE && !begins) {
        walk->at->latest = walk->record.time;
        return;
    }
    pass_time(walk);
    if (state->role == WF_CLOG2_REGION) {
        const struct wf_op op = {.kind = begins ? WF_OP_REGION_BEGIN : WF_OP_REGION_END,
                                 .tag = (int32_t)state->record};
        wf_spool_name(walk->spool, WF_NAME_REGION, state->record, state->name);
        put(walk, &op);
    }
}

static void on_event(struct walk *walk)
{
    struct walker *walker = walk->at;
    bool begins = false;
    const struct wf_clog2_state *state =
        wf_clog2_state(walk->tables, walk->record.values[0], &begins);

    if (state == NULL) {
        return;
    }
    if (state->role >= WF_CLOG2_INNER) {
        on_region(walk, begins, state);
    } else if (begins && walker->call == NULL) {
        pass_time(walk);
        walker->call = state;
        walker->comm = walk->record.comm;
        walker->entered = walk->record.time;
        walker->has_sent = false;
        walker->has_received = false;
        walker->done.size = 0;
    } else if (!begins && walker->call == state) {
        end_call(walk);
        walker->call = NULL;
        walker->latest = walk->record.time;
    }
}

static void on_send(struct walk *walk, enum wf_clog2_role role)
{
    struct walker *walker = walk->at;
    enum wf_op_kind kind = role == WF_CLOG2_SENDS ? walker->call->kind : WF_OP_SEND;

    walker->sent = message_of(&walk->record);
    walker->has_sent = true;
    /* A persistent send is written as an isend when it starts. */
    kind = wf_op_info(kind)->family == WF_FAMILY_START ? WF_OP_ISEND : kind;
    if (role != WF_CLOG2_BOTH) {
        put_message(walk, kind, &walker->sent);
    }
}

static void on_receive(struct walk *walk, enum wf_clog2_role role)
{
    struct walker *walker = walk->at;

    if (receives_later(walker->call)) {
        /* The message belongs to the oldest irecv. If the log has no irecv for it, write a
         * receive, and remove the message from the queue so that no later irecv takes it. */
        if (!complete(walker, NAME_RECV)) {
            const struct message message = message_of(&walk->record);
            (void)next_received(walk);
            put_message(walk, WF_OP_RECV, &message);
        }
        return;
    }
    walker->received = message_of(&walk->record);
    walker->has_received = true;
    if (role != WF_CLOG2_BOTH && role != WF_CLOG2_RECEIVES) {
        put_message(walk, WF_OP_RECV, &walker->received);
    }
}

static void walk_records(struct walk *walk)
{
    wf_clog2_rewind(walk->file);
    while (wf_clog2_next(walk->file, &walk->record)) {
        walk->rank = wf_clog2_rank(walk->tables, walk->record.comm, walk->record.rank);
        if (walk->rank == UINT32_MAX) {
            continue;
        }
        walk->at = &walk->ranks[walk->rank];
        walk->file->in.place.rank = walk->rank;
        enum wf_clog2_role role =
            walk->at->call != NULL ? walk->at->call->role : WF_CLOG2_OTHER;
        if (wf_clog2_is_event(&walk->record)) {
            on_event(walk);
        } else if (walk->record.type == WF_CLOG2_MSGEVT) {
            (walk->record.values[0] == WF_CLOG2_SEND ? on_send : on_receive)(walk, role);
        }
    }
}

void wf_clog2_walk(struct wf_clog2_file *file, struct wf_clog2_tables *tables,
                   struct wf_spool *spool)
{
    struct walk walk = {
        .file = file, .tables = tables, .spool = spool, .err = file->in.place.err};

    wf_clog2_open(&walk.ahead, file->in.place.path, walk.err);
    walk.ranks = wf_xcalloc(file->n_ranks, sizeof(*walk.ranks));
    walk_records(&walk);
    for (uint32_t rank = 0; rank < file->n_ranks; rank++) {
        struct walker *walker = &walk.ranks[rank];
        if (walker->begun) {
            wf_spool_wall(spool, rank, ps_between(walker->first, walker->latest));
        }
        wf_open_requests_fini(&walker->requests);
        free(walker->ahead.items);
        wf_buf_fini(&walker->done);
    }
    free(walk.ranks);
    wf_clog2_close(&walk.ahead);
}
