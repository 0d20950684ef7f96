/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/otf2/walk.h"

#include "base/mem.h"
#include "base/units.h"
#include "trace/otf2/coll.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The calls that are told apart; the others are calls with what is recorded in them. */
static const struct wf_otf2_call calls[] = {
    {"MPI_Send", WF_OTF2_SENDS, WF_OP_SEND},
    {"MPI_Ssend", WF_OTF2_SENDS, WF_OP_SSEND},
    {"MPI_Bsend", WF_OTF2_SENDS, WF_OP_BSEND},
    {"MPI_Rsend", WF_OTF2_SENDS, WF_OP_RSEND},
    {"MPI_Isend", WF_OTF2_SENDS, WF_OP_ISEND},
    {"MPI_Issend", WF_OTF2_SENDS, WF_OP_ISSEND},
    {"MPI_Ibsend", WF_OTF2_SENDS, WF_OP_IBSEND},
    {"MPI_Irsend", WF_OTF2_SENDS, WF_OP_IRSEND},
    {"MPI_Sendrecv", WF_OTF2_BOTH, WF_OP_CALL},
    {"MPI_Sendrecv_replace", WF_OTF2_BOTH, WF_OP_CALL},
    {"MPI_Init", WF_OTF2_CALLS, WF_OP_INIT},
    {"MPI_Init_thread", WF_OTF2_CALLS, WF_OP_INIT},
    {"MPI_Finalize", WF_OTF2_CALLS, WF_OP_FINALIZE},
};

static struct wf_otf2_call role_of(const char *name)
{
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        if (strcmp(name, calls[i].name) == 0) {
            return calls[i];
        }
    }
    return (struct wf_otf2_call){name, WF_OTF2_CALLS, WF_OP_CALL};
}

#define TRACER_MARK "TRACER_WallTime_"

static bool is_mark(const char *name)
{
    return strncmp(name, TRACER_MARK, strlen(TRACER_MARK)) == 0;
}

/* ---- time ---- */

/* The computing up to now. */
static enum wf_status pass_time(struct wf_otf2_walk *walk, uint64_t now)
{
    int64_t ps = walk->begun ? wf_otf2_ps(walk, walk->latest, now) : 0;

    walk->first = walk->begun ? walk->first : now;
    walk->begun = true;
    walk->latest = now;
    return wf_spool_compute(walk->spool, walk->rank, ps, walk->err);
}

/* ---- regions ---- */

static enum wf_status put_marker(struct wf_otf2_walk *walk, uint32_t number, bool begins)
{
    const struct wf_op op = {.kind = begins ? WF_OP_REGION_BEGIN : WF_OP_REGION_END,
                             .tag = (int32_t)number};
    struct wf_otf2_region *region = &walk->defs->regions[number];

    if (!region->is_told) {
        struct wf_trace_writer *writer = wf_spool_writer(walk->spool);
        writer->ops->name_of(writer, WF_NAME_REGION, number,
                             wf_otf2_defs_name(walk->defs, region));
        region->is_told = true;
    }
    return wf_otf2_put(walk, &op);
}

/* The place behind the innermost open region of this number; 0: it is not open. */
static size_t find_open(const struct wf_otf2_walk *walk, uint32_t number)
{
    const uint32_t *open = (const uint32_t *)(const void *)walk->regions.data;
    size_t n = walk->regions.size / sizeof(*open);

    while (n > 0 && open[n - 1] != number) {
        n--;
    }
    return n;
}

static enum wf_status end_region(struct wf_otf2_walk *walk, uint32_t number)
{
    uint32_t *open = (uint32_t *)(void *)walk->regions.data;
    size_t place = find_open(walk, number), n = walk->regions.size / sizeof(*open);

    if (place == 0) {
        return WF_OK;
    }
    memmove(open + place - 1, open + place, (n - place) * sizeof(*open));
    walk->regions.size -= sizeof(*open);
    return put_marker(walk, number, false);
}

static enum wf_status begin_region(struct wf_otf2_walk *walk, uint32_t number, const char *name)
{
    enum wf_status status = WF_OK;

    /* TraceR's marks say where the program is, often without an end: one lasts until it comes
     * again. */
    if (is_mark(name)) {
        status = end_region(walk, number);
    }
    wf_buf_append(&walk->regions, &number, sizeof(number));
    return status == WF_OK ? put_marker(walk, number, true) : status;
}

static enum wf_status enter(struct wf_otf2_walk *walk, const struct wf_otf2_event *event)
{
    const struct wf_otf2_region *region = wf_otf2_defs_find_region(walk->defs, event->region);

    if (region == NULL) {
        return WF_OK;
    }
    if (walk->call != NULL) {
        walk->depth++;
        return WF_OK;
    }
    const char *name = wf_otf2_defs_name(walk->defs, region);
    enum wf_status status = pass_time(walk, event->time);
    if (status != WF_OK || !region->is_mpi) {
        uint32_t number = (uint32_t)(region - walk->defs->regions);
        return status == WF_OK ? begin_region(walk, number, name) : status;
    }
    walk->call = region;
    walk->role = role_of(name);
    walk->depth = 0;
    walk->entered = event->time;
    walk->has_op = false;
    walk->has_sent = false;
    walk->has_received = false;
    return WF_OK;
}

static enum wf_status leave_call(struct wf_otf2_walk *walk, uint64_t now)
{
    enum wf_status status = wf_otf2_put_waits(walk);

    if (status == WF_OK && (walk->has_sent || walk->has_received)) {
        status = wf_otf2_sendrecv(walk);
    }
    /* What it takes to start a program is no time of the program. */
    if (walk->role.kind == WF_OP_INIT && now > walk->entered) {
        walk->first += now - walk->entered;
        walk->entered = now;
    }
    if (status == WF_OK && !walk->has_op) {
        status = wf_otf2_put_call(walk, now);
    }
    walk->call = NULL;
    walk->latest = now > walk->latest ? now : walk->latest;
    return status;
}

static enum wf_status leave(struct wf_otf2_walk *walk, const struct wf_otf2_event *event)
{
    const struct wf_otf2_region *region = wf_otf2_defs_find_region(walk->defs, event->region);

    if (region == NULL) {
        return WF_OK;
    }
    if (walk->call != NULL && (region == walk->call || walk->depth > 0)) {
        if (walk->depth > 0) {
            walk->depth--;
            return WF_OK;
        }
        return leave_call(walk, event->time);
    }
    enum wf_status status = walk->call == NULL ? pass_time(walk, event->time) : WF_OK;
    return status == WF_OK ? end_region(walk, (uint32_t)(region - walk->defs->regions))
                           : status;
}

/* ---- events ---- */

static enum wf_status on_message(struct wf_otf2_walk *walk, const struct wf_otf2_event *event)
{
    bool both = walk->call != NULL && walk->role.role == WF_OTF2_BOTH;

    if (both && event->kind == WF_OTF2_SEND && !walk->has_sent) {
        walk->sent = *event;
        walk->has_sent = true;
        return WF_OK;
    }
    if (both && event->kind == WF_OTF2_RECV && !walk->has_received) {
        walk->received = *event;
        walk->has_received = true;
        return WF_OK;
    }
    return wf_otf2_message(walk, event);
}

static enum wf_status on_completion(struct wf_otf2_walk *walk,
                                    const struct wf_otf2_event *event)
{
    wf_otf2_complete(walk, event->request);
    /* In a call the waits are one; elsewhere nobody says when they end. */
    return walk->call == NULL ? wf_otf2_put_waits(walk) : WF_OK;
}

/* What happens outside of calls of MPI takes the time since the last event. */
static enum wf_status on_mpi(struct wf_otf2_walk *walk, const struct wf_otf2_event *event)
{
    enum wf_status status = walk->call == NULL ? pass_time(walk, event->time) : WF_OK;

    if (status != WF_OK) {
        return status;
    }
    switch (event->kind) {
    case WF_OTF2_SEND:
    case WF_OTF2_ISEND:
    case WF_OTF2_RECV:
        return on_message(walk, event);
    case WF_OTF2_IRECV_REQUEST:
    case WF_OTF2_ICOLL_REQUEST:
        return wf_otf2_begin_request(walk, event);
    case WF_OTF2_ISEND_COMPLETE:
    case WF_OTF2_IRECV:
    case WF_OTF2_ICOLL_COMPLETE:
        return on_completion(walk, event);
    case WF_OTF2_COLL_END:
        return wf_otf2_collective(walk, event, true, 0);
    case WF_OTF2_ENTER:
    case WF_OTF2_LEAVE:
    case WF_OTF2_PROGRAM_BEGIN:
    case WF_OTF2_PROGRAM_END:
    case WF_OTF2_ON_OFF:
    case WF_OTF2_FLUSH:
    case WF_OTF2_REQUEST_TEST:
    case WF_OTF2_REQUEST_CANCELLED:
    case WF_OTF2_COLL_BEGIN:
    case WF_OTF2_OTHER:
    case WF_OTF2_KINDS:
        break;
    }
    return WF_OK;
}

static void count(struct wf_otf2_walk *walk, const struct wf_otf2_event *event)
{
    uint32_t name = walk->names[event->kind];
    uint64_t bytes = event->bytes;

    if (event->kind == WF_OTF2_ENTER) {
        struct wf_otf2_region *region = wf_otf2_defs_find_region(walk->defs, event->region);
        char text[256];
        if (region != NULL && region->record == WF_OTF2_NONE) {
            (void)snprintf(text, sizeof(text), "ENTER:%s",
                           wf_otf2_defs_name(walk->defs, region));
            region->record = wf_records_name(walk->records, text);
        }
        name = region != NULL ? region->record : name;
    } else if (event->kind == WF_OTF2_COLL_END && wf_otf2_coll_name(event->region) != NULL) {
        name = walk->coll_names[event->region];
    } else if (event->kind == WF_OTF2_FLUSH) {
        bytes = 0;
    }
    wf_records_add(walk->records, walk->rank, name, bytes);
}

static enum wf_status on_event(struct wf_otf2_walk *walk, const struct wf_otf2_event *event)
{
    enum wf_status status = WF_OK;

    count(walk, event);
    walk->number = event->number;
    switch (event->kind) {
    case WF_OTF2_ENTER:
        return enter(walk, event);
    case WF_OTF2_LEAVE:
        return leave(walk, event);
    case WF_OTF2_FLUSH:
        /* The time in which the recording itself wrote is none of the program's. */
        status = walk->call == NULL ? pass_time(walk, event->time) : WF_OK;
        walk->latest = event->bytes > walk->latest ? event->bytes : walk->latest;
        return status;
    case WF_OTF2_ON_OFF:
        walk->n_off += event->region == 0 ? 1 : 0;
        return WF_OK;
    case WF_OTF2_PROGRAM_BEGIN:
    case WF_OTF2_PROGRAM_END:
        return pass_time(walk, event->time);
    case WF_OTF2_OTHER:
    case WF_OTF2_KINDS:
        return WF_OK;
    case WF_OTF2_SEND:
    case WF_OTF2_ISEND:
    case WF_OTF2_ISEND_COMPLETE:
    case WF_OTF2_IRECV_REQUEST:
    case WF_OTF2_RECV:
    case WF_OTF2_IRECV:
    case WF_OTF2_REQUEST_TEST:
    case WF_OTF2_REQUEST_CANCELLED:
    case WF_OTF2_COLL_BEGIN:
    case WF_OTF2_COLL_END:
    case WF_OTF2_ICOLL_REQUEST:
    case WF_OTF2_ICOLL_COMPLETE:
        break;
    }
    return on_mpi(walk, event);
}

/* ---- ranks ---- */

static void begin_rank(struct wf_otf2_walk *walk, uint32_t rank)
{
    walk->rank = rank;
    walk->begun = false;
    walk->ahead_ended = false;
    walk->call = NULL;
    walk->depth = 0;
    walk->has_sent = false;
    walk->has_received = false;
    walk->done.size = 0;
    walk->regions.size = 0;
    memset(walk->told, 0, (walk->defs->n_comms / 64 + 1) * sizeof(*walk->told));
}

/* Regions that were not left end with the rank. */
static enum wf_status end_rank(struct wf_otf2_walk *walk)
{
    struct wf_trace_writer *writer = wf_spool_writer(walk->spool);
    enum wf_status status = WF_OK;

    if (walk->call != NULL) {
        status = leave_call(walk, walk->latest);
    }
    while (status == WF_OK && walk->regions.size > 0) {
        uint32_t number;
        memcpy(&number, walk->regions.data + walk->regions.size - sizeof(number),
               sizeof(number));
        status = end_region(walk, number);
    }
    if (walk->begun) {
        writer->ops->wall(writer, walk->rank, wf_otf2_ps(walk, walk->first, walk->latest));
    }
    return status;
}

static enum wf_status walk_rank(struct wf_otf2_walk *walk, uint32_t rank)
{
    struct wf_otf2_event event;
    bool more = true;

    begin_rank(walk, rank);
    enum wf_status status = wf_otf2_in_rank(walk->in, rank, walk->err);
    if (status == WF_OK) {
        status = wf_otf2_in_rank(walk->ahead, rank, walk->err);
    }
    while (status == WF_OK) {
        status = wf_otf2_in_next(walk->in, &event, &more, walk->err);
        if (status != WF_OK || !more) {
            break;
        }
        status = on_event(walk, &event);
    }
    if (status == WF_OK) {
        status = end_rank(walk);
    }
    wf_open_requests_fini(&walk->requests);
    wf_open_requests_fini(&walk->found);
    return status;
}

static void name_records(struct wf_otf2_walk *walk)
{
    static const char *const names[] = {
#define X(name, text) text,
        WF_OTF2_EVENT_MAP(X)
#undef X
    };
    char text[64];

    for (uint32_t i = 0; i < WF_OTF2_KINDS; i++) {
        walk->names[i] = wf_records_name(walk->records, names[i]);
    }
    for (uint32_t i = 0; wf_otf2_coll_name(i) != NULL; i++) {
        (void)snprintf(text, sizeof(text), "COLL_END:%s", wf_otf2_coll_name(i));
        walk->coll_names[i] = wf_records_name(walk->records, text);
    }
}

enum wf_status wf_otf2_walk(struct wf_otf2_walk *walk)
{
    enum wf_status status = WF_OK;

    walk->told = wf_xcalloc(walk->defs->n_comms / 64 + 1, sizeof(*walk->told));
    name_records(walk);
    for (uint32_t rank = 0; rank < walk->defs->n_ranks && status == WF_OK; rank++) {
        status = walk_rank(walk, rank);
    }
    free(walk->told);
    free(walk->outcomes);
    wf_buf_fini(&walk->done);
    wf_buf_fini(&walk->regions);
    wf_buf_fini(&walk->counts);
    return status;
}
