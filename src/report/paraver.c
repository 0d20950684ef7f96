/* SPDX-License-Identifier: Apache-2.0 */
/* A timeline for Paraver, in its trace format: states and communications, ordered by time. A
 * track is a task with one thread, on a processor of its own. Times are in nanoseconds. The
 * names of states and tasks go into two other files next to the trace. */
#include "base/array.h"
#include "report/tracks.h"
#include "report/writer.h"

#include <inttypes.h>
#include <stdlib.h>

enum { PS_PER_NS = 1000 };

/* Paraver's state numbers, by kind of span; 0 is idle. */
static const int states[WF_TRACK_KINDS] = {1, 7, 4, 3, 9, 8};

/* A line of the file. */
struct line {
    uint64_t at, until; /* for a message: departure and arrival */
    uint64_t task, to;  /* numbered from 1 */
    uint64_t bytes;
    uint64_t order; /* order among lines with the same time */
    int state;      /* -1: a message */
};

struct lines {
    struct line *list;
    size_t n, capacity;
};

static void add(struct lines *lines, struct line line)
{
    WF_GROW(lines->list, lines->n, lines->capacity);
    line.order = lines->n;
    lines->list[lines->n++] = line;
}

static void add_spans(struct lines *lines, const struct wf_tracks *tracks)
{
    struct wf_track track;

    for (struct wf_track_walk walk = wf_tracks_walk(tracks); wf_track_step(&walk, &track);) {
        struct wf_track_span span;
        while (wf_track_next(&track, &span)) {
            add(lines, (struct line){.at = span.from,
                                     .until = span.until,
                                     .task = track.number + 1,
                                     .state = states[span.what]});
        }
    }
}

static void add_messages(struct lines *lines, const struct wf_tracks *tracks)
{
    struct wf_message_walk walk = wf_tracks_messages(tracks);
    struct wf_track_message message;

    while (wf_track_message(&walk, &message)) {
        add(lines, (struct line){.at = message.departure,
                                 .until = message.arrival,
                                 .task = tracks->number[message.from],
                                 .to = tracks->number[message.to],
                                 .bytes = message.bytes,
                                 .state = -1});
    }
}

static int compare(const void *a, const void *b)
{
    const struct line *x = a, *y = b;

    if (x->at != y->at) {
        return x->at < y->at ? -1 : 1;
    }
    return x->order < y->order ? -1 : 1;
}

static void write_line(const struct line *line, FILE *out)
{
    uint64_t at = line->at / PS_PER_NS, until = line->until / PS_PER_NS;

    if (line->state >= 0) {
        (void)fprintf(out, "1:%" PRIu64 ":1:%" PRIu64 ":1:%" PRIu64 ":%" PRIu64 ":%d\n",
                      line->task, line->task, at, until, line->state);
    } else {
        (void)fprintf(out,
                      "3:%" PRIu64 ":1:%" PRIu64 ":1:%" PRIu64 ":%" PRIu64 ":%" PRIu64
                      ":1:%" PRIu64 ":1:%" PRIu64 ":%" PRIu64 ":%" PRIu64 ":0\n",
                      line->task, line->task, at, at, line->to, line->to, until, until,
                      line->bytes);
    }
}

/* Declares one node with a processor for each track, because Paraver numbers processors, not
 * nodes. Writes no date, so that equal runs give equal files. */
static void write_head(const struct wf_tracks *tracks, FILE *out)
{
    (void)fprintf(out,
                  "#Paraver (01/01/2000 at 00:00):%" PRIu64 "_ns:1(%" PRIu64 "):1:%" PRIu64,
                  tracks->end_ps / PS_PER_NS, tracks->n, tracks->n);
    for (uint64_t i = 0; i < tracks->n; i++) {
        (void)fprintf(out, "%s1:1", i == 0 ? "(" : ",");
    }
    (void)fputs(tracks->n > 0 ? ")\n" : "\n", out);
}

static void paraver_write(const struct wf_value *doc, const struct wf_write_options *options,
                          FILE *out)
{
    struct lines lines = {.n = 0};
    struct wf_tracks tracks;

    wf_tracks_init(&tracks, doc, options);
    write_head(&tracks, out);
    add_spans(&lines, &tracks);
    add_messages(&lines, &tracks);
    if (lines.n > 0) {
        qsort(lines.list, lines.n, sizeof(*lines.list), compare);
    }
    for (size_t i = 0; i < lines.n; i++) {
        write_line(&lines.list[i], out);
    }
    free(lines.list);
    wf_tracks_fini(&tracks);
}

/* The colours of states, the same as in the report. */
static void paraver_write_pcf(const struct wf_value *doc,
                              const struct wf_write_options *options, FILE *out)
{
    static const char *const colors[] = {"{47,158,110}", "{224,165,38}", "{142,99,206}",
                                         "{217,83,79}",  "{59,130,196}", "{140,120,90}"};

    (void)fputs("DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               "
                "NANOSEC\n\nSTATES\n0    idle\n",
                out);
    for (int i = 0; i < WF_TRACK_KINDS; i++) {
        (void)fprintf(out, "%d    %s\n", states[i], wf_track_names[i]);
    }
    (void)fputs("\nSTATES_COLOR\n0    {223,227,232}\n", out);
    for (int i = 0; i < WF_TRACK_KINDS; i++) {
        (void)fprintf(out, "%d    %s\n", states[i], colors[i]);
    }
}

static void write_names(const struct wf_tracks *tracks, const char *level, FILE *out)
{
    struct wf_track track;

    (void)fprintf(out, "LEVEL %s SIZE %" PRIu64 "\n", level, tracks->n);
    for (struct wf_track_walk walk = wf_tracks_walk(tracks); wf_track_step(&walk, &track);) {
        (void)fprintf(
            out, track.ranks > 1 ? "ranks %" PRIu64 "-%" PRIu64 "\n" : "rank %" PRIu64 "\n",
            track.first_rank, track.first_rank + track.ranks - 1);
    }
    (void)fputc('\n', out);
}

static void paraver_write_row(const struct wf_value *doc,
                              const struct wf_write_options *options, FILE *out)
{
    struct wf_tracks tracks;

    wf_tracks_init(&tracks, doc, options);
    write_names(&tracks, "CPU", out);
    (void)fputs("LEVEL NODE SIZE 1\nmachine\n\n", out);
    write_names(&tracks, "THREAD", out);
    wf_tracks_fini(&tracks);
}

static const struct wf_writer_beside beside[] = {
    {".pcf", paraver_write_pcf},
    {".row", paraver_write_row},
    {NULL, NULL},
};

const struct wf_writer_ops wf_writer_paraver = {
    .name = "paraver",
    .extension = ".prv",
    .summary = "a timeline for Paraver, with a .pcf and a .row file",
    .records = true,
    .timeline = true,
    .write = paraver_write,
    .beside = beside,
};
