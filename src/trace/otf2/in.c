/* SPDX-License-Identifier: Apache-2.0 */
/* Reads archives with the OTF2 library. No other file does. */
#include "trace/otf2/in.h"

#include "base/array.h"
#include "base/mem.h"
#include "trace/kit/infile.h"

#include <otf2/otf2.h>

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AT_ONCE = 128 }; /* events that one call of the library returns */

/* The library defines the parameters of its callbacks. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
/* NOLINTBEGIN(readability-function-size,misc-unused-parameters) */

struct wf_otf2_in {
    OTF2_Reader *reader;
    OTF2_EvtReader *events; /* reader of the present rank, or null */
    OTF2_EvtReaderCallbacks *callbacks;
    const struct wf_otf2_defs *defs;
    char *path;
    uint32_t rank;
    uint64_t n_read; /* events read, as the library counts them */
    bool ended;
    struct wf_otf2_event *queue; /* events that the library has returned... */
    size_t next, n, capacity;    /* ...of which those from `next` to before `n` are left */
    char words[128];             /* latest error message of the library */
    struct wf_err *err;
};

enum wf_status wf_otf2_has_library(const char *path, struct wf_err *err)
{
    return WF_OK;
}

/* ---- errors of the library ---- */

/* The reader that a thread uses: the library reports an error without saying where it is. */
static _Thread_local struct wf_otf2_in *of_thread;

static OTF2_ErrorCode WF_PRINTF(6, 0)
    on_error(void *arg, const char *file, uint64_t line, const char *function,
             OTF2_ErrorCode code, const char *fmt, va_list args)
{
    struct wf_otf2_in *in = of_thread;

    if (in != NULL && fmt != NULL && in->words[0] == '\0') {
        (void)vsnprintf(in->words, sizeof(in->words), fmt, args);
    }
    return code;
}

WF_PRINTF(3, 4)
static void failed(struct wf_otf2_in *in, OTF2_ErrorCode code, const char *fmt, ...)
{
    const char *why = code != OTF2_SUCCESS ? OTF2_Error_GetDescription(code) : "";
    char what[160];
    va_list args;

    if (!wf_trace_failed(in->err)) {
        va_start(args, fmt);
        (void)vsnprintf(what, sizeof(what), fmt, args);
        va_end(args);
        (void)wf_err_set(in->err, WF_EINVAL, "%.200s: %s%s%s%s%s", in->path, what,
                         why[0] != '\0' ? ": " : "", why, in->words[0] != '\0' ? ": " : "",
                         in->words);
    }
}

/* ---- definitions ---- */

static OTF2_CallbackCode on_clock(void *arg, uint64_t resolution, uint64_t offset,
                                  uint64_t length, uint64_t realtime)
{
    ((struct wf_otf2_defs *)arg)->resolution = resolution;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_string(void *arg, OTF2_StringRef self, const char *text)
{
    wf_otf2_defs_string(arg, self, text);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_region(void *arg, OTF2_RegionRef self, OTF2_StringRef name,
                                   OTF2_StringRef canonical, OTF2_StringRef description,
                                   OTF2_RegionRole role, OTF2_Paradigm paradigm,
                                   OTF2_RegionFlag flags, OTF2_StringRef file, uint32_t begin,
                                   uint32_t end)
{
    wf_otf2_defs_region(arg, self, name, paradigm == OTF2_PARADIGM_MPI);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_location(void *arg, OTF2_LocationRef self, OTF2_StringRef name,
                                     OTF2_LocationType type, uint64_t n_events,
                                     OTF2_LocationGroupRef group)
{
    const struct wf_otf2_location location = {
        .id = self,
        .n_events = n_events,
        .group = group,
        .is_thread = type == OTF2_LOCATION_TYPE_CPU_THREAD,
        .is_gpu = type == OTF2_LOCATION_TYPE_ACCELERATOR_STREAM};

    wf_otf2_defs_location(arg, &location);
    return OTF2_CALLBACK_SUCCESS;
}

static enum wf_otf2_group_type type_of(OTF2_GroupType type, OTF2_Paradigm paradigm,
                                       OTF2_GroupFlag flags)
{
    if (paradigm != OTF2_PARADIGM_MPI) {
        return WF_OTF2_OTHER_GROUP;
    }
    switch (type) {
    case OTF2_GROUP_TYPE_COMM_LOCATIONS:
        return WF_OTF2_LOCATIONS;
    case OTF2_GROUP_TYPE_COMM_GROUP:
        return (flags & OTF2_GROUP_FLAG_GLOBAL_MEMBERS) != 0 ? WF_OTF2_PLACES : WF_OTF2_RANKS;
    case OTF2_GROUP_TYPE_COMM_SELF:
        return WF_OTF2_SELF;
    default:
        return WF_OTF2_OTHER_GROUP;
    }
}

static OTF2_CallbackCode on_group(void *arg, OTF2_GroupRef self, OTF2_StringRef name,
                                  OTF2_GroupType type, OTF2_Paradigm paradigm,
                                  OTF2_GroupFlag flags, uint32_t n, const uint64_t *members)
{
    const struct wf_otf2_group group = {.id = self,
                                        .type = type_of(type, paradigm, flags),
                                        .n = n,
                                        .members = wf_unconst(members)};

    wf_otf2_defs_group(arg, &group);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_comm(void *arg, OTF2_CommRef self, OTF2_StringRef name,
                                 OTF2_GroupRef group, OTF2_CommRef parent, OTF2_CommFlag flags)
{
    wf_otf2_defs_comm(arg, self, group, false);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_intercomm(void *arg, OTF2_CommRef self, OTF2_StringRef name,
                                      OTF2_GroupRef a, OTF2_GroupRef b, OTF2_CommRef common,
                                      OTF2_CommFlag flags)
{
    wf_otf2_defs_comm(arg, self, a, true);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_metric_member(void *arg, OTF2_MetricMemberRef self,
                                          OTF2_StringRef name, OTF2_StringRef description,
                                          OTF2_MetricType type, OTF2_MetricMode mode,
                                          OTF2_Type value, OTF2_Base base, int64_t exponent,
                                          OTF2_StringRef unit)
{
    const struct wf_otf2_metric metric = {
        .id = self,
        .name = name,
        .unit = unit,
        .grows = mode == OTF2_METRIC_ACCUMULATED_START,
        .factor = pow(base == OTF2_BASE_BINARY ? 2 : 10, (double)exponent)};

    wf_otf2_metrics_add(&((struct wf_otf2_defs *)arg)->metrics, &metric);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_metric_class(void *arg, OTF2_MetricRef self, uint8_t n,
                                         const OTF2_MetricMemberRef *members,
                                         OTF2_MetricOccurrence occurrence,
                                         OTF2_RecorderKind kind)
{
    wf_otf2_metrics_add_class(&((struct wf_otf2_defs *)arg)->metrics, self, n, members);
    return OTF2_CALLBACK_SUCCESS;
}

static void read_definitions(struct wf_otf2_in *in, struct wf_otf2_defs *defs)
{
    OTF2_GlobalDefReader *reader = OTF2_Reader_GetGlobalDefReader(in->reader);
    OTF2_GlobalDefReaderCallbacks *c = OTF2_GlobalDefReaderCallbacks_New();
    uint64_t n = 0, expected = 0;

    if (reader == NULL || c == NULL) {
        OTF2_GlobalDefReaderCallbacks_Delete(c);
        failed(in, OTF2_SUCCESS, "the definitions of all ranks cannot be read");
        return;
    }
    (void)OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(c, on_clock);
    (void)OTF2_GlobalDefReaderCallbacks_SetStringCallback(c, on_string);
    (void)OTF2_GlobalDefReaderCallbacks_SetRegionCallback(c, on_region);
    (void)OTF2_GlobalDefReaderCallbacks_SetLocationCallback(c, on_location);
    (void)OTF2_GlobalDefReaderCallbacks_SetGroupCallback(c, on_group);
    (void)OTF2_GlobalDefReaderCallbacks_SetCommCallback(c, on_comm);
    (void)OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(c, on_intercomm);
    (void)OTF2_GlobalDefReaderCallbacks_SetMetricMemberCallback(c, on_metric_member);
    (void)OTF2_GlobalDefReaderCallbacks_SetMetricClassCallback(c, on_metric_class);
    (void)OTF2_Reader_RegisterGlobalDefCallbacks(in->reader, reader, c, defs);
    OTF2_GlobalDefReaderCallbacks_Delete(c);
    OTF2_ErrorCode code = OTF2_Reader_ReadAllGlobalDefinitions(in->reader, reader, &n);
    (void)OTF2_Reader_GetNumberOfGlobalDefinitions(in->reader, &expected);
    if (code != OTF2_SUCCESS || n < expected) {
        failed(in, code,
               "the definitions of all ranks end after %" PRIu64 " of %" PRIu64
               "; truncated or damaged",
               n, expected);
        return;
    }
    wf_otf2_defs_finish(defs, in->path, in->err);
}

/* ---- events ---- */

static struct wf_otf2_event *add(void *arg, enum wf_otf2_kind kind, OTF2_TimeStamp time,
                                 uint64_t position)
{
    struct wf_otf2_in *in = arg;

    WF_GROW(in->queue, in->n, in->capacity);
    struct wf_otf2_event *event = &in->queue[in->n++];
    *event = (struct wf_otf2_event){.kind = kind, .time = time, .number = position};
    return event;
}

/* The first parameters of all callbacks. */
#define HEAD                                                                      \
    OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *arg, \
        OTF2_AttributeList *attributes

/* Define callbacks for events that have only a region, a request or a message. */
#define ON_REGION(name, kind)                                      \
    static OTF2_CallbackCode name(HEAD, OTF2_RegionRef region)     \
    {                                                              \
        add(arg, WF_OTF2_##kind, time, position)->region = region; \
        return OTF2_CALLBACK_SUCCESS;                              \
    }
#define ON_REQUEST(name, kind)                                       \
    static OTF2_CallbackCode name(HEAD, uint64_t request)            \
    {                                                                \
        add(arg, WF_OTF2_##kind, time, position)->request = request; \
        return OTF2_CALLBACK_SUCCESS;                                \
    }
#define ON_MESSAGE(name, kind)                                                          \
    static OTF2_CallbackCode name(HEAD, uint32_t peer, OTF2_CommRef comm, uint32_t tag, \
                                  uint64_t bytes)                                       \
    {                                                                                   \
        set_message(add(arg, WF_OTF2_##kind, time, position), peer, comm, tag, bytes);  \
        return OTF2_CALLBACK_SUCCESS;                                                   \
    }
#define ON_REQUEST_MESSAGE(name, kind)                                                  \
    static OTF2_CallbackCode name(HEAD, uint32_t peer, OTF2_CommRef comm, uint32_t tag, \
                                  uint64_t bytes, uint64_t request)                     \
    {                                                                                   \
        struct wf_otf2_event *event = add(arg, WF_OTF2_##kind, time, position);         \
                                                                                        \
        set_message(event, peer, comm, tag, bytes);                                     \
        event->request = request;                                                       \
        return OTF2_CALLBACK_SUCCESS;                                                   \
    }

static void set_message(struct wf_otf2_event *event, uint32_t peer, OTF2_CommRef comm,
                        uint32_t tag, uint64_t bytes)
{
    event->peer = peer;
    event->comm = comm;
    event->tag = tag;
    event->bytes = bytes;
}

ON_REGION(on_enter, ENTER)
ON_REGION(on_leave, LEAVE)
ON_MESSAGE(on_send, SEND)
ON_MESSAGE(on_recv, RECV)
ON_REQUEST_MESSAGE(on_isend, ISEND)
ON_REQUEST_MESSAGE(on_irecv, IRECV)
ON_REQUEST(on_isend_complete, ISEND_COMPLETE)
ON_REQUEST(on_irecv_request, IRECV_REQUEST)
ON_REQUEST(on_test, REQUEST_TEST)
ON_REQUEST(on_cancelled, REQUEST_CANCELLED)
ON_REQUEST(on_icoll_request, ICOLL_REQUEST)

static OTF2_CallbackCode on_begin(HEAD, OTF2_StringRef name, uint32_t n,
                                  const OTF2_StringRef *arguments)
{
    (void)add(arg, WF_OTF2_PROGRAM_BEGIN, time, position);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_end(HEAD, int64_t status)
{
    (void)add(arg, WF_OTF2_PROGRAM_END, time, position);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_on_off(HEAD, OTF2_MeasurementMode mode)
{
    add(arg, WF_OTF2_ON_OFF, time, position)->region = mode == OTF2_MEASUREMENT_ON ? 1 : 0;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_flush(HEAD, OTF2_TimeStamp stop)
{
    add(arg, WF_OTF2_FLUSH, time, position)->bytes = stop;
    return OTF2_CALLBACK_SUCCESS;
}

static double number_in(OTF2_Type type, OTF2_MetricValue value)
{
    return type == OTF2_TYPE_INT64    ? (double)value.signed_int
           : type == OTF2_TYPE_UINT64 ? (double)value.unsigned_int
           : type == OTF2_TYPE_DOUBLE ? value.floating_point
                                      : 0;
}

/* Values of counters; their times are those of the events that they belong to. */
static OTF2_CallbackCode on_metric(HEAD, OTF2_MetricRef metric, uint8_t n,
                                   const OTF2_Type *types, const OTF2_MetricValue *values)
{
    const struct wf_otf2_metrics *metrics = &((struct wf_otf2_in *)arg)->defs->metrics;
    struct wf_otf2_event *event = add(arg, WF_OTF2_METRIC, time, position);
    const struct wf_otf2_metric_class *class =
        metrics->n_used > 0 ? wf_otf2_metrics_class(metrics, metric) : NULL;
    double ps = 0;

    event->region = WF_OTF2_NONE;
    for (uint32_t i = 0; class != NULL && i < n && i < class->n; i++) {
        const struct wf_otf2_metric *member = wf_otf2_metrics_find(metrics, class->members[i]);
        if (member != NULL && member->is_used) {
            ps += number_in(types[i], values[i]) * member->ps;
            event->region = (uint32_t)(class - metrics->classes);
        }
    }
    event->received = ps > 0 && ps < (double)INT64_MAX ? (uint64_t)llround(ps) : 0;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_coll_begin(HEAD)
{
    (void)add(arg, WF_OTF2_COLL_BEGIN, time, position);
    return OTF2_CALLBACK_SUCCESS;
}

static struct wf_otf2_event *set_collective(struct wf_otf2_event *event, OTF2_CollectiveOp op,
                                            OTF2_CommRef comm, uint32_t root, uint64_t sent)
{
    event->region = op;
    event->comm = comm;
    event->peer = root;
    event->bytes = sent;
    return event;
}

static OTF2_CallbackCode on_coll_end(HEAD, OTF2_CollectiveOp op, OTF2_CommRef comm,
                                     uint32_t root, uint64_t sent, uint64_t received)
{
    struct wf_otf2_event *event = add(arg, WF_OTF2_COLL_END, time, position);

    set_collective(event, op, comm, root, sent)->received = received;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_icoll_complete(HEAD, OTF2_CollectiveOp op, OTF2_CommRef comm,
                                           uint32_t root, uint64_t sent, uint64_t received,
                                           uint64_t request)
{
    struct wf_otf2_event *event = add(arg, WF_OTF2_ICOLL_COMPLETE, time, position);

    set_collective(event, op, comm, root, sent)->received = received;
    event->request = request;
    return OTF2_CALLBACK_SUCCESS;
}

/* NOLINTEND(readability-function-size,misc-unused-parameters) */

static OTF2_EvtReaderCallbacks *make_callbacks(void)
{
    OTF2_EvtReaderCallbacks *c = OTF2_EvtReaderCallbacks_New();

    if (c == NULL) {
        return NULL;
    }
    (void)OTF2_EvtReaderCallbacks_SetEnterCallback(c, on_enter);
    (void)OTF2_EvtReaderCallbacks_SetLeaveCallback(c, on_leave);
    (void)OTF2_EvtReaderCallbacks_SetProgramBeginCallback(c, on_begin);
    (void)OTF2_EvtReaderCallbacks_SetProgramEndCallback(c, on_end);
    (void)OTF2_EvtReaderCallbacks_SetMeasurementOnOffCallback(c, on_on_off);
    (void)OTF2_EvtReaderCallbacks_SetBufferFlushCallback(c, on_flush);
    (void)OTF2_EvtReaderCallbacks_SetMetricCallback(c, on_metric);
    (void)OTF2_EvtReaderCallbacks_SetMpiSendCallback(c, on_send);
    (void)OTF2_EvtReaderCallbacks_SetMpiRecvCallback(c, on_recv);
    (void)OTF2_EvtReaderCallbacks_SetMpiIsendCallback(c, on_isend);
    (void)OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(c, on_irecv);
    (void)OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(c, on_isend_complete);
    (void)OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(c, on_irecv_request);
    (void)OTF2_EvtReaderCallbacks_SetMpiRequestTestCallback(c, on_test);
    (void)OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(c, on_cancelled);
    (void)OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(c, on_coll_begin);
    (void)OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(c, on_coll_end);
    (void)OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(c, on_icoll_request);
    (void)OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(c,
                                                                           on_icoll_complete);
    return c;
}

/* ---- archives ---- */

static const struct wf_otf2_location *location_of(const struct wf_otf2_in *in, uint32_t rank)
{
    return wf_otf2_defs_find_location(in->defs, in->defs->places[rank]);
}

/* Events use the numbers of their location. Its local definitions map them to global ones. */
static void read_local_definitions(struct wf_otf2_in *in, uint32_t rank)
{
    OTF2_DefReader *reader = OTF2_Reader_GetDefReader(in->reader, in->defs->places[rank]);
    uint64_t n = 0;

    if (reader == NULL) {
        return;
    }
    OTF2_ErrorCode code = OTF2_Reader_ReadAllLocalDefinitions(in->reader, reader, &n);
    if (code != OTF2_SUCCESS) {
        failed(in, code,
               "rank %" PRIu32 " (location %" PRIu64 "): its definitions end after %" PRIu64,
               rank, in->defs->places[rank], n);
    }
    (void)OTF2_Reader_CloseDefReader(in->reader, reader);
}

void wf_otf2_in_open_ranks(struct wf_otf2_in *in, uint32_t first, uint32_t end)
{
    if (wf_trace_failed(in->err)) {
        return;
    }
    of_thread = in;
    for (uint32_t rank = first; rank < end; rank++) {
        (void)OTF2_Reader_SelectLocation(in->reader, in->defs->places[rank]);
    }
    if (OTF2_Reader_OpenDefFiles(in->reader) == OTF2_SUCCESS) {
        for (uint32_t rank = first; rank < end && !wf_trace_failed(in->err); rank++) {
            read_local_definitions(in, rank);
        }
        (void)OTF2_Reader_CloseDefFiles(in->reader);
    }
    OTF2_ErrorCode code = OTF2_Reader_OpenEvtFiles(in->reader);
    if (code != OTF2_SUCCESS) {
        failed(in, code, "the events of all ranks cannot be opened");
    }
}

struct wf_otf2_in *wf_otf2_in_open(const char *path, struct wf_otf2_defs *defs,
                                   struct wf_err *err)
{
    struct wf_otf2_in *in = wf_xcalloc(1, sizeof(*in));

    in->path = wf_xstrdup(path);
    in->defs = defs;
    in->err = err;
    if (wf_trace_failed(err)) {
        return in;
    }
    of_thread = in;
    (void)OTF2_Error_RegisterCallback(on_error, NULL);
    in->reader = OTF2_Reader_Open(path);
    if (in->reader == NULL) {
        failed(in, OTF2_SUCCESS, "no OTF2 archive that can be read (anchor file of all ranks)");
        return in;
    }
    (void)OTF2_Reader_SetSerialCollectiveCallbacks(in->reader);
    in->callbacks = make_callbacks();
    if (defs->n_ranks == 0) {
        read_definitions(in, defs);
    }
    return in;
}

static void close_rank(struct wf_otf2_in *in)
{
    if (in->events != NULL) {
        (void)OTF2_Reader_CloseEvtReader(in->reader, in->events);
        in->events = NULL;
    }
}

void wf_otf2_in_close(struct wf_otf2_in *in)
{
    if (in == NULL) {
        return;
    }
    of_thread = in;
    if (in->reader != NULL) {
        close_rank(in);
        (void)OTF2_Reader_CloseEvtFiles(in->reader);
        (void)OTF2_Reader_Close(in->reader);
    }
    if (in->callbacks != NULL) {
        OTF2_EvtReaderCallbacks_Delete(in->callbacks);
    }
    of_thread = NULL;
    free(in->queue);
    free(in->path);
    free(in);
}

static void failed_rank(struct wf_otf2_in *in, OTF2_ErrorCode code)
{
    failed(in, code,
           "rank %" PRIu32 " (location %" PRIu64 "): its events end after event %" PRIu64
           " of %" PRIu64 "; truncated or damaged",
           in->rank, in->defs->places[in->rank], in->n_read,
           location_of(in, in->rank)->n_events);
}

void wf_otf2_in_use(struct wf_otf2_in *in, struct wf_err *err)
{
    in->err = err;
}

void wf_otf2_in_rank(struct wf_otf2_in *in, uint32_t rank)
{
    if (wf_trace_failed(in->err)) {
        return;
    }
    of_thread = in;
    close_rank(in);
    in->rank = rank;
    in->n = 0;
    in->next = 0;
    in->n_read = 0;
    in->words[0] = '\0';
    in->events = OTF2_Reader_GetEvtReader(in->reader, in->defs->places[rank]);
    in->ended = in->events == NULL;
    if (in->events != NULL) {
        (void)OTF2_Reader_RegisterEvtCallbacks(in->reader, in->events, in->callbacks, in);
    } else if (location_of(in, rank)->n_events > 0) { /* without events there is no file */
        failed_rank(in, OTF2_SUCCESS);
    }
}

/* Reads further events from the library. Events that are left keep their order; those that are
 * not make room for the new ones. */
static void read_more(struct wf_otf2_in *in)
{
    uint64_t n = 0, all = location_of(in, in->rank)->n_events;
    size_t left = in->n - in->next;

    if (in->next >= left) {
        if (left > 0) {
            memcpy(in->queue, in->queue + in->next, left * sizeof(*in->queue));
        }
        in->next = 0;
        in->n = left;
    }
    size_t before = in->n;
    of_thread = in;
    OTF2_ErrorCode code = OTF2_Reader_ReadLocalEvents(in->reader, in->events, AT_ONCE, &n);
    in->n_read += n;
    in->ended = n < AT_ONCE;
    /* With more events than the definitions say, the library reads the same ones again. */
    if (code != OTF2_SUCCESS || (in->ended && in->n_read < all) ||
        (in->n_read > all && all > 0)) {
        failed_rank(in, code);
        return;
    }
    /* Adds an event of kind OTHER for each event without a callback. */
    uint64_t last = in->n > before ? in->queue[in->n - 1].time : 0;
    while (in->n - before < n) {
        (void)add(in, WF_OTF2_OTHER, last, in->n_read);
    }
}

bool wf_otf2_in_ahead(struct wf_otf2_in *in, size_t distance, struct wf_otf2_event *event)
{
    while (in->n - in->next <= distance && !in->ended && !wf_trace_failed(in->err)) {
        read_more(in);
    }
    if (wf_trace_failed(in->err) || in->n - in->next <= distance) {
        return false;
    }
    *event = in->queue[in->next + distance];
    return true;
}

bool wf_otf2_in_next(struct wf_otf2_in *in, struct wf_otf2_event *event)
{
    if (!wf_otf2_in_ahead(in, 0, event)) {
        return false;
    }
    in->next++;
    return true;
}
