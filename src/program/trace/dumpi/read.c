/* SPDX-License-Identifier: Apache-2.0 */
/* DUMPI: the traces of sst-dumpi. */
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "program/trace/dumpi/walk.h"
#include "program/trace/kit/kit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { META_BYTES_MAX = 1 << 16, CANCEL = 24, IRECV = 12, NAMES_UNSET = -1 };

struct dumpi_params {
    int clock;
};

static const char *const clock_names[] = {"wall", "cpu", NULL};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct dumpi_params, clock, ENUM, .def = "cpu", .choices = clock_names,
                 .doc = "The clock whose time between calls is computing"),
    WF_PARAM_END,
};

/* The files of a trace. */
struct dumpi_set {
    char *prefix; /* of the file names of the ranks */
    uint32_t n_ranks;
};

/* ---- finding the files ---- */

static bool is_meta(const unsigned char *bytes, size_t n)
{
    char text[WF_PROBE_BYTES + 1];

    memcpy(text, bytes, n);
    text[n] = '\0';
    return strlen(text) == n && strstr(text, "numprocs=") != NULL &&
           strstr(text, "fileprefix=") != NULL;
}

/* Returns whether a file begins like the file of a rank, in either byte order. */
static bool is_rank_file(const unsigned char *bytes, size_t n)
{
    n = n < WF_DUMPI_MAGIC_BYTES ? n : WF_DUMPI_MAGIC_BYTES;
    return n >= 3 && (memcmp(bytes, wf_dumpi_magic, n) == 0 ||
                      memcmp(bytes, wf_dumpi_magic_swapped, n) == 0);
}

/* Returns the metafile in a directory; null if there is none. */
static const char *meta_entry(const struct wf_reader_probe *probe)
{
    unsigned char bytes[WF_PROBE_BYTES] = {0};

    for (size_t i = 0; i < probe->n_entries; i++) {
        const char *name = probe->entries[i];
        size_t length = strlen(name);
        if (length > 5 && strcmp(name + length - 5, ".meta") == 0 &&
            is_meta(bytes, wf_probe_read(probe, name, bytes, sizeof(bytes)))) {
            return name;
        }
    }
    return NULL;
}

static const char *first_rank_entry(const struct wf_reader_probe *probe)
{
    unsigned char bytes[WF_DUMPI_MAGIC_BYTES];
    const char *name = wf_probe_entry(probe, "-0000.bin", NULL);

    return name != NULL && is_rank_file(bytes, wf_probe_read(probe, name, bytes, sizeof(bytes)))
               ? name
               : NULL;
}

static bool detect(const struct wf_reader_probe *probe)
{
    if (probe->is_directory) {
        return meta_entry(probe) != NULL || first_rank_entry(probe) != NULL;
    }
    return is_meta(probe->bytes, probe->n) || is_rank_file(probe->bytes, probe->n);
}

static char *rank_path(const char *prefix, uint32_t rank)
{
    return wf_text_make("%s-%04" PRIu32 ".bin", prefix, rank);
}

static bool rank_exists(const char *prefix, uint32_t rank)
{
    char *path = rank_path(prefix, rank);
    struct stat st;
    bool exists = stat(path, &st) == 0;

    free(path);
    return exists;
}

/* Returns the value of the line key=value, or null. The caller frees it. */
static char *meta_value(const char *text, const char *key)
{
    size_t length = strlen(key);

    for (const char *line = text; line != NULL && *line != '\0';) {
        if (strncmp(line, key, length) == 0 && line[length] == '=') {
            const char *value = line + length + 1;
            return wf_text_make("%.*s", (int)strcspn(value, "\r\n"), value);
        }
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    return NULL;
}

/* The prefix of the ranks' files: that of the metafile, or else the one that it names. */
static char *prefix_of(const char *path, const char *said)
{
    const char *slash = strrchr(path, '/');
    size_t directory = slash != NULL ? (size_t)(slash - path) + 1 : 0;
    char *prefix = wf_xstrdup(path);

    prefix[strlen(path) - strlen(".meta")] = '\0';
    if (said == NULL || rank_exists(prefix, 0)) {
        return prefix;
    }
    const char *name = strrchr(said, '/');
    name = name != NULL ? name + 1 : said;
    char *other = wf_text_make("%.*s%s", (int)directory, path, name);
    if (rank_exists(other, 0)) {
        free(prefix);
        return other;
    }
    free(other);
    return prefix;
}

static void open_meta(const char *path, struct dumpi_set *set, struct wf_err *err)
{
    struct wf_buf text = {.data = NULL};
    char *end = NULL;

    if (wf_file_read(path, META_BYTES_MAX, &text, err) != WF_OK) {
        wf_buf_fini(&text);
        return;
    }
    char *ranks = meta_value((const char *)text.data, "numprocs");
    char *said = meta_value((const char *)text.data, "fileprefix");
    errno = 0;
    long long n = ranks != NULL ? strtoll(ranks, &end, 10) : 0;
    if (ranks == NULL || *end != '\0' || errno != 0 || n < 1 || n > WF_RANKS_MAX) {
        (void)wf_err_set(err, WF_EINVAL,
                         "%.300s: a line numprocs=<ranks> is missing or makes no sense", path);
    } else if (strlen(path) < strlen(".meta") ||
               strcmp(path + strlen(path) - strlen(".meta"), ".meta") != 0) {
        (void)wf_err_set(
            err, WF_EINVAL,
            "%.300s: the files of the ranks cannot be found, since the name of the "
            "metafile does not end in .meta",
            path);
    } else {
        set->n_ranks = (uint32_t)n;
        set->prefix = prefix_of(path, said);
    }
    free(ranks);
    free(said);
    wf_buf_fini(&text);
}

/* Reports missing and superfluous files before anything is read. */
static void check_files(const struct dumpi_set *set, struct wf_err *err)
{
    for (uint32_t rank = 0; rank < set->n_ranks; rank++) {
        if (!rank_exists(set->prefix, rank)) {
            (void)wf_err_set(err, WF_EINVAL,
                             "%.300s-%04" PRIu32 ".bin is missing: the trace has %" PRIu32
                             " ranks, and each has a file",
                             set->prefix, rank, set->n_ranks);
            return;
        }
    }
    if (rank_exists(set->prefix, set->n_ranks)) {
        (void)wf_err_set(err, WF_EINVAL,
                         "%.300s-%04" PRIu32 ".bin is the file of a rank too many: the trace "
                         "has %" PRIu32 " by its .meta file",
                         set->prefix, set->n_ranks, set->n_ranks);
    }
}

/* Whether the directory has several traces, which is an error. */
static bool has_several(const struct wf_reader_probe *probe, struct wf_err *err)
{
    unsigned char bytes[WF_PROBE_BYTES] = {0};
    const char *first = NULL;

    for (size_t i = 0; i < probe->n_entries; i++) {
        const char *name = probe->entries[i];
        size_t length = strlen(name);
        if (length < 5 || strcmp(name + length - 5, ".meta") != 0 ||
            !is_meta(bytes, wf_probe_read(probe, name, bytes, sizeof(bytes)))) {
            continue;
        }
        if (first != NULL) {
            (void)wf_err_set(err, WF_EINVAL,
                             "%.200s: it has several traces, such as %.80s and %.80s; name the "
                             ".meta file of one of them",
                             probe->path, first, name);
            return true;
        }
        first = name;
    }
    return false;
}

static void find_files(const struct wf_reader_probe *probe, struct dumpi_set *set,
                       struct wf_err *err)
{
    if (!probe->is_directory && !is_meta(probe->bytes, probe->n)) {
        (void)wf_err_set(err, WF_EINVAL,
                         "'%.300s' is one rank of a DUMPI trace; name the .meta file or the "
                         "directory of the trace",
                         probe->path);
        return;
    }
    if (probe->is_directory && has_several(probe, err)) {
        return;
    }
    const char *meta = probe->is_directory ? meta_entry(probe) : NULL;
    if (!probe->is_directory || meta != NULL) {
        char *path = meta != NULL ? wf_probe_path(probe, meta) : wf_xstrdup(probe->path);
        open_meta(path, set, err);
        free(path);
    } else {
        /* Without a metafile, the number of files is the number of ranks. */
        set->prefix = wf_probe_path(probe, first_rank_entry(probe));
        set->prefix[strlen(set->prefix) - strlen("-0000.bin")] = '\0';
        while (set->n_ranks < WF_RANKS_MAX && rank_exists(set->prefix, set->n_ranks)) {
            set->n_ranks++;
        }
    }
    if (set->prefix != NULL) {
        check_files(set, err);
    }
}

/* ---- reading the files ---- */

/* What a worker finds in the files that it reads. */
struct worker {
    alignas(
        WF_CACHE_LINE) struct wf_records *records; /* aligned: workers share no cache line */
    int32_t names[WF_DUMPI_FUNCTIONS];             /* numbers in `records`, or NAMES_UNSET */
    uint64_t losses[WF_DUMPI_LOSSES];
    bool seen[WF_DUMPI_CLOCKS];
};

struct opening {
    struct dumpi_set set;
    struct wf_dumpi_comms *comms;
    struct wf_spool *spool;
    enum wf_dumpi_clock clock;
    bool *has_wildcards; /* the rank has receives that must be matched */
    struct wf_dumpi_plans plans;
    uint32_t n_workers;
    struct worker workers[WF_TRACE_WORKERS_MAX];
};

static void count_record(struct opening *o, struct worker *worker, uint32_t rank,
                         const struct wf_dumpi_file *file, const struct wf_dumpi_record *record)
{
    int32_t *name = &worker->names[record->function];

    if (*name == NAMES_UNSET) {
        *name =
            (int32_t)wf_records_name(worker->records, wf_dumpi_call(record->function)->name);
    }
    wf_records_add(worker->records, rank, (uint32_t)*name, wf_dumpi_own_bytes(file, record));
    if (!o->plans.of[record->function].skims) {
        wf_dumpi_comms_collect(o->comms, rank, record);
    }
    if (record->function == CANCEL ||
        (record->function == IRECV && (record->values[2] == -1 || record->values[3] == -1))) {
        o->has_wildcards[rank] = true;
    }
    for (uint32_t clock = 0; clock < WF_DUMPI_CLOCKS; clock++) {
        worker->seen[clock] = worker->seen[clock] || record->has_time[clock];
    }
}

static void open_rank(const struct opening *o, uint32_t rank, struct wf_dumpi_file *file,
                      struct wf_err *err)
{
    char *path = rank_path(o->set.prefix, rank);

    wf_dumpi_file_open(file, path, rank, &o->plans, err);
    free(path);
}

/* Counts the records of a rank and collects its communicators. */
static void survey(void *arg, uint32_t worker, uint32_t rank, struct wf_err *err)
{
    struct opening *o = arg;
    struct wf_dumpi_file file;
    struct wf_dumpi_record record;

    open_rank(o, rank, &file, err);
    while (wf_dumpi_file_skim(&file, &record)) {
        count_record(o, &o->workers[worker], rank, &file, &record);
    }
    wf_dumpi_file_close(&file);
}

static void write_rank(void *arg, uint32_t worker, uint32_t rank, struct wf_err *err)
{
    struct opening *o = arg;
    struct wf_dumpi_file file;
    struct wf_dumpi_walk walk = {.file = &file,
                                 .comms = o->comms,
                                 .spool = wf_spool_part(o->spool, worker),
                                 .clock = o->clock,
                                 .losses = o->workers[worker].losses,
                                 .rank = rank};

    open_rank(o, rank, &file, err);
    wf_dumpi_walk_rank(&walk, o->has_wildcards[rank]);
    wf_spool_rank_ends(walk.spool, rank);
    wf_dumpi_file_close(&file);
}

static void add_notes(const struct opening *o, uint64_t n_unresolved, struct wf_trace *out)
{
    static const char *const texts[WF_DUMPI_LOSSES] = {
        [WF_DUMPI_IGNORED] = "calls were made while recording was off and are not in the trace",
        [WF_DUMPI_UNRESOLVED] = "communicators are not known, since not all ranks recorded the "
                                "calls that create them",
        [WF_DUMPI_LOST_COMM] = "calls on communicators or windows whose creation is not "
                               "recorded are read as calls without messages",
        [WF_DUMPI_INTER] = "collectives between two groups are read as calls without messages",
        [WF_DUMPI_TYPE] =
            "calls have a datatype whose size is not recorded; it counts as 0 bytes",
        [WF_DUMPI_SYNC] = "calls that lock, post or start windows are read as calls without "
                          "effect",
        [WF_DUMPI_THREAD] = "calls of further threads are read as calls of the first",
        [WF_DUMPI_UNMATCHED] =
            "receives and probes have wildcards, and what they matched is not recorded",
        [WF_DUMPI_NO_CLOCK] =
            "records have no time of the clock; they follow the ones before at once",
    };

    for (uint32_t loss = 0; loss < WF_DUMPI_LOSSES; loss++) {
        uint64_t n = loss == WF_DUMPI_UNRESOLVED ? n_unresolved : 0;
        for (uint32_t i = 0; i < o->n_workers; i++) {
            n += o->workers[i].losses[loss];
        }
        wf_trace_note_count(out, n, texts[loss]);
    }
}

/* Surveys all files, which tells the number of records, the communicators and the clocks. */
static void survey_all(struct opening *o, struct wf_trace *out, struct wf_err *err)
{
    struct wf_records *records[WF_TRACE_WORKERS_MAX];
    bool seen[WF_DUMPI_CLOCKS] = {false};

    for (uint32_t i = 0; i < o->n_workers && i < WF_TRACE_WORKERS_MAX; i++) {
        struct worker *worker = &o->workers[i];
        records[i] = worker->records = wf_records_new(o->set.n_ranks);
        for (uint32_t k = 0; k < WF_DUMPI_FUNCTIONS; k++) {
            worker->names[k] = NAMES_UNSET;
        }
    }
    wf_dumpi_plans_init(&o->plans, wf_dumpi_survey_skims);
    wf_trace_visit_all(o->set.n_ranks, o->n_workers, survey, o, err);
    out->records = wf_records_new(o->set.n_ranks);
    wf_records_merge(out->records, records, o->n_workers);
    for (uint32_t i = 0; i < o->n_workers; i++) {
        seen[WF_DUMPI_WALL] |= o->workers[i].seen[WF_DUMPI_WALL];
        seen[WF_DUMPI_CPU] |= o->workers[i].seen[WF_DUMPI_CPU];
    }
    if (!wf_trace_failed(err) && !seen[o->clock] && seen[1 - o->clock]) {
        wf_trace_note(out, "there is no time of the clock '%s'; computing is by '%s'",
                      clock_names[o->clock], clock_names[1 - o->clock]);
        o->clock = (enum wf_dumpi_clock)(1 - o->clock);
    }
}

static void read_all(struct opening *o, struct wf_trace *out, struct wf_err *err)
{
    survey_all(o, out, err);
    if (wf_trace_failed(err)) {
        return;
    }
    uint64_t n_unresolved = wf_dumpi_comms_resolve(o->comms);
    if (wf_spool_new_parts(o->set.n_ranks, o->n_workers, &o->spool, err) == WF_OK) {
        wf_trace_visit_all(o->set.n_ranks, o->n_workers, write_rank, o, err);
        add_notes(o, n_unresolved, out);
    }
}

static enum wf_status open_trace(const struct wf_reader_probe *probe, const void *params,
                                 struct wf_trace *out, struct wf_err *err)
{
    const struct dumpi_params *p = params;
    struct opening o = {.clock = (enum wf_dumpi_clock)p->clock};

    find_files(probe, &o.set, err);
    if (o.set.prefix != NULL && !wf_trace_failed(err)) {
        o.n_workers = wf_trace_workers(o.set.n_ranks);
        o.comms = wf_dumpi_comms_new(o.set.n_ranks);
        o.has_wildcards = wf_xcalloc(o.set.n_ranks, sizeof(*o.has_wildcards));
        read_all(&o, out, err);
    }
    (void)wf_spool_end(o.spool, "dumpi", &out->source, err);
    wf_dumpi_comms_free(o.comms);
    free(o.has_wildcards);
    free(o.set.prefix);
    return err->status;
}

const struct wf_reader_ops wf_dumpi_reader_ops = {
    .name = "dumpi",
    .summary = "DUMPI of SST: a .meta file, or its directory",
    .params = params_table,
    .params_size = sizeof(struct dumpi_params),
    .detect = detect,
    .open = open_trace,
};
