/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BigSim: the logs of its emulator, the task graphs that TraceR reads.
 *
 * A log is a task. It needs the earlier logs that it names, and the message that started it.
 * A message is identified by the file with its sender's logs, and by a number that is unique in
 * that file. So all logs are read twice, first to learn which message starts which log.
 */
#include "base/array.h"
#include "base/mem.h"
#include "program/ops/graph_repeat.h"
#include "program/trace/bigsim/file.h"
#include "program/trace/kit/kit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum rules { RECORDED, TRACER };

struct bigsim_params {
    int rules; /* enum rules */
    int64_t soft_delay;
    uint64_t loops;
    int64_t long_time, long_time_is; /* the first is below 0: no log is long */
    uint64_t large_bytes, large_bytes_are;
};

static const char *const rules_names[] = {"recorded", "tracer", NULL};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(
        struct bigsim_params, rules, ENUM, .def = "recorded", .choices = rules_names,
        .doc = "recorded: all logs, as long as they took; tracer: as TraceR replays them, from "
               "the start event on, without the time of the runtime system"),
    WF_PARAM_ROW(struct bigsim_params, soft_delay, TIME, .def = "100ns",
                 .doc = "By the rules tracer: what a call of MPI takes"),
    WF_PARAM_ROW(struct bigsim_params, loops, COUNT, .def = "1", .min = "1",
                 .max = "1000000000",
                 .doc = "By the rules tracer: how often the logs up to the loop event "
                        "(AMPI_BgLoopToStart) of each PE are played"),
    WF_PARAM_ROW(struct bigsim_params, long_time, TIME, .def = "none", .word = "none",
                 .doc = "By the rules tracer: logs that took this time or more take "
                        "long_time_is, but for calls of MPI"),
    WF_PARAM_ROW(struct bigsim_params, long_time_is, TIME, .def = "0",
                 .doc = "What long logs take"),
    WF_PARAM_ROW(struct bigsim_params, large_bytes, SIZE, .def = "none", .word = "none",
                 .doc = "Messages of this size or more have large_bytes_are"),
    WF_PARAM_ROW(struct bigsim_params, large_bytes_are, SIZE, .def = "0",
                 .doc = "Bytes of large messages"),
    WF_PARAM_END,
};

/* The marks of the emulator, which take no time. */
#define LOOP_EVENT "AMPI_BgLoopToStart"
#define END_EVENT  "AMPI_BgSetEndEvent"

enum { NAMES_MAX = 512 };

/* A message that starts a log. */
struct trigger {
    uint32_t file; /* file with the sender's logs */
    int32_t message;
    uint32_t pe, log; /* the log that it starts */
    bool sent;        /* a log of the replay sends it */
};

/* Log `after` waits for log `before` of the same PE. */
struct wait {
    uint32_t before, after;
};

struct reading {
    const struct wf_bigsim_trace *trace;
    const struct bigsim_params *params;
    struct wf_bigsim_file file;
    struct wf_bigsim_log log;
    struct wf_records *records;
    uint32_t logs, sent, triggered; /* names of records */
    uint32_t n_names;
    struct wf_buf triggers; /* struct trigger; finally sorted by file, message, PE */
    struct wf_buf starts;   /* struct trigger: messages that the start event sends */
    uint32_t *first, *end;  /* per PE: range of the logs that are replayed */
    uint32_t *loop;         /* per PE: the log after its loop event; UINT32_MAX if none */
    struct wf_buf waits;    /* struct wait of the present PE; sorted by `before` */
    struct wf_task_table *table;
    uint64_t n_loops, n_repeated, n_unneeded, n_unsent;
    struct wf_err *err;
};

/* current_pe() and current_log() return the PE and the number of the log being read. */
static uint32_t current_pe(const struct reading *r)
{
    return (uint32_t)r->file.in.place.rank;
}

static uint32_t current_log(const struct reading *r)
{
    return r->file.next - 1;
}

/* Visits the logs of one PE. Opens its file unless it is open already. */
static void each_log(struct reading *r, uint32_t pe, void (*visit)(struct reading *r))
{
    uint32_t number = wf_bigsim_file_of(r->trace, pe);

    if (r->file.in.place.path == NULL || r->file.number != number) {
        wf_bigsim_file_close(&r->file);
        wf_bigsim_file_open(&r->file, r->trace, number, r->err);
    }
    wf_bigsim_pe(&r->file, pe);
    while (wf_bigsim_next(&r->file, &r->log)) {
        visit(r);
    }
}

/* ---- first pass: which message starts which log ---- */

static void count_log(struct reading *r)
{
    const struct wf_bigsim_message *messages = (const void *)r->log.messages.data;
    char name[WF_BIGSIM_NAME_BYTES + 8];
    uint32_t pe = current_pe(r);

    wf_records_add(r->records, pe, r->logs, 0);
    for (uint32_t i = 0; i < r->log.n_messages; i++) {
        wf_records_add(r->records, pe, r->sent, messages[i].bytes);
    }
    if (r->log.source >= 0) {
        wf_records_add(r->records, pe, r->triggered, 0);
    }
    (void)snprintf(name, sizeof(name), "log:%s", r->n_names < NAMES_MAX ? r->log.name : "*");
    uint32_t number = wf_records_name(r->records, name);
    r->n_names = number >= r->n_names ? number + 1 : r->n_names;
    wf_records_add(r->records, pe, number, 0);
}

static void survey_log(struct reading *r)
{
    uint32_t pe = current_pe(r), number = current_log(r);
    const struct wf_bigsim_message *messages = (const void *)r->log.messages.data;

    count_log(r);
    if (r->log.source >= 0) {
        const struct trigger trigger = {
            .file = wf_bigsim_file_of(r->trace, (uint32_t)r->log.source),
            .message = r->log.message,
            .pe = pe,
            .log = number};
        wf_buf_append(&r->triggers, &trigger, sizeof(trigger));
    }
    if (pe == 0 && (r->log.flags & WF_BIGSIM_STARTS) != 0 && r->starts.size == 0) {
        for (uint32_t i = 0; i < r->log.n_messages; i++) {
            const struct trigger start = {.file = r->file.number,
                                          .message = messages[i].number};
            wf_buf_append(&r->starts, &start, sizeof(start));
        }
    }
    if (strcmp(r->log.name, END_EVENT) == 0 && r->end[pe] > number + 1) {
        r->end[pe] = number + 1;
    }
    if (strcmp(r->log.name, LOOP_EVENT) == 0 && r->loop[pe] == UINT32_MAX) {
        r->loop[pe] = number + 1;
        r->n_loops++;
    }
}

static int by_message(const void *a, const void *b)
{
    const struct trigger *x = a, *y = b;

    return 8 * WF_ORDER(x->file, y->file) + 4 * WF_ORDER(x->message, y->message) +
           2 * WF_ORDER(x->pe, y->pe) + WF_ORDER(x->log, y->log);
}

static struct trigger *triggers(const struct reading *r, size_t *n)
{
    *n = r->triggers.size / sizeof(struct trigger);
    return (struct trigger *)(void *)r->triggers.data;
}

/* Returns the index of the first trigger with this message and a PE of at least `pe`. */
static size_t find_trigger(const struct reading *r, uint32_t file, int32_t message, uint32_t pe)
{
    const struct trigger wanted = {.file = file, .message = message, .pe = pe};
    size_t low = 0, high = 0;
    const struct trigger *all = triggers(r, &high);

    WF_BISECT(low, high, middle, by_message(&all[middle], &wanted) < 0);
    return low;
}

static bool is_by(const struct trigger *trigger, uint32_t file, int32_t message)
{
    return trigger->file == file && trigger->message == message;
}

/* With the rules of TraceR, a PE begins with the log that the start event triggers. */
static void apply_start(struct reading *r)
{
    const struct trigger *starts = (const void *)r->starts.data;
    size_t n_starts = r->starts.size / sizeof(*starts), n = 0;
    const struct trigger *all = triggers(r, &n);

    for (size_t i = 0; i < n_starts; i++) {
        size_t at = find_trigger(r, starts[i].file, starts[i].message, 0);
        for (; at < n && is_by(&all[at], starts[i].file, starts[i].message); at++) {
            if (r->first[all[at].pe] == 0) {
                r->first[all[at].pe] = all[at].log;
            }
        }
    }
}

/* Surveys all logs, file by file. */
static void survey(struct reading *r)
{
    const struct wf_bigsim_trace *trace = r->trace;
    uint64_t step = (uint64_t)trace->n_files * trace->n_threads;
    size_t n = 0;

    for (uint32_t file = 0; file < trace->n_files && !wf_trace_failed(r->err); file++) {
        for (uint64_t first = (uint64_t)file * trace->n_threads; first < trace->n_pes;
             first += step) {
            for (uint32_t t = 0; t < trace->n_threads && !wf_trace_failed(r->err); t++) {
                each_log(r, (uint32_t)first + t, survey_log);
            }
        }
    }
    wf_bigsim_file_close(&r->file);
    struct trigger *all = triggers(r, &n);
    WF_SORT(all, n, by_message);
}

/* ---- second pass: tasks ---- */

/* Logs of the runtime system, which take no time with the rules of TraceR. */
static const char *const internal[] = {
    "AMPI_START",    "AMPI_generic", "AMPI_Recv",    "AMPI_Irecv",      "AMPI_SEND",
    "AMPI_SEND_END", "ATAReq_wait",  "RECV_RESUME",  "SPLIT_RESUME",    "PROBE_RESUME",
    "IPROBE_RESUME", "msgep",        "GroupReduce",  "start-broadcast", "split-broadcast",
    "end-broadcast", "AMPI_WAIT",    "AMPI_WAITALL", LOOP_EVENT,        END_EVENT,
};

static int64_t duration_of(const struct reading *r)
{
    if (r->params->rules == RECORDED) {
        return (int64_t)llround(r->log.duration * 1e12);
    }
    for (size_t i = 0; i < sizeof(internal) / sizeof(*internal); i++) {
        if (strcmp(r->log.name, internal[i]) == 0) {
            return 0;
        }
    }
    int64_t duration = (int64_t)llround(r->log.duration * 1e12);
    bool is_long = r->params->long_time >= 0 && duration >= r->params->long_time;
    return strncmp(r->log.name, "AMPI_", 5) == 0 ? r->params->soft_delay
           : is_long                             ? r->params->long_time_is
                                                 : duration;
}

static bool counts(const struct reading *r, uint32_t pe, uint32_t log)
{
    return log >= r->first[pe] && log < r->end[pe];
}

/* Adds a message that starts a log. */
static void send_to(struct reading *r, struct trigger *trigger, struct wf_task_send *send)
{
    trigger->sent = true;
    send->pe = trigger->pe;
    send->id =
        counts(r, send->pe, trigger->log) ? trigger->log - r->first[send->pe] : WF_NO_TASK;
    wf_task_table_send(r->table, send);
}

static bool is_receiver(const struct reading *r, const struct wf_bigsim_message *message,
                        uint32_t pe)
{
    int64_t node = pe / r->trace->n_threads;
    bool at_node = message->node >= 0 ? node == message->node
                                      : message->node > WF_BIGSIM_ALL_BUT ||
                                            node != (int64_t)WF_BIGSIM_ALL_BUT - message->node;

    return at_node &&
           (message->thread < 0 || pe % r->trace->n_threads == (uint32_t)message->thread);
}

static void put_message(struct reading *r, const struct wf_bigsim_message *message,
                        struct wf_task_send *send)
{
    uint32_t threads = r->trace->n_threads, file = r->file.number;
    uint64_t low = message->node >= 0 ? (uint64_t)message->node * threads : 0;
    size_t n = 0;
    struct trigger *all = triggers(r, &n);
    bool needed = false;

    if (low >= r->trace->n_pes) {
        r->n_unneeded++;
        return;
    }
    size_t at = find_trigger(r, file, message->number, (uint32_t)low);
    for (; at < n && is_by(&all[at], file, message->number); at++) {
        if (message->node >= 0 && all[at].pe >= low + threads) {
            break;
        }
        if (!is_receiver(r, message, all[at].pe)) {
            continue;
        }
        needed = true;
        if (all[at].sent) {
            r->n_repeated++;
            break;
        }
        send_to(r, &all[at], send);
    }
    if (!needed) {
        r->n_unneeded++;
    }
    if (!needed && message->node >= 0) {
        /* No log waits for this message, but the network carries it. */
        send->pe = (uint32_t)low + (message->thread > 0 && (uint32_t)message->thread < threads
                                        ? (uint32_t)message->thread
                                        : 0);
        send->id = WF_NO_TASK;
        wf_task_table_send(r->table, send);
    }
}

static uint64_t bytes_of(const struct reading *r, const struct wf_bigsim_message *message)
{
    const struct bigsim_params *params = r->params;

    return params->large_bytes != WF_PARAM_WORD && message->bytes >= params->large_bytes
               ? params->large_bytes_are
               : message->bytes;
}

static void put_log(struct reading *r)
{
    const struct wf_bigsim_message *messages = (const void *)r->log.messages.data;
    const struct wait *waits = (const void *)r->waits.data;
    size_t n_waits = r->waits.size / sizeof(*waits), low = 0;
    uint32_t pe = current_pe(r), number = current_log(r);
    int64_t duration = duration_of(r), before = 0;

    if (!counts(r, pe, number)) {
        return;
    }
    wf_task_table_task(r->table, duration, 0);
    for (uint32_t i = 0; i < r->log.n_messages; i++) {
        struct wf_task_send send = {.bytes = bytes_of(r, &messages[i])};
        double after = (messages[i].time - r->log.start) * 1e12;

        send.offset = after > 0 && after < 9e18 ? (int64_t)llround(after) : 0;
        send.offset = send.offset > duration ? duration : send.offset;
        send.offset = send.offset < before ? before : send.offset;
        before = send.offset;
        put_message(r, &messages[i], &send);
    }
    WF_BISECT(low, n_waits, middle, waits[middle].before < number);
    for (; low < n_waits && waits[low].before == number; low++) {
        wf_task_table_next(r->table, waits[low].after - r->first[pe]);
    }
}

static void note_waits(struct reading *r)
{
    const uint32_t *before = (const void *)r->log.before.data;
    uint32_t pe = current_pe(r), number = current_log(r);

    for (uint32_t i = 0; i < r->log.n_before; i++) {
        if (counts(r, pe, number) && counts(r, pe, before[i])) {
            const struct wait wait = {before[i], number};
            wf_buf_append(&r->waits, &wait, sizeof(wait));
        }
    }
}

static int by_before(const void *a, const void *b)
{
    const struct wait *x = a, *y = b;

    return 2 * WF_ORDER(x->before, y->before) + WF_ORDER(x->after, y->after);
}

static void put_pe(struct reading *r, uint32_t pe)
{
    r->waits.size = 0;
    r->file.used = 0;
    each_log(r, pe, note_waits);
    struct wait *waits = (void *)r->waits.data;
    WF_SORT(waits, r->waits.size / sizeof(*waits), by_before);
    r->file.used = 0;
    each_log(r, pe, put_log);
}

/* Counts the logs that need not wait for the message that starts them: no log of the replay sends
 * it. */
static void count_unsent(struct reading *r)
{
    size_t n = 0;
    const struct trigger *all = triggers(r, &n);

    for (size_t i = 0; i < n; i++) {
        r->n_unsent += counts(r, all[i].pe, all[i].log) && !all[i].sent ? 1 : 0;
    }
}

/* ---- the reader ---- */

static void add_notes(const struct reading *r, struct wf_trace *out)
{
    bool tracer = r->params->rules == TRACER;

    wf_trace_note(out, "logs of this format have messages and tasks; calls, tags and "
                       "communicators of MPI are not in them");
    if (tracer && r->starts.size == 0) {
        wf_trace_note(out, "PE 0 has no start event: all logs are replayed");
    }
    wf_trace_note_count(
        out, r->n_unsent,
        "logs are started by messages that no log of the replay sends; they need "
        "not wait for them");
    wf_trace_note_count(out, r->n_unneeded, "messages start no log");
    wf_trace_note_count(out, r->n_repeated,
                        "messages would start a log for the second time and are left out");
    if (r->n_loops > 0 && tracer && r->params->loops == 1) {
        wf_trace_note(out, "the loop back to the start is replayed once");
    }
    if (r->n_loops == 0 && r->params->loops > 1) {
        wf_trace_note(out, "the logs have no loop back to the start: they are replayed once");
    }
}

#define SUMMARY "bgTrace"

static bool has_magic(const unsigned char *bytes, size_t n)
{
    return n >= WF_BIGSIM_MAGIC_BYTES &&
           memcmp(bytes, wf_bigsim_magic, WF_BIGSIM_MAGIC_BYTES) == 0;
}

static bool detect(const struct wf_reader_probe *probe)
{
    unsigned char bytes[WF_BIGSIM_MAGIC_BYTES];

    if (!probe->is_directory) {
        return has_magic(probe->bytes, probe->n);
    }
    /* Logs without a summary are recognised too, so that the error names the missing file. */
    return has_magic(bytes, wf_probe_read(probe, SUMMARY, bytes, sizeof(bytes))) ||
           has_magic(bytes, wf_probe_read(probe, SUMMARY "0", bytes, sizeof(bytes)));
}

static void release(struct reading *r)
{
    wf_bigsim_file_close(&r->file);
    wf_bigsim_log_fini(&r->log);
    wf_buf_fini(&r->triggers);
    wf_buf_fini(&r->starts);
    wf_buf_fini(&r->waits);
    free(r->first);
    free(r->end);
    free(r->loop);
}

/* Repeats the logs of each PE up to its loop event. */
static void repeat_loops(struct reading *r, struct wf_trace *out)
{
    uint32_t n_pes = r->trace->n_pes, without = 0;

    if (r->params->rules != TRACER || r->params->loops == 1 || r->n_loops == 0) {
        return;
    }
    while (without < n_pes && r->loop[without] > r->first[without] &&
           r->loop[without] <= r->end[without] && r->loop[without] != UINT32_MAX) {
        r->loop[without] -= r->first[without];
        without++;
    }
    enum wf_status status =
        without < n_pes
            ? wf_err_set(r->err, WF_EINVAL,
                         "PE %" PRIu32 " has no loop event (" LOOP_EVENT ") in the part that "
                         "is replayed, but other PEs have one; play the loop once",
                         without)
            : wf_graph_repeat_body(out->graph, r->loop, r->params->loops, &out->graph, r->err);
    if (status != WF_OK) {
        wf_graph_free(out->graph);
        out->graph = NULL;
    }
}

static void read_graph(struct reading *r, struct wf_trace *out)
{
    uint32_t n_pes = r->trace->n_pes;

    out->records = wf_records_new(n_pes);
    r->records = out->records;
    r->logs = wf_records_name(r->records, "LOGS");
    r->sent = wf_records_name(r->records, "MSG_SENT");
    r->triggered = wf_records_name(r->records, "LOGS_TRIGGERED_BY_MSG");
    r->first = wf_xcalloc(n_pes, sizeof(*r->first));
    r->end = wf_xmalloc((size_t)n_pes * sizeof(*r->end));
    memset(r->end, 0xff, (size_t)n_pes * sizeof(*r->end));
    r->loop = wf_xmalloc((size_t)n_pes * sizeof(*r->loop));
    memset(r->loop, 0xff, (size_t)n_pes * sizeof(*r->loop));
    survey(r);
    if (r->params->rules == RECORDED) {
        memset(r->end, 0xff, (size_t)n_pes * sizeof(*r->end));
    } else {
        apply_start(r);
    }
    r->table = wf_task_table_new(n_pes);
    for (uint32_t pe = 0; pe < n_pes && !wf_trace_failed(r->err); pe++) {
        if (pe > 0) {
            wf_task_table_pe(r->table);
        }
        put_pe(r, pe);
    }
    if (wf_trace_failed(r->err)) {
        wf_task_table_free(r->table);
        return;
    }
    count_unsent(r);
    out->graph = wf_task_table_graph(r->table, "bigsim", NULL);
    add_notes(r, out);
    repeat_loops(r, out);
}

static enum wf_status open_trace(const struct wf_reader_probe *probe, const void *params,
                                 struct wf_trace *out, struct wf_err *err)
{
    char *path = probe->is_directory ? wf_probe_path(probe, SUMMARY) : wf_xstrdup(probe->path);
    struct wf_bigsim_trace trace;
    struct reading r = {.trace = &trace, .params = params, .err = err};

    wf_bigsim_open(&trace, path, err);
    if (!wf_trace_failed(err)) {
        read_graph(&r, out);
    }
    release(&r);
    free(path);
    return err->status;
}

const struct wf_reader_ops wf_bigsim_reader_ops = {
    .name = "bigsim",
    .summary = "BigSim's logs: a directory, or its file bgTrace; tasks",
    .params = params_table,
    .params_size = sizeof(struct bigsim_params),
    .detect = detect,
    .open = open_trace,
};
