/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of time in OTF2 archives, which the OTF2 library writes here. */
#include "base/mem.h"
#include "base/temp.h"
#include "harness/wf_test.h"
#include "program/trace/reader.h"

#include <otf2/otf2.h>

enum { RANKS = 3, US = 1000 }; /* US: ticks in a microsecond */
enum { EMPTY, MAIN, BARRIER, OTHER_CALL, UTIME, STIME, COUNT, NOW, S, MS, PIECES, STRINGS };
enum { USER_CLASS, SYSTEM_CLASS };
enum { METRIC_UTIME, METRIC_STIME, METRIC_COUNT, METRIC_NOW };

static const char *const strings[STRINGS] = {
    [EMPTY] = "",
    [MAIN] = "main",
    [BARRIER] = "MPI_Barrier",
    [OTHER_CALL] = "MPI_Foo",
    [UTIME] = "ru_utime",
    [STIME] = "ru_stime",
    [COUNT] = "ins",
    [NOW] = "now",
    [S] = "s",
    [MS] = "ms",
    [PIECES] = "#",
};

static char *directory;

#pragma GCC diagnostic ignored "-Wunused-parameter"
static OTF2_FlushType before_flush(void *arg, OTF2_FileType type, OTF2_LocationRef location,
                                   void *caller, bool final)
{
    return OTF2_FLUSH;
}

/* The user time is a count of microseconds, the system time a number of seconds. */
static void put_user(OTF2_EvtWriter *events, uint64_t time, uint64_t us)
{
    const OTF2_Type types[] = {OTF2_TYPE_UINT64, OTF2_TYPE_UINT64};
    const OTF2_MetricValue values[] = {{.unsigned_int = us}, {.unsigned_int = us * 99}};

    (void)OTF2_EvtWriter_Metric(events, NULL, time, USER_CLASS, 2, types, values);
}

static void put_system(OTF2_EvtWriter *events, uint64_t time, double us)
{
    const OTF2_Type types[] = {OTF2_TYPE_INT64, OTF2_TYPE_DOUBLE};
    const OTF2_MetricValue values[] = {{.signed_int = 77}, {.floating_point = us * 1e-6}};

    (void)OTF2_EvtWriter_Metric(events, NULL, time, SYSTEM_CLASS, 2, types, values);
}

/* Computes 10 us by the clock, 4 + r in user mode and 1 in the system; waits 19 us in a barrier,
 * computing for 6; 8 us in a call without messages, computing for 2; computes 20 us, 1 in user
 * mode. */
static uint64_t put_events(OTF2_Archive *archive, uint32_t rank, bool with_metrics)
{
    OTF2_EvtWriter *events = OTF2_Archive_GetEvtWriter(archive, rank);
    uint64_t n = 0, times[] = {1, 11, 30, 38, 58};
    uint64_t user[] = {50, 54 + rank, 60 + rank, 62 + rank, 63 + rank};

    for (uint32_t i = 0; i < 5; i++) {
        times[i] *= US;
        if (with_metrics) {
            put_user(events, times[i], user[i]);
            put_system(events, times[i], i == 0 ? 5 : 6);
        }
        if (i == 0) {
            (void)OTF2_EvtWriter_Enter(events, NULL, times[i], 0);
        } else if (i == 1) {
            (void)OTF2_EvtWriter_Enter(events, NULL, times[i], 1);
            (void)OTF2_EvtWriter_MpiCollectiveBegin(events, NULL, times[i]);
            (void)OTF2_EvtWriter_MpiCollectiveEnd(events, NULL, times[i],
                                                  OTF2_COLLECTIVE_OP_BARRIER, 0,
                                                  OTF2_UNDEFINED_UINT32, 0, 0);
        } else if (i == 2) {
            (void)OTF2_EvtWriter_Leave(events, NULL, times[i], 1);
            (void)OTF2_EvtWriter_Enter(events, NULL, times[i], 2);
        } else {
            (void)OTF2_EvtWriter_Leave(events, NULL, times[i], i == 3 ? 2 : 0);
        }
    }
    (void)OTF2_EvtWriter_GetNumberOfEvents(events, &n);
    (void)OTF2_Archive_CloseEvtWriter(archive, events);
    return n;
}

static void put_metrics(OTF2_GlobalDefWriter *defs)
{
    static const OTF2_MetricMemberRef user[] = {METRIC_UTIME, METRIC_COUNT};
    static const OTF2_MetricMemberRef system[] = {METRIC_NOW, METRIC_STIME};
    static const struct {
        OTF2_StringRef name, unit;
        OTF2_MetricMode mode;
        OTF2_Type type;
        int64_t exponent;
    } rows[] = {
        [METRIC_UTIME] = {UTIME, S, OTF2_METRIC_ACCUMULATED_START, OTF2_TYPE_UINT64, -6},
        [METRIC_STIME] = {STIME, MS, OTF2_METRIC_ACCUMULATED_START, OTF2_TYPE_DOUBLE, 3},
        [METRIC_COUNT] = {COUNT, PIECES, OTF2_METRIC_ACCUMULATED_START, OTF2_TYPE_UINT64, 0},
        [METRIC_NOW] = {NOW, S, OTF2_METRIC_ABSOLUTE_POINT, OTF2_TYPE_INT64, 0},
    };

    for (uint32_t i = 0; i < 4; i++) {
        (void)OTF2_GlobalDefWriter_WriteMetricMember(
            defs, i, rows[i].name, EMPTY, OTF2_METRIC_TYPE_OTHER, rows[i].mode, rows[i].type,
            OTF2_BASE_DECIMAL, rows[i].exponent, rows[i].unit);
    }
    (void)OTF2_GlobalDefWriter_WriteMetricClass(
        defs, USER_CLASS, 2, user, OTF2_METRIC_SYNCHRONOUS_STRICT, OTF2_RECORDER_KIND_CPU);
    (void)OTF2_GlobalDefWriter_WriteMetricClass(
        defs, SYSTEM_CLASS, 2, system, OTF2_METRIC_SYNCHRONOUS_STRICT, OTF2_RECORDER_KIND_CPU);
}

static void put_definitions(OTF2_GlobalDefWriter *defs, const uint64_t *n_events)
{
    static const uint64_t all[RANKS] = {0, 1, 2};

    (void)OTF2_GlobalDefWriter_WriteClockProperties(defs, 1000 * 1000 * US, 0, 100 * US,
                                                    OTF2_UNDEFINED_TIMESTAMP);
    for (uint32_t i = 0; i < STRINGS; i++) {
        (void)OTF2_GlobalDefWriter_WriteString(defs, i, strings[i]);
    }
    for (uint32_t i = 0; i < 3; i++) {
        (void)OTF2_GlobalDefWriter_WriteRegion(
            defs, i, MAIN + i, MAIN + i, EMPTY, OTF2_REGION_ROLE_FUNCTION,
            i > 0 ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE, EMPTY, 0, 0);
    }
    (void)OTF2_GlobalDefWriter_WriteSystemTreeNode(defs, 0, EMPTY, EMPTY,
                                                   OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    for (uint32_t i = 0; i < RANKS; i++) {
        (void)OTF2_GlobalDefWriter_WriteLocationGroup(
            defs, i, EMPTY, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0, OTF2_UNDEFINED_LOCATION_GROUP);
        (void)OTF2_GlobalDefWriter_WriteLocation(defs, i, EMPTY, OTF2_LOCATION_TYPE_CPU_THREAD,
                                                 n_events[i], i);
    }
    (void)OTF2_GlobalDefWriter_WriteLocation(defs, RANKS, EMPTY, OTF2_LOCATION_TYPE_METRIC,
                                             72584, 0);
    (void)OTF2_GlobalDefWriter_WriteGroup(defs, 0, EMPTY, OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                          OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, RANKS, all);
    (void)OTF2_GlobalDefWriter_WriteGroup(defs, 1, EMPTY, OTF2_GROUP_TYPE_COMM_GROUP,
                                          OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, RANKS, all);
    (void)OTF2_GlobalDefWriter_WriteComm(defs, 0, EMPTY, 1, OTF2_UNDEFINED_COMM,
                                         OTF2_COMM_FLAG_NONE);
    put_metrics(defs);
}

/* Writes an archive in which the ranks before `n_with` have values of metrics. */
static bool write_archive(uint32_t n_with)
{
    static const OTF2_FlushCallbacks flush = {.otf2_pre_flush = before_flush};
    uint64_t n_events[RANKS];

    directory = wf_temp_directory();
    OTF2_Archive *archive = OTF2_Archive_Open(
        directory, "traces", OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_EVENTS_DEFAULT,
        OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (archive == NULL) {
        return false;
    }
    (void)OTF2_Archive_SetFlushCallbacks(archive, &flush, NULL);
    (void)OTF2_Archive_SetSerialCollectiveCallbacks(archive);
    (void)OTF2_Archive_OpenEvtFiles(archive);
    for (uint32_t i = 0; i < RANKS; i++) {
        n_events[i] = put_events(archive, i, i < n_with);
    }
    (void)OTF2_Archive_CloseEvtFiles(archive);
    OTF2_GlobalDefWriter *defs = OTF2_Archive_GetGlobalDefWriter(archive);
    put_definitions(defs, n_events);
    (void)OTF2_Archive_CloseGlobalDefWriter(archive, defs);
    return OTF2_Archive_Close(archive) == OTF2_SUCCESS;
}

static void remove_archive(void)
{
    wf_temp_remove(directory);
    free(directory);
}

static enum wf_status open_archive(const char *metrics, struct wf_trace *trace,
                                   struct wf_err *err)
{
    const struct wf_reader_ops *reader = NULL;
    struct wf_reader_probe probe;

    WF_TRY(wf_reader_find(directory, &probe, &reader, err));
    void *params = wf_xcalloc(1, reader->params_size);
    enum wf_status status = wf_param_defaults(reader->params, params, err);
    if (status == WF_OK) {
        status = wf_param_set(reader->params, params, "trace.", "metrics", metrics, err);
    }
    if (status == WF_OK) {
        status = wf_reader_open(reader, &probe, params, trace, err);
    }
    wf_param_release(reader->params, params);
    free(params);
    wf_reader_probe_fini(&probe);
    return status;
}

/* The computing of a rank, in microseconds: before the barrier, in the other call, and after. */
static void check_computing(const char *metrics, uint32_t rank, uint32_t before, uint32_t in,
                            uint32_t after)
{
    static const enum wf_op_kind kinds[] = {WF_OP_REGION_BEGIN, WF_OP_COMPUTE, WF_OP_BARRIER,
                                            WF_OP_COMPUTE,      WF_OP_CALL,    WF_OP_COMPUTE,
                                            WF_OP_REGION_END};
    const uint32_t wanted[] = {0, before, 0, in, 0, after, 0};
    struct wf_trace trace = {.source = NULL};
    struct wf_cursor cursor;
    struct wf_op op;
    struct wf_err err = {.text = ""};

    if (open_archive(metrics, &trace, &err) != WF_OK) {
        printf("# %s\n", err.text);
    }
    CHECK_STR(err.text, "");
    memset(&cursor, 0, sizeof(cursor));
    for (uint32_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        CHECK(wf_source_next(trace.source, rank, &cursor, &op));
        CHECK_U64(op.kind, kinds[i]);
        CHECK(op.kind != WF_OP_COMPUTE || op.duration == (int64_t)wanted[i] * 1000 * 1000);
    }
    CHECK(!wf_source_next(trace.source, rank, &cursor, &op));
    bool is_used = metrics[0] != '\0';
    CHECK_U64(trace.n_notes, is_used ? 1 : 3);
    CHECK(strstr(trace.notes[is_used ? 0 : 1], "72584 values of metrics in locations") != NULL);
    CHECK(is_used || strstr(trace.notes[0], "30 values of metrics of ranks") != NULL);
    CHECK(is_used || strstr(trace.notes[2], "ru_utime, ru_stime") != NULL);
    wf_trace_close(&trace);
}

static void metrics_are_computing(void)
{
    CHECK(write_archive(RANKS));
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        check_computing("", rank, 10, 8, 20);
        check_computing("ru_utime", rank, 4 + rank, 2, 1);
        check_computing("ru_utime+ru_stime", rank, 5 + rank, 2, 1);
        check_computing("ru_stime+ru_utime+ru_utime", rank, 5 + rank, 2, 1);
    }
    remove_archive();
}

static void refused(const char *metrics, const char *text)
{
    struct wf_trace trace;
    struct wf_err err = {.text = ""};

    CHECK(open_archive(metrics, &trace, &err) == WF_EINVAL);
    if (strstr(err.text, text) == NULL) {
        printf("# found: %s\n", err.text);
    }
    CHECK(strstr(err.text, text) != NULL);
}

static void other_metrics_are_refused(void)
{
    CHECK(write_archive(RANKS));
    refused("utime", "is called 'utime' and counts time from the beginning; such are ru_utime, "
                     "ru_stime");
    refused("ru_utime+ins", "is called 'ins'");
    refused("now", "is called 'now'");
    remove_archive();
}

static void every_rank_must_have_values(void)
{
    CHECK(write_archive(RANKS - 1));
    refused("ru_utime", "rank 2: the metrics of trace.metrics have no value in this rank");
    remove_archive();
}

int main(void)
{
    RUN(metrics_are_computing);
    RUN(other_metrics_are_refused);
    RUN(every_rank_must_have_values);
    return wf_test_done();
}
