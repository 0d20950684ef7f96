/* SPDX-License-Identifier: Apache-2.0 */
/* Chakra execution traces: a file for each rank, called <prefix>.<rank>.et or .json. */
#include "base/file.h"
#include "base/mem.h"
#include "base/varint.h"
#include "program/trace/chakra/chakra.h"
#include "program/trace/kit/kit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 1024 };

static const char *const deps_names[] = {"all", "data", NULL};
/* Formulas are for programs of MPI only. */
static const char *const rules_names[] = {[WF_COLL_RULES_MPICH] = "mpich",
                                          [WF_COLL_RULES_OPENMPI] = "openmpi",
                                          [WF_COLL_RULES_NCCL] = "nccl",
                                          NULL};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct wf_chakra_params, deps, ENUM, .def = "all", .choices = deps_names,
                 .doc = "Dependencies that nodes wait for: all, or data dependencies only"),
    WF_PARAM_ROW(struct wf_chakra_params, coll_rules, ENUM, .def = "nccl",
                 .choices = rules_names,
                 .doc = "The library whose algorithms collectives take"),
    WF_PARAM_ROW(struct wf_chakra_params, groups, TEXT, .def = "",
                 .doc = "File of process groups, like {\"1\": [0, 1]}; empty: <prefix>.json "
                        "beside the trace if it exists"),
    WF_PARAM_ROW(struct wf_chakra_params, reduce_rate, RATE, .def = "unlimited",
                 .word = "unlimited", .min = "1B/s",
                 .doc = "Bytes in a second that a rank combines in a reduction"),
    WF_PARAM_ROW(struct wf_chakra_params, peak_flops, REAL, .def = "0", .min = "0",
                 .doc = "Operations in a second of a device, for nodes without a duration; 0: "
                        "they take no time"),
    WF_PARAM_ROW(struct wf_chakra_params, memory_rate, RATE, .def = "unlimited",
                 .word = "unlimited", .min = "1B/s",
                 .doc = "Bytes in a second that a device loads or stores, likewise"),
    WF_PARAM_END,
};

/* ---- files ---- */

/* A name of a file of a rank: <prefix>.<rank><ending>. */
struct name {
    size_t prefix; /* its length */
    uint64_t rank;
    const char *ending;
};

/* False if the name is not that of a rank's file. */
static bool parse_name(const char *text, struct name *out)
{
    static const char *const endings[] = {".et", ".json"};
    size_t length = strlen(text);

    for (size_t i = 0; i < 2; i++) {
        size_t end = strlen(endings[i]);
        if (length <= end || strcmp(text + length - end, endings[i]) != 0) {
            continue;
        }
        size_t digits = length - end, place = 1;
        *out = (struct name){.ending = endings[i]};
        while (digits > 0 && text[digits - 1] >= '0' && text[digits - 1] <= '9' &&
               length - end - digits < 8) {
            out->rank += (uint64_t)(text[--digits] - '0') * place;
            place *= 10;
        }
        out->prefix = digits > 0 ? digits - 1 : 0;
        return digits > 0 && text[digits - 1] == '.' && digits < length - end;
    }
    return false;
}

/* Where the files of a trace are: at `before` + rank + `ending`, or one file `before`. */
struct files {
    char before[PATH_BYTES]; /* with the dot */
    const char *ending;
    uint32_t n;
    bool is_single;
};

static bool path_of(const struct files *files, uint32_t rank, char *path)
{
    int n = files->is_single ? snprintf(path, PATH_BYTES, "%s", files->before)
                             : snprintf(path, PATH_BYTES, "%s%" PRIu32 "%s", files->before,
                                        rank, files->ending);

    return n > 0 && n < PATH_BYTES;
}

static bool exists(const struct files *files, uint32_t rank)
{
    char path[PATH_BYTES];

    return path_of(files, rank, path) && access(path, F_OK) == 0;
}

/* All files of the directory that have a rank must be of one trace. */
static enum wf_status list_directory(const struct wf_reader_probe *probe, struct files *out,
                                     struct wf_err *err)
{
    const char *first = NULL;
    struct name name, other;
    uint64_t n = 0;

    for (size_t i = 0; i < probe->n_entries; i++) {
        const char *entry = probe->entries[i];
        if (!parse_name(entry, &other)) {
            continue;
        }
        if (first == NULL) {
            first = entry;
            name = other;
        } else if (name.prefix != other.prefix || memcmp(first, entry, name.prefix) != 0 ||
                   strcmp(name.ending, other.ending) != 0) {
            return wf_err_set(err, WF_EINVAL,
                              "%.200s: it has files of several traces, such as %.80s and "
                              "%.80s; name the file of rank 0 of one of them",
                              probe->path, first, entry);
        }
        n++;
    }
    if (first == NULL) {
        return wf_err_set(err, WF_EINVAL, "%.200s: no file <prefix>.<rank>.et for rank 0",
                          probe->path);
    }
    out->n = (uint32_t)n;
    out->ending = name.ending;
    int length =
        snprintf(out->before, PATH_BYTES, "%s/%.*s.", probe->path, (int)name.prefix, first);
    if (n == 1) {
        out->is_single = true;
        length = snprintf(out->before, PATH_BYTES, "%s/%s", probe->path, first);
    }
    if (length < 0 || length >= PATH_BYTES || n >= WF_RANKS_MAX) {
        return wf_err_set(err, WF_EINVAL, "%.200s: its name is too long", probe->path);
    }
    for (uint32_t rank = 0; rank < out->n && n > 1; rank++) {
        if (!exists(out, rank)) {
            return wf_err_set(err, WF_EINVAL,
                              "%.200s: it has the files of %" PRIu64
                              " ranks, but none of rank %" PRIu32,
                              probe->path, n, rank);
        }
    }
    return WF_OK;
}

/* The file of rank 0 names the trace of all ranks; any other file is a trace of one rank. */
static enum wf_status list_files(const struct wf_reader_probe *probe, struct files *out,
                                 struct wf_err *err)
{
    struct name name;

    *out = (struct files){.n = 1};
    if (probe->is_directory) {
        return list_directory(probe, out, err);
    }
    if (strlen(probe->path) >= PATH_BYTES) {
        return wf_err_set(err, WF_EINVAL, "%.200s: its name is too long", probe->path);
    }
    out->is_single = true;
    (void)snprintf(out->before, PATH_BYTES, "%s", probe->path);
    if (parse_name(probe->path, &name) && name.rank == 0) {
        out->is_single = false;
        out->ending = name.ending;
        out->before[name.prefix + 1] = '\0';
        while (exists(out, out->n) && out->n < WF_RANKS_MAX - 1) {
            out->n++;
        }
    }
    return WF_OK;
}

/* ---- reading ---- */

static bool is_json(const unsigned char *bytes, size_t n)
{
    size_t i = 0;

    while (i < n && bytes[i] != '\0' && strchr(" \t\r\n", bytes[i]) != NULL) {
        i++;
    }
    return i < n && bytes[i] == '{';
}

static void read_rank(const struct wf_chakra *trace, const char *path, uint32_t rank,
                      struct wf_err *err)
{
    struct wf_trace_place place = {.path = path, .unit = "rank", .rank = rank, .err = err};
    struct wf_buf file = {.size = 0};

    if (wf_file_read(path, SIZE_MAX / 2, &file, err) == WF_OK) {
        if (file.size > 1 && file.data[0] == 0x1f && file.data[1] == 0x8b) {
            wf_trace_bad(&place, "it is compressed; unpack it with gunzip");
        } else if (is_json(file.data, file.size)) {
            wf_chakra_read_json(trace, rank, &file, &place);
        } else {
            wf_chakra_read_proto(trace, rank, &file, &place);
        }
    }
    wf_buf_fini(&file);
}

static void read_groups(struct wf_chakra *trace, const struct files *files, struct wf_err *err)
{
    char path[PATH_BYTES];
    const char *given = trace->params->groups;
    struct wf_buf file = {.size = 0};
    size_t length = strlen(files->before);

    if (given != NULL && given[0] != '\0') {
        (void)snprintf(path, sizeof(path), "%s", given);
    } else {
        /* `before` ends with the dot. */
        if (files->is_single || length + 5 > PATH_BYTES ||
            snprintf(path, sizeof(path), "%sjson", files->before) < 0 ||
            access(path, F_OK) != 0) {
            return;
        }
    }
    struct wf_trace_place place = {.path = path, .err = err};
    if (wf_file_read(path, SIZE_MAX / 2, &file, err) == WF_OK) {
        wf_chakra_read_groups(trace, &file, &place);
    }
    wf_buf_fini(&file);
}

struct reading {
    const struct wf_chakra *trace;
    const struct files *files;
};

static void visit_rank(void *arg, uint32_t worker, uint32_t rank, struct wf_err *err)
{
    const struct reading *reading = arg;
    char path[PATH_BYTES];

    (void)worker;
    if (path_of(reading->files, rank, path)) {
        read_rank(reading->trace, path, rank, err);
    }
}

static void read_ranks(const struct wf_chakra *trace, const struct files *files,
                       struct wf_err *err)
{
    struct reading reading = {trace, files};

    wf_trace_visit_all(files->n, wf_trace_workers(files->n), visit_rank, &reading, err);
}

/* The groups that METADATA nodes define. */
static void define_groups(struct wf_chakra *trace, const char *path, struct wf_err *err)
{
    for (uint32_t rank = 0; rank < trace->n_ranks; rank++) {
        const struct wf_buf *pg = &trace->ranks[rank].pg;
        struct wf_trace_place place = {.path = path, .unit = "rank", .rank = rank, .err = err};

        for (size_t at = 0; at < pg->size && !wf_trace_failed(err);) {
            const char *text = (const char *)pg->data + at;
            wf_chakra_read_pg(trace, text, strlen(text), &place);
            at += strlen(text) + 1;
        }
    }
}

/* A file without any node is JSON of something else that has the key "version", or was cut. */
static void require_nodes(const struct wf_chakra *trace, const char *path, struct wf_err *err)
{
    uint64_t nodes = 0;

    for (uint32_t r = 0; r < trace->n_ranks; r++) {
        for (uint32_t type = 0; type < WF_CHAKRA_TYPES; type++) {
            nodes += trace->ranks[r].counts[type];
        }
    }
    if (nodes == 0) {
        (void)wf_err_set(err, WF_EINVAL, "'%.300s' has no nodes of a Chakra trace", path);
    }
}

static void read_all(struct wf_chakra *trace, const char *path, const struct files *files,
                     struct wf_err *err)
{
    read_groups(trace, files, err);
    if (!wf_trace_failed(err)) {
        read_ranks(trace, files, err);
    }
    if (!wf_trace_failed(err)) {
        require_nodes(trace, path, err);
    }
    if (!wf_trace_failed(err)) {
        define_groups(trace, path, err);
    }
}

static void count_records(const struct wf_chakra *trace, struct wf_trace *out)
{
    out->records = wf_records_new(trace->n_ranks);
    for (uint32_t type = 0; type < WF_CHAKRA_TYPES; type++) {
        uint32_t name = wf_records_name(out->records, wf_chakra_type_names[type]);
        for (uint32_t r = 0; r < trace->n_ranks; r++) {
            const struct wf_chakra_rank *rank = &trace->ranks[r];
            if (rank->counts[type] > 0) {
                wf_records_add_many(out->records, r, name, rank->counts[type],
                                    rank->bytes[type]);
            }
        }
    }
}

static void add_notes(const struct wf_chakra *trace, struct wf_trace *out)
{
    uint64_t dangling = 0, untimed = 0, recorded = 0, circles = 0;

    for (uint32_t r = 0; r < trace->n_ranks; r++) {
        dangling += trace->ranks[r].n_dangling;
        untimed += trace->ranks[r].n_untimed;
        recorded += trace->ranks[r].n_recorded;
        circles += trace->ranks[r].without_ctrl ? 1 : 0;
    }
    wf_trace_note_count(out, dangling,
                        "dependencies are on the node itself or on one that is not in the "
                        "file, and are left out");
    wf_trace_note_count(out, circles,
                        "ranks have control dependencies that form a circle, and wait for "
                        "data dependencies only");
    wf_trace_note_count(out, untimed,
                        "nodes have no duration and take no time; -p trace.peak_flops and "
                        "trace.memory_rate give them one");
    wf_trace_note_count(out, recorded,
                        "nodes communicate with ranks that have no file, or do not say what "
                        "they send, and take their recorded time");
    wf_trace_note_count(out, trace->n_unmatched, "messages are sent or received by nobody");
}

static void say_assumed(struct wf_chakra *trace, const char *path)
{
    if (trace->replicated) {
        (void)snprintf(trace->assumed, sizeof(trace->assumed),
                       "all %" PRIu32 " ranks execute the nodes of %.120s, which was recorded "
                       "among %" PRIu32 " ranks; process groups of all ranks become groups of "
                       "%" PRIu32 ", and messages take their recorded time",
                       trace->n_ranks, path, trace->n_world > 0 ? trace->n_world : 1,
                       trace->n_ranks);
        trace->graph.assumed = trace->assumed;
    }
}

static enum wf_status open_trace(const struct wf_reader_probe *probe, const void *params,
                                 struct wf_trace *out, struct wf_err *err)
{
    struct files files;

    WF_TRY(list_files(probe, &files, err));
    struct wf_chakra *trace = wf_xcalloc(1, sizeof(*trace));
    trace->params = params;
    trace->reduce_rate = trace->params->reduce_rate;
    if (files.is_single && probe->ranks > 1) {
        files.n = probe->ranks;
        trace->replicated = true;
    }
    trace->n_ranks = files.n;
    trace->ranks = wf_xcalloc(files.n, sizeof(*trace->ranks));
    read_all(trace, probe->path, &files, err);
    if (!wf_trace_failed(err)) {
        wf_chakra_build(trace, probe->path, err);
    }
    if (!wf_trace_failed(err)) {
        count_records(trace, out);
        add_notes(trace, out);
        wf_chakra_graph(trace);
        trace->params = NULL;
        say_assumed(trace, probe->path);
        out->graph = &trace->graph;
        return WF_OK;
    }
    wf_chakra_free(trace);
    return err->status;
}

/* ---- detection ---- */

/* Whether the bytes begin with a message whose fields make sense as metadata, or as a node of
 * the schemas that have none. */
static bool looks_like_proto(const unsigned char *bytes, size_t n)
{
    struct wf_reading in = {bytes, bytes + n, false};
    uint64_t size = wf_varint_get(&in);

    if (in.failed || n < 8) {
        return false;
    }
    if (size == 0) { /* no metadata; a node follows, which has an id or a name */
        size = wf_varint_get(&in);
        return !in.failed && size > 2 && in.at < in.end && (*in.at == 0x08 || *in.at == 0x12);
    }
    uint64_t key = wf_varint_get(&in);
    if (key == 0x08) { /* an id, then the name: no metadata */
        (void)wf_varint_get(&in);
        return !in.failed && in.at < in.end && *in.at == 0x12;
    }
    uint64_t length = wf_varint_get(&in);
    if (in.failed || length + 2 > size || in.at == in.end) {
        return false;
    }
    if (key == 0x0a) { /* a version: digits and dots */
        return length < 32 && *in.at >= '0' && *in.at <= '9';
    }
    return key == 0x12 && *in.at == 0x0a; /* an attribute, which begins with its name */
}

static bool looks_like_json(const unsigned char *bytes, size_t n)
{
    static const char *const keys[] = {"\"workload_graph\"", "\"ctrlDeps\"", "\"dataDeps\"",
                                       "\"durationMicros\"", "_NODE\"",      "-chakra.",
                                       "\"version\""};

    if (!is_json(bytes, n)) {
        return false;
    }
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (memmem(bytes, n, keys[i], strlen(keys[i])) != NULL) {
            return true;
        }
    }
    return false;
}

static bool detect(const struct wf_reader_probe *probe)
{
    unsigned char bytes[WF_PROBE_BYTES];
    struct name name;

    if (!probe->is_directory) {
        return looks_like_proto(probe->bytes, probe->n) ||
               looks_like_json(probe->bytes, probe->n);
    }
    for (size_t i = 0; i < probe->n_entries; i++) {
        if (parse_name(probe->entries[i], &name)) {
            size_t n = wf_probe_read(probe, probe->entries[i], bytes, sizeof(bytes));
            return strcmp(name.ending, ".et") == 0 || looks_like_json(bytes, n);
        }
    }
    return false;
}

const struct wf_reader_ops wf_chakra_reader_ops = {
    .name = "chakra",
    .summary = "Chakra execution traces of AI training, protobuf or JSON; tasks",
    .params = params_table,
    .params_size = sizeof(struct wf_chakra_params),
    .detect = detect,
    .open = open_trace,
};
