/* SPDX-License-Identifier: Apache-2.0 */
/* A timeline as an OTF2 archive. Each activity of a rank is a region, messages are
 * point-to-point events where they leave and arrive, iterations are markers. */
#include "base/array.h"
#include "report/tracks.h"
#include "report/writer.h"
#include "trace/kit/target.h"
#include "trace/otf2/out.h"

#include <inttypes.h>
#include <stdlib.h>

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
    if (ends.n > 0) {
        qsort(ends.list, ends.n, sizeof(*ends.list), compare);
    }
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

static void put_track(struct wf_otf2_out *out, struct wf_track *track, const struct end **at,
                      const struct end *last)
{
    struct wf_track_span span;
    char name[64];

    (void)snprintf(name, sizeof(name),
                   track->ranks > 1 ? "ranks %" PRIu64 " to %" PRIu64 : "rank %" PRIu64,
                   track->first_rank, track->first_rank + track->ranks - 1);
    if (track->tracks->nodes != NULL || track->ranks > 1 ||
        track->first_rank != track->number) {
        wf_otf2_out_place(out, (uint32_t)track->number, name, track->node);
    }
    wf_otf2_out_rank(out, (uint32_t)track->number);
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

static void put_all(struct wf_otf2_out *out, const struct wf_tracks *tracks)
{
    struct ends ends = ends_of(tracks);
    const struct end *at = ends.list, *last = ends.list + ends.n;
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
        put_all(out, &tracks);
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

    enum wf_status status = wf_otf2_has_library(path, err);
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
