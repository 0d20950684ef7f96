/* SPDX-License-Identifier: Apache-2.0 */
/* Writes OTF2 archives, each in a directory of its own. Ops become calls that take no time. */
#include "base/buf.h"
#include "base/map.h"
#include "program/ops/fields.h"
#include "program/trace/kit/basic.h"
#include "program/trace/otf2/coll.h"
#include "program/trace/otf2/out.h"
#include "program/trace/spool/writer.h"

#include <stdio.h>
#include <string.h>

/* A request: the events to write when it starts (if persistent) and when it is complete. */
struct request {
    struct wf_otf2_event begin, end;
    bool active, known;
};

struct writing {
    struct wf_otf2_out *out;
    const struct wf_source *source;
    struct wf_losses *losses;
    struct wf_map regions; /* (enum region_type, number): region + 1 */
    struct wf_map comms;   /* (id, first member): communicator number */
    struct wf_buf members;
    /* State of the present rank. */
    uint32_t rank;
    uint64_t now, n_requests;
    uint32_t last_comm, last_number; /* result of the last lookup; 0: none */
    struct wf_basic_requests requests;
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

/* What a region stands for: the call of a kind of op, a name of the source, or iterations. */
enum region_type { OF_KIND, OF_CALL, OF_REGION, OF_ITERATION };

/* Returns the region for this type and number. Defines it with the name if it is new. */
static uint32_t region_of(struct writing *w, enum region_type type, uint32_t number,
                          const char *name)
{
    uint64_t *region = wf_map_put(&w->regions, (uint64_t)type << 32 | number);

    if (*region == 0) {
        bool is_mpi = type == OF_KIND || type == OF_CALL;
        *region = wf_otf2_out_region(w->out, name, is_mpi) + UINT64_C(1);
    }
    return (uint32_t)(*region - 1);
}

/* Returns the region of the MPI call of a kind of op: comm_dup is MPI_Comm_dup. */
static uint32_t region_of_kind(struct writing *w, enum wf_op_kind kind)
{
    char name[64];

    (void)snprintf(name, sizeof(name), "MPI_%s", wf_op_name(kind));
    name[4] = (char)(name[4] - 'a' + 'A'); /* all names begin with a lower-case letter */
    return region_of(w, OF_KIND, kind, name);
}

/* Returns the region for a name of the source, which is null if the source has none. */
static uint32_t region_of_name(struct writing *w, enum region_type type, int32_t number,
                               const char *name)
{
    char unnamed[32];
    bool known = number >= 0 && number < 1 << 24;
    uint32_t shown = known ? (uint32_t)number : 1U << 24;

    (void)snprintf(unnamed, sizeof(unnamed), "%s %u", type == OF_CALL ? "call" : "region",
                   shown);
    return region_of(w, type, shown, known && name != NULL ? name : unnamed);
}

static void enter(struct writing *w, uint32_t region)
{
    put(w, (struct wf_otf2_event){.kind = WF_OTF2_ENTER, .region = region});
}

static void leave(struct writing *w, uint32_t region)
{
    put(w, (struct wf_otf2_event){.kind = WF_OTF2_LEAVE, .region = region});
}

/* Writes a call that contains one event. */
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
    if (comm == WF_COMM_WORLD) {
        return 0;
    }
    if (comm != w->last_comm) {
        uint64_t key = (uint64_t)group->id << 32 | wf_group_rank(group, 0);
        uint64_t *number = wf_map_put(&w->comms, key);
        if (*number == 0) { /* the communicator is new; 0 is the world */
            w->members.size = 0;
            for (uint32_t r = 0; r < group->size; r++) {
                uint32_t rank = wf_group_rank(group, r);
                wf_buf_append(&w->members, &rank, sizeof(rank));
            }
            const uint32_t *ranks = (const uint32_t *)(const void *)w->members.data;
            *number = wf_otf2_out_comm(w->out, ranks, group->size);
        }
        w->last_comm = comm;
        w->last_number = (uint32_t)*number;
    }
    return w->last_number;
}

/* ---- requests ---- */

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
    struct request *request = wf_basic_requests_find(&w->requests, number);

    if (request != NULL && request->active) {
        put(w, request->end);
        request->active = false;
    }
}

/* ---- messages ---- */

/* Sets the source and the tag of a receive. A wildcard receive gets those of the message that
 * it matched. Returns false if that is not known. */
static bool set_source(const struct writing *w, const struct wf_op *op, uint32_t asked,
                       int32_t tag, struct wf_otf2_event *event)
{
    if (asked == WF_ANY_SOURCE || tag == WF_ANY_TAG) {
        if (!op->recorded) {
            lose(w, "wildcard receives whose match is not known, left out");
            return false;
        }
        asked = op->matched_peer;
        tag = op->matched_tag;
        lose(w, "wildcard receives, written as what they matched");
    }
    event->peer = asked;
    event->tag = (uint32_t)tag;
    return asked != WF_PROC_NULL;
}

static void on_message(struct writing *w, const struct wf_op *op, const struct wf_group *group)
{
    const struct wf_op_info *info = wf_op_info(op->kind);
    bool persistent = info->family == WF_FAMILY_PERSISTENT;
    bool receives = wf_basic_receives(op->kind);
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
    struct request *request = wf_basic_requests_make(&w->requests, op->request);
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
        struct request *request = wf_basic_requests_find(&w->requests, wf_op_request_at(op, i));
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
    bool rooted = (wf_op_layout_of(op->kind)->flags & WF_HAS_ROOT) != 0;
    struct wf_otf2_event event = {.kind = blocking ? WF_OTF2_COLL_END : WF_OTF2_ICOLL_COMPLETE,
                                  .region = number,
                                  .comm = comm_of(w, op->comm, group),
                                  .peer = rooted ? op->root : UINT32_MAX,
                                  .bytes = sizes.sent,
                                  .received = sizes.received};
    if (wf_op_layout_of(op->kind)->n_arrays > 0) {
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
    struct request *request = wf_basic_requests_make(&w->requests, op->request);
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
        region = region_of_name(w, OF_CALL, op->tag, name);
    }
    enter(w, region);
    leave(w, region);
}

static void on_marker(struct writing *w, const struct wf_op *op)
{
    bool is_region = op->kind == WF_OP_REGION_BEGIN || op->kind == WF_OP_REGION_END;
    bool begins = op->kind == WF_OP_REGION_BEGIN || op->kind == WF_OP_ITERATION_BEGIN;
    uint32_t region = 0;

    if (is_region) {
        const char *name = op->tag >= 0
                               ? wf_source_name_of(w->source, WF_NAME_REGION, (uint32_t)op->tag)
                               : NULL;
        region = region_of_name(w, OF_REGION, op->tag, name);
    } else { /* iterations have no names */
        region = region_of(w, OF_ITERATION, 0, "iteration");
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
    case WF_FAMILY_FILE:
        lose(w, "probes, one-sided operations, operations on files, calls that make "
                "communicators or free requests, written as calls");
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

/* The library has a large buffer for each open location, so ranks are written one after
 * another. */
static enum wf_status write_ops(const struct wf_sheet *sheet, const struct wf_source *source,
                                struct wf_err *err)
{
    struct writing w = {.source = source,
                        .losses = sheet->losses,
                        .requests = {.size = sizeof(struct request)}};
    struct wf_cursor cursor;
    struct wf_op op;

    WF_TRY(wf_otf2_out_open(wf_target_place(sheet->target), sheet->path, sheet->n_ranks,
                            sheet->creator, &w.out, err));
    for (w.rank = 0; w.rank < source->n_ranks; w.rank++) {
        memset(&cursor, 0, sizeof(cursor));
        w.now = 0;
        w.n_requests = 0;
        w.last_comm = 0;
        wf_otf2_out_rank(w.out, w.rank);
        put(&w, (struct wf_otf2_event){.kind = WF_OTF2_PROGRAM_BEGIN});
        while (wf_source_next(source, w.rank, &cursor, &op)) {
            put_op(&w, &op);
        }
        put(&w, (struct wf_otf2_event){.kind = WF_OTF2_PROGRAM_END});
        wf_basic_requests_fini(&w.requests);
    }
    wf_map_fini(&w.regions);
    wf_map_fini(&w.comms);
    wf_buf_fini(&w.members);
    enum wf_status status = wf_source_check(source, err);
    if (status != WF_OK) {
        wf_otf2_out_discard(w.out);
        return status;
    }
    return wf_otf2_out_finish(w.out, err);
}

/* ---- the writer ---- */

static const struct wf_spooled_format format = {
    .ops = &wf_otf2_writer_ops, .sheet = WF_SHEET_DIRECTORY, .write = write_ops};

static enum wf_status create(const char *path, const struct wf_trace_writer_options *options,
                             struct wf_trace_writer **out, struct wf_err *err)
{
    WF_TRY(wf_otf2_has_library(err));
    return wf_spooled_create(&format, path, options, out, err);
}

const struct wf_trace_writer_ops wf_otf2_writer_ops = {
    .name = "otf2",
    .extension = ".otf2",
    .summary = "OTF2 through its library: a directory with traces.otf2 and its files",
    .lacks = "times within calls, lengths that differ in a collective, counters, recorded "
             "times, what reductions reduce with",
    .create = create,
    WF_SPOOLED_MEMBERS,
};
