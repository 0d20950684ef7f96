/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels and copies of accelerators in OTF2 archives, which the OTF2 library writes here. */
#include "base/mem.h"
#include "harness/wf_test.h"
#include "otf2_archive.h"
#include "program/trace/reader.h"

enum { RANKS = 3, US = 1000 }; /* US: ticks in a microsecond */
enum { EMPTY, MAIN, BARRIER, SOLVE, IDLE, MOVE, MEMCPY, UTIME, S, STRINGS };
enum { R_MAIN, R_BARRIER, R_SOLVE, R_IDLE, R_MOVE, R_MEMCPY, REGIONS };
/* Locations after those of ranks: two streams of rank 0, one of rank 1, one of nobody. */
enum { STREAM_A = 10, STREAM_B, STREAM_OF_1, STREAM_OF_NOBODY, STREAMS = 4 };
/* Groups of locations after the processes. */
enum { DEVICE_OF_0 = 20, DEVICE_OF_NOBODY };

static const char *const strings[STRINGS] = {
    "", "main", "MPI_Barrier", "solve", "idle", "move", "cuMemcpyAsync", "ru_utime", "s"};

/* One event of a stream: at a time in microseconds, a region that begins or ends, or a one-sided
 * operation. */
struct step {
    uint64_t at;
    enum { ENTER, LEAVE, GET, PUT, COMPLETE } what;
    uint64_t of; /* a region, or bytes */
};

/* A kernel, a copy, and a kernel that runs across the barrier with another one in it. */
static const struct step stream_a[] = {
    {11, ENTER, R_SOLVE}, {31, LEAVE, R_SOLVE},  {41, GET, 1000},       {61, COMPLETE, 0},
    {91, ENTER, R_SOLVE}, {100, ENTER, R_SOLVE}, {110, LEAVE, R_SOLVE}, {221, LEAVE, R_SOLVE},
};
/* A kernel, a copy by its role with the operation in it while the stream calls itself idle, and
 * a kernel without an end. */
static const struct step stream_b[] = {
    {21, ENTER, R_SOLVE},  {51, LEAVE, R_SOLVE}, {61, ENTER, R_IDLE}, {71, ENTER, R_MOVE},
    {72, PUT, 24},         {74, COMPLETE, 0},    {75, LEAVE, R_MOVE}, {81, LEAVE, R_IDLE},
    {281, ENTER, R_SOLVE}, {291, COMPLETE, 0},
};
/* An end without a beginning, a kernel that ends in the barrier, a copy by its name. */
static const struct step stream_of_1[] = {
    {5, LEAVE, R_SOLVE},    {50, ENTER, R_SOLVE},   {150, LEAVE, R_SOLVE},
    {210, ENTER, R_MEMCPY}, {220, LEAVE, R_MEMCPY},
};
static const struct step stream_of_nobody[] = {{1, ENTER, R_SOLVE}};

static uint64_t put_stream(struct otf2_archive *a, uint64_t location, const struct step *steps,
                           size_t n)
{
    OTF2_EvtWriter *w = OTF2_Archive_GetEvtWriter(a->archive, location);

    for (size_t i = 0; i < n; i++) {
        uint64_t time = steps[i].at * US;
        switch (steps[i].what) {
        case ENTER:
            (void)OTF2_EvtWriter_Enter(w, NULL, time, (uint32_t)steps[i].of);
            break;
        case LEAVE:
            (void)OTF2_EvtWriter_Leave(w, NULL, time, (uint32_t)steps[i].of);
            break;
        case GET:
            (void)OTF2_EvtWriter_RmaGet(w, NULL, time, 0, 0, steps[i].of, 42);
            break;
        case PUT:
            (void)OTF2_EvtWriter_RmaPut(w, NULL, time, 0, 0, steps[i].of, 42);
            break;
        case COMPLETE:
            (void)OTF2_EvtWriter_RmaOpCompleteBlocking(w, NULL, time, 0, 42);
            break;
        }
    }
    return otf2_archive_end_events(a, w);
}

/* Computes from 1 to 101 us, is in a barrier until 201 us, and computes until 301 us. */
static uint64_t put_rank(struct otf2_archive *a, uint32_t rank)
{
    OTF2_EvtWriter *w = OTF2_Archive_GetEvtWriter(a->archive, rank);

    (void)OTF2_EvtWriter_Enter(w, NULL, 1 * US, R_MAIN);
    (void)OTF2_EvtWriter_Enter(w, NULL, 101 * US, R_BARRIER);
    (void)OTF2_EvtWriter_MpiCollectiveBegin(w, NULL, 101 * US);
    (void)OTF2_EvtWriter_MpiCollectiveEnd(w, NULL, 201 * US, OTF2_COLLECTIVE_OP_BARRIER, 0,
                                          OTF2_UNDEFINED_UINT32, 0, 0);
    (void)OTF2_EvtWriter_Leave(w, NULL, 201 * US, R_BARRIER);
    (void)OTF2_EvtWriter_Leave(w, NULL, 301 * US, R_MAIN);
    return otf2_archive_end_events(a, w);
}

static void put_regions(OTF2_GlobalDefWriter *w)
{
    static const OTF2_RegionRole roles[REGIONS] = {
        [R_MAIN] = OTF2_REGION_ROLE_FUNCTION,      [R_BARRIER] = OTF2_REGION_ROLE_BARRIER,
        [R_SOLVE] = OTF2_REGION_ROLE_FUNCTION,     [R_IDLE] = OTF2_REGION_ROLE_ARTIFICIAL,
        [R_MOVE] = OTF2_REGION_ROLE_DATA_TRANSFER, [R_MEMCPY] = OTF2_REGION_ROLE_FUNCTION};
    static const OTF2_MetricMemberRef members[] = {0};

    for (uint32_t i = 0; i < STRINGS; i++) {
        (void)OTF2_GlobalDefWriter_WriteString(w, i, strings[i]);
    }
    for (uint32_t i = 0; i < REGIONS; i++) {
        (void)OTF2_GlobalDefWriter_WriteRegion(w, i, MAIN + i, MAIN + i, EMPTY, roles[i],
                                               i == R_BARRIER ? OTF2_PARADIGM_MPI
                                                              : OTF2_PARADIGM_CUDA,
                                               OTF2_REGION_FLAG_NONE, EMPTY, 0, 0);
    }
    (void)OTF2_GlobalDefWriter_WriteMetricMember(w, 0, UTIME, EMPTY, OTF2_METRIC_TYPE_OTHER,
                                                 OTF2_METRIC_ACCUMULATED_START,
                                                 OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, -6, S);
    (void)OTF2_GlobalDefWriter_WriteMetricClass(
        w, 0, 1, members, OTF2_METRIC_SYNCHRONOUS_STRICT, OTF2_RECORDER_KIND_CPU);
}

static void put_locations(OTF2_GlobalDefWriter *w, const uint64_t *n_events)
{
    static const struct {
        OTF2_LocationGroupRef id, creator;
    } devices[] = {{DEVICE_OF_0, 0}, {DEVICE_OF_NOBODY, OTF2_UNDEFINED_LOCATION_GROUP}};
    static const OTF2_LocationGroupRef groups[STREAMS] = {DEVICE_OF_0, DEVICE_OF_0, 1,
                                                          DEVICE_OF_NOBODY};

    (void)OTF2_GlobalDefWriter_WriteSystemTreeNode(w, 0, EMPTY, EMPTY,
                                                   OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    for (uint32_t i = 0; i < RANKS; i++) {
        (void)OTF2_GlobalDefWriter_WriteLocationGroup(
            w, i, EMPTY, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0, OTF2_UNDEFINED_LOCATION_GROUP);
        (void)OTF2_GlobalDefWriter_WriteLocation(w, i, EMPTY, OTF2_LOCATION_TYPE_CPU_THREAD,
                                                 n_events[i], i);
    }
    for (uint32_t i = 0; i < 2; i++) {
        (void)OTF2_GlobalDefWriter_WriteLocationGroup(w, devices[i].id, EMPTY,
                                                      OTF2_LOCATION_GROUP_TYPE_ACCELERATOR, 0,
                                                      devices[i].creator);
    }
    for (uint32_t i = 0; i < 2 * STREAMS; i++) { /* twice, but its events count once */
        uint32_t stream = i % STREAMS;
        (void)OTF2_GlobalDefWriter_WriteLocation(w, STREAM_A + stream, EMPTY,
                                                 OTF2_LOCATION_TYPE_ACCELERATOR_STREAM,
                                                 n_events[RANKS + stream], groups[stream]);
    }
}

#define COUNT(list) (sizeof(list) / sizeof(*(list)))

static bool write_archive(struct otf2_archive *a)
{
    static const uint64_t all[RANKS] = {0, 1, 2};
    uint64_t n_events[RANKS + STREAMS];

    *a = otf2_archive_open();
    for (uint32_t i = 0; i < RANKS; i++) {
        n_events[i] = put_rank(a, i);
    }
    n_events[RANKS] = put_stream(a, STREAM_A, stream_a, COUNT(stream_a));
    n_events[RANKS + 1] = put_stream(a, STREAM_B, stream_b, COUNT(stream_b));
    n_events[RANKS + 2] = put_stream(a, STREAM_OF_1, stream_of_1, COUNT(stream_of_1));
    n_events[RANKS + 3] =
        put_stream(a, STREAM_OF_NOBODY, stream_of_nobody, COUNT(stream_of_nobody));
    (void)OTF2_Archive_CloseEvtFiles(a->archive);
    OTF2_GlobalDefWriter *w = OTF2_Archive_GetGlobalDefWriter(a->archive);
    (void)OTF2_GlobalDefWriter_WriteClockProperties(w, 1000 * 1000 * US, 0, 1000 * US,
                                                    OTF2_UNDEFINED_TIMESTAMP);
    put_regions(w);
    put_locations(w, n_events);
    (void)OTF2_GlobalDefWriter_WriteGroup(w, 0, EMPTY, OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                          OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, RANKS, all);
    (void)OTF2_GlobalDefWriter_WriteGroup(w, 1, EMPTY, OTF2_GROUP_TYPE_COMM_GROUP,
                                          OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, RANKS, all);
    (void)OTF2_GlobalDefWriter_WriteComm(w, 0, EMPTY, 1, OTF2_UNDEFINED_COMM,
                                         OTF2_COMM_FLAG_NONE);
    (void)OTF2_Archive_CloseGlobalDefWriter(a->archive, w);
    return OTF2_Archive_Close(a->archive) == OTF2_SUCCESS;
}

/* ---- reading ---- */

static enum wf_status open_archive(const struct otf2_archive *a, const char *const *settings,
                                   struct wf_trace *trace, struct wf_err *err)
{
    const struct wf_reader_ops *reader = NULL;
    struct wf_reader_probe probe;

    WF_TRY(wf_reader_find(a->directory, &probe, &reader, err));
    void *params = wf_xcalloc(1, reader->params_size);
    enum wf_status status = wf_param_defaults(reader->params, params, err);
    for (; *settings != NULL && status == WF_OK; settings += 2) {
        status = wf_param_set(reader->params, params, "trace.", settings[0], settings[1], err);
    }
    if (status == WF_OK) {
        status = wf_reader_open(reader, &probe, params, trace, err);
    }
    wf_param_release(reader->params, params);
    free(params);
    wf_reader_probe_fini(&probe);
    return status;
}

/* Checks the computing of a rank before and after the barrier, in nanoseconds. */
static void check_rank(const struct wf_trace *trace, uint32_t rank, int64_t before,
                       int64_t after)
{
    int64_t found[3] = {0, 0, 0};
    uint32_t part = 0;
    struct wf_cursor cursor;
    struct wf_op op;

    memset(&cursor, 0, sizeof(cursor));
    while (wf_source_next(trace->source, rank, &cursor, &op) && part < 2) {
        part += op.kind == WF_OP_BARRIER ? 1 : 0;
        found[part] += op.kind == WF_OP_COMPUTE ? op.duration : 0;
    }
    if (found[0] != before * 1000 || found[1] != after * 1000) {
        printf("# rank %u: %lld and %lld ps\n", (unsigned)rank, (long long)found[0],
               (long long)found[1]);
    }
    CHECK_U64(part, 1);
    CHECK(found[0] == before * 1000);
    CHECK(found[1] == after * 1000);
}

/* Kernels of rank 0: 11 to 51, 91 to 221, 281 to 291; copies: 41 to 61 and 71 to 75. So before
 * the barrier there are 40 us of kernels alone, 14 of copies alone and 10 of both; after it 30 of
 * kernels. Rank 1: 51 us of kernels before, 10 of copies after. */
static void check_factors(const struct otf2_archive *a, const char *kernels, const char *copies,
                          const int64_t *us)
{
    const char *const settings[] = {"kernels", kernels, "copies", copies, NULL};
    struct wf_trace trace = {.source = NULL};
    struct wf_err err = {.text = ""};

    CHECK(open_archive(a, settings, &trace, &err) == WF_OK);
    CHECK_STR(err.text, "");
    check_rank(&trace, 0, us[0], us[1]);
    check_rank(&trace, 1, us[2], us[3]);
    check_rank(&trace, 2, 100 * US, 100 * US);
    wf_trace_close(&trace);
}

static void factors_change_computing_with_devices(void)
{
    struct otf2_archive a;

    CHECK(write_archive(&a));
    check_factors(&a, "1", "1", (int64_t[]){100 * US, 100 * US, 100 * US, 100 * US});
    check_factors(&a, "0.5", "1", (int64_t[]){80 * US, 85 * US, 74500, 100 * US});
    check_factors(&a, "1", "0.5", (int64_t[]){93 * US, 100 * US, 100 * US, 95 * US});
    check_factors(&a, "0.5", "0.5", (int64_t[]){68 * US, 85 * US, 74500, 95 * US});
    check_factors(&a, "0.25", "0.5", (int64_t[]){58 * US, 77500, 61750, 95 * US});
    check_factors(&a, "0", "0", (int64_t[]){36 * US, 70 * US, 49 * US, 90 * US});
    check_factors(&a, "1", "2", (int64_t[]){124 * US, 100 * US, 100 * US, 110 * US});
    otf2_archive_remove(&a);
}

static void check_device(const struct wf_trace_device *found,
                         const struct wf_trace_device *wanted)
{
    CHECK_U64(found->n_streams, wanted->n_streams);
    CHECK_U64(found->n_kernels, wanted->n_kernels);
    CHECK_U64(found->n_copies, wanted->n_copies);
    CHECK_U64(found->copied_bytes, wanted->copied_bytes);
    CHECK(found->kernels == wanted->kernels * 1000 * 1000);
    CHECK(found->copies == wanted->copies * 1000 * 1000);
    CHECK(found->computing_kernels == wanted->computing_kernels * 1000 * 1000);
    CHECK(found->computing_copies == wanted->computing_copies * 1000 * 1000);
}

static void devices_are_counted(void)
{
    static const struct wf_trace_device wanted[RANKS] = {
        {2, 5, 2, 1024, 180, 24, 80, 24}, {1, 1, 1, 0, 100, 10, 51, 10}, {.n_streams = 0}};
    static const char *const none[] = {NULL};
    struct wf_trace trace = {.source = NULL};
    struct wf_err err = {.text = ""};
    struct otf2_archive a;

    CHECK(write_archive(&a));
    CHECK(open_archive(&a, none, &trace, &err) == WF_OK);
    CHECK(trace.devices != NULL);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        check_device(&trace.devices[rank], &wanted[rank]);
    }
    CHECK_U64(trace.n_notes, 3);
    CHECK(strstr(trace.notes[1], "1 streams of accelerators belong to no rank") != NULL);
    CHECK(strstr(trace.notes[2], "6 kernels and 3 copies: 131.0 us of their computing") !=
          NULL);
    wf_trace_close(&trace);
    otf2_archive_remove(&a);
}

static void metrics_and_factors_exclude_each_other(void)
{
    static const char *const both[] = {"metrics", "ru_utime", "copies", "2", NULL};
    struct wf_trace trace = {.source = NULL};
    struct wf_err err = {.text = ""};
    struct otf2_archive a;

    CHECK(write_archive(&a));
    CHECK(open_archive(&a, both, &trace, &err) == WF_EINVAL);
    CHECK(strstr(err.text, "use one or the other") != NULL);
    otf2_archive_remove(&a);
}

int main(void)
{
    RUN(factors_change_computing_with_devices);
    RUN(devices_are_counted);
    RUN(metrics_and_factors_exclude_each_other);
    return wf_test_done();
}
