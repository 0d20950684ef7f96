/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paraver traces (.prv) with communications, as Extrae and weft write them. Calls of MPI are
 * events, whose names are in the .pcf file beside the trace. A communication tells when a
 * message was sent, and when its receive was posted and completed:
 *
 *     3:cpu:appl:task:thread:sent:left:cpu:appl:task:thread:posted:received:bytes:tag
 *
 * Records are sorted by their first time only, so that those of a task are collected and sorted
 * before they become ops.
 */
#include "base/array.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/strings.h"
#include "base/units.h"
#include "program/trace/kit/kit.h"
#include "program/trace/paraver/colls.h"
#include "program/trace/spool/spool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TYPE_P2P = 50000001, /* to TYPE_P2P + 2: events of calls */
    TYPE_FLUSH = 40000003,
    TYPE_MODE = 40000018, /* 2: computing alone is recorded ("CPU Bursts") */
    STATE_RUNNING = 1,
    NUMBERS_MAX = 15, /* of a record */
};

enum item_kind {
    ITEM_END,  /* a call ends; it comes before what happens at the same time */
    ITEM_CALL, /* a call begins */
    ITEM_SEND,
    ITEM_POST,
    ITEM_ARRIVAL,
    ITEM_RUN,   /* a span of computing, if there are no events of calls */
    ITEM_FLUSH, /* a span in which Extrae writes its buffer to a file */
};

/* Something that happens in a task. */
struct item {
    uint64_t time;
    uint32_t order; /* in the file, modulo 2^32 */
    uint8_t kind;
    uint32_t name;  /* of a call: its number */
    uint64_t value; /* message; collective of a call, or 0; the end of a span */
};

struct message {
    uint32_t src, dst;
    int32_t tag;
    uint64_t bytes;
    uint32_t request; /* of the receive that was posted, or 0 */
};

struct task {
    struct item *items;
    uint64_t n, capacity;
    uint64_t coll, coll_time; /* the latest collective, or 0, and when it began */
    uint64_t begin, end; /* of the program: the end of MPI_Init, and of MPI_Finalize or 0 */
    uint64_t flush;      /* when a flush began, or 0 */
    uint32_t call;       /* the name of the latest call */
};

struct reading {
    struct wf_intext file;
    uint64_t unit;     /* picoseconds */
    uint64_t recorded; /* how long the program ran, in this unit; 0 if it is not known */
    uint32_t n_ranks;
    struct task *tasks;
    struct message *messages;
    uint64_t n_messages, messages_capacity;
    struct wf_strings names; /* of calls */
    struct wf_map values;    /* of events: type << 32 | value -> name + 1 */
    bool has_calls;
    uint32_t order;
    uint64_t n_threads, n_nonblocking, n_applications, n_flushes, n_bursts;
    struct wf_paraver_colls colls;
    struct wf_spool *spool;
    struct wf_records *records;
    uint32_t record_names[4]; /* by the first number of a record */
    struct wf_err *err;
};

/* ---- names of calls ---- */

static void name_value(struct reading *r, uint64_t type, uint64_t value, const char *name)
{
    uint32_t number = wf_strings_put(&r->names, name, strlen(name));

    *wf_map_put(&r->values, type << 32 | (value & UINT32_MAX)) = (uint64_t)number + 1;
}

/* The values of Extrae, if there is no .pcf file. */
static void set_names(struct reading *r)
{
    static const struct {
        uint32_t type, value;
        const char *name;
    } known[] = {
        {0, 1, "MPI_Send"},
        {0, 2, "MPI_Recv"},
        {0, 3, "MPI_Isend"},
        {0, 4, "MPI_Irecv"},
        {0, 5, "MPI_Wait"},
        {0, 6, "MPI_Waitall"},
        {1, 7, "MPI_Bcast"},
        {1, 8, "MPI_Barrier"},
        {1, 9, "MPI_Reduce"},
        {1, 10, "MPI_Allreduce"},
        {1, 11, "MPI_Alltoall"},
        {1, 12, "MPI_Alltoallv"},
        {1, 13, "MPI_Gather"},
        {1, 14, "MPI_Gatherv"},
        {1, 15, "MPI_Scatter"},
        {1, 16, "MPI_Scatterv"},
        {1, 17, "MPI_Allgather"},
        {1, 18, "MPI_Allgatherv"},
        {1, 30, "MPI_Scan"},
        {2, 31, "MPI_Init"},
        {2, 32, "MPI_Finalize"},
        {0, 33, "MPI_Bsend"},
        {0, 34, "MPI_Ssend"},
        {0, 35, "MPI_Rsend"},
        {0, 36, "MPI_Ibsend"},
        {0, 37, "MPI_Issend"},
        {0, 38, "MPI_Irsend"},
        {2, 39, "MPI_Test"},
        {0, 41, "MPI_Sendrecv"},
        {0, 42, "MPI_Sendrecv_replace"},
        {0, 59, "MPI_Waitany"},
        {0, 60, "MPI_Waitsome"},
        {1, 80, "MPI_Reduce_scatter"},
        {2, 125, "MPI_Testall"},
        {2, 126, "MPI_Testany"},
        {2, 128, "MPI_Testsome"},
        {1, 168, "MPI_Reduce_scatter_block"},
        {1, 214, "MPI_Exscan"},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        name_value(r, TYPE_P2P + known[i].type, known[i].value, known[i].name);
    }
}

/* Blocks EVENT_TYPE with lines "<gradient> <type> <name>", then VALUES with lines "<value>
 * <name>". A file that is not there, or other lines, do not matter. */
static enum wf_status read_pcf(struct reading *r, const char *prv, struct wf_err *err)
{
    size_t size = strlen(prv) + 1, length = 0;
    char *path = wf_xstrdup(prv);
    uint64_t types[8], n_types = 0;
    struct wf_intext in = {.fd = -1};
    bool in_values = false;

    memcpy(path + size - sizeof(".prv"), ".pcf", sizeof(".pcf"));
    bool found = access(path, F_OK) == 0;
    enum wf_status status = found ? wf_intext_open(&in, path, err) : WF_OK;
    free(path);
    if (!found || status != WF_OK) {
        return status;
    }
    for (char *line = wf_intext_line(&in, &length); line != NULL;
         line = wf_intext_line(&in, &length)) {
        char *end = NULL;
        unsigned long long first = strtoull(line, &end, 10);
        if (strncmp(line, "EVENT_TYPE", 10) == 0) {
            n_types = 0;
            in_values = false;
        } else if (strncmp(line, "VALUES", 6) == 0) {
            in_values = true;
        } else if (end == line) {
            in_values = false;
        } else if (!in_values) {
            unsigned long long type = strtoull(end, NULL, 10);
            if (type >= TYPE_P2P && type <= TYPE_P2P + 2 && n_types < 8) {
                types[n_types++] = type;
            }
        } else {
            char *name = end + strspn(end, " \t");
            for (uint64_t i = 0; i < n_types; i++) {
                name_value(r, types[i], first, name);
            }
        }
    }
    wf_intext_close(&in);
    return err->status;
}

/* ---- records ---- */

/* Adds an item to a task; `kind` is an enum item_kind. */
static void add_item(struct reading *r, uint64_t rank, struct item item)
{
    struct task *task = &r->tasks[rank];

    item.order = r->order++;
    WF_PUSH(task->items, task->n, task->capacity, item);
}

/* A task of the first application, or false. */
static bool is_rank(struct reading *r, uint64_t application, uint64_t task, uint64_t thread)
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

static void count_record(struct reading *r, uint64_t rank, uint64_t kind, uint64_t bytes)
{
    wf_records_add(r->records, (uint32_t)rank, r->record_names[kind], bytes);
}

static void on_state(struct reading *r, const uint64_t *n)
{
    if (is_rank(r, n[2], n[3], n[4])) {
        count_record(r, n[3] - 1, 1, 0);
        if (n[7] == STATE_RUNNING && n[6] > n[5]) {
            add_item(r, n[3] - 1, (struct item){.time = n[5], .kind = ITEM_RUN, .value = n[6]});
        }
    }
}

static bool is_init(const char *name)
{
    return strcmp(name, "MPI_Init") == 0 || strcmp(name, "MPI_Init_thread") == 0;
}

static bool is_finalize(const char *name)
{
    return strcmp(name, "MPI_Finalize") == 0;
}

/* A call begins, or ends: then `number` is nothing. */
static void on_call(struct reading *r, uint64_t rank, uint64_t time, uint32_t number, bool ends)
{
    struct task *task = &r->tasks[rank];
    const char *name = wf_strings_at(&r->names, number);

    task->coll = ends ? 0 : wf_paraver_colls_call(&r->colls, name);
    task->coll_time = time;
    if (ends && is_init(wf_strings_at(&r->names, task->call))) {
        task->begin = time;
    } else if (ends && is_finalize(wf_strings_at(&r->names, task->call))) {
        task->end = time;
    }
    task->call = number;
    add_item(r, rank,
             (struct item){.time = time,
                           .kind = ends ? ITEM_END : ITEM_CALL,
                           .name = number,
                           .value = task->coll});
}

static void on_flush(struct reading *r, uint64_t rank, uint64_t time, bool begins)
{
    struct task *task = &r->tasks[rank];

    if (!begins && time > task->flush && task->flush > 0) {
        add_item(r, rank,
                 (struct item){.time = task->flush, .kind = ITEM_FLUSH, .value = time});
    }
    task->flush = begins ? time : 0;
}

static void on_event(struct reading *r, uint64_t rank, uint64_t time, uint64_t type,
                     uint64_t value)
{
    if (type >= TYPE_P2P && type <= TYPE_P2P + 2) {
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
        const struct task *task = &r->tasks[rank];
        if (task->coll != 0 && task->coll_time == time) {
            wf_paraver_colls_fact(&r->colls, task->coll, type, value);
        }
    }
}

static void on_message(struct reading *r, const uint64_t *n)
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
            (struct message){.src = (uint32_t)n[3] - 1,
                             .dst = (uint32_t)n[9] - 1,
                             .tag = (int32_t)(n[14] & INT32_MAX),
                             .bytes = n[13]});
    count_record(r, n[3] - 1, 3, n[13]);
    add_item(r, n[3] - 1, (struct item){.time = n[5], .kind = ITEM_SEND, .value = number});
    add_item(r, n[9] - 1, (struct item){.time = n[11], .kind = ITEM_POST, .value = number});
    add_item(r, n[9] - 1,
             (struct item){
                 .time = n[12] > n[11] ? n[12] : n[11], .kind = ITEM_ARRIVAL, .value = number});
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

static void do_record(struct reading *r, char *line)
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
static void read_head(struct reading *r, const char *line)
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

static void read_file(struct reading *r, struct wf_trace *out)
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

/* ---- ops ---- */

/* A rank whose items become ops. */
struct walk {
    struct reading *r;
    uint32_t rank;
    struct wf_trace_place place;
    uint64_t clock;   /* until when its time is accounted for */
    uint64_t flushed; /* the time of flushes */
    struct item run;  /* the latest span of computing */
    bool in_call;
    uint32_t name;                       /* of the call */
    uint64_t coll;                       /* of the call, or 0 */
    struct wf_buf sent, posted, arrived; /* numbers of messages, in the call */
    struct wf_buf sends;                 /* requests of isends that are open */
    struct wf_buf numbers;
    uint32_t n_requests;
};

static void put(struct walk *w, const struct wf_op *op)
{
    wf_spool_put(w->r->spool, op, &w->place);
}

static void put_computing(struct walk *w, uint64_t until)
{
    if (until > w->clock) {
        uint64_t span = until - w->clock, most = (uint64_t)WF_TIME_MAX / w->r->unit;
        wf_spool_compute(w->r->spool, w->rank,
                         span < most ? (int64_t)(span * w->r->unit) : WF_TIME_MAX, w->r->err);
    }
}

static const char *call_name(const struct walk *w)
{
    return w->in_call ? wf_strings_at(&w->r->names, w->name) : "";
}

static size_t n_of(const struct wf_buf *list)
{
    return list->size / sizeof(uint64_t);
}

static uint64_t item_of(const struct wf_buf *list, size_t i)
{
    return ((const uint64_t *)(const void *)list->data)[i];
}

static bool has(const struct wf_buf *list, uint64_t value)
{
    for (size_t i = 0; i < n_of(list); i++) {
        if (item_of(list, i) == value) {
            return true;
        }
    }
    return false;
}

/* The op that sends a message in a call. Messages may leave later than MPI_Isend returns, in any
 * call. Which call waits for an isend is a guess, so that MPI_Issend must not wait for its receiver. */
static enum wf_op_kind send_of(const char *name)
{
    enum wf_op_kind kind = wf_op_of_call(name);
    const struct wf_op_info *info = wf_op_info(kind);

    if (info->family == WF_FAMILY_SEND) {
        return info->returns_request ? WF_OP_ISEND : kind;
    }
    return name[0] == '\0' || kind == WF_OP_SENDRECV ? WF_OP_SEND : WF_OP_ISEND;
}

static void put_sends(struct walk *w)
{
    enum wf_op_kind kind = send_of(call_name(w));

    for (size_t i = 0; i < n_of(&w->sent); i++) {
        const struct message *message = &w->r->messages[item_of(&w->sent, i)];
        struct wf_op op = {
            .kind = kind, .peer = message->dst, .tag = message->tag, .bytes = message->bytes};
        if (kind == WF_OP_ISEND) {
            op.request = ++w->n_requests;
            wf_buf_append(&w->sends, &op.request, sizeof(op.request));
        }
        put(w, &op);
    }
}

/* Receives that are posted and completed in one call are blocking ones. Of several messages, a
 * send of the same call must not wait for a receive: all are posted first. */
static void put_posts(struct walk *w)
{
    for (size_t i = 0; i < n_of(&w->posted); i++) {
        uint64_t number = item_of(&w->posted, i);
        struct message *message = &w->r->messages[number];
        bool completes =
            has(&w->arrived, number) && n_of(&w->sent) == 0 && n_of(&w->posted) == 1;
        struct wf_op op = {.kind = completes ? WF_OP_RECV : WF_OP_IRECV,
                           .peer = message->src,
                           .tag = message->tag,
                           .bytes = message->bytes};
        if (!completes) {
            op.request = ++w->n_requests;
            message->request = op.request;
        }
        put(w, &op);
    }
}

/* Waits for the receives that complete in the call, and for isends: a wait that completes no
 * receive is for the oldest, MPI_Waitall for all. */
static void put_waits(struct walk *w)
{
    const char *name = call_name(w);

    w->numbers.size = 0;
    for (size_t i = 0; i < n_of(&w->arrived); i++) {
        struct message *message = &w->r->messages[item_of(&w->arrived, i)];
        if (message->request != 0) {
            wf_buf_append(&w->numbers, &message->request, sizeof(message->request));
            message->request = 0;
        }
    }
    size_t n_open = w->sends.size / sizeof(uint32_t), n_done = 0;
    if (strcmp(name, "MPI_Waitall") == 0) {
        n_done = n_open;
    } else if (strncmp(name, "MPI_Wait", 8) == 0 && w->numbers.size == 0) {
        n_done = n_open > 0 ? 1 : 0;
    }
    if (n_done > 0) {
        size_t bytes = n_done * sizeof(uint32_t);
        wf_buf_append(&w->numbers, w->sends.data, bytes);
        memmove(w->sends.data, w->sends.data + bytes, w->sends.size - bytes);
        w->sends.size -= bytes;
    }
    if (w->numbers.size > 0) {
        wf_spool_waits(w->r->spool, &w->numbers, &w->place);
    }
}

/* A collective that can be replayed; else false. */
static bool put_collective(struct walk *w)
{
    struct wf_group group;
    struct wf_op op;

    if (w->coll == 0 || !wf_paraver_colls_op(&w->r->colls, w->rank, w->coll, &op, &group)) {
        return false;
    }
    if (op.comm == WF_COMM_WORLD ||
        wf_spool_group(w->r->spool, w->rank, op.comm, &group, w->r->err)) {
        put(w, &op);
    }
    return true;
}

static void put_call(struct walk *w, const char *name, uint64_t until)
{
    const struct wf_op op = {.kind = WF_OP_CALL, .tag = (int32_t)w->name};

    if (is_init(name) || is_finalize(name)) {
        put(w, &(struct wf_op){.kind = is_init(name) ? WF_OP_INIT : WF_OP_FINALIZE});
        return;
    }
    const struct wf_op_info *info = wf_op_info(wf_op_of_call(name));
    bool is_collective = info->family == WF_FAMILY_COLLECTIVE;
    if (is_collective && info->returns_request) {
        w->r->n_nonblocking++;
    } else if (is_collective) {
        w->r->colls.n_unsized += w->coll == 0 ? 1 : 0;
        put_computing(w, until); /* it cannot be replayed: it takes its time */
    }
    wf_spool_name(w->r->spool, WF_NAME_CALL, w->name, name);
    put(w, &op);
}

/* What has happened in a call, or outside of calls at one time. */
static void end_call(struct walk *w, uint64_t time)
{
    const char *name = call_name(w);
    bool has_messages = w->sent.size + w->posted.size + w->arrived.size > 0;
    bool waits = strncmp(name, "MPI_Wait", 8) == 0;

    if (has_messages || waits) {
        put_posts(w);
        put_sends(w);
        put_waits(w);
    } else if (w->in_call && !put_collective(w)) {
        put_call(w, name, time);
    }
    w->sent.size = 0;
    w->posted.size = 0;
    w->arrived.size = 0;
    w->coll = 0;
    w->clock = time > w->clock ? time : w->clock;
    w->in_call = false;
}

/* The time in which the tracer flushes its buffer is not time of the program. */
static void pass_flush(struct walk *w, uint64_t from, uint64_t to)
{
    uint64_t begin = from > w->clock ? from : w->clock, end = w->r->tasks[w->rank].end;

    if (end > 0 && from >= end) {
        return;
    }
    w->r->n_flushes++;
    w->flushed += to > begin ? to - begin : 0;
    if (!w->in_call) {
        put_computing(w, begin);
        w->clock = to > begin ? to : begin;
    }
}

static void do_item(struct walk *w, const struct item *item)
{
    switch ((enum item_kind)item->kind) {
    case ITEM_CALL:
        if (w->in_call) { /* a call within a call counts as a part of it */
            return;
        }
        end_call(w, w->clock);
        put_computing(w, item->time);
        w->clock = item->time > w->clock ? item->time : w->clock;
        w->in_call = true;
        w->name = item->name;
        w->coll = item->value;
        break;
    case ITEM_END:
        if (w->in_call) {
            end_call(w, item->time);
        }
        break;
    case ITEM_RUN:
        if (!w->r->has_calls) {
            w->clock = item->time;
            put_computing(w, item->value);
        }
        w->run = *item;
        break;
    case ITEM_FLUSH:
        pass_flush(w, item->time, item->value);
        break;
    case ITEM_SEND:
    case ITEM_POST:
    case ITEM_ARRIVAL:
        wf_buf_append(item->kind == ITEM_SEND   ? &w->sent
                      : item->kind == ITEM_POST ? &w->posted
                                                : &w->arrived,
                      &item->value, sizeof(item->value));
        if (!w->in_call) {
            put_computing(w, w->r->has_calls ? item->time : w->clock);
            end_call(w, w->r->has_calls ? item->time : w->clock);
        }
        break;
    }
}

/* What happens at the time at which a call begins or ends belongs to the call. */
static uint32_t rank_of_kind(uint8_t kind)
{
    static const uint8_t places[] = {
        [ITEM_CALL] = 0, [ITEM_SEND] = 1, [ITEM_POST] = 2, [ITEM_ARRIVAL] = 3,
        [ITEM_END] = 4,  [ITEM_RUN] = 5,  [ITEM_FLUSH] = 6};

    return places[kind];
}

/* Of calls that follow each other at once, the one ends before the other begins: the order in
 * the file decides between ends and beginnings. */
static int by_time(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    bool calls = x->kind <= ITEM_CALL && y->kind <= ITEM_CALL;
    uint32_t p = calls ? x->order : rank_of_kind(x->kind);
    uint32_t q = calls ? y->order : rank_of_kind(y->kind);

    return 4 * WF_ORDER(x->time, y->time) + 2 * WF_ORDER(p, q) + WF_ORDER(x->order, y->order);
}

/* Sorts what happens in a rank, and joins its collectives with those of the others. */
static void join_rank(struct reading *r, uint32_t rank)
{
    struct task *task = &r->tasks[rank];

    WF_SORT(task->items, task->n, by_time);
    wf_paraver_colls_begin_rank(&r->colls);
    for (uint64_t i = 0; i < task->n; i++) {
        if (task->items[i].kind == ITEM_CALL && task->items[i].value != 0) {
            wf_paraver_colls_join(&r->colls, rank, task->items[i].value);
        }
    }
}

/* From the end of MPI_Init, which takes no time in a replay, to that of MPI_Finalize or of the
 * trace, without flushes. */
static void put_recorded(const struct walk *w)
{
    const struct reading *r = w->r;
    const struct task *task = &r->tasks[w->rank];
    uint64_t end = task->end > 0 ? task->end : r->recorded, left = task->begin + w->flushed;
    uint64_t span = end > left ? end - left : 0;

    if (span > 0 && span < (uint64_t)WF_TIME_MAX / r->unit) {
        wf_spool_wall(r->spool, w->rank, (int64_t)(span * r->unit));
    }
}

static void walk_rank(struct reading *r, uint32_t rank)
{
    struct task *task = &r->tasks[rank];
    struct walk w = {.r = r, .rank = rank, .place = r->file.place, .clock = task->begin};

    w.place.rank = rank;
    for (uint64_t i = 0; i < task->n && !wf_trace_failed(r->err); i++) {
        do_item(&w, &task->items[i]);
    }
    end_call(&w, w.clock);
    if (r->has_calls && task->end == 0 && w.run.value > w.clock && !wf_trace_failed(r->err)) {
        w.clock = w.run.time > w.clock ? w.run.time : w.clock;
        put_computing(&w, w.run.value);
    }
    put_recorded(&w);
    free(task->items);
    task->items = NULL;
    wf_buf_fini(&w.sent);
    wf_buf_fini(&w.posted);
    wf_buf_fini(&w.arrived);
    wf_buf_fini(&w.sends);
    wf_buf_fini(&w.numbers);
}

/* ---- the reader ---- */

static bool detect(const struct wf_reader_probe *probe)
{
    return !probe->is_directory && probe->n > 10 && memcmp(probe->bytes, "#Paraver (", 10) == 0;
}

static void release(struct reading *r)
{
    for (uint32_t rank = 0; rank < r->n_ranks; rank++) {
        free(r->tasks[rank].items);
    }
    free(r->tasks);
    free(r->messages);
    wf_strings_fini(&r->names);
    wf_map_fini(&r->values);
    wf_paraver_colls_fini(&r->colls);
    wf_intext_close(&r->file);
}

static void add_notes(const struct reading *r, struct wf_trace *out)
{
    if (!r->has_calls) {
        wf_trace_note(out, "no event is a call of MPI: ranks compute while they are in the "
                           "state Running, and send and receive when messages say so");
    }
    const struct wf_paraver_colls *colls = &r->colls;
    wf_trace_note_count(out, colls->n_unsized,
                        "collectives without recorded sizes are read as calls that take their "
                        "time");
    wf_trace_note_count(out, colls->n_unknown_comms,
                        "collectives on communicators whose members are not recorded are read "
                        "as calls that take their time");
    wf_trace_note_count(out, colls->n_partial,
                        "collectives that not all members of the communicator have called are "
                        "read as calls that take their time");
    wf_trace_note_count(out, colls->n_equal,
                        "collectives with a list of lengths are read with equal lengths");
    wf_trace_note_count(out, colls->n_rootless,
                        "collectives of which no root is recorded are read with the first "
                        "member as root");
    wf_trace_note_count(out, r->n_nonblocking,
                        "nonblocking collectives are read as calls without messages");
    wf_trace_note_count(
        out, r->n_bursts,
        "spans are recorded in the mode CPU Bursts, without calls and messages, "
        "and count as computing");
    wf_trace_note_count(out, r->n_flushes, "flushes of the tracer's buffer are left out");
    wf_trace_note_count(out, r->n_threads, "records of further threads are left out");
    wf_trace_note_count(out, r->n_applications, "records of further applications are left out");
}

static enum wf_status open_trace(const struct wf_reader_probe *probe, const void *params,
                                 struct wf_trace *out, struct wf_err *err)
{
    struct reading r = {.err = err};
    size_t length = strlen(probe->path);

    set_names(&r);
    if (length > 4 && strcmp(probe->path + length - 4, ".prv") == 0) {
        (void)read_pcf(&r, probe->path, err);
    }
    if (!wf_trace_failed(err) && wf_intext_open(&r.file, probe->path, err) == WF_OK) {
        r.file.place.unit = "rank";
        read_file(&r, out);
    }
    if (!wf_trace_failed(err) && wf_spool_new(r.n_ranks, &r.spool, err) == WF_OK) {
        for (uint32_t rank = 0; rank < r.n_ranks; rank++) {
            join_rank(&r, rank);
        }
        for (uint32_t rank = 0; rank < r.n_ranks; rank++) {
            walk_rank(&r, rank);
        }
        add_notes(&r, out);
    }
    (void)wf_spool_end(r.spool, "paraver", &out->source, err);
    release(&r);
    return err->status;
}

const struct wf_reader_ops wf_paraver_reader_ops = {
    .name = "paraver",
    .summary = "Paraver traces with communications: a .prv file",
    .detect = detect,
    .open = open_trace,
};
