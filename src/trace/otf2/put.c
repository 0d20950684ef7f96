/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/otf2/put.h"

#include "base/buf.h"
#include "base/mem.h"
#include "ops/fields.h"
#include "trace/kit/completion.h"
#include "trace/kit/open_requests.h"
#include "trace/otf2/coll.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A request: what is written when it is complete, or of a persistent one when it starts. */
struct request {
    struct wf_otf2_event begin, end;
    bool active, known;
};

/* A communicator that is defined. */
struct comm {
    uint32_t id, first, number;
};

struct writing {
    struct wf_otf2_out *out;
    const struct wf_source *source;
    struct wf_losses *losses;
    uint32_t kinds[WF_OP_KINDS];  /* regions of calls, or WF_OTF2_NONE */
    struct wf_buf calls, regions; /* of uint32_t: regions by the numbers of names */
    struct comm *comms;
    uint32_t n_comms, comms_room;
    struct wf_buf members;
    /* Of the rank. */
    uint32_t rank;
    uint64_t now, n_requests;
    uint32_t last_comm, last_number; /* looked up before; 0: none */
    struct wf_open_requests names;
    struct request *requests; /* by the numbers of the names */
    uint32_t room;
};

static void lose(const struct writing *w, const char *what)
{
    wf_losses_add(w->losses, what);
}

static void put(struct writing *w, struct wf_otf2_event event)
{
    event.time = w->now;
    wf_otf2_out_event(w->out, &event);
}

/* ---- regions ---- */

/* The call of MPI that a kind is: comm_dup is MPI_Comm_dup. */
static uint32_t region_of_kind(struct writing *w, enum wf_op_kind kind)
{
    char name[64];

    if (w->kinds[kind] == WF_OTF2_NONE) {
        (void)snprintf(name, sizeof(name), "MPI_%s", wf_op_name(kind));
        name[4] = (char)(name[4] - 'a' + 'A'); /* all begin with a letter */
        w->kinds[kind] = wf_otf2_out_region(w->out, name, true);
    }
    return w->kinds[kind];
}

/* The region that a number of a name is. */
static uint32_t region_of_name(struct writing *w, struct wf_buf *known, uint32_t number,
                               const char *name, bool is_mpi)
{
    uint32_t region = WF_OTF2_NONE;
    char unnamed[32];

    if (number >= 1U << 24) {
        number = 1U << 24; /* of no name */
        name = NULL;
    }
    while (known->size / sizeof(region) <= number) {
        wf_buf_append(known, &region, sizeof(region));
    }
    memcpy(&region, known->data + number * sizeof(region), sizeof(region));
    if (region == WF_OTF2_NONE) {
        (void)snprintf(unnamed, sizeof(unnamed), "%s %u", is_mpi ? "call" : "region", number);
        region = wf_otf2_out_region(w->out, name != NULL ? name : unnamed, is_mpi);
        memcpy(known->data + number * sizeof(region), &region, sizeof(region));
    }
    return region;
}

static void enter(struct writing *w, uint32_t region)
{
    put(w, (struct wf_otf2_event){.kind = WF_OTF2_ENTER, .region = region});
}

static void leave(struct writing *w, uint32_t region)
{
    put(w, (struct wf_otf2_event){.kind = WF_OTF2_LEAVE, .region = region});
}

/* A call with one event in it. */
static void put_in(struct writing *w, enum wf_op_kind kind, struct wf_otf2_event event)
{
    uint32_t region = region_of_kind(w, kind);

    enter(w, region);
    put(w, event);
    leave(w, region);
}

/* ---- communicators ---- */

static uint32_t comm_of(struct writing *w, uint32_t comm, const struct wf_group *group)
{
    uint32_t first = wf_group_rank(group, 0), i = 0;

    if (comm == WF_COMM_WORLD) {
        return 0;
    }
    if (comm == w->last_comm) {
        return w->last_number;
    }
    while (i < w->n_comms && (w->comms[i].id != group->id || w->comms[i].first != first)) {
        i++;
    }
    if (i == w->n_comms) {
        w->members.size = 0;
        for (uint32_t r = 0; r < group->size; r++) {
            uint32_t rank = wf_group_rank(group, r);
            wf_buf_append(&w->members, &rank, sizeof(rank));
        }
        if (w->n_comms == w->comms_room) {
            w->comms_room = w->comms_room * 2 + 16;
            w->comms = wf_xrealloc(w->comms, w->comms_room, sizeof(*w->comms));
        }
        const uint32_t *ranks = (const uint32_t *)(const void *)w->members.data;
        w->comms[w->n_comms++] =
            (struct comm){group->id, first, wf_otf2_out_comm(w->out, ranks, group->size)};
    }
    w->last_comm = comm;
    w->last_number = w->comms[i].number;
    return w->last_number;
}

/* ---- requests ---- */

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
    *known = (struct request){.known = false};
    return known;
}

static void start(struct writing *w, struct request *request, enum wf_op_kind kind)
{
    if (request->known && !request->active) {
        request->active = true;
        request->begin.request = ++w->n_requests;
        request->end.request = w->n_requests;
        put_in(w, kind, request->begin);
    }
}

static void complete(void *arg, uint32_t number)
{
    struct writing *w = arg;
    struct request *request = find_request(w, number);

    if (request != NULL && request->active) {
        put(w, request->end);
        request->active = false;
    }
}

/* ---- messages ---- */

/* An open receive is written as what it got; false if that is not known. */
static bool set_source(const struct writing *w, const struct wf_op *op, uint32_t asked,
                       int32_t tag, struct wf_otf2_event *event)
{
    if (asked == WF_ANY_SOURCE || tag == WF_ANY_TAG) {
        if (!op->recorded) {
            lose(w, "open receives of which it is not known what they got, left out");
            return false;
        }
        asked = op->matched_peer;
        tag = op->matched_tag;
        lose(w, "open receives, written as what they got");
    }
    event->peer = asked;
    event->tag = (uint32_t)tag;
    return asked != WF_PROC_NULL;
}

static void on_message(struct writing *w, const struct wf_op *op, const struct wf_group *group)
{
    const struct wf_op_info *info = wf_op_info(op->kind);
    bool persistent = info->family == WF_FAMILY_PERSISTENT;
    bool receives = info->family == WF_FAMILY_RECV || op->kind == WF_OP_RECV_INIT;
    struct wf_otf2_event event = {.peer = op->peer,
                                  .tag = (uint32_t)op->tag,
                                  .comm = comm_of(w, op->comm, group),
                                  .bytes = op->bytes};
    bool known =
        receives ? set_source(w, op, op->peer, op->tag, &event) : op->peer != WF_PROC_NULL;

    if (!info->returns_request && !persistent) {
        event.kind = receives ? WF_OTF2_RECV : WF_OTF2_SEND;
        if (known) {
            put_in(w, op->kind, event);
        }
        return;
    }
    struct request *request = make_request(w, op->request);
    request->known = known;
    request->begin = event;
    request->end = event;
    request->begin.kind = receives ? WF_OTF2_IRECV_REQUEST : WF_OTF2_ISEND;
    request->end.kind = receives ? WF_OTF2_IRECV : WF_OTF2_ISEND_COMPLETE;
    if (!persistent) {
        start(w, request, op->kind);
    } else {
        lose(w, "persistent requests, written as those of each start");
    }
}

static void on_sendrecv(struct writing *w, const struct wf_op *op, const struct wf_group *group)
{
    struct wf_otf2_event to = {.kind = WF_OTF2_SEND,
                               .peer = op->peer,
                               .tag = (uint32_t)op->tag,
                               .comm = comm_of(w, op->comm, group),
                               .bytes = op->bytes};
    struct wf_otf2_event from = {
        .kind = WF_OTF2_RECV, .comm = to.comm, .bytes = op->recv_bytes};
    uint32_t region = region_of_kind(w, op->kind);

    enter(w, region);
    if (to.peer != WF_PROC_NULL) {
        put(w, to);
    }
    if (set_source(w, op, op->recv_peer, op->recv_tag, &from)) {
        put(w, from);
    }
    leave(w, region);
}

static void on_completion(struct writing *w, const struct wf_op *op)
{
    uint32_t region = region_of_kind(w, op->kind);

    enter(w, region);
    (void)wf_completion_visit(op, complete, w, w->losses);
    leave(w, region);
}

static void on_start(struct writing *w, const struct wf_op *op)
{
    uint32_t n = op->kind == WF_OP_STARTALL ? op->count : 1;

    for (uint32_t i = 0; i < n; i++) {
        struct request *request = find_request(w, wf_op_request_at(op, i));
        if (request != NULL) {
            start(w, request, WF_OP_START);
        }
    }
}

/* ---- collectives ---- */

static void on_collective(struct writing *w, const struct wf_op *op,
                          const struct wf_group *group)
{
    uint32_t number = wf_otf2_coll_number(op->kind);
    bool blocking = !wf_op_info(op->kind)->returns_request;

    if (number == UINT32_MAX) {
        lose(w, "collectives of neighbours, left out");
        return;
    }
    struct wf_otf2_sizes sizes = wf_otf2_coll_sizes(op, group);
    bool rooted = (wf_layout_of(op->kind)->flags & WF_HAS_ROOT) != 0;
    struct wf_otf2_event event = {.kind = blocking ? WF_OTF2_COLL_END : WF_OTF2_ICOLL_COMPLETE,
                                  .region = number,
                                  .comm = comm_of(w, op->comm, group),
                                  .peer = rooted ? op->root : UINT32_MAX,
                                  .bytes = sizes.sent,
                                  .received = sizes.received};
    if (wf_layout_of(op->kind)->n_arrays > 0) {
        lose(w, "collectives with lengths of their own for each rank: only the sums");
    }
    if (blocking) {
        uint32_t region = region_of_kind(w, op->kind);
        enter(w, region);
        put(w, (struct wf_otf2_event){.kind = WF_OTF2_COLL_BEGIN});
        put(w, event);
        leave(w, region);
        return;
    }
    struct request *request = make_request(w, op->request);
    request->known = true;
    request->begin = (struct wf_otf2_event){.kind = WF_OTF2_ICOLL_REQUEST};
    request->end = event;
    start(w, request, op->kind);
}

/* ---- ranks ---- */

static void on_call(struct writing *w, const struct wf_op *op)
{
    uint32_t region = region_of_kind(w, op->kind);

    if (op->kind == WF_OP_CALL) {
        const char *name =
            op->tag >= 0 ? wf_source_name_of(w->source, WF_NAME_CALL, (uint32_t)op->tag) : NULL;
        region = region_of_name(w, &w->calls, (uint32_t)op->tag, name, true);
    }
    enter(w, region);
    leave(w, region);
}

static void on_marker(struct writing *w, const struct wf_op *op)
{
    bool is_region = op->kind == WF_OP_REGION_BEGIN || op->kind == WF_OP_REGION_END;
    bool begins = op->kind == WF_OP_REGION_BEGIN || op->kind == WF_OP_ITERATION_BEGIN;
    const char *name =
        op->tag >= 0 ? wf_source_name_of(w->source, WF_NAME_REGION, (uint32_t)op->tag) : NULL;
    uint32_t region = region_of_name(w, &w->regions, (uint32_t)op->tag, name, false);

    if (!is_region) {
        lose(w, "beginnings and ends of iterations, written as those of regions");
    }
    if (begins) {
        enter(w, region);
    } else {
        leave(w, region);
    }
}

static void put_op(struct writing *w, const struct wf_op *op)
{
    struct wf_group group = {.size = 0};

    if (wf_op_has_comm(op->kind) && !wf_source_group(w->source, w->rank, op->comm, &group)) {
        return;
    }
    switch (wf_op_info(op->kind)->family) {
    case WF_FAMILY_COMPUTE:
        w->now += (uint64_t)op->duration;
        if (op->n_counters > 0) {
            lose(w, "counters");
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
        on_completion(w, op);
        break;
    case WF_FAMILY_COLLECTIVE:
        on_collective(w, op, &group);
        break;
    case WF_FAMILY_PROBE:
    case WF_FAMILY_ONESIDED:
    case WF_FAMILY_EPOCH:
    case WF_FAMILY_COMM:
    case WF_FAMILY_FREE:
        lose(w, "probes, one-sided operations, calls that make communicators or free "
                "requests, written as calls");
        on_call(w, op);
        break;
    case WF_FAMILY_MARKER:
        on_marker(w, op);
        break;
    case WF_FAMILY_CALL:
        on_call(w, op);
        break;
    }
}

static void put_rank(struct writing *w)
{
    struct wf_cursor cursor;
    struct wf_op op;

    memset(&cursor, 0, sizeof(cursor));
    w->now = 0;
    w->n_requests = 0;
    w->last_comm = 0;
    wf_otf2_out_rank(w->out, w->rank);
    put(w, (struct wf_otf2_event){.kind = WF_OTF2_PROGRAM_BEGIN});
    while (wf_source_next(w->source, w->rank, &cursor, &op)) {
        put_op(w, &op);
    }
    put(w, (struct wf_otf2_event){.kind = WF_OTF2_PROGRAM_END});
    wf_open_requests_fini(&w->names);
}

enum wf_status wf_otf2_put_source(struct wf_otf2_out *out, const struct wf_source *source,
                                  struct wf_losses *losses, struct wf_err *err)
{
    struct writing w = {.out = out, .source = source, .losses = losses};

    memset(w.kinds, 0xff, sizeof(w.kinds));
    for (w.rank = 0; w.rank < source->n_ranks; w.rank++) {
        put_rank(&w);
    }
    free(w.requests);
    free(w.comms);
    wf_buf_fini(&w.calls);
    wf_buf_fini(&w.regions);
    wf_buf_fini(&w.members);
    return wf_source_check(source, err);
}
