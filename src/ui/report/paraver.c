/* SPDX-License-Identifier: Apache-2.0 */
/* A timeline for Paraver, in its trace format: states, events and communications, ordered by
 * time. A track is a task with one thread, on a processor of its own; processors belong to the
 * nodes of the run. Calls and regions are events with the types of Extrae. Times are in
 * nanoseconds. The names of states, events and tasks go into two other files next to the
 * trace. */
#include "base/array.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "ui/report/calls.h"
#include "ui/report/tracks.h"
#include "ui/report/writer.h"

#include <inttypes.h>
#include <stdlib.h>

enum { PS_PER_NS = 1000 };

/* Types of events, as Extrae numbers them. */
enum {
    TYPE_P2P = 50000001,
    TYPE_COLLECTIVE,
    TYPE_OTHER,
    TYPE_REGION = 60000019,
    TYPE_STACK = 70000001
};

/* Paraver's state numbers, by kind of span; 0 is idle. */
static const int states[WF_TRACK_KINDS] = {1, 7, 4, 3, 9, 8, 12};

/* A line of the file. */
struct line {
    uint64_t at, until; /* for a message: departure and arrival */
    uint64_t task, to;  /* numbered from 1 */
    uint64_t bytes;
    uint64_t order;     /* order among lines with the same time */
    int state;          /* enum line_kind if it is negative */
    uint32_t type, tag; /* of an event, whose value is `bytes`; of a message */
};

enum line_kind { A_MESSAGE = -1, AN_EVENT = -2 };

/* Where the processors of the tracks are. */
struct machine {
    uint64_t *cpu;  /* of each track, numbered from 1 */
    uint64_t *node; /* likewise */
    uint64_t *size; /* of each node: its processors */
    uint64_t n_nodes;
};

/* Numbers the nodes in the order of their first tracks, and the processors node by node. */
static struct machine machine_of(const struct wf_tracks *tracks)
{
    struct machine m = {.cpu = wf_xcalloc(tracks->n + 1, sizeof(*m.cpu)),
                        .node = wf_xcalloc(tracks->n + 1, sizeof(*m.node)),
                        .size = wf_xcalloc(tracks->n + 1, sizeof(*m.size))};
    struct wf_map numbers = {.n = 0}; /* of the nodes, from 1 */
    struct wf_track track;

    for (struct wf_track_walk walk = wf_tracks_walk(tracks); wf_track_step(&walk, &track);) {
        uint64_t *number = wf_map_put(&numbers, track.node);
        *number = *number != 0 ? *number : ++m.n_nodes;
        m.node[track.number] = *number;
        m.cpu[track.number] = ++m.size[*number - 1];
    }
    uint64_t *first = wf_xcalloc(m.n_nodes + 1, sizeof(*first));
    for (uint64_t i = 1; i < m.n_nodes; i++) {
        first[i] = first[i - 1] + m.size[i - 1];
    }
    for (uint64_t i = 0; i < tracks->n; i++) {
        m.cpu[i] += m.node[i] > 0 ? first[m.node[i] - 1] : 0;
    }
    free(first);
    wf_map_fini(&numbers);
    return m;
}

static void machine_fini(struct machine *machine)
{
    free(machine->cpu);
    free(machine->node);
    free(machine->size);
}

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

static void add_messages(struct lines *lines, const struct wf_track_calls *calls)
{
    for (size_t i = 0; i < calls->n_messages; i++) {
        const struct wf_track_matched *each = &calls->messages[i];
        bool known = each->sent != WF_TRACK_NO_CALL;
        add(lines,
            (struct line){.at = each->message.departure,
                          .until = each->message.arrival,
                          .task = each->from + UINT64_C(1),
                          .to = each->to + UINT64_C(1),
                          .bytes = each->message.bytes,
                          .state = A_MESSAGE,
                          .tag = known ? calls->calls[each->from].calls[each->sent].tag : 0});
    }
}

static uint32_t type_of(const struct wf_track_name *name)
{
    return name->is_collective       ? TYPE_COLLECTIVE
           : name->is_point_to_point ? TYPE_P2P
                                     : TYPE_OTHER;
}

/* Adds the begin and the end of a call or region: its name or stack, then 0. */
static void add_event(struct lines *lines, const struct wf_track_call *call, uint64_t track,
                      uint32_t type)
{
    uint32_t number = type == TYPE_STACK ? call->stack : call->name;
    struct line line = {.at = call->from,
                        .task = track + 1,
                        .bytes = number + UINT64_C(1),
                        .state = AN_EVENT,
                        .type = type};

    add(lines, line);
    line.at = call->until;
    line.bytes = 0;
    add(lines, line);
}

static void add_events(struct lines *lines, const struct wf_track_calls *calls)
{
    for (uint64_t track = 0; calls->known && track < calls->n_tracks; track++) {
        const struct wf_track_list *list = &calls->calls[track];
        for (size_t i = 0; calls->regions != NULL && i < calls->regions[track].n; i++) {
            add_event(lines, &calls->regions[track].calls[i], track, TYPE_REGION);
        }
        for (size_t i = 0; i < list->n; i++) {
            add_event(lines, &list->calls[i], track,
                      type_of(&calls->names[list->calls[i].name]));
            if (list->calls[i].stack < calls->n_stack_names) {
                add_event(lines, &list->calls[i], track, TYPE_STACK);
            }
        }
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

static void write_line(const struct line *line, const struct machine *machine, FILE *out)
{
    uint64_t at = line->at / PS_PER_NS, until = line->until / PS_PER_NS;
    uint64_t cpu = machine->cpu[line->task - 1];

    if (line->state >= 0) {
        (void)fprintf(out, "1:%" PRIu64 ":1:%" PRIu64 ":1:%" PRIu64 ":%" PRIu64 ":%d\n", cpu,
                      line->task, at, until, line->state);
    } else if (line->state == AN_EVENT) {
        (void)fprintf(out,
                      "2:%" PRIu64 ":1:%" PRIu64 ":1:%" PRIu64 ":%" PRIu32 ":%" PRIu64 "\n",
                      cpu, line->task, at, line->type, line->bytes);
    } else {
        (void)fprintf(out,
                      "3:%" PRIu64 ":1:%" PRIu64 ":1:%" PRIu64 ":%" PRIu64 ":%" PRIu64
                      ":1:%" PRIu64 ":1:%" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%" PRIu32 "\n",
                      cpu, line->task, at, at, machine->cpu[line->to - 1], line->to, until,
                      until, line->bytes, line->tag);
    }
}

/* Writes no date, so that equal runs give equal files. */
static void write_head(const struct wf_tracks *tracks, const struct machine *machine, FILE *out)
{
    (void)fprintf(out, "#Paraver (01/01/2000 at 00:00):%" PRIu64 "_ns:%" PRIu64,
                  tracks->end_ps / PS_PER_NS, machine->n_nodes);
    for (uint64_t i = 0; i < machine->n_nodes; i++) {
        (void)fprintf(out, "%s%" PRIu64, i == 0 ? "(" : ",", machine->size[i]);
    }
    (void)fprintf(out, "%s:1:%" PRIu64, machine->n_nodes > 0 ? ")" : "", tracks->n);
    for (uint64_t i = 0; i < tracks->n; i++) {
        (void)fprintf(out, "%s1:%" PRIu64, i == 0 ? "(" : ",", machine->node[i]);
    }
    (void)fputs(tracks->n > 0 ? ")\n" : "\n", out);
}

static void paraver_write(const struct wf_value *doc, const struct wf_write_options *options,
                          FILE *out)
{
    struct lines lines = {.n = 0};
    struct wf_tracks tracks;
    struct wf_track_calls calls;

    wf_tracks_init(&tracks, doc, options);
    wf_track_calls_init(&calls, doc, &tracks);
    struct machine machine = machine_of(&tracks);
    write_head(&tracks, &machine, out);
    add_spans(&lines, &tracks);
    add_events(&lines, &calls);
    add_messages(&lines, &calls);
    WF_SORT(lines.list, lines.n, compare);
    for (size_t i = 0; i < lines.n; i++) {
        write_line(&lines.list[i], &machine, out);
    }
    free(lines.list);
    machine_fini(&machine);
    wf_track_calls_fini(&calls);
    wf_tracks_fini(&tracks);
}

/* Names the values of a type of events, which are the calls of that type. */
static void write_values(const struct wf_track_calls *calls, uint32_t type, const char *title,
                         FILE *out)
{
    (void)fprintf(out, "\nEVENT_TYPE\n9    %" PRIu32 "    %s\nVALUES\n0    Outside\n", type,
                  title);
    for (size_t i = 0; i < calls->n_names; i++) {
        if (type_of(&calls->names[i]) == type) {
            (void)fprintf(out, "%zu    %s\n", i + 1, calls->names[i].mpi);
        }
    }
    for (size_t i = 0; i < calls->n_region_names && type == TYPE_REGION; i++) {
        (void)fprintf(out, "%zu    %s\n", i + 1, calls->region_names[i]);
    }
    for (size_t i = 0; i < calls->n_stack_names && type == TYPE_STACK; i++) {
        wf_text_print(out, "%zu    %s\n", i + 1, calls->stack_names[i]);
    }
}

/* The colours of states, the same as in the report. */
static void paraver_write_pcf(const struct wf_value *doc,
                              const struct wf_write_options *options, FILE *out)
{
    static const char *const colors[] = {"{59,123,224}", "{251,208,60}", "{199,132,24}",
                                         "{160,44,18}",  "{95,58,140}",  "{22,22,22}",
                                         "{2,115,115}"};
    struct wf_tracks tracks;
    struct wf_track_calls calls;

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
    wf_tracks_init(&tracks, doc, options);
    wf_track_calls_init(&calls, doc, &tracks);
    if (calls.known) {
        write_values(&calls, TYPE_P2P, "MPI Point-to-point", out);
        write_values(&calls, TYPE_COLLECTIVE, "MPI Collective Comm", out);
        write_values(&calls, TYPE_OTHER, "MPI Other", out);
    }
    if (calls.regions != NULL) {
        write_values(&calls, TYPE_REGION, "User function", out);
    }
    if (calls.n_stack_names > 0) {
        write_values(&calls, TYPE_STACK, "Call stack", out);
    }
    wf_track_calls_fini(&calls);
    wf_tracks_fini(&tracks);
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
    struct machine machine = machine_of(&tracks);
    (void)fprintf(out, "LEVEL CPU SIZE %" PRIu64 "\n", tracks.n);
    for (uint64_t node = 0; node < machine.n_nodes; node++) {
        for (uint64_t cpu = 0; cpu < machine.size[node]; cpu++) {
            (void)fprintf(out, "%" PRIu64 ".node %" PRIu64 "\n", cpu + 1, node + 1);
        }
    }
    (void)fprintf(out, "\nLEVEL NODE SIZE %" PRIu64 "\n", machine.n_nodes);
    for (uint64_t node = 0; node < machine.n_nodes; node++) {
        (void)fprintf(out, "node %" PRIu64 "\n", node + 1);
    }
    (void)fputc('\n', out);
    write_names(&tracks, "THREAD", out);
    machine_fini(&machine);
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
