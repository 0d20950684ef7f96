/* SPDX-License-Identifier: Apache-2.0 */
/* SimGrid's time-independent traces. */
#include "base/mem.h"
#include "trace/reader.h"
#include "trace/ti/reading.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS "\r\n\t "

struct ti_params {
    double flop_rate;
};

static const struct wf_param params_table[] = {
    {.name = "flop_rate",
     .type = WF_PARAM_REAL,
     .offset = offsetof(struct ti_params, flop_rate),
     .def = "1e9",
     .min = "1",
     .doc = "Flops, or whatever amounts of computing are, in a second"},
    WF_PARAM_END,
};

/* ---- which files ---- */

/* Whether the first line that says something is an action, as far as it is there. */
static bool is_action(const unsigned char *bytes, size_t n)
{
    char text[WF_PROBE_BYTES + 1];

    memcpy(text, bytes, n);
    text[n] = '\0';
    const char *rank = text + strspn(text, BLANKS);
    size_t digits = strspn(rank, "0123456789");
    const char *action = rank + digits + strspn(rank + digits, " \t");
    size_t length = strcspn(action, BLANKS);
    return digits > 0 && action > rank + digits && wf_ti_find(action, length) != NULL;
}

static char *path_beside(const struct wf_reader_probe *probe, const char *name)
{
    return name[0] == '/' ? wf_xstrdup(name) : wf_probe_path(probe, name);
}

/* A list has the names of files with actions. */
static bool is_list(const struct wf_reader_probe *probe)
{
    unsigned char bytes[WF_PROBE_BYTES];
    char name[WF_PROBE_BYTES + 1];

    memcpy(name, probe->bytes, probe->n);
    name[probe->n] = '\0';
    char *first = name + strspn(name, BLANKS);
    first[strcspn(first, BLANKS)] = '\0';
    if (first[0] == '\0' || first[0] == '/') {
        return false;
    }
    size_t n = wf_probe_read(probe, first, bytes, sizeof(bytes));
    return is_action(bytes, n);
}

static bool detect(const struct wf_reader_probe *probe)
{
    return !probe->is_directory && (is_action(probe->bytes, probe->n) || is_list(probe));
}

static void add_path(struct wf_ti_reading *r, char *path)
{
    r->paths = wf_xrealloc(r->paths, (size_t)r->n_paths + 1, sizeof(*r->paths));
    r->paths[r->n_paths++] = path;
}

static enum wf_status find_files(struct wf_ti_reading *r, const struct wf_reader_probe *probe)
{
    char *line = NULL;
    size_t capacity = 0;

    if (is_action(probe->bytes, probe->n)) {
        add_path(r, wf_xstrdup(probe->path));
        return WF_OK;
    }
    FILE *in = fopen(probe->path, "rbe");
    if (in == NULL) {
        return wf_err_set(r->err, WF_EIO, "cannot read '%.300s'", probe->path);
    }
    r->by_rank = true;
    while (getline(&line, &capacity, in) > 0) {
        char *name = line + strspn(line, BLANKS);
        name[strcspn(name, "\r\n")] = '\0';
        if (name[0] != '\0') {
            add_path(r, path_beside(probe, name));
        }
    }
    free(line);
    (void)fclose(in);
    return WF_OK;
}

/* ---- how many ranks ---- */

typedef enum wf_status (*line_fn)(struct wf_ti_reading *r);

static enum wf_status each_line(struct wf_ti_reading *r, line_fn visit)
{
    enum wf_status status = WF_OK;

    for (uint32_t file = 0; file < r->n_paths && status == WF_OK; file++) {
        bool more = true;
        status = wf_ti_text_open(&r->text, r->paths[file], r->err);
        while (status == WF_OK && more) {
            status = wf_ti_text_next(&r->text, &more, r->err);
            if (status == WF_OK && more && r->by_rank && r->text.rank != file) {
                status = wf_ti_text_bad(
                    &r->text, r->err, "an action of another rank in the file of rank %" PRIu32,
                    file);
            }
            if (status == WF_OK && more) {
                status = visit(r);
            }
        }
        wf_ti_text_close(&r->text);
    }
    return status;
}

/* Ranks are believed only if those before them are there too, so that a number in a line costs
 * no memory by itself. */
static enum wf_status see_rank(struct wf_ti_reading *r)
{
    uint32_t rank = r->text.rank;

    if (rank >= r->n_ranks) {
        uint32_t n = rank + 1;
        if (rank > r->n_ranks * 2 + (1 << 16)) {
            return wf_ti_text_bad(&r->text, r->err,
                                  "a rank far behind all ranks seen before, up to %" PRIu32,
                                  r->n_ranks);
        }
        r->ranks = wf_xrealloc(r->ranks, n, sizeof(*r->ranks));
        memset(r->ranks + r->n_ranks, 0, (n - r->n_ranks) * sizeof(*r->ranks));
        r->n_ranks = n;
    }
    r->ranks[rank].has_lines = true;
    return WF_OK;
}

static enum wf_status count_ranks(struct wf_ti_reading *r, const char *path)
{
    enum wf_status status = each_line(r, see_rank);

    for (uint32_t file = 0; r->by_rank && file < r->n_paths && status == WF_OK; file++) {
        if (file >= r->n_ranks || !r->ranks[file].has_lines) {
            status = wf_err_set(r->err, WF_EINVAL,
                                "%.200s: no action in '%.200s', the file of rank %" PRIu32,
                                path, r->paths[file], file);
        }
    }
    for (uint32_t rank = 0; rank < r->n_ranks && status == WF_OK; rank++) {
        if (!r->ranks[rank].has_lines) {
            status =
                wf_err_set(r->err, WF_EINVAL,
                           "%.300s: rank %" PRIu32 " has no action, but rank %" PRIu32 " has",
                           path, rank, r->n_ranks - 1);
        }
    }
    if (status == WF_OK && r->n_ranks == 0) {
        status = wf_err_set(r->err, WF_EINVAL, "%.300s: no rank has an action", path);
    }
    return status;
}

/* ---- all ---- */

static void release(struct wf_ti_reading *r)
{
    for (uint32_t i = 0; i < r->n_paths; i++) {
        free(r->paths[i]);
    }
    for (uint32_t rank = 0; rank < r->n_ranks; rank++) {
        if (r->ranks[rank].requests != NULL) {
            wf_open_requests_fini(r->ranks[rank].requests);
            free(r->ranks[rank].requests);
        }
    }
    for (uint32_t i = 0; i < WF_TI_VECTORS; i++) {
        wf_buf_fini(&r->vectors[i]);
    }
    wf_buf_fini(&r->numbers);
    free(r->paths);
    free(r->ranks);
}

/* Text that is cut off between two lines looks whole but for this. */
static void note_unfinished(const struct wf_ti_reading *r, struct wf_trace *out)
{
    uint32_t n = 0, first = 0;

    for (uint32_t rank = r->n_ranks; rank-- > 0;) {
        if (!r->ranks[rank].is_finished) {
            first = rank;
            n++;
        }
    }
    if (n > 0) {
        wf_trace_note(out,
                      "the actions of %" PRIu32 " ranks, the first of them %" PRIu32
                      ", do not end in finalize: the trace may be truncated",
                      n, first);
    }
}

static enum wf_status read_all(struct wf_ti_reading *r, struct wf_trace *out)
{
    out->records = wf_records_new(r->n_ranks);
    r->records = out->records;
    for (uint32_t i = 0; wf_ti_actions[i].name != NULL; i++) {
        r->names[i] = wf_records_name(r->records, wf_ti_actions[i].name);
    }
    enum wf_status status = wf_spool_new(r->n_ranks, &r->spool, r->err);
    if (status != WF_OK) {
        return status;
    }
    struct wf_trace_writer *writer = wf_spool_writer(r->spool);
    writer->ops->name_of(writer, WF_NAME_COUNTER, 0, "flops");
    status = each_line(r, wf_ti_line);
    if (status != WF_OK) {
        wf_spool_discard(r->spool);
        return status;
    }
    note_unfinished(r, out);
    if (r->n_types > 0) {
        wf_trace_note(out,
                      "%" PRIu64 " actions have a datatype that is not known; it counts as "
                      "1 byte",
                      r->n_types);
    }
    return wf_spool_source(r->spool, "ti", &out->source, r->err);
}

static enum wf_status open_trace(const struct wf_reader_probe *probe, const void *params,
                                 struct wf_trace *out, struct wf_err *err)
{
    struct wf_ti_reading r = {.flop_rate = ((const struct ti_params *)params)->flop_rate,
                              .err = err};

    enum wf_status status = find_files(&r, probe);
    if (status == WF_OK) {
        status = count_ranks(&r, probe->path);
    }
    if (status == WF_OK) {
        status = read_all(&r, out);
    }
    release(&r);
    return status;
}

const struct wf_reader_ops wf_ti_reader_ops = {
    .name = "ti",
    .summary = "SimGrid's time-independent actions: a file, or a list of one for each rank",
    .params = params_table,
    .params_size = sizeof(struct ti_params),
    .detect = detect,
    .open = open_trace,
};
