/* SPDX-License-Identifier: Apache-2.0 */
/* The records of a Paraver trace: what happens in each task. */
#include "base/array.h"
#include "base/mem.h"
#include "program/trace/paraver/paraver.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum {
    TYPE_FLUSH = 40000003,
    TYPE_MODE = 40000018, /* 2: computing alone is recorded ("CPU Bursts") */
    STATE_RUNNING = 1,
    NUMBERS_MAX = 15, /* of a record */
};

/* Adds an item to a task; `kind` is an enum wf_paraver_item_kind. */
static void add_item(struct wf_paraver_reading *r, uint64_t rank, struct wf_paraver_item item)
{
    struct wf_paraver_task *task = &r->tasks[rank];

    item.order = r->order++;
    WF_PUSH(task->items, task->n, task->capacity, item);
}

/* A task of the first application, or false. */
static bool is_rank(struct wf_paraver_reading *r, uint64_t application, uint64_t task,
                    uint64_t thread)
{
    if (application != 1) {
        r->n_applications++;
        return false;
    }
    if (task < 1 || task > r->n_ranks) {
        wf_trace_bad(&r->file.place, "a task that is not from 1 to %" PRIu32, r->n_ranks);
        return false;
    }
    r->file.place.rank = (int64_t)task - 1;
    r->n_threads += thread != 1 ? 1 : 0;
    return thread == 1;
}

static void count_record(struct wf_paraver_reading *r, uint64_t rank, uint64_t kind,
                         uint64_t bytes)
{
    wf_records_add(r->records, (uint32_t)rank, r->record_names[kind], bytes);
}

static void on_state(struct wf_paraver_reading *r, const uint64_t *n)
{
    if (is_rank(r, n[2], n[3], n[4])) {
        count_record(r, n[3] - 1, 1, 0);
        if (n[7] == STATE_RUNNING && n[6] > n[5]) {
            add_item(r, n[3] - 1,
                     (struct wf_paraver_item){
                         .time = n[5], .kind = WF_PARAVER_ITEM_RUN, .value = n[6]});
        }
    }
}

/* A call begins, or ends: then `number` is nothing. */
static void on_call(struct wf_paraver_reading *r, uint64_t rank, uint64_t time, uint32_t number,
                    bool ends)
{
    struct wf_paraver_task *task = &r->tasks[rank];
    const char *name = wf_strings_at(&r->names, number);

    task->coll = ends ? 0 : wf_paraver_colls_call(&r->colls, name);
    task->coll_time = time;
    if (ends && wf_paraver_is_init(wf_strings_at(&r->names, task->call))) {
        task->begin = time;
    } else if (ends && wf_paraver_is_finalize(wf_strings_at(&r->names, task->call))) {
        task->end = time;
    }
    task->call = number;
    add_item(r, rank,
             (struct wf_paraver_item){.time = time,
                                      .kind = ends ? WF_PARAVER_ITEM_END : WF_PARAVER_ITEM_CALL,
                                      .name = number,
                                      .value = task->coll});
}

static void on_flush(struct wf_paraver_reading *r, uint64_t rank, uint64_t time, bool begins)
{
    struct wf_paraver_task *task = &r->tasks[rank];

    if (!begins && time > task->flush && task->flush > 0) {
        add_item(r, rank,
                 (struct wf_paraver_item){
                     .time = task->flush, .kind = WF_PARAVER_ITEM_FLUSH, .value = time});
    }
    task->flush = begins ? time : 0;
}

static void on_event(struct wf_paraver_reading *r, uint64_t rank, uint64_t time, uint64_t type,
                     uint64_t value)
{
    if (type >= WF_PARAVER_P2P && type <= WF_PARAVER_P2P + 2) {
        const uint64_t *name = wf_map_get(&r->values, type << 32 | (value & UINT32_MAX));
        uint32_t number =
            name != NULL ? (uint32_t)*name - 1 : wf_strings_put(&r->names, "MPI call", 8);
        r->has_calls = true;
        on_call(r, rank, time, number, value == 0);
    } else if (type == TYPE_FLUSH) {
        on_flush(r, rank, time, value != 0);
    } else if (type == TYPE_MODE) {
        r->n_bursts += value == 2 ? 1 : 0;
    } else if (type >= WF_PARAVER_SENT && type <= WF_PARAVER_COMM) {
        const struct wf_paraver_task *task = &r->tasks[rank];
        if (task->coll != 0 && task->coll_time == time) {
            wf_paraver_colls_fact(&r->colls, task->coll, type, value);
        }
    }
}

static void on_message(struct wf_paraver_reading *r, const uint64_t *n)
{
    if (!is_rank(r, n[2], n[3], n[4]) || !is_rank(r, n[8], n[9], n[10])) {
        return;
    }
    uint64_t number = r->n_messages;
    if (n[13] > INT64_MAX) {
        wf_trace_bad(&r->file.place, "a message that is too long");
        return;
    }
    WF_PUSH(r->messages, r->n_messages, r->messages_capacity,
            (struct wf_paraver_message){.src = (uint32_t)n[3] - 1,
                                        .dst = (uint32_t)n[9] - 1,
                                        .tag = (int32_t)(n[14] & INT32_MAX),
                                        .bytes = n[13]});
    count_record(r, n[3] - 1, 3, n[13]);
    add_item(
        r, n[3] - 1,
        (struct wf_paraver_item){.time = n[5], .kind = WF_PARAVER_ITEM_SEND, .value = number});
    add_item(
        r, n[9] - 1,
        (struct wf_paraver_item){.time = n[11], .kind = WF_PARAVER_ITEM_POST, .value = number});
    add_item(r, n[9] - 1,
             (struct wf_paraver_item){.time = n[12] > n[11] ? n[12] : n[11],
                                      .kind = WF_PARAVER_ITEM_ARRIVAL,
                                      .value = number});
}

/* The next number of a record and the colon after it. */
static bool take_number(char **at, uint64_t *out)
{
    char *end = NULL;

    errno = 0;
    *out = strtoull(*at, &end, 10);
    if (end == *at || errno != 0 || (*end != ':' && *end != '\0')) {
        return false;
    }
    *at = *end == ':' ? end + 1 : end;
    return true;
}

static void do_record(struct wf_paraver_reading *r, char *line)
{
    static const uint32_t lengths[] = {0, 8, 8, 15};
    uint64_t n[NUMBERS_MAX] = {0};
    char *at = line;
    uint32_t count = 0;

    if (!take_number(&at, &n[0]) || n[0] < 1 || n[0] > 3) {
        wf_trace_bad(&r->file.place, "a record that is no state, event or communication");
        return;
    }
    for (count = 1; count < lengths[n[0]]; count++) {
        if (*at == '\0' || !take_number(&at, &n[count])) {
            wf_trace_bad(&r->file.place, "a record with too few numbers");
            return;
        }
    }
    if (n[5] > INT64_MAX || (n[0] == 3 && n[11] > INT64_MAX)) {
        wf_trace_bad(&r->file.place, "a time that is negative or too large");
        return;
    }
    if (n[0] == 1) {
        on_state(r, n);
    } else if (n[0] == 3) {
        on_message(r, n);
    } else if (is_rank(r, n[2], n[3], n[4])) {
        count_record(r, n[3] - 1, 2, 0);
        on_event(r, n[3] - 1, n[5], n[6], n[7]);
        while (*at != '\0' && !wf_trace_failed(r->err)) {
            if (!take_number(&at, &n[6]) || *at == '\0' || !take_number(&at, &n[7])) {
                wf_trace_bad(&r->file.place, "an event without a value");
                return;
            }
            on_event(r, n[3] - 1, n[5], n[6], n[7]);
        }
    }
}

/* #Paraver (01/02/2003 at 04:05):<end>[_ns]:<nodes>[(...)]:<applications>:<tasks>(...) */
static void read_head(struct wf_paraver_reading *r, const char *line)
{
    const char *at = strchr(line, ')');
    char *end = NULL;
    unsigned long long tasks = 0;

    r->unit = 1000000; /* microseconds, unless it says otherwise */
    if (at != NULL && at[1] == ':') {
        at += 2;
        r->recorded = strtoull(at, NULL, 10);
        at += strspn(at, "0123456789.");
        if (strncmp(at, "_ns", 3) == 0) {
            r->unit = 1000;
        }
        at += strcspn(at, ":");
        at += *at == ':' ? 1 : 0;
        at += strspn(at, "0123456789"); /* nodes */
        at += *at == '(' ? strcspn(at, ")") + 1 : 0;
        if (*at == ':') {
            at += 1 + strspn(at + 1, "0123456789"); /* applications */
            tasks = *at == ':' ? strtoull(at + 1, &end, 10) : 0;
        }
    }
    if (end == NULL || *end != '(' || tasks == 0 || tasks >= WF_RANKS_MAX ||
        tasks > r->file.size) {
        wf_trace_bad(&r->file.place, "the head of the file does not say how many tasks there "
                                     "are");
        return;
    }
    r->n_ranks = (uint32_t)tasks;
    r->tasks = wf_xcalloc(r->n_ranks, sizeof(*r->tasks));
    wf_paraver_colls_init(&r->colls, r->n_ranks);
}

void wf_paraver_records_read(struct wf_paraver_reading *r, struct wf_trace *out)
{
    static const char *const kinds[] = {"", "state", "event", "communication"};
    size_t length = 0;

    for (char *line; (line = wf_intext_line(&r->file, &length)) != NULL;) {
        if (r->file.place.line == 1) {
            read_head(r, line);
            if (!wf_trace_failed(r->err)) {
                out->records = wf_records_new(r->n_ranks);
                r->records = out->records;
                for (uint32_t i = 1; i < 4; i++) {
                    r->record_names[i] = wf_records_name(r->records, kinds[i]);
                }
            }
        } else if (line[0] == 'c' && r->n_ranks > 0) {
            wf_paraver_colls_comm(&r->colls, line, &r->file.place);
        } else if (line[0] != '\0' && line[0] != '#' && line[0] != 'i') {
            do_record(r, line); /* lines i: are of intercommunicators */
        }
    }
    if (r->n_ranks == 0) {
        wf_trace_bad(&r->file.place, "the file has no head");
    }
}
