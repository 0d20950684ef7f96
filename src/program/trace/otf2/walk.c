/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/otf2/walk.h"

#include "base/array.h"
#include "base/int128.h"
#include "base/mem.h"
#include "base/units.h"
#include "program/trace/otf2/coll.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Events that are kept to look ahead. Few programs leave requests open for longer. */
enum { AHEAD_MAX = 1 << 14 };

/* ---- time ---- */

#define PS_OF_SECOND UINT64_C(1000000000000)

/* Returns the time between two clock values, in picoseconds. */
static int64_t ps_between(const struct wf_otf2_walk *walk, uint64_t from, uint64_t to)
{
    if (to <= from) {
        return 0;
    }
    uint64_t ticks = to - from, each = walk->ps_of_tick;
    if (each > 0 && ticks <= INT64_MAX / each) {
        return (int64_t)(ticks * each); /* without the division of long numbers */
    }
    wf_u128 ps = (wf_u128)ticks * PS_OF_SECOND / walk->defs->resolution;
    return ps > INT64_MAX ? INT64_MAX : (int64_t)ps;
}

/* Returns by how much a part of a span becomes shorter if the part takes `factor` times as
 * long. Sums of three of these fit. */
static int64_t saved(const struct wf_otf2_walk *walk, uint64_t ticks, double factor)
{
    const double most = (double)(INT64_MAX / 4);
    double ps = (double)ps_between(walk, 0, ticks) * (1 - factor);

    return llround(ps > most ? most : ps < -most ? -most : ps);
}

/* Adds what the accelerators did in a span of computing, and returns by how much the span
 * becomes shorter. Where kernels and copies run at once, the slower ones of both decide. */
static int64_t device_time(struct wf_otf2_walk *walk, const struct wf_otf2_busy *from,
                           const struct wf_otf2_busy *to)
{
    uint64_t kernels = to->kernels - from->kernels, copies = to->copies - from->copies,
             both = to->both - from->both;
    const struct wf_otf2_factors *factors = &walk->factors;
    double slower = factors->kernels > factors->copies ? factors->kernels : factors->copies;

    if (kernels + copies + both == 0) {
        return 0;
    }
    struct wf_trace_device *device = walk->device;
    device->computing_kernels =
        wf_time_add(device->computing_kernels, ps_between(walk, 0, kernels + both));
    device->computing_copies =
        wf_time_add(device->computing_copies, ps_between(walk, 0, copies + both));
    return saved(walk, kernels, factors->kernels) + saved(walk, copies, factors->copies) +
           saved(walk, both, slower);
}

/* What is known at a time of the rank. */
static struct wf_otf2_moment moment_at(struct wf_otf2_walk *walk, uint64_t time)
{
    struct wf_otf2_moment moment = {.time = time, .metric = walk->metric};

    if (walk->device != NULL) {
        moment.busy = wf_otf2_devices_at(&walk->devices, time);
    }
    return moment;
}

/* Returns the computing between two moments. */
static int64_t computing(struct wf_otf2_walk *walk, const struct wf_otf2_moment *from,
                         const struct wf_otf2_moment *to)
{
    int64_t less = walk->device != NULL ? device_time(walk, &from->busy, &to->busy) : 0;

    if (walk->defs->metrics.n_used > 0) {
        return to->metric > from->metric ? (int64_t)(to->metric - from->metric) : 0;
    }
    int64_t ps = ps_between(walk, from->time, to->time);
    if (less < 0) {
        return wf_time_add(ps, -less);
    }
    return less < ps ? ps - less : 0;
}

/* Notes values of metrics, which come before the event that they belong to. */
static void on_metric(struct wf_otf2_walk *walk, const struct wf_otf2_event *event)
{
    if (event->region == WF_OTF2_NONE) {
        return;
    }
    walk->metric += event->received - walk->metrics[event->region];
    walk->metrics[event->region] = event->received;
    /* What was before the first value is not known. */
    walk->latest.metric = walk->has_metric ? walk->latest.metric : walk->metric;
    walk->entered.metric = walk->has_metric ? walk->entered.metric : walk->metric;
    walk->has_metric = true;
}

/* Writes the computing up to now. */
static void pass_time(struct wf_otf2_walk *walk, uint64_t time)
{
    struct wf_otf2_moment now = moment_at(walk, time);
    int64_t ps = walk->begun ? computing(walk, &walk->latest, &now) : 0;

    walk->first = walk->begun ? walk->first : time;
    walk->begun = true;
    walk->latest = now;
    wf_spool_compute(walk->spool, walk->rank, ps, walk->place.err);
}

/* The time that the recorder took to write its buffer is not time of the program. */
static void on_flush(struct wf_otf2_walk *walk, uint64_t end)
{
    if (end > walk->latest.time) {
        uint64_t metric = walk->latest.metric;
        walk->latest = moment_at(walk, end);
        walk->latest.metric = metric;
    }
}

/* ---- ops ---- */

static void put(struct wf_otf2_walk *walk, const struct wf_op *op)
{
    walk->has_op = true;
    wf_spool_put(walk->spool, op, &walk->place);
}

/* Writes an op that names a region by its number. Gives the name to the spool once. */
static void put_named(struct wf_otf2_walk *walk, enum wf_op_kind kind, uint32_t number)
{
    const struct wf_op op = {.kind = kind, .tag = (int32_t)number};
    const struct wf_otf2_region *region = &walk->defs->regions[number];

    if (!walk->is_told[number] && kind != WF_OP_INIT && kind != WF_OP_FINALIZE) {
        wf_spool_name(walk->spool, kind == WF_OP_CALL ? WF_NAME_CALL : WF_NAME_REGION, number,
                      wf_otf2_defs_name(walk->defs, region));
        walk->is_told[number] = true;
    }
    put(walk, &op);
}

/* Sets the communicator of an op, and gives it to the spool. Returns false if it is unknown. */
static bool set_comm(struct wf_otf2_walk *walk, uint32_t id, struct wf_op *op,
                     struct wf_group *group)
{
    const struct wf_otf2_comm *comm = wf_otf2_defs_find_comm(walk->defs, id);

    if (comm == NULL || (comm->ranks == NULL && !comm->is_self)) {
        walk->n_inter += comm != NULL && comm->is_inter ? 1 : 0;
        return false;
    }
    uint32_t number = (uint32_t)(comm - walk->defs->comms) + 1;
    op->comm = comm->is_world ? WF_COMM_WORLD : number;
    *group = (struct wf_group){.id = number, .size = 1, .stride = 1, .width = 1};
    if (comm->is_self) {
        group->first = walk->rank;
    } else {
        group->size = comm->n;
        group->members = comm->ranks;
        group->rank = comm->is_world ? walk->rank : 0;
        while (group->rank < comm->n && comm->ranks[group->rank] != walk->rank) {
            group->rank++;
        }
    }
    return comm->is_world || (group->rank < group->size &&
                              wf_spool_group(walk->spool, walk->rank, number, group, NULL));
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

static void on_message(struct wf_otf2_walk *walk, const struct wf_otf2_event *event)
{
    bool both = walk->call != NULL && walk->kind == WF_OP_SENDRECV;
    bool nonblocking = event->kind == WF_OTF2_ISEND;
    struct wf_op op = {.kind = WF_OP_RECV};

    if (both && event->kind == WF_OTF2_SEND && !walk->has_sent) {
        walk->sent = *event;
        walk->has_sent = true;
        return;
    }
    if (both && event->kind == WF_OTF2_RECV && !walk->has_received) {
        walk->received = *event;
        walk->has_received = true;
        return;
    }
    if (event->kind != WF_OTF2_RECV) {
        const struct wf_op_info *info = wf_op_info(walk->kind);
        bool has_mode = walk->call != NULL && info->family == WF_FAMILY_SEND &&
                        info->returns_request == nonblocking;
        op.kind = has_mode ? walk->kind : nonblocking ? WF_OP_ISEND : WF_OP_SEND;
    }
    if (!set_message(walk, event, &op)) {
        return;
    }
    if (nonblocking) {
        op.request = wf_open_requests_add(&walk->requests, (int64_t)event->request)->number;
    }
    put(walk, &op);
}

static void put_sendrecv(struct wf_otf2_walk *walk)
{
    struct wf_op to = {.tag = 0}, from = {.tag = 0};
    bool received = walk->has_received && set_message(walk, &walk->received, &from);
    bool sent = walk->has_sent && set_message(walk, &walk->sent, &to);

    walk->has_op = true;
    wf_spool_sendrecv(walk->spool, sent ? &to : NULL, received ? &from : NULL, &walk->place);
}

/* ---- collectives ---- */

/* Writes a collective; it is blocking if `request` is 0. Returns false if it is no op. */
static bool put_collective(struct wf_otf2_walk *walk, const struct wf_otf2_event *event,
                           uint32_t request)
{
    const struct wf_otf2_sizes sizes = {event->bytes, event->received};
    struct wf_op op = {.kind = wf_otf2_coll_kind(event->region, request == 0),
                       .request = request};
    struct wf_group group;
    bool equal = false;

    if (op.kind == WF_OP_CALL) {
        return false;
    }
    if (!set_comm(walk, event->comm, &op, &group) || sizes.sent > INT64_MAX ||
        sizes.received > INT64_MAX) {
        walk->n_lost++;
        return false;
    }
    op.root = op.kind != WF_OP_BARRIER && event->peer < group.size ? event->peer : 0;
    wf_otf2_coll_read(&op, &group, &sizes, &walk->counts, &equal);
    if (wf_otf2_sums_set(walk->sums, walk->rank, event->number, &group, &op, &walk->counts)) {
        equal = op.recv_counts != NULL;
    }
    walk->n_equal += equal ? 1 : 0;
    put(walk, &op);
    return true;
}

/* ---- requests ---- */

/* Remembers an event of the reader ahead, if it completes a request. */
static bool remember(struct wf_otf2_walk *walk, const struct wf_otf2_event *event)
{
    if (event->kind != WF_OTF2_IRECV && event->kind != WF_OTF2_ICOLL_COMPLETE &&
        event->kind != WF_OTF2_REQUEST_CANCELLED) {
        return false;
    }
    uint32_t number = wf_open_requests_add(&walk->found, (int64_t)event->request)->number;
    WF_GROW(walk->outcomes, number, walk->outcomes_capacity);
    walk->outcomes[number] = *event;
    return true;
}

/* Lets a second reader go on where the walk has looked ahead to. */
static void look_far(struct wf_otf2_walk *walk)
{
    struct wf_otf2_event event;
    uint64_t n = walk->n_events + walk->n_ahead;

    walk->far = (struct wf_otf2_events){
        .path = walk->events.path, .layout = walk->events.layout, .defs = walk->defs};
    wf_otf2_events_open(&walk->far, walk->defs->places[walk->rank], walk->rank,
                        walk->place.err);
    while (n > 0 && wf_otf2_events_next(&walk->far, &event)) {
        n--;
    }
    walk->is_far = true;
}

/* The next event that has not been looked at; null if there is none. */
static const struct wf_otf2_event *look_ahead(struct wf_otf2_walk *walk)
{
    if (!walk->is_far && walk->n_ahead >= AHEAD_MAX) {
        look_far(walk);
    }
    if (walk->is_far) {
        return wf_otf2_events_next(&walk->far, &walk->far_event) ? &walk->far_event : NULL;
    }
    const struct wf_otf2_event *event = wf_otf2_events_ahead(&walk->events, walk->n_ahead);
    walk->n_ahead += event != NULL ? 1 : 0;
    return event;
}

/* Finds the event that completes a request, reading ahead. Returns false if there is none. */
static bool find_outcome(struct wf_otf2_walk *walk, uint64_t request, struct wf_otf2_event *out)
{
    wf_open_requests_call(&walk->found);
    struct wf_open_request *known = wf_open_requests_find(&walk->found, (int64_t)request);
    while (known == NULL && !walk->ahead_ended) {
        const struct wf_otf2_event *event = look_ahead(walk);
        walk->ahead_ended = event == NULL;
        if (event != NULL && remember(walk, event) && event->request == request) {
            known = wf_open_requests_find(&walk->found, (int64_t)request);
        }
    }
    if (known == NULL) {
        return false;
    }
    *out = walk->outcomes[known->number];
    wf_open_requests_remove(&walk->found, known);
    return true;
}

static void begin_request(struct wf_otf2_walk *walk, const struct wf_otf2_event *event)
{
    struct wf_otf2_event outcome = {.kind = WF_OTF2_OTHER};
    struct wf_op op = {.kind = WF_OP_IRECV};

    if (!find_outcome(walk, event->request, &outcome)) {
        walk->n_unfinished++;
    } else if (outcome.kind == WF_OTF2_ICOLL_COMPLETE) {
        struct wf_open_request *request =
            wf_open_requests_add(&walk->requests, (int64_t)event->request);
        if (!put_collective(walk, &outcome, request->number)) {
            wf_open_requests_remove(&walk->requests, request);
        }
    } else if (outcome.kind == WF_OTF2_IRECV && set_message(walk, &outcome, &op)) {
        op.request = wf_open_requests_add(&walk->requests, (int64_t)event->request)->number;
        put(walk, &op);
    } /* else: a cancelled receive, which matched no message */
}

static void put_waits(struct wf_otf2_walk *walk)
{
    if (walk->done.size > 0) {
        walk->has_op = true;
        wf_spool_waits(walk->spool, &walk->done, &walk->place);
    }
}

static void complete(struct wf_otf2_walk *walk, uint64_t request)
{
    wf_open_requests_call(&walk->requests);
    struct wf_open_request *known = wf_open_requests_find(&walk->requests, (int64_t)request);
    if (known != NULL) {
        wf_buf_append(&walk->done, &known->number, sizeof(known->number));
        wf_open_requests_remove(&walk->requests, known);
    }
    /* All completions in a call are one wait. Outside of calls, each is a wait of its own. */
    if (walk->call == NULL) {
        put_waits(walk);
    }
}

/* ---- regions ---- */

static void end_region(struct wf_otf2_walk *walk, uint32_t number)
{
    uint32_t *open = (uint32_t *)(void *)walk->regions.data;
    size_t n = walk->regions.size / sizeof(*open), place = n;

    while (place > 0 && open[place - 1] != number) {
        place--;
    }
    if (place > 0) {
        memmove(open + place - 1, open + place, (n - place) * sizeof(*open));
        walk->regions.size -= sizeof(*open);
        put_named(walk, WF_OP_REGION_END, number);
    }
}

static void enter(struct wf_otf2_walk *walk, const struct wf_otf2_event *event)
{
    const struct wf_otf2_region *region = wf_otf2_defs_find_region(walk->defs, event->region);

    if (region == NULL || walk->call != NULL) {
        walk->depth += region != NULL ? 1 : 0;
        return;
    }
    uint32_t number = (uint32_t)(region - walk->defs->regions);
    pass_time(walk, event->time);
    if (region->is_mpi) {
        walk->call = region;
        walk->kind = region->call;
        walk->depth = 0;
        walk->entered = moment_at(walk, event->time);
        walk->has_op = false;
        walk->has_sent = false;
        walk->has_received = false;
        return;
    }
    /* A mark often has no end: the region lasts until the same mark begins again. */
    if (region->is_mark) {
        end_region(walk, number);
    }
    wf_buf_append(&walk->regions, &number, sizeof(number));
    put_named(walk, WF_OP_REGION_BEGIN, number);
}

static void leave_call(struct wf_otf2_walk *walk, uint64_t time)
{
    struct wf_otf2_moment now = moment_at(walk, time);

    put_waits(walk);
    if (walk->has_sent || walk->has_received) {
        put_sendrecv(walk);
    }
    /* The time of MPI_Init is not part of the program's time. */
    if (walk->kind == WF_OP_INIT && time > walk->entered.time) {
        walk->first += time - walk->entered.time;
        walk->entered = now;
    }
    if (!walk->has_op) {
        bool is_ours = walk->kind == WF_OP_INIT || walk->kind == WF_OP_FINALIZE;
        wf_spool_compute(walk->spool, walk->rank, computing(walk, &walk->entered, &now),
                         walk->place.err);
        put_named(walk, is_ours ? walk->kind : WF_OP_CALL,
                  (uint32_t)(walk->call - walk->defs->regions));
    }
    walk->call = NULL;
    now.time = time > walk->latest.time ? time : walk->latest.time;
    walk->latest = now;
}

static void leave(struct wf_otf2_walk *walk, const struct wf_otf2_event *event)
{
    const struct wf_otf2_region *region = wf_otf2_defs_find_region(walk->defs, event->region);

    if (region == NULL) {
        return;
    }
    if (walk->call != NULL && walk->depth > 0) {
        walk->depth--;
    } else if (region == walk->call) {
        leave_call(walk, event->time);
    } else {
        if (walk->call == NULL) {
            pass_time(walk, event->time);
        }
        end_region(walk, (uint32_t)(region - walk->defs->regions));
    }
}

/* ---- events ---- */

static void on_event(struct wf_otf2_walk *walk, const struct wf_otf2_event *event)
{
    bool is_program =
        event->kind == WF_OTF2_PROGRAM_BEGIN || event->kind == WF_OTF2_PROGRAM_END;

    /* Events outside of MPI calls end the computing since the last event. */
    if (is_program || (walk->call == NULL && event->kind != WF_OTF2_ENTER &&
                       event->kind != WF_OTF2_LEAVE && event->kind != WF_OTF2_ON_OFF &&
                       event->kind != WF_OTF2_METRIC && !wf_otf2_kind_is_passed(event->kind))) {
        pass_time(walk, event->time);
    }
    switch (event->kind) {
    case WF_OTF2_ENTER:
        enter(walk, event);
        break;
    case WF_OTF2_LEAVE:
        leave(walk, event);
        break;
    case WF_OTF2_FLUSH:
        on_flush(walk, event->bytes);
        break;
    case WF_OTF2_ON_OFF:
        walk->n_off += event->region == 0 ? 1 : 0;
        break;
    case WF_OTF2_SEND:
    case WF_OTF2_ISEND:
    case WF_OTF2_RECV:
        on_message(walk, event);
        break;
    case WF_OTF2_IRECV_REQUEST:
    case WF_OTF2_ICOLL_REQUEST:
        begin_request(walk, event);
        break;
    case WF_OTF2_ISEND_COMPLETE:
    case WF_OTF2_IRECV:
    case WF_OTF2_ICOLL_COMPLETE:
        complete(walk, event->request);
        break;
    case WF_OTF2_COLL_END:
        (void)put_collective(walk, event, 0);
        break;
    case WF_OTF2_METRIC:
        on_metric(walk, event);
        break;
    case WF_OTF2_PROGRAM_BEGIN:
    case WF_OTF2_PROGRAM_END:
    case WF_OTF2_REQUEST_TEST:
    case WF_OTF2_REQUEST_CANCELLED:
    case WF_OTF2_COLL_BEGIN:
    case WF_OTF2_RMA_PUT:
    case WF_OTF2_RMA_GET:
    case WF_OTF2_RMA_COMPLETE:
    case WF_OTF2_OTHER:
    case WF_OTF2_KINDS:
        break;
    }
}

/* ---- ranks ---- */

/* Reads what the accelerators of the rank do. */
static void read_devices(struct wf_otf2_walk *walk, const struct wf_otf2_stream *stream)
{
    const struct wf_otf2_stream *end = walk->defs->streams + walk->defs->n_streams;
    struct wf_otf2_devices *devices = &walk->devices;
    struct wf_otf2_event event;

    wf_otf2_devices_begin(devices);
    for (; stream < end && stream->rank == walk->rank; stream++) {
        wf_otf2_events_open(&walk->stream, stream->location, walk->rank, walk->place.err);
        while (wf_otf2_events_next(&walk->stream, &event)) {
            wf_otf2_tally_add_device(&walk->tally, &event);
            wf_otf2_devices_add(devices, &event,
                                wf_otf2_defs_find_region(walk->defs, event.region));
        }
        wf_otf2_devices_stream_ends(devices);
        walk->device->n_streams++;
    }
    wf_otf2_devices_finish(devices);
    walk->device->n_kernels = devices->n_kernels;
    walk->device->n_copies = devices->n_copies;
    walk->device->copied_bytes = devices->n_bytes;
}

static void walk_rank(struct wf_otf2_walk *walk)
{
    const struct wf_otf2_stream *streams = wf_otf2_defs_streams(walk->defs, walk->rank);
    struct wf_otf2_event event;

    walk->begun = false;
    walk->ahead_ended = false;
    walk->call = NULL;
    walk->depth = 0;
    walk->has_sent = false;
    walk->has_received = false;
    walk->done.size = 0;
    walk->regions.size = 0;
    walk->n_ahead = 0;
    walk->n_events = 0;
    walk->is_far = false;
    walk->has_metric = false;
    walk->metric = 0;
    walk->latest = (struct wf_otf2_moment){.time = 0};
    memset(walk->metrics, 0, walk->defs->metrics.n_classes * sizeof(*walk->metrics));
    walk->device = streams != NULL ? &walk->all_devices[walk->rank] : NULL;
    if (streams != NULL) {
        read_devices(walk, streams);
    }
    wf_otf2_events_open(&walk->events, walk->defs->places[walk->rank], walk->rank,
                        walk->place.err);
    while (wf_otf2_events_next(&walk->events, &event)) {
        walk->n_ahead -= walk->n_ahead > 0 ? 1 : 0;
        walk->n_events++;
        walk->place.byte = event.number;
        wf_otf2_tally_add(&walk->tally, &event);
        on_event(walk, &event);
    }
    wf_otf2_tally_end(&walk->tally, walk->rank);
    /* Regions without an end last until the end of the rank. */
    if (walk->call != NULL) {
        leave_call(walk, walk->latest.time);
    }
    while (walk->regions.size > 0) {
        uint32_t number;
        memcpy(&number, walk->regions.data + walk->regions.size - sizeof(number),
               sizeof(number));
        end_region(walk, number);
    }
    if (walk->begun && walk->defs->metrics.n_used > 0 && !walk->has_metric) {
        wf_trace_bad(&walk->place, "the metrics of trace.metrics have no value in this rank");
    }
    if (streams != NULL) {
        struct wf_otf2_busy busy = wf_otf2_devices_at(&walk->devices, UINT64_MAX);
        walk->device->kernels = ps_between(walk, 0, busy.kernels + busy.both);
        walk->device->copies = ps_between(walk, 0, busy.copies + busy.both);
    }
    if (walk->begun) {
        wf_spool_wall(walk->spool, walk->rank,
                      ps_between(walk, walk->first, walk->latest.time));
    }
    wf_open_requests_fini(&walk->requests);
    wf_open_requests_fini(&walk->found);
    wf_otf2_events_close(&walk->far);
}

void wf_otf2_walk_begin(struct wf_otf2_walk *walk)
{
    size_t n = (size_t)walk->defs->n_regions + 1;

    wf_otf2_tally_init(&walk->tally, walk->defs, walk->records);
    walk->stream = wf_otf2_events_like(&walk->events);
    walk->ps_of_tick =
        PS_OF_SECOND % walk->defs->resolution == 0 ? PS_OF_SECOND / walk->defs->resolution : 0;
    walk->is_told = wf_xcalloc(n, sizeof(*walk->is_told));
    walk->metrics =
        wf_xcalloc((size_t)walk->defs->metrics.n_classes + 1, sizeof(*walk->metrics));
}

void wf_otf2_walk_rank(struct wf_otf2_walk *walk, uint32_t rank, struct wf_err *err)
{
    walk->rank = rank;
    walk->place.rank = rank;
    walk->place.err = err;
    walk_rank(walk);
}

void wf_otf2_walk_end(struct wf_otf2_walk *walk)
{
    wf_otf2_events_close(&walk->events);
    free(walk->outcomes);
    wf_otf2_tally_fini(&walk->tally);
    wf_otf2_events_close(&walk->stream);
    wf_otf2_devices_fini(&walk->devices);
    free(walk->is_told);
    free(walk->metrics);
    wf_buf_fini(&walk->done);
    wf_buf_fini(&walk->regions);
    wf_buf_fini(&walk->counts);
}
