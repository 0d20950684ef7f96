/* SPDX-License-Identifier: Apache-2.0 */
/* A timeline for Perfetto, as protobuf messages with the field numbers of its
 * trace_packet.proto. A node is a process, a rank a thread, a message a flow. Calls and regions
 * have tracks of their own below the rank; arguments of calls are annotations. Bytes that arrive
 * and the load of links are counters. Times are in nanoseconds. */
#include "base/varint.h"
#include "ui/report/calls.h"
#include "ui/report/tracks.h"
#include "ui/report/writer.h"

#include <inttypes.h>
#include <string.h>

/* Field numbers. */
enum {
    TRACE_PACKET = 1,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_TRACK = 60,
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_THREAD = 4,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
    PROCESS_PID = 1,
    PROCESS_NAME = 6,
    THREAD_PID = 1,
    THREAD_TID = 2,
    THREAD_NAME = 5,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_TRACK = 11,
    EVENT_NAME = 23,
    EVENT_COUNTER = 30,
    EVENT_FLOW = 47,
    EVENT_FLOW_END = 48,
    ANNOTATION_UINT = 3,
    ANNOTATION_TEXT = 6,
    ANNOTATION_NAME = 10,
};
enum { TYPE_BEGIN = 1, TYPE_END, TYPE_INSTANT, TYPE_COUNTER };
enum { WIRE_VARINT, WIRE_FIXED64, WIRE_BYTES };
enum { PS_PER_NS = 1000, TRACK_RANKS = 1 << 30, TRACK_BYTES = 1 };
#define TRACK_CALLS (UINT64_C(1) << 34) /* two for each rank */

static void put_number(struct wf_buf *buf, uint32_t field, uint64_t value)
{
    wf_varint_put(buf, (uint64_t)field << 3 | WIRE_VARINT);
    wf_varint_put(buf, value);
}

static void put_fixed(struct wf_buf *buf, uint32_t field, uint64_t value)
{
    unsigned char bytes[8];

    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (unsigned char)(value >> 8 * i);
    }
    wf_varint_put(buf, (uint64_t)field << 3 | WIRE_FIXED64);
    wf_buf_append(buf, bytes, sizeof(bytes));
}

static void put_bytes(struct wf_buf *buf, uint32_t field, const void *bytes, size_t n)
{
    wf_varint_put(buf, (uint64_t)field << 3 | WIRE_BYTES);
    wf_varint_put(buf, n);
    wf_buf_append(buf, bytes, n);
}

/* A file being written; the buffers are reused. */
struct page {
    FILE *out;
    struct wf_buf packet, inner, part, head;
};

/* Ends the packet: writes `inner` as its field `field`. */
static void end_packet(struct page *page, uint32_t field)
{
    put_bytes(&page->packet, field, page->inner.data, page->inner.size);
    put_number(&page->packet, PACKET_SEQUENCE, 1);
    put_bytes(&page->head, TRACE_PACKET, page->packet.data, page->packet.size);
    (void)fwrite(page->head.data, 1, page->head.size, page->out);
    page->packet.size = page->inner.size = page->part.size = page->head.size = 0;
}

struct event {
    uint64_t ps, track;
    int type;
    const char *name;                 /* null: none */
    uint64_t counter;                 /* for TYPE_COUNTER */
    uint64_t flow, flow_ending;       /* 0: none */
    const struct wf_track_call *call; /* its arguments; null: none */
    const char *stack;                /* the functions that make the call; null: unknown */
};

static void put_annotation(struct page *page, const char *name, uint64_t value)
{
    put_bytes(&page->part, ANNOTATION_NAME, name, strlen(name));
    put_number(&page->part, ANNOTATION_UINT, value);
    put_bytes(&page->inner, EVENT_ANNOTATION, page->part.data, page->part.size);
    page->part.size = 0;
}

static void put_stack(struct page *page, const char *stack)
{
    static const char name[] = "stack";

    put_bytes(&page->part, ANNOTATION_NAME, name, strlen(name));
    put_bytes(&page->part, ANNOTATION_TEXT, stack, strlen(stack));
    put_bytes(&page->inner, EVENT_ANNOTATION, page->part.data, page->part.size);
    page->part.size = 0;
}

static void put_arguments(struct page *page, const struct wf_track_call *call)
{
    if (call->has_peer) {
        put_annotation(page, "peer", call->peer);
    }
    if (call->has_tag) {
        put_annotation(page, "tag", call->tag);
    }
    put_annotation(page, "communicator", call->comm);
    put_annotation(page, "bytes", call->bytes);
}

static void write_event(struct page *page, const struct event *event)
{
    struct wf_buf *inner = &page->inner;

    put_number(&page->packet, PACKET_TIMESTAMP, event->ps / PS_PER_NS);
    put_number(inner, EVENT_TYPE, (uint64_t)event->type);
    put_number(inner, EVENT_TRACK, event->track);
    if (event->name != NULL) {
        put_bytes(inner, EVENT_NAME, event->name, strlen(event->name));
    }
    if (event->type == TYPE_COUNTER) {
        put_number(inner, EVENT_COUNTER, event->counter);
    }
    if (event->flow != 0) {
        put_fixed(inner, EVENT_FLOW, event->flow);
    }
    if (event->flow_ending != 0) {
        put_fixed(inner, EVENT_FLOW_END, event->flow_ending);
    }
    if (event->call != NULL && event->call->has_args) {
        put_arguments(page, event->call);
    }
    if (event->stack != NULL) {
        put_stack(page, event->stack);
    }
    end_packet(page, PACKET_EVENT);
}

/* ---- tracks ---- */

static void write_process(struct page *page, uint64_t node, const char *name)
{
    put_number(&page->part, PROCESS_PID, node + 1);
    put_bytes(&page->part, PROCESS_NAME, name, strlen(name));
    put_number(&page->inner, TRACK_UUID, UINT64_C(2) * TRACK_RANKS + node);
    put_bytes(&page->inner, TRACK_PROCESS, page->part.data, page->part.size);
    end_packet(page, PACKET_TRACK);
}

static void write_thread(struct page *page, uint64_t track, uint64_t node, const char *name)
{
    put_number(&page->part, THREAD_PID, node + 1);
    put_number(&page->part, THREAD_TID, track + 1);
    put_bytes(&page->part, THREAD_NAME, name, strlen(name));
    put_number(&page->inner, TRACK_UUID, TRACK_RANKS + track);
    put_bytes(&page->inner, TRACK_THREAD, page->part.data, page->part.size);
    end_packet(page, PACKET_TRACK);
}

static void write_counter_track(struct page *page, uint64_t track, const char *name)
{
    put_number(&page->inner, TRACK_UUID, track);
    put_bytes(&page->inner, TRACK_NAME, name, strlen(name));
    put_bytes(&page->inner, TRACK_COUNTER, "", 0);
    end_packet(page, PACKET_TRACK);
}

static void write_tracks(struct page *page, const struct wf_tracks *tracks)
{
    struct wf_track track;
    uint64_t last = UINT64_MAX;

    for (struct wf_track_walk walk = wf_tracks_walk(tracks); wf_track_step(&walk, &track);) {
        char name[64];
        if (track.node != last) {
            (void)snprintf(name, sizeof(name),
                           tracks->nodes != NULL ? "node %" PRIu64 : "ranks", track.node);
            write_process(page, track.node, name);
            last = track.node;
        }
        (void)snprintf(name, sizeof(name),
                       track.ranks > 1 ? "ranks %" PRIu64 " to %" PRIu64 : "rank %" PRIu64,
                       track.first_rank, track.first_rank + track.ranks - 1);
        write_thread(page, track.first_rank, track.node, name);
    }
}

/* ---- events ---- */

static void write_spans(struct page *page, const struct wf_tracks *tracks)
{
    struct wf_track track;

    for (struct wf_track_walk walk = wf_tracks_walk(tracks); wf_track_step(&walk, &track);) {
        uint64_t uuid = TRACK_RANKS + track.first_rank;
        struct wf_track_span span;
        while (wf_track_next(&track, &span)) {
            struct event event = {.ps = span.from,
                                  .track = uuid,
                                  .type = TYPE_BEGIN,
                                  .name = wf_track_names[span.what]};
            write_event(page, &event);
            event = (struct event){.ps = span.until, .track = uuid, .type = TYPE_END};
            write_event(page, &event);
        }
    }
}

/* A track below that of a rank. */
static void write_child(struct page *page, uint64_t uuid, uint64_t parent, const char *name)
{
    put_number(&page->inner, TRACK_UUID, uuid);
    put_bytes(&page->inner, TRACK_NAME, name, strlen(name));
    put_number(&page->inner, TRACK_PARENT, parent);
    end_packet(page, PACKET_TRACK);
}

static void write_slice(struct page *page, uint64_t uuid, const char *name,
                        const struct wf_track_call *call, const char *stack)
{
    struct event event = {.ps = call->from,
                          .track = uuid,
                          .type = TYPE_BEGIN,
                          .name = name,
                          .call = call,
                          .stack = stack};

    write_event(page, &event);
    event = (struct event){.ps = call->until, .track = uuid, .type = TYPE_END};
    write_event(page, &event);
}

/* Begins and ends regions in order: those inside end before those around them. */
static void write_regions(struct page *page, uint64_t uuid, const struct wf_track_calls *calls,
                          const struct wf_track_list *list)
{
    enum { DEPTH_MAX = 256 };
    uint64_t open[DEPTH_MAX] = {0};
    size_t n = 0;

    for (size_t i = 0; i <= list->n; i++) {
        uint64_t now = i < list->n ? list->calls[i].from : UINT64_MAX;
        while (n > 0 && open[n - 1] <= now) {
            write_event(page,
                        &(struct event){.ps = open[--n], .track = uuid, .type = TYPE_END});
        }
        if (i < list->n && n < DEPTH_MAX) {
            write_event(page,
                        &(struct event){.ps = now,
                                        .track = uuid,
                                        .type = TYPE_BEGIN,
                                        .name = calls->region_names[list->calls[i].name]});
            open[n++] = list->calls[i].until;
        }
    }
}

static void write_calls(struct page *page, const struct wf_value *doc,
                        const struct wf_tracks *tracks)
{
    struct wf_track_calls calls;
    struct wf_track track;

    wf_track_calls_init(&calls, doc, tracks);
    for (struct wf_track_walk walk = wf_tracks_walk(tracks);
         calls.known && wf_track_step(&walk, &track);) {
        const struct wf_track_list *list = &calls.calls[track.number];
        uint64_t rank = TRACK_RANKS + track.first_rank;
        uint64_t own = TRACK_CALLS + 2 * track.first_rank;
        write_child(page, own, rank, "calls");
        for (size_t i = 0; i < list->n; i++) {
            const struct wf_track_call *call = &list->calls[i];
            write_slice(page, own, calls.names[call->name].mpi, call,
                        call->stack < calls.n_stack_names ? calls.stack_names[call->stack]
                                                          : NULL);
        }
        if (calls.regions != NULL) {
            write_child(page, own + 1, rank, "regions");
            write_regions(page, own + 1, &calls, &calls.regions[track.number]);
        }
    }
    wf_track_calls_fini(&calls);
}

static void write_messages(struct page *page, const struct wf_tracks *tracks)
{
    struct wf_message_walk walk = wf_tracks_messages(tracks);
    struct wf_track_message message;

    for (uint64_t flow = 1; wf_track_message(&walk, &message); flow++) {
        char name[64];
        (void)snprintf(name, sizeof(name), "send %" PRIu64 " B to %" PRIu64, message.bytes,
                       message.to);
        struct event event = {.ps = message.departure,
                              .track = TRACK_RANKS + message.from,
                              .type = TYPE_INSTANT,
                              .name = name,
                              .flow = flow};
        write_event(page, &event);
        (void)snprintf(name, sizeof(name), "%" PRIu64 " B from %" PRIu64, message.bytes,
                       message.from);
        event = (struct event){.ps = message.arrival,
                               .track = TRACK_RANKS + message.to,
                               .type = TYPE_INSTANT,
                               .name = name,
                               .flow_ending = flow};
        write_event(page, &event);
    }
}

/* Reads numbers from a text, one for each window of time. */
struct counter {
    const char *name;
    uint64_t track, window_ps;
    const char *values;
};

static void write_counter(struct page *page, const struct counter *counter,
                          const struct wf_choice *view)
{
    const char *at = counter->values;

    write_counter_track(page, counter->track, counter->name);
    for (uint64_t from = 0; *at != '\0'; from += counter->window_ps) {
        const struct event event = {.ps = from,
                                    .track = counter->track,
                                    .type = TYPE_COUNTER,
                                    .counter = wf_track_number(&at)};
        if (wf_choice_touches(view, (int64_t)from, (int64_t)(from + counter->window_ps))) {
            write_event(page, &event);
        }
    }
}

/* The load of the busiest links, if the network model counted it. */
static void write_links(struct page *page, const struct wf_value *doc,
                        const struct wf_choice *view)
{
    const struct wf_value *list = wf_doc_find(doc, "result.network.hot_links");
    uint64_t track = TRACK_BYTES + 1;

    if (list == NULL || list->type != WF_VALUE_LIST) {
        return;
    }
    for (const struct wf_value *link = list->first; link != NULL; link = link->next) {
        char name[96];
        struct counter counter = {name, track++, wf_doc_get_count(link, "load_window_ps", 0),
                                  wf_doc_get_text(link, "load_bytes", "")};
        (void)snprintf(name, sizeof(name),
                       "link from vertex %" PRIu64 " to %" PRIu64 ", bytes per window",
                       wf_doc_get_count(link, "vertex", 0), wf_doc_get_count(link, "to", 0));
        if (counter.window_ps > 0 && counter.values[0] != '\0') {
            write_counter(page, &counter, view);
        }
    }
}

static void perfetto_write(const struct wf_value *doc, const struct wf_write_options *options,
                           FILE *out)
{
    struct page page = {.out = out};
    struct wf_tracks tracks;

    wf_tracks_init(&tracks, doc, options);
    write_tracks(&page, &tracks);
    write_spans(&page, &tracks);
    write_calls(&page, doc, &tracks);
    write_messages(&page, &tracks);
    const struct counter received = {"bytes received per bin", TRACK_BYTES, tracks.bin_ps,
                                     wf_doc_get_text(doc, "recording.received_bytes", "")};
    write_counter(&page, &received, &options->view);
    write_links(&page, doc, &options->view);
    wf_tracks_fini(&tracks);
    wf_buf_fini(&page.packet);
    wf_buf_fini(&page.inner);
    wf_buf_fini(&page.part);
    wf_buf_fini(&page.head);
}

const struct wf_writer_ops wf_writer_perfetto = {
    .name = "perfetto",
    .extension = ".pftrace",
    .summary = "a timeline for Perfetto (ui.perfetto.dev)",
    .records = true,
    .timeline = true,
    .links = true,
    .write = perfetto_write,
};
