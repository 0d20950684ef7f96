/* SPDX-License-Identifier: Apache-2.0 */
/* A timeline as a CLOG2 log, for Jumpshot. As in the logs of MPE, states are the calls of MPI and
 * the regions of the program, and messages belong to calls: those of collectives are not shown,
 * unless the collectives were expanded. A rank begins with MPI_Init and ends with MPI_Finalize, in
 * no time: a reader takes what is before its first call and after its last one for the time of the
 * program. If the recording has no calls, the activities of the ranks are states, and all messages
 * are shown where they leave and arrive. */
#include "base/array.h"
#include "program/trace/clog2/out.h"
#include "ui/report/calls.h"
#include "ui/report/tracks.h"
#include "ui/report/writer.h"

#include <stdlib.h>

enum item_kind { ENTERS, LEAVES, SENDS, RECEIVES };

/* A record of the log. */
struct item {
    uint64_t at;
    uint64_t order; /* order among records of the same time */
    enum item_kind kind;
    uint32_t track;
    uint32_t number; /* state, or track at the other end of a message */
    uint32_t tag;
    uint64_t bytes;
};

struct items {
    struct item *list;
    size_t n, capacity;
};

/* What goes through the calls of the tracks. */
struct call_walk {
    struct items *items;
    const struct wf_track_calls *calls;
    uint32_t track;
    size_t at; /* the next of calls->received */
};

static void add(struct items *items, struct item item)
{
    WF_GROW(items->list, items->n, items->capacity);
    item.order = items->n;
    items->list[items->n++] = item;
}

static void add_state(struct items *items, uint64_t at, uint32_t track, uint32_t state,
                      bool enters)
{
    add(items,
        (struct item){
            .at = at, .kind = enters ? ENTERS : LEAVES, .track = track, .number = state});
}

/* ---- with calls ---- */

static void add_received(struct call_walk *walk, uint32_t track, uint32_t number)
{
    const struct wf_track_calls *calls = walk->calls;
    const struct wf_track_call *call = &calls->calls[track].calls[number];

    for (; walk->at < calls->n_received; walk->at++) {
        const struct wf_track_received *in = &calls->received[walk->at];
        if (in->to != track || in->call != number) {
            return;
        }
        const struct wf_track_matched *each = &calls->messages[in->message];
        uint64_t arrival = each->message.arrival;
        uint64_t at = arrival > call->from ? arrival : call->from;
        add(walk->items, (struct item){.at = at < call->until ? at : call->until,
                                       .kind = RECEIVES,
                                       .track = track,
                                       .number = each->from,
                                       .tag = calls->calls[each->from].calls[each->sent].tag,
                                       .bytes = each->message.bytes});
    }
}

static void on_call(void *arg, uint32_t track, uint32_t number)
{
    struct call_walk *walk = arg;
    const struct wf_track_call *call = &walk->calls->calls[track].calls[number];

    add_state(walk->items, call->from, track, call->name, true);
    if (call->sent_to != WF_TRACK_NO_CALL) {
        add(walk->items, (struct item){.at = call->from,
                                       .kind = SENDS,
                                       .track = track,
                                       .number = call->sent_to,
                                       .tag = call->tag,
                                       .bytes = call->bytes});
    }
    add_received(walk, track, number);
    add_state(walk->items, call->until, track, call->name, false);
}

static void on_region(void *arg, bool enters, uint64_t time, uint32_t region)
{
    struct call_walk *walk = arg;

    add_state(walk->items, time, walk->track, (uint32_t)walk->calls->n_names + region, enters);
}

/* The states after those of calls and regions. */
enum { STATE_INIT, STATE_FINALIZE, N_ENDS };
static const char *const end_names[N_ENDS] = {"MPI_Init", "MPI_Finalize"};

static void add_end(const struct call_walk *walk, uint64_t at, uint32_t end)
{
    uint32_t state = (uint32_t)(walk->calls->n_names + walk->calls->n_region_names) + end;

    add_state(walk->items, at, walk->track, state, true);
    add_state(walk->items, at, walk->track, state, false);
}

static void add_calls(struct items *items, const struct wf_tracks *tracks,
                      const struct wf_track_calls *calls)
{
    struct call_walk walk = {.items = items, .calls = calls};
    const struct wf_track_visitor visitor = {&walk, on_region, on_call};
    struct wf_track track;

    for (struct wf_track_walk all = wf_tracks_walk(tracks); wf_track_step(&all, &track);) {
        const struct wf_track_list *list = &calls->calls[track.number];
        uint64_t end = list->n > 0 ? list->calls[list->n - 1].until : 0;
        struct wf_track_span span;
        while (wf_track_next(&track, &span)) {
            end = span.until > end ? span.until : end;
        }
        walk.track = (uint32_t)track.number;
        add_end(&walk, tracks->view.until > 0 ? (uint64_t)tracks->view.from : 0, STATE_INIT);
        wf_track_calls_visit(calls, walk.track, end, &visitor);
        add_end(&walk, end, STATE_FINALIZE);
    }
}

/* ---- without ---- */

static void add_activities(struct items *items, const struct wf_tracks *tracks)
{
    struct wf_message_walk messages = wf_tracks_messages(tracks);
    struct wf_track_message message;
    struct wf_track track;

    for (struct wf_track_walk walk = wf_tracks_walk(tracks); wf_track_step(&walk, &track);) {
        struct wf_track_span span;
        while (wf_track_next(&track, &span)) {
            add_state(items, span.from, (uint32_t)track.number, (uint32_t)span.what, true);
            add_state(items, span.until, (uint32_t)track.number, (uint32_t)span.what, false);
        }
    }
    while (wf_track_message(&messages, &message)) {
        uint32_t from = tracks->number[message.from] - 1, to = tracks->number[message.to] - 1;
        add(items, (struct item){message.departure, 0, SENDS, from, to, 0, message.bytes});
        add(items, (struct item){message.arrival, 0, RECEIVES, to, from, 0, message.bytes});
    }
}

/* ---- writing ---- */

static int compare(const void *a, const void *b)
{
    const struct item *x = a, *y = b;

    return 2 * WF_ORDER(x->at, y->at) + WF_ORDER(x->order, y->order);
}

static void put_items(struct wf_clog2_out *log, struct items *items)
{
    WF_SORT(items->list, items->n, compare);
    for (size_t i = 0; i < items->n; i++) {
        const struct item *item = &items->list[i];
        if (item->kind == ENTERS || item->kind == LEAVES) {
            wf_clog2_out_state(log, item->at, item->track, item->number, item->kind == LEAVES);
        } else {
            const struct wf_clog2_end end = {.kind = item->kind == SENDS ? WF_CLOG2_SEND
                                                                         : WF_CLOG2_RECV,
                                             .peer = item->number,
                                             .tag = item->tag,
                                             .bytes = item->bytes};
            wf_clog2_out_message(log, item->at, item->track, &end);
        }
    }
}

/* Definitions come last, as in the logs of MPE. */
static void define_states(struct wf_clog2_out *log, const struct wf_track_calls *calls,
                          uint64_t end)
{
    for (int i = 0; i < WF_TRACK_KINDS && !calls->known; i++) {
        wf_clog2_out_define(log, end, wf_track_names[i]);
    }
    for (size_t i = 0; i < calls->n_names && calls->known; i++) {
        wf_clog2_out_define(log, end, calls->names[i].mpi);
    }
    for (size_t i = 0; i < calls->n_region_names && calls->known; i++) {
        wf_clog2_out_define(log, end, calls->region_names[i]);
    }
    for (int i = 0; i < N_ENDS && calls->known; i++) {
        wf_clog2_out_define(log, end, end_names[i]);
    }
}

static void clog2_write(const struct wf_value *doc, const struct wf_write_options *options,
                        FILE *out)
{
    struct wf_clog2_out log;
    struct wf_tracks tracks;
    struct wf_track_calls calls;
    struct items items = {.n = 0};

    wf_tracks_init(&tracks, doc, options);
    wf_track_calls_init(&calls, doc, &tracks);
    if (calls.known) {
        wf_clog2_out_begin(&log, (uint32_t)tracks.n, (uint32_t)calls.n_names,
                           (uint32_t)calls.n_region_names + N_ENDS);
        add_calls(&items, &tracks, &calls);
    } else {
        wf_clog2_out_begin(&log, (uint32_t)tracks.n, 0, WF_TRACK_KINDS);
        add_activities(&items, &tracks);
    }
    put_items(&log, &items);
    define_states(&log, &calls, tracks.end_ps);
    wf_clog2_out_finish(&log, out);
    free(items.list);
    wf_track_calls_fini(&calls);
    wf_tracks_fini(&tracks);
}

const struct wf_writer_ops wf_writer_clog2 = {
    .name = "clog2",
    .extension = ".clog2",
    .summary = "a timeline as a CLOG2 log of MPE, for Jumpshot",
    .records = true,
    .timeline = true,
    .write = clog2_write,
};
