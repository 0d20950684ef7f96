/* SPDX-License-Identifier: Apache-2.0 */
/* A timeline as an OTF2 archive. If the recording has calls, regions are the calls and the regions
 * of the program, with point-to-point and collective events inside of the calls. Otherwise each
 * activity of a rank is a region, and messages are events where they leave and arrive. Iterations
 * are markers. */
#include "base/array.h"
#include "program/trace/kit/target.h"
#include "program/trace/otf2/coll.h"
#include "program/trace/otf2/out.h"
#include "ui/report/calls.h"
#include "ui/report/tracks.h"
#include "ui/report/writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* One end of a message, on a track. */
struct end {
    uint64_t at;
    uint32_t track, peer;
    uint64_t bytes;
    uint64_t order; /* order among ends at the same time */
    bool is_arrival;
};

struct ends {
    struct end *list;
    size_t n, capacity;
};

static void add_end(struct ends *ends, struct end end)
{
    WF_GROW(ends->list, ends->n, ends->capacity);
    end.order = ends->n;
    ends->list[ends->n++] = end;
}

static int compare(const void *a, const void *b)
{
    const struct end *x = a, *y = b;

    if (x->track != y->track) {
        return x->track < y->track ? -1 : 1;
    }
    if (x->at != y->at) {
        return x->at < y->at ? -1 : 1;
    }
    return x->order < y->order ? -1 : 1;
}

/* Both ends of all messages, by track and time. */
static struct ends ends_of(const struct wf_tracks *tracks)
{
    struct wf_message_walk walk = wf_tracks_messages(tracks);
    struct wf_track_message message;
    struct ends ends = {.n = 0};

    while (wf_track_message(&walk, &message)) {
        uint32_t from = tracks->number[message.from] - 1, to = tracks->number[message.to] - 1;
        add_end(&ends, (struct end){message.departure, from, to, message.bytes, 0, false});
        add_end(&ends, (struct end){message.arrival, to, from, message.bytes, 0, true});
    }
    WF_SORT(ends.list, ends.n, compare);
    return ends;
}

static void put_ends(struct wf_otf2_out *out, const struct end **at, const struct end *last,
                     uint64_t track, uint64_t until)
{
    for (; *at < last && (*at)->track == track && (*at)->at <= until; (*at)++) {
        const struct end *end = *at;
        wf_otf2_out_event(
            out, &(struct wf_otf2_event){.kind = end->is_arrival ? WF_OTF2_RECV : WF_OTF2_SEND,
                                         .time = end->at,
                                         .peer = end->peer,
                                         .bytes = end->bytes});
    }
}

static void put_place(struct wf_otf2_out *out, const struct wf_track *track)
{
    char name[64];

    (void)snprintf(name, sizeof(name),
                   track->ranks > 1 ? "ranks %" PRIu64 " to %" PRIu64 : "rank %" PRIu64,
                   track->first_rank, track->first_rank + track->ranks - 1);
    if (track->tracks->nodes != NULL || track->ranks > 1 ||
        track->first_rank != track->number) {
        wf_otf2_out_place(out, (uint32_t)track->number, name, track->node);
    }
    wf_otf2_out_rank(out, (uint32_t)track->number);
}

static void put_track(struct wf_otf2_out *out, struct wf_track *track, const struct end **at,
                      const struct end *last)
{
    struct wf_track_span span;

    put_place(out, track);
    while (wf_track_next(track, &span)) {
        struct wf_otf2_event event = {
            .kind = WF_OTF2_ENTER, .time = span.from, .region = (uint32_t)span.what};
        put_ends(out, at, last, track->number, span.from);
        wf_otf2_out_event(out, &event);
        put_ends(out, at, last, track->number, span.until);
        event.kind = WF_OTF2_LEAVE;
        event.time = span.until;
        wf_otf2_out_event(out, &event);
    }
    put_ends(out, at, last, track->number, UINT64_MAX);
}

static void put_markers(struct wf_otf2_out *out, const struct wf_value *doc,
                        const struct wf_choice *view)
{
    const struct wf_value *list = wf_doc_find(doc, "result.iterations");

    for (const struct wf_value *v = list != NULL ? list->first : NULL; v != NULL; v = v->next) {
        uint64_t time = wf_doc_get_count(v, "time_ps.mean", 0);
        char text[64];
        (void)snprintf(text, sizeof(text), "iteration %" PRIu64 " %ss",
                       wf_doc_get_count(v, "number", 0), wf_doc_get_text(v, "at", ""));
        if (wf_choice_touches(view, (int64_t)time, (int64_t)time + 1)) {
            wf_otf2_out_marker(out, time, text);
        }
    }
}

/* ---- calls ---- */

/* What is written of calls: regions are numbered program, calls, then those of the program. */
struct call_writer {
    struct wf_otf2_out *out;
    const struct wf_tracks *tracks;
    const struct wf_track_calls *calls;
    size_t at; /* the next of calls->received */
};

static void put_region(struct wf_otf2_out *out, bool enters, uint64_t time, size_t region)
{
    wf_otf2_out_event(out,
                      &(struct wf_otf2_event){.kind = enters ? WF_OTF2_ENTER : WF_OTF2_LEAVE,
                                              .time = time,
                                              .region = (uint32_t)region});
}

static void put_received(struct call_writer *w, uint32_t track, uint32_t number)
{
    const struct wf_track_call *call = &w->calls->calls[track].calls[number];

    for (; w->at < w->calls->n_received; w->at++) {
        const struct wf_track_received *in = &w->calls->received[w->at];
        if (in->to != track || in->call != number) {
            return;
        }
        const struct wf_track_matched *each = &w->calls->messages[in->message];
        uint64_t arrival = each->message.arrival;
        const struct wf_track_call *sent = &w->calls->calls[each->from].calls[each->sent];
        wf_otf2_out_event(
            w->out, &(struct wf_otf2_event){.kind = WF_OTF2_RECV,
                                            .time = arrival > call->from ? arrival : call->from,
                                            .peer = each->from,
                                            .tag = sent->tag,
                                            .bytes = each->message.bytes});
    }
}

/* The track of the root of a collective; UINT32_MAX if it has none that is shown. */
static uint32_t root_of(const struct call_writer *w, const struct wf_track_call *call)
{
    return call->has_peer && call->peer < w->tracks->n_numbers
               ? w->tracks->number[call->peer] - 1
               : UINT32_MAX;
}

/* The bytes that Score-P records for a collective of all ranks; those of the call if lengths
 * differ from rank to rank or the members of its communicator are not known. */
static struct wf_otf2_sizes sizes_of(const struct call_writer *w, uint32_t track,
                                     const struct wf_track_call *call)
{
    static const char *const same[] = {"bcast",    "reduce",  "allreduce",
                                       "gather",   "scatter", "allgather",
                                       "alltoall", "scan",    "reduce_scatter_block"};
    const struct wf_track_name *name = &w->calls->names[call->name];

    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]) && call->comm == 0; i++) {
        if (strcmp(name->text, same[i]) == 0) {
            uint32_t n = (uint32_t)w->tracks->n;
            const struct wf_op op = {.kind = wf_op_of_call(name->mpi),
                                     .bytes = call->bytes,
                                     .root = root_of(w, call)};
            const struct wf_group all = {.size = n, .rank = track, .stride = 1, .width = n};
            return wf_otf2_coll_sizes(&op, &all);
        }
    }
    return (struct wf_otf2_sizes){call->bytes, call->bytes};
}

/* Writes a call with what happens in it. Peers are ranks of the communicator of all ranks; the
 * members of others are not in the document. */
static void put_call(struct call_writer *w, uint32_t track, uint32_t number)
{
    const struct wf_track_call *call = &w->calls->calls[track].calls[number];
    const struct wf_track_name *name = &w->calls->names[call->name];
    uint32_t collective =
        name->is_collective ? wf_otf2_coll_number(wf_op_of_call(name->mpi)) : UINT32_MAX;
    struct wf_otf2_event event = {.time = call->from, .bytes = call->bytes};

    put_region(w->out, true, call->from, call->name + 1);
    if (call->sent_to != WF_TRACK_NO_CALL) {
        event.kind = WF_OTF2_SEND;
        event.peer = call->sent_to;
        event.tag = call->tag;
        wf_otf2_out_event(w->out, &event);
    }
    if (collective != UINT32_MAX) {
        event.kind = WF_OTF2_COLL_BEGIN;
        wf_otf2_out_event(w->out, &event);
    }
    put_received(w, track, number);
    if (collective != UINT32_MAX) {
        struct wf_otf2_sizes sizes = sizes_of(w, track, call);
        event = (struct wf_otf2_event){.kind = WF_OTF2_COLL_END,
                                       .time = call->until,
                                       .region = collective,
                                       .peer = root_of(w, call),
                                       .bytes = sizes.sent,
                                       .received = sizes.received};
        wf_otf2_out_event(w->out, &event);
    }
    put_region(w->out, false, call->until, call->name + 1);
}

static void on_region(void *arg, bool enters, uint64_t time, uint32_t region)
{
    const struct call_writer *w = arg;

    put_region(w->out, enters, time, w->calls->n_names + 1 + region);
}

static void on_call(void *arg, uint32_t track, uint32_t number)
{
    put_call(arg, track, number);
}

/* The time of a track: from 0, or the first call that is shown, to its last span, call or region. */
struct extent {
    uint64_t begin, end;
};

static void extend(struct extent *extent, const struct wf_track_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct wf_track_call *call = &list->calls[i];
        extent->begin = call->from < extent->begin ? call->from : extent->begin;
        extent->end = call->until > extent->end ? call->until : extent->end;
    }
}

static struct extent extent_of(struct wf_track *track, const struct wf_track_calls *calls)
{
    const struct wf_choice *view = &track->tracks->view;
    struct extent extent = {.begin = view->until > 0 ? (uint64_t)view->from : 0};
    struct wf_track_span span;

    extent.end = extent.begin;
    while (wf_track_next(track, &span)) {
        extent.end = span.until > extent.end ? span.until : extent.end;
    }
    extend(&extent, &calls->calls[track->number]);
    if (calls->regions != NULL) {
        extend(&extent, &calls->regions[track->number]);
    }
    return extent;
}

/* Each rank is in the region `program` from its begin to its end. */
static void put_all_calls(struct wf_otf2_out *out, const struct wf_tracks *tracks,
                          const struct wf_track_calls *calls)
{
    struct call_writer w = {.out = out, .tracks = tracks, .calls = calls};
    const struct wf_track_visitor visitor = {&w, on_region, on_call};
    struct wf_track track;

    (void)wf_otf2_out_region(out, "program", false);
    for (size_t i = 0; i < calls->n_names; i++) {
        (void)wf_otf2_out_region(out, calls->names[i].mpi, true);
    }
    for (size_t i = 0; i < calls->n_region_names; i++) {
        (void)wf_otf2_out_region(out, calls->region_names[i], false);
    }
    for (struct wf_track_walk walk = wf_tracks_walk(tracks); wf_track_step(&walk, &track);) {
        put_place(out, &track);
        struct extent extent = extent_of(&track, calls);
        put_region(out, true, extent.begin, 0);
        wf_track_calls_visit(calls, (uint32_t)track.number, extent.end, &visitor);
        put_region(out, false, extent.end, 0);
    }
}

static void put_all(struct wf_otf2_out *out, const struct wf_tracks *tracks)
{
    struct ends ends = ends_of(tracks);
    const struct end *at = ends.list, *last = ends.n > 0 ? at + ends.n : at;
    struct wf_track track;

    for (int what = 0; what < WF_TRACK_KINDS; what++) {
        (void)wf_otf2_out_region(out, wf_track_names[what], what > 0);
    }
    for (struct wf_track_walk walk = wf_tracks_walk(tracks); wf_track_step(&walk, &track);) {
        put_track(out, &track, &at, last);
    }
    free(ends.list);
}

static enum wf_status otf2_save(const struct wf_value *doc,
                                const struct wf_write_options *options, const char *path,
                                bool force, struct wf_err *err)
{
    struct wf_target *target = NULL;
    struct wf_otf2_out *out = NULL;
    struct wf_tracks tracks;

    enum wf_status status = wf_target_open(path, true, force, &target, err);
    if (status != WF_OK) {
        return status;
    }
    wf_tracks_init(&tracks, doc, options);
    if (tracks.n == 0) {
        status =
            wf_err_set(err, WF_EINVAL,
                       "the result has no recording for '%.200s'; replay with --record", path);
    } else {
        status = wf_otf2_out_open(wf_target_place(target), path, (uint32_t)tracks.n, "weft",
                                  &out, err);
    }
    if (status == WF_OK) {
        struct wf_track_calls calls;
        wf_track_calls_init(&calls, doc, &tracks);
        if (calls.known) {
            put_all_calls(out, &tracks, &calls);
        } else {
            put_all(out, &tracks);
        }
        wf_track_calls_fini(&calls);
        put_markers(out, doc, &options->view);
        status = wf_otf2_out_finish(out, err);
    }
    wf_tracks_fini(&tracks);
    if (status == WF_OK) {
        return wf_target_commit(target, err);
    }
    wf_target_discard(target);
    return status;
}

static enum wf_status otf2_check(const char *path, bool force, struct wf_err *err)
{
    struct wf_target *target = NULL;

    enum wf_status status = wf_otf2_has_library(err);
    if (status == WF_OK) {
        status = wf_target_open(path, true, force, &target, err);
        wf_target_discard(target);
    }
    return status;
}

const struct wf_writer_ops wf_writer_otf2 = {
    .name = "otf2",
    .extension = ".otf2",
    .summary = "a timeline as an OTF2 archive, a directory",
    .records = true,
    .timeline = true,
    .save = otf2_save,
    .check = otf2_check,
};
