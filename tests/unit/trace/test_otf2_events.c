/* SPDX-License-Identifier: Apache-2.0 */
/* Events of OTF2 archives: what weft reads is what the OTF2 library reads. */
#include "base/mem.h"
#include "harness/wf_test.h"
#include "otf2_archive.h"
#include "program/trace/otf2/events.h"
#include "program/trace/reader.h"

#include <inttypes.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

enum { LOCATIONS = 3, EVENTS = 60000, REGIONS = 40, MS = 1000 * 1000 };

/* ---- writing ---- */

static uint64_t random_state;

static uint64_t next_random(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return random_state ^ random_state >> 32;
}

static uint64_t below(uint64_t n)
{
    return (next_random() >> 16) % n;
}

/* A number of any length; sometimes none. */
static uint64_t any_8(void)
{
    uint64_t bits = below(66);

    return bits == 65 ? UINT64_MAX : bits == 0 ? 0 : next_random() >> (64 - bits);
}

static uint32_t any_4(void)
{
    uint64_t bits = below(34);

    return bits == 33 ? UINT32_MAX : bits == 0 ? 0 : (uint32_t)(next_random() >> (64 - bits));
}

/* Attributes before an event, in most types that there are; null before most events. */
static OTF2_AttributeList *any_attributes(OTF2_AttributeList *list)
{
    if (below(8) > 0) {
        return NULL;
    }
    (void)OTF2_AttributeList_RemoveAllAttributes(list);
    (void)OTF2_AttributeList_AddUint8(list, 1, (uint8_t)any_4());
    (void)OTF2_AttributeList_AddDouble(list, 2, 1.5);
    (void)OTF2_AttributeList_AddUint64(list, 3, any_8());
    (void)OTF2_AttributeList_AddRegionRef(list, 4, (uint32_t)below(REGIONS));
    for (uint32_t i = 0; i < below(2) * 60; i++) { /* a record that is longer than 255 bytes */
        (void)OTF2_AttributeList_AddUint64(list, 10 + i, any_8());
    }
    return list;
}

static void put_values(OTF2_EvtWriter *w, OTF2_AttributeList *list, uint64_t time)
{
    OTF2_Type types[60];
    OTF2_MetricValue values[60];
    uint8_t n = (uint8_t)below(60);

    for (uint32_t i = 0; i < n; i++) {
        types[i] = below(3) == 0   ? OTF2_TYPE_UINT64
                   : below(2) == 0 ? OTF2_TYPE_INT64
                                   : OTF2_TYPE_DOUBLE;
        values[i].unsigned_int = below(1000);
        if (types[i] == OTF2_TYPE_DOUBLE) {
            values[i].floating_point = (double)below(1000) / 7;
        }
    }
    (void)OTF2_EvtWriter_Metric(w, list, time, (uint32_t)below(4), n, types, values);
}

static void put_program(OTF2_EvtWriter *w, OTF2_AttributeList *list, uint64_t time)
{
    OTF2_StringRef arguments[300];
    uint32_t n = (uint32_t)below(300);

    for (uint32_t i = 0; i < n; i++) {
        arguments[i] = any_4();
    }
    (void)OTF2_EvtWriter_ProgramBegin(w, list, time, any_4(), n, arguments);
}

/* Events that weft does not read. */
static void put_other(OTF2_EvtWriter *w, OTF2_AttributeList *list, uint64_t time)
{
    switch (below(9)) {
    case 0:
        (void)OTF2_EvtWriter_OmpFork(w, list, time, any_4());
        break;
    case 1:
        (void)OTF2_EvtWriter_OmpTaskCreate(w, list, time, any_8());
        break;
    case 2:
        (void)OTF2_EvtWriter_OmpTaskSwitch(w, list, time, any_8());
        break;
    case 3:
        (void)OTF2_EvtWriter_OmpTaskComplete(w, list, time, any_8());
        break;
    case 4:
        (void)OTF2_EvtWriter_OmpAcquireLock(w, list, time, any_4(), any_4());
        break;
    case 5:
        (void)OTF2_EvtWriter_ParameterString(w, list, time, any_4(), any_4());
        break;
    case 6:
        (void)OTF2_EvtWriter_ThreadFork(w, list, time, OTF2_PARADIGM_OPENMP, any_4());
        break;
    case 7:
        (void)OTF2_EvtWriter_IoSeek(w, list, time, any_4(), (int64_t)any_8(),
                                    OTF2_IO_SEEK_FROM_START, any_8());
        break;
    default:
        (void)OTF2_EvtWriter_RmaOpCompleteRemote(w, list, time, any_4(), any_8());
        break;
    }
}

static void put_request(OTF2_EvtWriter *w, OTF2_AttributeList *list, uint64_t time)
{
    switch (below(5)) {
    case 0:
        (void)OTF2_EvtWriter_MpiIsendComplete(w, list, time, any_8());
        break;
    case 1:
        (void)OTF2_EvtWriter_MpiIrecvRequest(w, list, time, any_8());
        break;
    case 2:
        (void)OTF2_EvtWriter_MpiRequestTest(w, list, time, any_8());
        break;
    case 3:
        (void)OTF2_EvtWriter_MpiRequestCancelled(w, list, time, any_8());
        break;
    default:
        (void)OTF2_EvtWriter_NonBlockingCollectiveRequest(w, list, time, any_8());
        break;
    }
}

static void put_transfer(OTF2_EvtWriter *w, OTF2_AttributeList *list, uint64_t time)
{
    switch (below(8)) {
    case 0:
        (void)OTF2_EvtWriter_MpiSend(w, list, time, any_4(), any_4(), any_4(), any_8());
        break;
    case 1:
        (void)OTF2_EvtWriter_MpiRecv(w, list, time, any_4(), (uint32_t)below(5), any_4(),
                                     any_8());
        break;
    case 2:
        (void)OTF2_EvtWriter_MpiIsend(w, list, time, any_4(), (uint32_t)below(5), any_4(),
                                      any_8(), any_8());
        break;
    case 3:
        (void)OTF2_EvtWriter_MpiIrecv(w, list, time, any_4(), (uint32_t)below(5), any_4(),
                                      any_8(), any_8());
        break;
    case 4:
        (void)OTF2_EvtWriter_RmaPut(w, list, time, any_4(), any_4(), any_8(), any_8());
        break;
    case 5:
        (void)OTF2_EvtWriter_RmaGet(w, list, time, any_4(), any_4(), any_8(), any_8());
        break;
    case 6:
        (void)OTF2_EvtWriter_RmaOpCompleteBlocking(w, list, time, any_4(), any_8());
        break;
    default:
        (void)OTF2_EvtWriter_RmaOpCompleteNonBlocking(w, list, time, any_4(), any_8());
        break;
    }
}

static void put_event(OTF2_EvtWriter *w, OTF2_AttributeList *list, uint64_t time)
{
    switch (below(13)) {
    case 0:
    case 1:
        (void)OTF2_EvtWriter_Enter(w, list, time,
                                   below(9) == 0 ? any_4() : (uint32_t)below(REGIONS));
        break;
    case 2:
        (void)OTF2_EvtWriter_Leave(w, list, time, (uint32_t)below(REGIONS));
        break;
    case 3:
        put_values(w, list, time);
        break;
    case 4:
        put_program(w, list, time);
        break;
    case 5:
        put_other(w, list, time);
        break;
    case 6:
        put_request(w, list, time);
        break;
    case 7:
        (void)OTF2_EvtWriter_BufferFlush(w, list, time, time + below(3 * MS));
        break;
    case 8:
        (void)OTF2_EvtWriter_MeasurementOnOff(
            w, list, time, below(2) == 0 ? OTF2_MEASUREMENT_ON : OTF2_MEASUREMENT_OFF);
        break;
    case 9:
        (void)OTF2_EvtWriter_MpiCollectiveBegin(w, list, time);
        (void)OTF2_EvtWriter_ProgramEnd(w, list, time, (int64_t)any_8());
        break;
    case 10:
        (void)OTF2_EvtWriter_MpiCollectiveEnd(w, list, time, (OTF2_CollectiveOp)below(23),
                                              (uint32_t)below(5), any_4(), any_8(), any_8());
        break;
    case 11:
        (void)OTF2_EvtWriter_NonBlockingCollectiveComplete(
            w, list, time, (OTF2_CollectiveOp)below(23), (uint32_t)below(5), any_4(), any_8(),
            any_8(), any_8());
        break;
    default:
        put_transfer(w, list, time);
        break;
    }
}

static uint64_t put_events(struct otf2_archive *a, uint32_t location)
{
    OTF2_EvtWriter *w = OTF2_Archive_GetEvtWriter(a->archive, location);
    OTF2_AttributeList *list = OTF2_AttributeList_New();
    uint64_t time = 5 * MS;

    for (uint32_t i = 0; i < EVENTS; i++) {
        time += below(2) * below(1000);
        put_event(w, any_attributes(list), time);
    }
    OTF2_AttributeList_Delete(list);
    return otf2_archive_end_events(a, w);
}

/* Location 0: mappings of both kinds, and clocks measured four times. Location 1: measured
 * once. Location 2 has no definitions of its own. */
static void put_local_definitions(struct otf2_archive *a)
{
    uint64_t regions[REGIONS], metrics[] = {3, 2, 1, 0};

    for (uint32_t i = 0; i < REGIONS; i++) {
        regions[i] = (i * 7 + 3) % REGIONS + 100;
    }
    (void)OTF2_Archive_OpenDefFiles(a->archive);
    OTF2_DefWriter *w = OTF2_Archive_GetDefWriter(a->archive, 0);
    OTF2_IdMap *map = OTF2_IdMap_CreateFromUint64Array(REGIONS, regions, false);
    (void)OTF2_DefWriter_WriteString(w, 0, "passed over");
    (void)OTF2_DefWriter_WriteMappingTable(w, OTF2_MAPPING_REGION, map);
    (void)OTF2_DefWriter_WriteMappingTable(w, OTF2_MAPPING_STRING, map);
    OTF2_IdMap_Free(map);
    map = OTF2_IdMap_CreateFromUint64Array(4, metrics, false);
    (void)OTF2_DefWriter_WriteMappingTable(w, OTF2_MAPPING_METRIC, map);
    OTF2_IdMap_Free(map);
    map = OTF2_IdMap_Create(OTF2_ID_MAP_SPARSE, 2);
    (void)OTF2_IdMap_AddIdPair(map, 3, 70000);
    (void)OTF2_IdMap_AddIdPair(map, 1, 4);
    (void)OTF2_DefWriter_WriteMappingTable(w, OTF2_MAPPING_COMM, map);
    OTF2_IdMap_Free(map);
    (void)OTF2_DefWriter_WriteClockOffset(w, 6 * MS, 1234567, 0);
    (void)OTF2_DefWriter_WriteClockOffset(w, 8 * MS, -345, 0);
    (void)OTF2_DefWriter_WriteClockOffset(w, 9 * MS, 100000, 0);
    (void)OTF2_DefWriter_WriteClockOffset(w, 15 * MS, 99999, 0);
    (void)OTF2_Archive_CloseDefWriter(a->archive, w);
    w = OTF2_Archive_GetDefWriter(a->archive, 1);
    (void)OTF2_DefWriter_WriteClockOffset(w, 6 * MS, 12345, 0);
    (void)OTF2_Archive_CloseDefWriter(a->archive, w);
    (void)OTF2_Archive_CloseDefFiles(a->archive);
}

static void put_metrics(OTF2_GlobalDefWriter *w)
{
    for (uint32_t i = 0; i < 50; i++) {
        (void)OTF2_GlobalDefWriter_WriteMetricMember(
            w, i, 1, 0, OTF2_METRIC_TYPE_OTHER,
            i % 2 == 0 ? OTF2_METRIC_ACCUMULATED_START : OTF2_METRIC_ABSOLUTE_POINT,
            OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, -6, 2);
    }
    for (uint32_t i = 0; i < 4; i++) {
        OTF2_MetricMemberRef members[50];
        for (uint32_t k = 0; k < 50; k++) {
            members[k] = (k * (i + 1)) % 50;
        }
        (void)OTF2_GlobalDefWriter_WriteMetricClass(w, i, (uint8_t)(50 - i), members,
                                                    OTF2_METRIC_SYNCHRONOUS_STRICT,
                                                    OTF2_RECORDER_KIND_CPU);
    }
}

static void put_definitions(struct otf2_archive *a, const uint64_t *n_events)
{
    static const char *const strings[] = {"", "ru_utime", "s"};
    OTF2_GlobalDefWriter *w = OTF2_Archive_GetGlobalDefWriter(a->archive);

    (void)OTF2_GlobalDefWriter_WriteClockProperties(w, 1000 * MS, 0, 1000 * MS,
                                                    OTF2_UNDEFINED_TIMESTAMP);
    for (uint32_t i = 0; i < 3; i++) {
        (void)OTF2_GlobalDefWriter_WriteString(w, i, strings[i]);
    }
    (void)OTF2_GlobalDefWriter_WriteSystemTreeNode(w, 0, 0, 0, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    for (uint32_t i = 0; i < LOCATIONS; i++) {
        (void)OTF2_GlobalDefWriter_WriteLocationGroup(w, i, 0, OTF2_LOCATION_GROUP_TYPE_PROCESS,
                                                      0, OTF2_UNDEFINED_LOCATION_GROUP);
        (void)OTF2_GlobalDefWriter_WriteLocation(w, i, 0, OTF2_LOCATION_TYPE_CPU_THREAD,
                                                 n_events[i], i);
    }
    put_metrics(w);
    (void)OTF2_Archive_CloseGlobalDefWriter(a->archive, w);
}

static bool write_archive(struct otf2_archive *a)
{
    uint64_t n_events[LOCATIONS];

    random_state = 1;
    for (uint32_t i = 0; i < LOCATIONS; i++) {
        n_events[i] = put_events(a, i);
    }
    (void)OTF2_Archive_CloseEvtFiles(a->archive);
    put_local_definitions(a);
    put_definitions(a, n_events);
    return OTF2_Archive_Close(a->archive) == OTF2_SUCCESS;
}

/* ---- reading with weft, event by event of the library ---- */

struct reading {
    struct wf_otf2_events events;
    uint64_t n, n_others;
    uint32_t n_of_kind[WF_OTF2_KINDS];
    const struct wf_otf2_defs *defs;
};

/* Compares the next event that weft reads with the event of the library. */
static void expect(struct reading *r, const struct wf_otf2_event *wanted)
{
    struct wf_otf2_event found = {.kind = WF_OTF2_KINDS};

    while (wf_otf2_events_next(&r->events, &found) && found.kind == WF_OTF2_OTHER) {
        r->n_others++;
    }
    r->n++;
    r->n_of_kind[wanted->kind]++;
    bool same = found.kind == wanted->kind && found.time == wanted->time &&
                found.number == wanted->number && found.region == wanted->region &&
                found.comm == wanted->comm && found.peer == wanted->peer &&
                found.tag == wanted->tag && found.bytes == wanted->bytes &&
                found.received == wanted->received && found.request == wanted->request;
    if (!same) {
        printf("# event %" PRIu64 ", time %" PRIu64
               ", kind %d region %u comm %u: found %" PRIu64 ", %" PRIu64 ", %d %u %u\n",
               wanted->number, wanted->time, (int)wanted->kind, wanted->region, wanted->comm,
               found.number, found.time, (int)found.kind, found.region, found.comm);
    }
    CHECK(same);
}

#define HEAD                                                                      \
    OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *arg, \
        OTF2_AttributeList *attributes

#define ON(name, kind_, parameters, ...)                                             \
    static OTF2_CallbackCode name parameters                                         \
    {                                                                                \
        const struct wf_otf2_event event = {                                         \
            .kind = WF_OTF2_##kind_, .time = time, .number = position, __VA_ARGS__}; \
        expect(arg, &event);                                                         \
        return OTF2_CALLBACK_SUCCESS;                                                \
    }

/* The library wants functions with so many parameters. */
/* NOLINTBEGIN(readability-function-size) */
/* clang-format off */
ON(on_enter, ENTER, (HEAD, uint32_t region), .region = region)
ON(on_leave, LEAVE, (HEAD, uint32_t region), .region = region)
ON(on_begin, PROGRAM_BEGIN, (HEAD, uint32_t name, uint32_t n, const uint32_t *a), .tag = 0)
ON(on_end, PROGRAM_END, (HEAD, int64_t status), .tag = 0)
ON(on_off, ON_OFF, (HEAD, OTF2_MeasurementMode mode), .region = mode == OTF2_MEASUREMENT_ON)
ON(on_flush, FLUSH, (HEAD, uint64_t stop), .bytes = stop)
ON(on_send, SEND, (HEAD, uint32_t peer, uint32_t comm, uint32_t tag, uint64_t bytes),
   .peer = peer, .comm = comm, .tag = tag, .bytes = bytes)
ON(on_recv, RECV, (HEAD, uint32_t peer, uint32_t comm, uint32_t tag, uint64_t bytes),
   .peer = peer, .comm = comm, .tag = tag, .bytes = bytes)
ON(on_isend, ISEND, (HEAD, uint32_t peer, uint32_t comm, uint32_t tag, uint64_t bytes, uint64_t r),
   .peer = peer, .comm = comm, .tag = tag, .bytes = bytes, .request = r)
ON(on_irecv, IRECV, (HEAD, uint32_t peer, uint32_t comm, uint32_t tag, uint64_t bytes, uint64_t r),
   .peer = peer, .comm = comm, .tag = tag, .bytes = bytes, .request = r)
ON(on_isend_complete, ISEND_COMPLETE, (HEAD, uint64_t r), .request = r)
ON(on_irecv_request, IRECV_REQUEST, (HEAD, uint64_t r), .request = r)
ON(on_test, REQUEST_TEST, (HEAD, uint64_t r), .request = r)
ON(on_cancelled, REQUEST_CANCELLED, (HEAD, uint64_t r), .request = r)
ON(on_icoll_request, ICOLL_REQUEST, (HEAD, uint64_t r), .request = r)
ON(on_coll_begin, COLL_BEGIN, (HEAD), .tag = 0)
ON(on_coll_end, COLL_END,
   (HEAD, OTF2_CollectiveOp op, uint32_t comm, uint32_t root, uint64_t sent, uint64_t got),
   .region = op, .comm = comm, .peer = root, .bytes = sent, .received = got)
ON(on_icoll_complete, ICOLL_COMPLETE,
   (HEAD, OTF2_CollectiveOp op, uint32_t comm, uint32_t root, uint64_t sent, uint64_t got,
    uint64_t r),
   .region = op, .comm = comm, .peer = root, .bytes = sent, .received = got, .request = r)
ON(on_put, RMA_PUT, (HEAD, uint32_t win, uint32_t peer, uint64_t bytes, uint64_t r),
   .peer = peer, .bytes = bytes, .request = r)
ON(on_get, RMA_GET, (HEAD, uint32_t win, uint32_t peer, uint64_t bytes, uint64_t r),
   .peer = peer, .bytes = bytes, .request = r)
ON(on_complete, RMA_COMPLETE, (HEAD, uint32_t win, uint64_t r), .request = r)
ON(on_complete_late, RMA_COMPLETE, (HEAD, uint32_t win, uint64_t r), .request = r)
/* clang-format on */

static OTF2_CallbackCode on_metric(HEAD, OTF2_MetricRef metric, uint8_t n,
                                   const OTF2_Type *types, const OTF2_MetricValue *values)
{
    const struct wf_otf2_metrics *metrics = &((struct reading *)arg)->defs->metrics;
    const struct wf_otf2_metric_class *class = wf_otf2_metrics_class(metrics, metric);
    struct wf_otf2_event event = {
        .kind = WF_OTF2_METRIC, .time = time, .number = position, .region = WF_OTF2_NONE};
    double us = 0;

    for (uint32_t i = 0; i < n && i < class->n; i++) {
        if (class->members[i] % 2 == 0) { /* it grows */
            us += types[i] == OTF2_TYPE_DOUBLE ? values[i].floating_point
                                               : (double)values[i].unsigned_int;
            event.region = (uint32_t)(class - metrics->classes);
        }
    }
    event.received = (uint64_t)(us * 1e6 + 0.5);
    /* The sum may be rounded in another way. */
    const struct wf_otf2_event *found =
        wf_otf2_events_ahead(&((struct reading *)arg)->events, 0);
    for (size_t i = 0; found != NULL && found->kind == WF_OTF2_OTHER;) {
        found = wf_otf2_events_ahead(&((struct reading *)arg)->events, ++i);
    }
    if (found != NULL && found->received + 1 >= event.received &&
        found->received <= event.received + 1) {
        event.received = found->received;
    }
    expect(arg, &event);
    return OTF2_CALLBACK_SUCCESS;
}
/* NOLINTEND(readability-function-size) */

static OTF2_EvtReaderCallbacks *make_callbacks(void)
{
    OTF2_EvtReaderCallbacks *c = OTF2_EvtReaderCallbacks_New();

    (void)OTF2_EvtReaderCallbacks_SetEnterCallback(c, on_enter);
    (void)OTF2_EvtReaderCallbacks_SetLeaveCallback(c, on_leave);
    (void)OTF2_EvtReaderCallbacks_SetProgramBeginCallback(c, on_begin);
    (void)OTF2_EvtReaderCallbacks_SetProgramEndCallback(c, on_end);
    (void)OTF2_EvtReaderCallbacks_SetMeasurementOnOffCallback(c, on_off);
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
    (void)OTF2_EvtReaderCallbacks_SetRmaPutCallback(c, on_put);
    (void)OTF2_EvtReaderCallbacks_SetRmaGetCallback(c, on_get);
    (void)OTF2_EvtReaderCallbacks_SetRmaOpCompleteBlockingCallback(c, on_complete);
    (void)OTF2_EvtReaderCallbacks_SetRmaOpCompleteNonBlockingCallback(c, on_complete_late);
    return c;
}

static void compare_location(OTF2_Reader *reader, OTF2_EvtReaderCallbacks *callbacks,
                             struct reading *r, uint32_t location)
{
    OTF2_EvtReader *events = OTF2_Reader_GetEvtReader(reader, location);
    struct wf_err err = {.status = WF_OK};
    struct wf_otf2_event last;
    uint64_t n = 0;

    r->n = 0;
    r->n_others = 0;
    wf_otf2_events_open(&r->events, location, location, &err);
    (void)OTF2_Reader_RegisterEvtCallbacks(reader, events, callbacks, r);
    CHECK(OTF2_Reader_ReadLocalEvents(reader, events, UINT64_MAX, &n) == OTF2_SUCCESS);
    while (wf_otf2_events_next(&r->events, &last)) {
        CHECK(last.kind == WF_OTF2_OTHER);
        r->n_others++;
    }
    CHECK_STR(err.text, "");
    CHECK_U64(r->n + r->n_others, n);
    (void)OTF2_Reader_CloseEvtReader(reader, events);
}

/* Reads all locations with the library and with weft. */
static void compare(const char *directory, uint32_t n, uint32_t *n_of_kind)
{
    char path[300];
    struct wf_otf2_layout layout;
    struct wf_otf2_defs defs = {.resolution = 0};
    struct wf_err err = {.status = WF_OK};

    (void)snprintf(path, sizeof(path), "%s/traces.otf2", directory);
    wf_otf2_anchor_read(path, &layout, &err);
    wf_otf2_defs_read(path, &layout, &defs, &err);
    if (defs.metrics.n_metrics > 0) {
        wf_otf2_metrics_use(&defs, "ru_utime", path, &err);
    }
    CHECK_STR(err.text, "");
    struct reading r = {.events = {.path = path, .layout = &layout, .defs = &defs},
                        .defs = &defs};
    OTF2_Reader *reader = OTF2_Reader_Open(path);
    OTF2_EvtReaderCallbacks *callbacks = make_callbacks();
    (void)OTF2_Reader_SetSerialCollectiveCallbacks(reader);
    for (uint32_t i = 0; i < n; i++) {
        (void)OTF2_Reader_SelectLocation(reader, i);
    }
    (void)OTF2_Reader_OpenDefFiles(reader);
    for (uint32_t i = 0; i < n; i++) {
        OTF2_DefReader *local = OTF2_Reader_GetDefReader(reader, i);
        uint64_t unused = 0;
        if (local != NULL) {
            CHECK(OTF2_Reader_ReadAllLocalDefinitions(reader, local, &unused) == OTF2_SUCCESS);
            (void)OTF2_Reader_CloseDefReader(reader, local);
        }
    }
    (void)OTF2_Reader_CloseDefFiles(reader);
    (void)OTF2_Reader_OpenEvtFiles(reader);
    for (uint32_t i = 0; i < n; i++) {
        compare_location(reader, callbacks, &r, i);
    }
    (void)OTF2_Reader_CloseEvtFiles(reader);
    (void)OTF2_Reader_Close(reader);
    OTF2_EvtReaderCallbacks_Delete(callbacks);
    memcpy(n_of_kind, r.n_of_kind, sizeof(r.n_of_kind));
    wf_otf2_events_close(&r.events);
    wf_otf2_defs_fini(&defs);
}

static void events_are_those_of_the_library(void)
{
    struct otf2_archive a = otf2_archive_open();
    uint32_t n_of_kind[WF_OTF2_KINDS] = {0};

    CHECK(write_archive(&a));
    compare(a.directory, LOCATIONS, n_of_kind);
    for (uint32_t kind = 0; kind < WF_OTF2_OTHER; kind++) {
        CHECK(n_of_kind[kind] > 0);
    }
    /* What they say is nonsense, and can be read: requests that are no op, too. */
    struct wf_trace trace = {.source = NULL};
    struct wf_err err = {.text = ""};
    CHECK(wf_trace_open(a.directory, &trace, &err) == WF_OK);
    CHECK_STR(err.text, "");
    wf_trace_close(&trace);
    otf2_archive_remove(&a);
}

/* ---- the other byte order, which the library reads but does not write ---- */

struct bytes {
    unsigned char at[4096];
    size_t n;
};

static void put_byte(struct bytes *b, uint64_t value)
{
    b->at[b->n++] = (unsigned char)value;
}

static void put_big(struct bytes *b, uint64_t value, unsigned n)
{
    while (n-- > 0) {
        put_byte(b, value >> (8 * n));
    }
}

static void put_number(struct bytes *b, uint64_t value)
{
    unsigned n = 0;

    while (n < 8 && value >> (8 * n) != 0) {
        n++;
    }
    put_byte(b, n);
    put_big(b, value, n);
}

static void put_header(struct bytes *b, uint64_t n)
{
    put_byte(b, 3);
    put_byte(b, '#');
    put_big(b, 1, 8);
    put_big(b, n, 8);
}

static void replace(const char *directory, const char *name, const struct bytes *b)
{
    char path[300];

    (void)snprintf(path, sizeof(path), "%s/traces/%s", directory, name);
    FILE *out = fopen(path, "wb");
    CHECK(out != NULL && fwrite(b->at, 1, b->n, out) == b->n && fclose(out) == 0);
}

/* An enter, a long record of a type that nobody knows, a send that has a field more than it
 * should, a flush and a leave. */
static void put_big_events(struct bytes *b)
{
    put_header(b, 5);
    put_byte(b, 5);
    put_big(b, 0x123456789a, 8);
    put_byte(b, 12);
    put_number(b, 0x102);
    put_byte(b, 200);
    put_byte(b, 0xff);
    put_big(b, 300, 8);
    put_big(b, 0, 8);
    b->n += 292;
    put_byte(b, 14);
    put_byte(b, 4 + 2 + 3 + 5 + 2);
    put_number(b, 0x010203);
    put_number(b, 1);
    put_number(b, 0x1122);
    put_number(b, 0xaabbccdd);
    put_number(b, 9);
    put_byte(b, 10);
    put_byte(b, 8);
    put_big(b, 0x123456789b, 8);
    put_byte(b, 5);
    put_big(b, 0x12345678ff, 8);
    put_byte(b, 13);
    put_byte(b, 0xff);
    put_byte(b, 2);
}

static void put_big_definitions(struct bytes *b)
{
    put_header(b, 3);
    put_byte(b, 5); /* numbers of regions */
    put_byte(b, 1 + 2 + 1 + 3 + 4);
    put_byte(b, 3);
    put_number(b, 1);
    put_byte(b, 1);
    put_number(b, 0x102);
    put_number(b, 0x030405);
    for (uint32_t i = 0; i < 2; i++) { /* two offsets of the clock */
        put_byte(b, 6);
        put_byte(b, 8 + 3 + 8);
        put_big(b, 0x1234567800 + i * 0x1000, 8);
        put_number(b, 0x0999 + i * 0x1111);
        put_big(b, 0, 8);
    }
    put_byte(b, 2);
}

static void big_endian_files_are_read(void)
{
    struct otf2_archive a = otf2_archive_open();
    uint64_t n_events[LOCATIONS] = {5, 0, 0};
    struct bytes events = {.n = 0}, definitions = {.n = 0};
    uint32_t n_of_kind[WF_OTF2_KINDS] = {0};

    OTF2_EvtWriter *w = OTF2_Archive_GetEvtWriter(a.archive, 0);
    (void)OTF2_EvtWriter_Enter(w, NULL, 1, 1);
    (void)otf2_archive_end_events(&a, w);
    (void)OTF2_Archive_CloseEvtFiles(a.archive);
    put_definitions(&a, n_events);
    CHECK(OTF2_Archive_Close(a.archive) == OTF2_SUCCESS);
    put_big_events(&events);
    put_big_definitions(&definitions);
    replace(a.directory, "0.evt", &events);
    replace(a.directory, "0.def", &definitions);
    compare(a.directory, 1, n_of_kind);
    CHECK_U64(n_of_kind[WF_OTF2_ENTER], 1);
    CHECK_U64(n_of_kind[WF_OTF2_SEND], 1);
    CHECK_U64(n_of_kind[WF_OTF2_FLUSH], 1);
    CHECK_U64(n_of_kind[WF_OTF2_LEAVE], 1);
    otf2_archive_remove(&a);
}

int main(void)
{
    RUN(events_are_those_of_the_library);
    RUN(big_endian_files_are_read);
    return wf_test_done();
}
