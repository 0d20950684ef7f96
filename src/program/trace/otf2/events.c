/* SPDX-License-Identifier: Apache-2.0 */
/* The formats follow OTF2's own sources (OTF2_EvtReader_inc.c, OTF2_Buffer.c of version 2
 * and 3). */
#include "program/trace/otf2/events.h"

#include "base/array.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Types of records that are taken apart. */
enum {
    TIME = 5,       /* before an event whose time differs from the one before */
    ATTRIBUTES = 6, /* a list that belongs to the event after it */
    FLUSH = 10,
    ON_OFF = 11,
    ENTER = 12,
    LEAVE = 13,
    SEND = 14,
    ISEND = 15,
    ISEND_COMPLETE = 16,
    IRECV_REQUEST = 17,
    RECV = 18,
    IRECV = 19,
    REQUEST_TEST = 20,
    REQUEST_CANCELLED = 21,
    COLL_BEGIN = 22,
    COLL_END = 23,
    OMP_FORK = 24,
    OMP_TASK_CREATE = 28,
    OMP_TASK_SWITCH = 29,
    OMP_TASK_COMPLETE = 30,
    METRIC = 31,
    RMA_PUT = 46,
    RMA_GET = 47,
    RMA_COMPLETE_BLOCKING = 49,
    RMA_COMPLETE_NON_BLOCKING = 50,
    PROGRAM_BEGIN = 83,
    PROGRAM_END = 84,
    ICOLL_REQUEST = 85,
    ICOLL_COMPLETE = 86,
};

enum {
    TIME_BYTES = 9,   /* a record of type TIME */
    LENGTH_BYTES = 9, /* of a long record */
    /* Fields of the longest event that is not a list: one byte, two numbers of up to 4 bytes and
     * three of up to 8. */
    FIELDS_BYTES = 1 + 2 * 5 + 3 * 9,
    WINDOW = WF_INFILE_LOOK_MAX,
};
_Static_assert(TIME_BYTES + 1 + LENGTH_BYTES + FIELDS_BYTES <= WINDOW,
               "an event with everything before it fits");

/* ---- fields of a record ---- */

/* Bytes of a record. Those from `at` to before `end` belong to it. At least 8 bytes after `at`
 * may be read, whatever they are. */
struct window {
    const unsigned char *at, *end;
    bool is_little;
    bool ends_early, is_long; /* a field was not there; or a number was too long */
};

static uint64_t load_big(const unsigned char *bytes, unsigned n)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < n; i++) {
        value = value << 8 | bytes[i];
    }
    return value;
}

/* Loads a number of 0 to 8 bytes; 8 may be read. */
static inline uint64_t load(const unsigned char *bytes, unsigned n, bool is_little)
{
    static const uint64_t masks[] = {
        0,          0xff,         0xffff,         0xffffff,
        0xffffffff, 0xffffffffff, 0xffffffffffff, 0xffffffffffffff,
        UINT64_MAX,
    };

    if (!is_little) {
        return load_big(bytes, n);
    }
    /* Compilers make one instruction of this. */
    uint64_t value = (uint64_t)bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16 |
                     (uint64_t)bytes[3] << 24 | (uint64_t)bytes[4] << 32 |
                     (uint64_t)bytes[5] << 40 | (uint64_t)bytes[6] << 48 |
                     (uint64_t)bytes[7] << 56;
    return value & masks[n];
}

static uint8_t take_byte(struct window *window)
{
    if (window->at >= window->end) {
        window->ends_early = true;
        return 0;
    }
    return *window->at++;
}

/* Takes a number that is not given, or notes what is wrong with it. */
static uint64_t take_none(struct window *window, unsigned n, unsigned width)
{
    if (n == WF_OTF2_UNDEFINED && window->at < window->end) {
        window->at++;
        return width == 8 ? UINT64_MAX : UINT32_MAX;
    }
    window->is_long = window->is_long || (n > width && window->at < window->end);
    window->ends_early = true;
    return 0;
}

/* Takes a compressed number of at most `width` bytes. */
static inline uint64_t take(struct window *window, unsigned width)
{
    unsigned n = *window->at;

    if (n > width || window->end - window->at <= (ptrdiff_t)n) {
        return take_none(window, n, width);
    }
    uint64_t value = load(window->at + 1, n, window->is_little);
    window->at += 1 + n;
    return value;
}

static inline uint32_t take_4(struct window *window)
{
    return (uint32_t)take(window, 4);
}

static inline uint64_t take_8(struct window *window)
{
    return take(window, 8);
}

/* ---- events ---- */

static inline void take_message(struct wf_otf2_events *events, struct window *window,
                                struct wf_otf2_event *event)
{
    event->peer = take_4(window);
    event->comm = wf_otf2_map_id(&events->local.comms, take_4(window));
    event->tag = take_4(window);
    event->bytes = take_8(window);
}

static void take_collective(struct wf_otf2_events *events, struct window *window,
                            struct wf_otf2_event *event)
{
    event->region = take_byte(window);
    event->comm = wf_otf2_map_id(&events->local.comms, take_4(window));
    event->peer = take_4(window);
    event->bytes = take_8(window);
    event->received = take_8(window);
}

static void take_flush(struct wf_otf2_events *events, struct window *window,
                       struct wf_otf2_event *event)
{
    if (window->end - window->at < 8) {
        window->ends_early = true;
        return;
    }
    event->bytes = wf_otf2_local_time(&events->local, load(window->at, 8, window->is_little));
}

/* The kind of an event by the type of its record. */
static enum wf_otf2_kind kind_of(uint8_t type)
{
    /* 1 higher; 0 is one of the others. */
    static const uint8_t kinds[] = {
        [FLUSH] = WF_OTF2_FLUSH + 1,
        [ON_OFF] = WF_OTF2_ON_OFF + 1,
        [ENTER] = WF_OTF2_ENTER + 1,
        [LEAVE] = WF_OTF2_LEAVE + 1,
        [SEND] = WF_OTF2_SEND + 1,
        [ISEND] = WF_OTF2_ISEND + 1,
        [ISEND_COMPLETE] = WF_OTF2_ISEND_COMPLETE + 1,
        [IRECV_REQUEST] = WF_OTF2_IRECV_REQUEST + 1,
        [RECV] = WF_OTF2_RECV + 1,
        [IRECV] = WF_OTF2_IRECV + 1,
        [REQUEST_TEST] = WF_OTF2_REQUEST_TEST + 1,
        [REQUEST_CANCELLED] = WF_OTF2_REQUEST_CANCELLED + 1,
        [COLL_BEGIN] = WF_OTF2_COLL_BEGIN + 1,
        [COLL_END] = WF_OTF2_COLL_END + 1,
        [RMA_PUT] = WF_OTF2_RMA_PUT + 1,
        [RMA_GET] = WF_OTF2_RMA_GET + 1,
        [RMA_COMPLETE_BLOCKING] = WF_OTF2_RMA_COMPLETE + 1,
        [RMA_COMPLETE_NON_BLOCKING] = WF_OTF2_RMA_COMPLETE + 1,
        [PROGRAM_END] = WF_OTF2_PROGRAM_END + 1,
        [ICOLL_REQUEST] = WF_OTF2_ICOLL_REQUEST + 1,
        [ICOLL_COMPLETE] = WF_OTF2_ICOLL_COMPLETE + 1,
    };
    uint8_t kind = type < sizeof(kinds) ? kinds[type] : 0;

    return kind != 0 ? (enum wf_otf2_kind)(kind - 1) : WF_OTF2_OTHER;
}

/* Takes the fields of an event, unless it is a list. */
static inline void take_fields(struct wf_otf2_events *events, struct window *window,
                               uint8_t type, struct wf_otf2_event *event)
{
    switch (type) {
    case ENTER:
    case LEAVE:
        event->region = wf_otf2_map_id(&events->local.regions, take_4(window));
        break;
    case SEND:
    case RECV:
        take_message(events, window, event);
        break;
    case ISEND:
    case IRECV:
        take_message(events, window, event);
        event->request = take_8(window);
        break;
    case ISEND_COMPLETE:
    case IRECV_REQUEST:
    case REQUEST_TEST:
    case REQUEST_CANCELLED:
    case ICOLL_REQUEST:
        event->request = take_8(window);
        break;
    case COLL_END:
        take_collective(events, window, event);
        break;
    case ICOLL_COMPLETE:
        take_collective(events, window, event);
        event->request = take_8(window);
        break;
    case FLUSH:
        take_flush(events, window, event);
        break;
    case ON_OFF:
        event->region = take_byte(window) == 1 ? 1 : 0;
        break;
    case RMA_PUT:
    case RMA_GET:
        (void)take_4(window); /* the window of memory */
        event->peer = take_4(window);
        event->bytes = take_8(window);
        event->request = take_8(window);
        break;
    case RMA_COMPLETE_BLOCKING:
    case RMA_COMPLETE_NON_BLOCKING:
        (void)take_4(window);
        event->request = take_8(window);
        break;
    case OMP_FORK:
    case OMP_TASK_CREATE:
    case OMP_TASK_SWITCH:
    case OMP_TASK_COMPLETE:
        (void)take_8(window);
        break;
    default:
        break;
    }
}

/* Events that consist of one compressed number, without a length. */
static bool is_single(uint8_t type)
{
    const uint32_t singles = 1U << ENTER | 1U << LEAVE | 1U << ISEND_COMPLETE |
                             1U << IRECV_REQUEST | 1U << REQUEST_TEST |
                             1U << REQUEST_CANCELLED | 1U << OMP_FORK | 1U << OMP_TASK_CREATE |
                             1U << OMP_TASK_SWITCH | 1U << OMP_TASK_COMPLETE;

    return type < 32 && (singles >> type & 1) != 0;
}

/* ---- lists ---- */

static double number_in(uint8_t type, uint64_t value)
{
    enum { UINT64 = 4, INT64 = 8, DOUBLE = 10 }; /* as OTF2_Type */
    double real = 0;

    if (type == DOUBLE) {
        memcpy(&real, &value, sizeof(real));
        return real;
    }
    return type == INT64 ? (double)(int64_t)value : type == UINT64 ? (double)value : 0;
}

/* Reads values of counters; their times are those of the events that they belong to. */
static bool read_metric(struct wf_otf2_events *events, uint64_t end,
                        struct wf_otf2_event *event)
{
    const struct wf_otf2_metrics *metrics = &events->defs->metrics;
    struct wf_otf2_file *file = &events->file;
    uint64_t id = 0, value = 0;
    uint8_t n = 0, type = 0;
    double ps = 0;

    event->kind = WF_OTF2_METRIC;
    event->region = WF_OTF2_NONE;
    if (!wf_otf2_file_number(file, end, &id) || !wf_otf2_file_byte(file, end, &n)) {
        return false;
    }
    const struct wf_otf2_metric_class *class =
        metrics->n_used > 0 ? wf_otf2_metrics_class(
                                  metrics, wf_otf2_map_id(&events->local.metrics, (uint32_t)id))
                            : NULL;
    for (uint32_t i = 0; i < n; i++) {
        if (!wf_otf2_file_byte(file, end, &type) || !wf_otf2_file_number(file, end, &value)) {
            return false;
        }
        const struct wf_otf2_metric *member =
            class != NULL && i < class->n
                ? wf_otf2_metrics_find(metrics, (uint32_t) class->members[i])
                : NULL;
        if (member != NULL && member->is_used) {
            ps += number_in(type, value) * member->ps;
            event->region = (uint32_t)(class - metrics->classes);
        }
    }
    event->received = ps > 0 && ps < (double)INT64_MAX ? (uint64_t)llround(ps) : 0;
    return true;
}

/* Reads the beginning of a program, of which nothing is kept: its name and arguments. */
static bool read_program(struct wf_otf2_file *file, uint64_t end, struct wf_otf2_event *event)
{
    uint64_t n = 0, unused = 0;
    bool ok = wf_otf2_file_number(file, end, &unused) && wf_otf2_file_number(file, end, &n);

    event->kind = WF_OTF2_PROGRAM_BEGIN;
    for (uint64_t i = 0; ok && i < n; i++) {
        ok = wf_otf2_file_number(file, end, &unused);
    }
    return ok;
}

/* Checks a list of attributes, of which nothing is kept. */
static bool pass_attributes(struct wf_otf2_file *file, uint64_t end)
{
    enum { LEAST = 3 }; /* bytes of an attribute: its number, its type and its value */
    uint64_t n = 0;

    return wf_otf2_file_number(file, end, &n) && n <= (end - wf_infile_at(&file->in)) / LEAST;
}

/* Reads a record whose type has been passed. */
static void read_list(struct wf_otf2_events *events, uint8_t type, uint64_t begin,
                      struct wf_otf2_event *event)
{
    struct wf_otf2_file *file = &events->file;
    const char *name = type == METRIC          ? "metric"
                       : type == PROGRAM_BEGIN ? "beginning of the program"
                                               : "list of attributes";
    uint64_t end = 0;
    char what[80];

    if (!wf_otf2_file_length(file, begin, &end)) {
        return;
    }
    bool ok = type == METRIC          ? read_metric(events, end, event)
              : type == PROGRAM_BEGIN ? read_program(file, end, event)
                                      : pass_attributes(file, end);
    if (!ok) {
        (void)snprintf(what, sizeof(what), "a %s has more items than there is room for", name);
        wf_otf2_file_damaged(file, begin, what);
    }
    wf_infile_seek(&file->in, end);
}

/* ---- records ---- */

/* Sets the end of a record: where its fields end in the window, and in the file. Returns false,
 * and fails, if that is beyond the chunk. `n` bytes of the chunk are left from `begin` on. */
static inline bool find_end(struct wf_otf2_events *events, struct window *window,
                            const unsigned char *first, uint64_t begin, uint64_t n,
                            uint64_t *end)
{
    uint64_t length = *window->at++;

    if (length == WF_OTF2_LONG) {
        length = load(window->at, 8, window->is_little);
        window->at += 8;
    }
    uint64_t before = (uint64_t)(window->at - first);
    if (before > n || length > n - before) {
        wf_otf2_file_damaged(&events->file, begin,
                             "the file or a chunk of it ends within a record");
        return false;
    }
    *end = begin + before + length;
    window->end = length < FIELDS_BYTES ? window->at + length : window->at + FIELDS_BYTES;
    return true;
}

/* Reads the record of an event, of which `first` has the first bytes. */
static inline void read_record(struct wf_otf2_events *events, const unsigned char *first,
                               struct window *window, uint8_t type, struct wf_otf2_event *event)
{
    struct wf_infile *in = &events->file.in;
    uint64_t begin = wf_infile_at(in), n = events->file.chunk_end - begin, end = 0;
    bool is_one = is_single(type);

    if (is_one) {
        uint64_t before = (uint64_t)(window->at - first), left = n - before;
        window->end = window->at + (left < 1 + 8 ? left : 1 + 8);
    } else if (!find_end(events, window, first, begin, n, &end)) {
        return;
    }
    event->kind = kind_of(type);
    take_fields(events, window, type, event);
    if (window->ends_early) {
        wf_otf2_file_damaged(&events->file, begin,
                             window->is_long ? "a number has more bytes than it may have"
                             : is_one        ? "the file or a chunk of it ends within a record"
                                             : "a record is too short for its fields");
        return;
    }
    uint64_t size = is_one ? (uint64_t)(window->at - first) : end - begin;
    if (wf_infile_ready(in, size) != NULL) {
        wf_infile_pass(in, size);
    } else {
        wf_infile_seek(in, begin + size);
    }
}

static bool cut_off(struct wf_otf2_events *events)
{
    uint64_t all = events->location->n_events;

    if (!wf_trace_failed(events->err)) {
        (void)wf_err_set(events->err, WF_EINVAL,
                         "%.200s: rank %" PRId64 " (location %" PRIu64
                         "): its events end after event %" PRIu64 " of %" PRIu64
                         "; truncated or damaged",
                         events->file.in.place.path, events->rank, events->location->id,
                         events->n_read, all);
    }
    return false;
}

/* The end of a chunk: goes on in the next. */
static bool turn_chunk(struct wf_otf2_events *events)
{
    return wf_otf2_file_next_chunk(&events->file) || cut_off(events);
}

/* Reads the next event from the file. */
static bool read_event(struct wf_otf2_events *events, struct wf_otf2_event *event)
{
    struct wf_otf2_file *file = &events->file;
    struct wf_infile *in = &file->in;
    uint64_t all = events->location->n_events;

    *event = (struct wf_otf2_event){.kind = WF_OTF2_KINDS};
    while (event->kind == WF_OTF2_KINDS && !wf_trace_failed(events->err)) {
        uint64_t begin = wf_infile_at(in), left = file->chunk_end - begin;
        const unsigned char *first = wf_infile_look(in, WINDOW);
        struct window window = {.at = first, .is_little = in->swapped};
        if (*first == TIME) {
            events->time = load(first + 1, 8, window.is_little);
            window.at += TIME_BYTES;
        }
        uint8_t type = *window.at++;
        if (left > 0 && (uint64_t)(window.at - first) > left) {
            wf_otf2_file_damaged(file, begin, "the file ends within a record");
        } else if (left == 0 || type == WF_OTF2_END_OF_CHUNK) {
            (void)turn_chunk(events);
        } else if (type == WF_OTF2_END_OF_FILE) {
            return events->n_read < all && cut_off(events);
        } else if (type == METRIC || type == PROGRAM_BEGIN || type == ATTRIBUTES) {
            if (type != ATTRIBUTES) {
                event->time = wf_otf2_local_time(&events->local, events->time);
            }
            wf_infile_pass(in, (size_t)(window.at - first));
            read_list(events, type, begin, event);
        } else {
            event->time = wf_otf2_local_time(&events->local, events->time);
            read_record(events, first, &window, type, event);
        }
    }
    event->number = ++events->n_read;
    if (all > 0 && events->n_read > all) {
        wf_otf2_file_damaged(file, wf_infile_at(in), "more events than the definitions say");
    }
    return !wf_trace_failed(events->err);
}

/* ---- locations ---- */

void wf_otf2_events_open(struct wf_otf2_events *events, uint64_t location, int64_t rank,
                         struct wf_err *err)
{
    const struct wf_otf2_layout *layout = events->layout;
    struct wf_err unopened = {.status = WF_OK};

    wf_otf2_file_close(&events->file);
    events->err = err;
    events->location = wf_otf2_defs_find_location(events->defs, location);
    events->rank = rank;
    events->n_read = 0;
    events->time = 0;
    events->n = 0;
    events->next = 0;
    char *path = wf_otf2_file_path(events->path, "/%" PRIu64 ".def", location);
    wf_otf2_local_read(&events->local, path, layout->definition_chunk, rank, err);
    free(path);
    path = wf_otf2_file_path(events->path, "/%" PRIu64 ".evt", location);
    events->ended =
        wf_trace_failed(err) ||
        wf_otf2_file_open(&events->file, path, layout->event_chunk, rank, &unopened) != WF_OK;
    if (!events->ended) {
        events->file.in.place.err = err;
        events->ended = !wf_otf2_file_next_chunk(&events->file);
    } else if (!wf_trace_failed(err) && wf_otf2_file_exists(path)) {
        *err = unopened;
    } else if (!wf_trace_failed(err) && events->location->n_events > 0) {
        (void)wf_err_set(err, WF_EINVAL,
                         "%.200s is missing: rank %" PRId64 " (location %" PRIu64
                         ") has %" PRIu64 " events",
                         path, rank, location, events->location->n_events);
    } /* else: without events there is no file */
    free(path);
}

void wf_otf2_events_close(struct wf_otf2_events *events)
{
    wf_otf2_file_close(&events->file);
    wf_otf2_local_fini(&events->local);
    free(events->queue);
    events->queue = NULL;
    events->capacity = 0;
}

/* Reads the next event from the file, if there is one. */
static bool read_more(struct wf_otf2_events *events, struct wf_otf2_event *event)
{
    events->ended = events->ended || wf_trace_failed(events->err) || !read_event(events, event);
    return !events->ended;
}

/* Makes room in the queue for an event: in place of those that are not left any more, if they
 * are half of it. */
static void make_room(struct wf_otf2_events *events)
{
    size_t left = events->n - events->next;

    if (events->n >= events->capacity && events->next >= left) {
        if (left > 0) {
            memcpy(events->queue, events->queue + events->next, left * sizeof(*events->queue));
        }
        events->next = 0;
        events->n = left;
    }
    WF_GROW(events->queue, events->n, events->capacity);
}

const struct wf_otf2_event *wf_otf2_events_ahead(struct wf_otf2_events *events, size_t distance)
{
    while (events->n - events->next <= distance) {
        make_room(events);
        if (!read_more(events, &events->queue[events->n])) {
            return NULL;
        }
        events->n++;
    }
    return wf_trace_failed(events->err) ? NULL : &events->queue[events->next + distance];
}

bool wf_otf2_events_next(struct wf_otf2_events *events, struct wf_otf2_event *event)
{
    if (events->next < events->n) {
        *event = events->queue[events->next++];
        return !wf_trace_failed(events->err);
    }
    return read_more(events, event);
}
