/* SPDX-License-Identifier: Apache-2.0 */
/* What every registered reader of traces must do. A reader joins by being registered, with a
 * sample: a trace in tests/data/traces/<name of the reader>/, or a writer of the same name. With the
 * reader of a plug-in (WEFT_TEST_ONLY) WEFT_TEST_SAMPLE names the trace, a file or a directory. */
#include "base/mem.h"
#include "program/ops/fields.h"
#include "program/trace/reader.h"
#include "program/trace/writer.h"

#include "harness/wf_test.h"

#include <dirent.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SAMPLES_MAX = 32,
    FILES_MAX = 16,
    PATH = 512,
    OPS_MAX = 100000,
    RANKS_MAX = 64,
    CUTS = 60
};

/* A trace in a directory of its own. */
struct sample {
    const struct wf_reader_ops *reader;
    char directory[PATH];
    char path[PATH]; /* what names the trace: the directory or something in it */
    char files[FILES_MAX][PATH];
    uint32_t n_files;
};

static char root[] = "/tmp/weft-readers-XXXXXX";
static struct sample samples[SAMPLES_MAX];
static uint32_t n_samples;

/* ---- samples ---- */

static struct sample *listing; /* whose files are listed */

static int list_file(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    if (kind == FTW_F && listing->n_files < FILES_MAX) {
        (void)snprintf(listing->files[listing->n_files++], PATH, "%s", path);
    }
    return 0;
}

static struct sample *new_sample(const struct wf_reader_ops *reader, const char *kind)
{
    struct sample *sample = &samples[n_samples++];

    *sample = (struct sample){.reader = reader};
    (void)snprintf(sample->directory, PATH, "%s/%s-%s", root, reader->name, kind);
    if (n_samples > SAMPLES_MAX || mkdir(sample->directory, 0777) != 0) {
        abort();
    }
    return sample;
}

static size_t read_bytes(const char *path, unsigned char **bytes)
{
    struct stat st;
    FILE *in = fopen(path, "rb");

    if (in == NULL || fstat(fileno(in), &st) != 0) {
        abort();
    }
    size_t size = (size_t)st.st_size;
    *bytes = wf_xmalloc(size + 1);
    if (fread(*bytes, 1, size, in) != size) {
        abort();
    }
    (void)fclose(in);
    return size;
}

static void write_bytes(const char *path, const unsigned char *bytes, size_t size)
{
    FILE *out = fopen(path, "wb");

    if (out == NULL || fwrite(bytes, 1, size, out) != size || fclose(out) != 0) {
        abort();
    }
}

/* Copies a file into the sample, which it then names. */
static void add_file(struct sample *sample, const char *from, const char *name)
{
    unsigned char *bytes = NULL;
    size_t size = read_bytes(from, &bytes);

    (void)snprintf(sample->path, PATH, "%.200s/%.255s", sample->directory, name);
    write_bytes(sample->path, bytes, size);
    free(bytes);
}

/* Copies the files in a directory; a trace of one file is named by that file. */
static void add_stored(const struct wf_reader_ops *reader, const char *from)
{
    char path[2 * PATH];
    struct dirent *entry;
    DIR *dir = opendir(from);

    if (dir == NULL) {
        return;
    }
    struct sample *sample = new_sample(reader, "stored");
    uint32_t n = 0;
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] != '.') {
            (void)snprintf(path, sizeof(path), "%s/%s", from, entry->d_name);
            add_file(sample, path, entry->d_name);
            n++;
        }
    }
    (void)closedir(dir);
    if (n != 1) {
        memcpy(sample->path, sample->directory, sizeof(sample->path));
    }
}

/* The sample of a plug-in's reader, which its user names. */
static bool add_given(const struct wf_reader_ops *reader)
{
    const char *given = getenv("WEFT_TEST_SAMPLE");
    struct stat st;

    if (given == NULL) {
        return false;
    }
    if (stat(given, &st) != 0) {
        printf("# no file %s\n", given);
    } else if (S_ISDIR(st.st_mode)) {
        add_stored(reader, given);
    } else {
        const char *slash = strrchr(given, '/');
        add_file(new_sample(reader, "given"), given, slash != NULL ? slash + 1 : given);
    }
    return true;
}

/* A program of two ranks that every format can hold. */
static enum wf_status write_program(struct wf_trace_writer *writer, struct wf_err *err)
{
    enum wf_status status = WF_OK;

    for (uint32_t rank = 0; rank < 2; rank++) {
        const uint32_t other = 1 - rank;
        const struct wf_op ops[] = {
            {.kind = WF_OP_COMPUTE, .duration = 1000000},
            {.kind = WF_OP_IRECV, .request = 1, .peer = other, .tag = 3, .bytes = 800},
            {.kind = WF_OP_ISEND, .request = 2, .peer = other, .tag = 3, .bytes = 800},
            {.kind = WF_OP_WAITALL, .request = 1, .count = 2},
            {.kind = WF_OP_COMPUTE, .duration = 5000000},
            {.kind = rank == 0 ? WF_OP_SEND : WF_OP_RECV, .peer = other, .bytes = 70000},
            {.kind = WF_OP_ALLREDUCE, .bytes = 8, .reduction = WF_REDUCE_SUM},
            {.kind = WF_OP_BARRIER},
        };

        for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]) && status == WF_OK; i++) {
            status = writer->ops->add(writer, rank, &ops[i], err);
        }
    }
    return status;
}

static void add_written(const struct wf_reader_ops *reader)
{
    const struct wf_trace_writer_options options = {.n_ranks = 2, .creator = "a test"};

    for (const struct wf_trace_writer_ops *const *w = wf_trace_writer_table(); *w != NULL;
         w++) {
        struct wf_trace_writer *writer = NULL;
        struct wf_err err;

        if (strcmp((*w)->name, reader->name) != 0) {
            continue;
        }
        struct sample *sample = new_sample(reader, "written");
        char path[PATH]; /* beside the sample, in which source and destination would overlap */
        (void)snprintf(path, sizeof(path), "%.400s/t%s", sample->directory, (*w)->extension);
        memcpy(sample->path, path, sizeof(path));
        if ((*w)->create(sample->path, &options, &writer, &err) != WF_OK) {
            /* The library of this format was not there when weft was built. */
            n_samples--;
            continue;
        }
        CHECK(write_program(writer, &err) == WF_OK);
        CHECK((*w)->finish(writer, &err) == WF_OK);
    }
}

static bool writer_is_absent(const struct wf_reader_ops *reader)
{
    return strcmp(reader->name, "otf2") == 0;
}

static void every_reader_has_a_sample(void)
{
    for (const struct wf_reader_ops *const *r = wf_reader_table(); *r != NULL; r++) {
        uint32_t before = n_samples;
        char stored[PATH];
        if (!wf_test_wants((*r)->name)) {
            continue;
        }
        (void)snprintf(stored, PATH, "%s/traces/%s", WF_TEST_DATA, (*r)->name);
        if (!add_given(*r)) {
            add_stored(*r, stored);
            add_written(*r);
        }
        if (n_samples == before && !writer_is_absent(*r)) {
            printf("# the reader '%s' has no sample in tests/data/traces/%s\n", (*r)->name,
                   (*r)->name);
            CHECK(false);
        }
        for (uint32_t i = before; i < n_samples; i++) {
            listing = &samples[i];
            CHECK(nftw(samples[i].directory, list_file, 8, FTW_PHYS) == 0);
            CHECK(samples[i].n_files > 0);
        }
    }
}

/* ---- what is read ---- */

static uint64_t mix(uint64_t sum, uint64_t value)
{
    sum = (sum ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return sum ^ sum >> 29;
}

/* Adds the next op of a rank to its sum. False at the end, or if the op makes no sense. */
static bool add_op(const struct wf_source *source, uint32_t rank, struct wf_cursor *cursor,
                   uint64_t *sum)
{
    struct wf_group group;
    struct wf_op_parts parts;
    struct wf_op op;

    if (!wf_source_next(source, rank, cursor, &op)) {
        return false;
    }
    uint32_t comm = wf_op_has_comm(op.kind) ? op.comm : WF_COMM_WORLD;
    bool known = wf_source_group(source, rank, comm, &group);
    const char *fault = known ? wf_op_fault(&op, &group) : "no such communicator";
    if (fault != NULL) {
        printf("# rank %u, a %s: %s\n", rank, wf_op_name(op.kind), fault);
        *sum = 0;
        return false;
    }
    wf_op_take_apart(&op, group.size, &parts);
    *sum = mix(*sum, op.kind);
    for (uint32_t i = 0; i < parts.layout->n_fields; i++) {
        *sum = mix(*sum, parts.values[i]);
    }
    for (uint32_t i = 0; i < parts.layout->n_arrays; i++) {
        const uint64_t *wide = parts.arrays[i];
        const uint32_t *narrow = parts.arrays[i];
        for (uint32_t k = 0; parts.arrays[i] != NULL && k < parts.lengths[i]; k++) {
            bool is_wide = parts.layout->arrays[i].width == WF_FIELD_64;
            *sum = mix(*sum, is_wide ? wide[k] : narrow[k]);
        }
    }
    return true;
}

/* Sums over the ops of each rank, rank by rank or all in turn; 0 for ops that make no sense or
 * never end. */
static void sum_ops(const struct wf_source *source, bool in_turn, uint64_t *sums)
{
    static struct wf_cursor cursors[RANKS_MAX];
    uint32_t n = source->n_ranks < RANKS_MAX ? source->n_ranks : RANKS_MAX;
    bool more = true;

    memset(cursors, 0, sizeof(cursors));
    for (uint32_t rank = 0; rank < n; rank++) {
        sums[rank] = 1;
    }
    for (uint32_t turn = 0; in_turn && more && turn < OPS_MAX; turn++) {
        more = false;
        for (uint32_t rank = 0; rank < n; rank++) {
            more |= add_op(source, rank, &cursors[rank], &sums[rank]);
        }
    }
    for (uint32_t rank = 0; !in_turn && rank < n; rank++) {
        uint32_t ops = 0;
        while (ops < OPS_MAX && add_op(source, rank, &cursors[rank], &sums[rank])) {
            ops++;
        }
        sums[rank] = ops < OPS_MAX ? sums[rank] : 0;
    }
}

/* Whether a task that has run has the same followers as before. */
static bool keeps_followers(const struct wf_graph *graph, const struct wf_task *task)
{
    struct wf_task over = {.n_next = 0};

    if (graph->ops->over == NULL) {
        return true;
    }
    graph->ops->over(graph, task->pe, task->number, &over);
    bool same =
        over.pe == task->pe && over.number == task->number && over.n_next == task->n_next;
    for (uint32_t i = 0; same && i < task->n_next; i++) {
        same = graph->ops->next(graph, &over, i) == graph->ops->next(graph, task, i);
    }
    return same;
}

/* Likewise the sum of a PE's tasks, each of which makes sense; 0 if one does not. */
static uint64_t sum_tasks(const struct wf_graph *graph, uint32_t pe)
{
    uint32_t n = graph->ops->n_tasks(graph, pe);
    uint64_t sum = 1, waited_for = 0, waits = 0;

    for (uint32_t number = 0; number < n; number++) {
        struct wf_task_needs needs = graph->ops->needs(graph, pe, number);
        struct wf_task_send send = {.offset = 0};
        struct wf_task task;

        if (graph->ops->fetch != NULL) {
            graph->ops->fetch(graph, pe, number);
        }
        graph->ops->task(graph, pe, number, &task);
        if (!keeps_followers(graph, &task)) {
            return 0;
        }
        sum = mix(mix(sum, (uint64_t)task.duration), needs.messages);
        waits += needs.tasks;
        waited_for += task.n_next;
        int64_t before = 0;
        for (uint32_t i = 0; i < task.n_sends; i++) {
            graph->ops->send(graph, &task, i, &send);
            if (send.pe >= graph->n_pes || send.offset < before ||
                send.offset > task.duration) {
                return 0;
            }
            before = send.offset;
            sum = mix(mix(sum, send.bytes), wf_graph_target(graph, send.pe, pe, send.id));
        }
        for (uint32_t i = 0; i < task.n_next; i++) {
            uint32_t next = graph->ops->next(graph, &task, i);
            if (next >= n) {
                return 0;
            }
            sum = mix(sum, next);
        }
    }
    /* A trace that is cut off has tasks that wait for some that are missing. */
    return waits >= waited_for ? sum : 0;
}

static void sum_trace(const struct wf_trace *trace, bool in_turn, uint64_t *sums)
{
    if (trace->source != NULL) {
        sum_ops(trace->source, in_turn, sums);
        return;
    }
    uint32_t n = trace->graph->n_pes < RANKS_MAX ? trace->graph->n_pes : RANKS_MAX;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t pe = in_turn ? n - 1 - i : i;
        sums[pe] = sum_tasks(trace->graph, pe);
    }
}

static enum wf_status check(const struct wf_trace *trace, struct wf_err *err)
{
    return trace->source != NULL ? wf_source_check(trace->source, err)
                                 : wf_graph_check(trace->graph, err);
}

/* ---- the tests ---- */

static void a_reader_knows_its_own_traces_and_no_others(void)
{
    for (uint32_t i = 0; i < n_samples; i++) {
        const struct wf_reader_ops *found = NULL;
        struct wf_reader_probe probe;
        struct wf_err err;

        CHECK(wf_reader_find(samples[i].path, &probe, &found, &err) == WF_OK);
        CHECK(found == samples[i].reader);
        for (const struct wf_reader_ops *const *r = wf_reader_table(); *r != NULL; r++) {
            CHECK((*r)->detect(&probe) == (*r == samples[i].reader));
        }
        wf_reader_probe_fini(&probe);
    }
}

static void what_is_read_makes_sense_and_is_always_the_same(void)
{
    for (uint32_t i = 0; i < n_samples; i++) {
        uint64_t first[RANKS_MAX] = {0}, again[RANKS_MAX] = {0}, reopened[RANKS_MAX] = {0};
        struct wf_trace trace;
        struct wf_err err;

        CHECK(wf_trace_open(samples[i].path, &trace, &err) == WF_OK);
        CHECK((trace.source != NULL) != (trace.graph != NULL));
        CHECK(trace.reader == samples[i].reader);
        uint32_t n = trace.source != NULL ? trace.source->n_ranks : trace.graph->n_pes;
        CHECK(n > 0 && n <= RANKS_MAX);
        sum_trace(&trace, false, first);
        sum_trace(&trace, true, again);
        CHECK(check(&trace, &err) == WF_OK);
        wf_trace_review(&trace);
        wf_trace_close(&trace);
        CHECK(wf_trace_open(samples[i].path, &trace, &err) == WF_OK);
        sum_trace(&trace, true, reopened);
        CHECK(check(&trace, &err) == WF_OK);
        wf_trace_close(&trace);
        for (uint32_t rank = 0; rank < n; rank++) {
            CHECK(first[rank] != 0);
            CHECK_U64(first[rank], again[rank]);
            CHECK_U64(first[rank], reopened[rank]);
        }
    }
}

/* Whatever is at the path is read or refused; refusing names the file. */
static void read_or_refuse(const struct sample *sample)
{
    uint64_t sums[RANKS_MAX] = {0};
    struct wf_err err = {.status = WF_OK};
    struct wf_trace trace;

    enum wf_status status = wf_trace_open(sample->path, &trace, &err);
    if (status == WF_OK) {
        uint32_t n = trace.source != NULL ? trace.source->n_ranks : trace.graph->n_pes;
        sum_trace(&trace, false, sums);
        for (uint32_t rank = 0; rank < n && rank < RANKS_MAX; rank++) {
            CHECK(sums[rank] != 0);
        }
        status = check(&trace, &err);
        wf_trace_close(&trace);
    }
    if (status != WF_OK) {
        CHECK(status == WF_EINVAL || status == WF_EIO);
        if (strstr(err.text, sample->directory) == NULL) {
            printf("# names no file of %s: %s\n", sample->directory, err.text);
            CHECK(false);
        }
    }
}

static void a_truncated_file_is_read_or_refused(void)
{
    for (uint32_t i = 0; i < n_samples; i++) {
        for (uint32_t file = 0; file < samples[i].n_files; file++) {
            const char *path = samples[i].files[file];
            unsigned char *bytes = NULL;
            size_t size = read_bytes(path, &bytes);
            size_t step = size / CUTS * WF_TEST_ONE_IN + 1;

            for (size_t cut = 0; cut < size && !wf_test_failed; cut += step) {
                write_bytes(path, bytes, cut);
                read_or_refuse(&samples[i]);
            }
            write_bytes(path, bytes, size);
            free(bytes);
            CHECK(!wf_test_failed);
        }
    }
}

/* In place of a file: nothing, a directory, a pipe that nobody writes to. */
static void what_is_no_file_is_refused(void)
{
    for (uint32_t i = 0; i < n_samples; i++) {
        for (uint32_t file = 0; file < samples[i].n_files; file++) {
            const char *path = samples[i].files[file];
            unsigned char *bytes = NULL;
            size_t size = read_bytes(path, &bytes);

            CHECK(unlink(path) == 0);
            read_or_refuse(&samples[i]);
            CHECK(mkdir(path, 0777) == 0);
            read_or_refuse(&samples[i]);
            CHECK(rmdir(path) == 0 && mkfifo(path, 0666) == 0);
            read_or_refuse(&samples[i]);
            CHECK(unlink(path) == 0);
            write_bytes(path, bytes, size);
            free(bytes);
            CHECK(!wf_test_failed);
        }
    }
}

static void nothing_and_an_empty_file_or_directory_are_no_trace(void)
{
    char path[PATH];
    struct wf_trace trace;
    struct wf_err err;

    (void)snprintf(path, PATH, "%s/absent", root);
    CHECK(wf_trace_open(path, &trace, &err) == WF_EIO && strstr(err.text, path) != NULL);
    write_bytes(path, (const unsigned char *)"", 0);
    CHECK(wf_trace_open(path, &trace, &err) == WF_EINVAL && strstr(err.text, path) != NULL);
    CHECK(unlink(path) == 0 && mkdir(path, 0777) == 0);
    CHECK(wf_trace_open(path, &trace, &err) == WF_EINVAL && strstr(err.text, path) != NULL);
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    return remove(path);
}

static void clean(void)
{
    (void)nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

int main(void)
{
    if (mkdtemp(root) == NULL || atexit(clean) != 0) {
        return EXIT_FAILURE;
    }
    RUN(every_reader_has_a_sample);
    RUN(a_reader_knows_its_own_traces_and_no_others);
    RUN(what_is_read_makes_sense_and_is_always_the_same);
    RUN(a_truncated_file_is_read_or_refused);
    RUN(what_is_no_file_is_refused);
    RUN(nothing_and_an_empty_file_or_directory_are_no_trace);
    return wf_test_done();
}
