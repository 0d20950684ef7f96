/* SPDX-License-Identifier: Apache-2.0 */
#include "base/int128.h"
#include "base/mem.h"
#include "trace/otf2/coll.h"
#include "trace/otf2/walk.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 64 };

int64_t wf_otf2_ps(const struct wf_otf2_walk *walk, uint64_t from, uint64_t to)
{
    if (to <= from) {
        return 0;
    }
    wf_u128 ps = (wf_u128)(to - from) * UINT64_C(1000000000000) / walk->defs->resolution;
    return ps > INT64_MAX ? INT64_MAX : (int64_t)ps;
}

enum wf_status wf_otf2_put(struct wf_otf2_walk *walk, const struct wf_op *op)
{
    enum wf_status status = wf_spool_op(walk->spool, walk->rank, op, walk->err);

    walk->has_op = true;
    if (status == WF_EINVAL) {
        wf_err_prefix(walk->err, "rank %u, event %llu: ", walk->rank,
                      (unsigned long long)walk->number);
    }
    return status;
}

enum wf_status wf_otf2_put_call(struct wf_otf2_walk *walk, uint64_t now)
{
    struct wf_trace_writer *writer = wf_spool_writer(walk->spool);
    uint32_t number = (uint32_t)(walk->call - walk->defs->regions);
    struct wf_op op = {.kind = walk->role.kind, .tag = (int32_t)number};

    op.kind = wf_op_info(op.kind)->family == WF_FAMILY_CALL ? op.kind : WF_OP_CALL;
    if (op.kind == WF_OP_CALL && !walk->call->is_told) {
        writer->ops->name_of(writer, WF_NAME_CALL, number,
                             wf_otf2_defs_name(walk->defs, walk->call));
        walk->defs->regions[number].is_told = true;
    }
    enum wf_status status = wf_spool_compute(walk->spool, walk->rank,
                                             wf_otf2_ps(walk, walk->entered, now), walk->err);
    return status == WF_OK ? wf_otf2_put(walk, &op) : status;
}

/* ---- communicators ---- */

static bool tell(struct wf_otf2_walk *walk, uint32_t place, uint32_t number,
                 const struct wf_group *group)
{
    struct wf_trace_writer *writer = wf_spool_writer(walk->spool);

    if ((walk->told[place / WORD] >> (place % WORD) & 1) != 0) {
        return true;
    }
    if (writer->ops->group(writer, walk->rank, number, group, walk->err) != WF_OK) {
        return false;
    }
    walk->told[place / WORD] |= UINT64_C(1) << (place % WORD);
    return true;
}

/* Sets the communicator of an op, and tells the writer what it is. False if it is not known. */
static bool set_comm(struct wf_otf2_walk *walk, uint32_t id, struct wf_op *op,
                     struct wf_group *group)
{
    const struct wf_otf2_comm *comm = wf_otf2_defs_find_comm(walk->defs, id);

    if (comm == NULL || (comm->ranks == NULL && !comm->is_self)) {
        walk->n_inter += comm != NULL && comm->is_inter ? 1 : 0;
        return false;
    }
    uint32_t place = (uint32_t)(comm - walk->defs->comms);
    op->comm = comm->is_world ? WF_COMM_WORLD : place + 1;
    *group = (struct wf_group){.id = place + 1, .size = 1, .stride = 1, .width = 1};
    if (comm->is_self) {
        group->first = walk->rank;
        return tell(walk, place, op->comm, group);
    }
    group->size = comm->n;
    group->members = comm->ranks;
    if (comm->is_world) {
        group->rank = walk->rank;
        return true;
    }
    while (group->rank < comm->n && comm->ranks[group->rank] != walk->rank) {
        group->rank++;
    }
    return group->rank < comm->n && tell(walk, place, op->comm, group);
}

/* ---- messages ---- */

static bool set_message(struct wf_otf2_walk *walk, const struct wf_otf2_event *event,
                        struct wf_op *op)
{
    struct wf_group group;

    op->peer = event->peer;
    op->tag = event->tag > INT32_MAX ? 0 : (int32_t)event->tag;
    op->bytes = event->bytes;
    if (!set_comm(walk, event->comm, op, &group) || event->peer >= group.size ||
        event->bytes > INT64_MAX) {
        walk->n_lost++;
        return false;
    }
    return true;
}

enum wf_status wf_otf2_message(struct wf_otf2_walk *walk, const struct wf_otf2_event *event)
{
    bool sends = walk->call != NULL && walk->role.role == WF_OTF2_SENDS;
    bool nonblocking = event->kind == WF_OTF2_ISEND;
    struct wf_op op = {.kind = WF_OP_RECV};

    if (event->kind != WF_OTF2_RECV) {
        op.kind = nonblocking ? WF_OP_ISEND : WF_OP_SEND;
        if (sends && wf_op_info(walk->role.kind)->returns_request == nonblocking) {
            op.kind = walk->role.kind;
        }
    }
    if (!set_message(walk, event, &op)) {
        return WF_OK;
    }
    if (nonblocking) {
        op.request = wf_open_requests_add(&walk->requests, (int64_t)event->request)->number;
    }
    return wf_otf2_put(walk, &op);
}

enum wf_status wf_otf2_sendrecv(struct wf_otf2_walk *walk)
{
    struct wf_op op = {.kind = WF_OP_SENDRECV, .peer = WF_PROC_NULL}, from = {.tag = 0};

    if (walk->has_received && set_message(walk, &walk->received, &from)) {
        op.comm = from.comm;
    } else {
        from = (struct wf_op){.peer = WF_PROC_NULL};
    }
    if (walk->has_sent && !set_message(walk, &walk->sent, &op)) {
        op.peer = WF_PROC_NULL;
    }
    op.recv_peer = from.peer;
    op.recv_tag = from.tag;
    op.recv_bytes = from.bytes;
    return wf_otf2_put(walk, &op);
}

/* ---- collectives ---- */

enum wf_status wf_otf2_collective(struct wf_otf2_walk *walk, const struct wf_otf2_event *event,
                                  bool blocking, uint32_t request)
{
    const struct wf_otf2_sizes sizes = {event->bytes, event->received};
    struct wf_op op = {.kind = wf_otf2_coll_kind(event->region, blocking),
                       .request = request,
                       .root = event->peer};
    struct wf_group group;
    bool equal = false;

    if (op.kind == WF_OP_CALL) {
        return WF_OK;
    }
    if (!set_comm(walk, event->comm, &op, &group) || sizes.sent > INT64_MAX ||
        sizes.received > INT64_MAX) {
        walk->n_lost++;
        return WF_OK;
    }
    bool rooted = op.kind != WF_OP_BARRIER && event->peer < group.size;
    op.root = rooted ? event->peer : 0;
    wf_otf2_coll_read(&op, &group, &sizes, &walk->counts, &equal);
    if (wf_otf2_sums_set(walk->sums, walk->rank, event->number, &group, &op, &walk->counts)) {
        equal = op.recv_counts != NULL;
    }
    walk->n_equal += equal ? 1 : 0;
    return wf_otf2_put(walk, &op);
}

/* ---- requests ---- */

/* Remembers what the reader ahead saw become complete. */
static void remember(struct wf_otf2_walk *walk, const struct wf_otf2_event *event)
{
    uint32_t number = wf_open_requests_add(&walk->found, (int64_t)event->request)->number;

    if (number >= walk->outcomes_room) {
        walk->outcomes_room = number * 2 + 16;
        walk->outcomes =
            wf_xrealloc(walk->outcomes, walk->outcomes_room, sizeof(*walk->outcomes));
    }
    walk->outcomes[number] = *event;
}

/* What becomes of a request: *found is false if the events end before. */
static enum wf_status find_outcome(struct wf_otf2_walk *walk, uint64_t request,
                                   struct wf_otf2_event *out, bool *found)
{
    enum wf_status status = WF_OK;
    struct wf_open_request *known = NULL;

    for (;;) {
        wf_open_requests_call(&walk->found);
        known = wf_open_requests_find(&walk->found, (int64_t)request);
        if (known != NULL || walk->ahead_ended) {
            break;
        }
        struct wf_otf2_event event;
        bool more = true, matters = false;
        do {
            status = wf_otf2_in_next(walk->ahead, &event, &more, walk->err);
            matters = more && status == WF_OK &&
                      (event.kind == WF_OTF2_IRECV || event.kind == WF_OTF2_ICOLL_COMPLETE ||
                       event.kind == WF_OTF2_REQUEST_CANCELLED);
        } while (status == WF_OK && more && !matters);
        if (status != WF_OK) {
            return status;
        }
        walk->ahead_ended = !more;
        if (matters) {
            remember(walk, &event);
        }
    }
    *found = known != NULL;
    if (known != NULL) {
        *out = walk->outcomes[known->number];
        wf_open_requests_remove(&walk->found, known);
    }
    return WF_OK;
}

enum wf_status wf_otf2_begin_request(struct wf_otf2_walk *walk,
                                     const struct wf_otf2_event *event)
{
    struct wf_otf2_event outcome = {.kind = WF_OTF2_OTHER};
    struct wf_op op = {.kind = WF_OP_IRECV};
    bool found = false;

    enum wf_status status = find_outcome(walk, event->request, &outcome, &found);
    if (status != WF_OK || !found) {
        walk->n_unfinished += status == WF_OK ? 1 : 0;
        return status;
    }
    if (outcome.kind == WF_OTF2_ICOLL_COMPLETE) {
        uint64_t lost = walk->n_lost;
        struct wf_open_request *request =
            wf_open_requests_add(&walk->requests, (int64_t)event->request);
        status = wf_otf2_collective(walk, &outcome, false, request->number);
        if (walk->n_lost > lost) {
            wf_open_requests_remove(&walk->requests, request);
        }
        return status;
    }
    /* A receive that was cancelled got nothing. */
    if (outcome.kind != WF_OTF2_IRECV || !set_message(walk, &outcome, &op)) {
        return WF_OK;
    }
    op.request = wf_open_requests_add(&walk->requests, (int64_t)event->request)->number;
    return wf_otf2_put(walk, &op);
}

void wf_otf2_complete(struct wf_otf2_walk *walk, uint64_t request)
{
    wf_open_requests_call(&walk->requests);
    struct wf_open_request *known = wf_open_requests_find(&walk->requests, (int64_t)request);
    if (known != NULL) {
        wf_buf_append(&walk->done, &known->number, sizeof(known->number));
        wf_open_requests_remove(&walk->requests, known);
    }
}

enum wf_status wf_otf2_put_waits(struct wf_otf2_walk *walk)
{
    uint32_t n = (uint32_t)(walk->done.size / sizeof(uint32_t));
    struct wf_op op = {.kind = n == 1 ? WF_OP_WAIT : WF_OP_WAITALL, .count = n};

    if (n == 0) {
        return WF_OK;
    }
    op.requests = (const uint32_t *)(const void *)walk->done.data;
    op.request = op.requests[0];
    walk->done.size = 0;
    return wf_otf2_put(walk, &op);
}
