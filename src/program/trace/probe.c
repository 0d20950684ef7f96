/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"
#include "base/file.h"
#include "base/file_kind.h"
#include "base/mem.h"
#include "base/text.h"
#include "program/trace/kit/records.h"
#include "program/trace/reader.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD_BYTES = 4096 };

static enum wf_status cannot_read(const char *path, struct wf_err *err)
{
    return wf_err_set(err, WF_EIO, "cannot read '%.300s': %s", path, strerror(errno));
}

/* ---- files and directories ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static enum wf_status list_directory(struct wf_reader_probe *probe, struct wf_err *err)
{
    DIR *dir = opendir(probe->path);
    size_t capacity = 0;

    if (dir == NULL) {
        return cannot_read(probe->path, err);
    }
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        if (probe->n_entries == capacity) {
            capacity = capacity * 2 + 16;
            probe->entries = wf_xrealloc(probe->entries, capacity, sizeof(*probe->entries));
        }
        probe->entries[probe->n_entries++] = wf_xstrdup(entry->d_name);
    }
    (void)closedir(dir);
    /* readdir() returns the files in no particular order. */
    WF_SORT(probe->entries, probe->n_entries, by_name);
    return WF_OK;
}

static enum wf_status probe_path(const char *path, struct wf_reader_probe *probe,
                                 struct wf_err *err)
{
    struct stat st;

    memset(probe, 0, sizeof(*probe));
    probe->path = path;
    if (stat(path, &st) != 0) {
        return cannot_read(path, err);
    }
    probe->is_directory = S_ISDIR(st.st_mode);
    if (probe->is_directory) {
        return list_directory(probe, err);
    }
    if (!S_ISREG(st.st_mode)) {
        return wf_err_set(err, WF_EINVAL, "'%.300s' is no file: traces are read from files",
                          path);
    }
    if (access(path, R_OK) != 0) {
        return cannot_read(path, err);
    }
    unsigned char head[HEAD_BYTES + 1];
    head[wf_file_head(path, head, HEAD_BYTES)] = '\0';
    WF_TRY(wf_file_refuse(path, (const char *)head, "a trace", err));
    probe->n = wf_file_head(path, probe->bytes, WF_PROBE_BYTES);
    return WF_OK;
}

void wf_reader_probe_fini(struct wf_reader_probe *probe)
{
    for (size_t i = 0; i < probe->n_entries; i++) {
        free(probe->entries[i]);
    }
    free(probe->entries);
    probe->entries = NULL;
    probe->n_entries = 0;
}

/* The format of a directory may be unknown only because one of its files cannot be read: then
 * that is the error to report. */
static enum wf_status check_entries(const struct wf_reader_probe *probe, struct wf_err *err)
{
    enum wf_status status = WF_OK;

    for (size_t i = 0; i < probe->n_entries && status == WF_OK; i++) {
        char *path = wf_probe_path(probe, probe->entries[i]);
        if (access(path, R_OK) != 0) {
            status = wf_err_set(err, WF_EIO, "cannot read '%.300s': %s", path, strerror(errno));
        }
        free(path);
    }
    return status;
}

enum wf_status wf_reader_find(const char *path, struct wf_reader_probe *probe,
                              const struct wf_reader_ops **out, struct wf_err *err)
{
    WF_TRY(probe_path(path, probe, err));
    for (const struct wf_reader_ops *const *ops = wf_reader_table(); *ops != NULL; ops++) {
        if ((*ops)->detect(probe)) {
            *out = *ops;
            return WF_OK;
        }
    }
    bool is_empty = probe->n == 0 && probe->n_entries == 0;
    enum wf_status status = check_entries(probe, err);
    wf_reader_probe_fini(probe);
    return status != WF_OK
               ? status
               : wf_err_set(err, WF_EINVAL, "'%.300s' is no trace of a known format%s", path,
                            is_empty ? ": it is empty"
                                     : "; 'weft convert --help' lists those that are read");
}

/* ---- traces ---- */

enum wf_status wf_reader_open(const struct wf_reader_ops *reader,
                              const struct wf_reader_probe *probe, const void *params,
                              struct wf_trace *out, struct wf_err *err)
{
    struct wf_err unwanted = {.status = WF_OK};

    *out = (struct wf_trace){.reader = reader};
    err = err != NULL ? err : &unwanted;
    err->status = WF_OK;
    enum wf_status status = reader->open(probe, params, out, err);

    if (status != WF_OK) {
        wf_trace_close(out);
    }
    return status;
}

enum wf_status wf_trace_open(const char *path, struct wf_trace *out, struct wf_err *err)
{
    const struct wf_reader_ops *reader = NULL;
    struct wf_reader_probe probe;
    void *params = NULL;

    enum wf_status status = wf_reader_find(path, &probe, &reader, err);
    if (status != WF_OK) {
        return status;
    }
    if (reader->params != NULL) {
        params = wf_xcalloc(1, reader->params_size);
        status = wf_param_defaults(reader->params, params, err);
    }
    WF_THEN(status, wf_reader_open(reader, &probe, params, out, err));
    if (reader->params != NULL) {
        wf_param_release(reader->params, params);
        free(params);
    }
    wf_reader_probe_fini(&probe);
    return status;
}

void wf_trace_close(struct wf_trace *trace)
{
    wf_source_free(trace->source);
    wf_graph_free(trace->graph);
    for (size_t i = 0; i < trace->n_notes; i++) {
        free(trace->notes[i]);
    }
    free(trace->notes);
    wf_records_free(trace->records);
    free(trace->devices);
    memset(trace, 0, sizeof(*trace));
}

enum wf_status wf_trace_open_source(const char *path, struct wf_source **out,
                                    struct wf_err *err)
{
    struct wf_trace trace;
    enum wf_status status = wf_trace_open(path, &trace, err);

    if (status != WF_OK) {
        return status;
    }
    if (trace.source == NULL) {
        status = wf_err_set(err, WF_EINVAL, "'%.300s' has tasks instead of operations", path);
    } else {
        *out = trace.source;
        trace.source = NULL;
    }
    wf_trace_close(&trace);
    return status;
}

void wf_trace_review(struct wf_trace *trace)
{
    if (trace->reader != NULL && trace->reader->review != NULL) {
        trace->reader->review(trace);
    }
}

void wf_trace_note(struct wf_trace *trace, const char *fmt, ...)
{
    struct wf_err words = {.status = WF_OK}; /* used for its text buffer */
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(words.text, sizeof(words.text), fmt, args);
    va_end(args);
    wf_err_tame(&words);
    trace->notes = wf_xrealloc(trace->notes, trace->n_notes + 1, sizeof(*trace->notes));
    trace->notes[trace->n_notes++] = wf_xstrdup(words.text);
}

void wf_trace_note_count(struct wf_trace *trace, uint64_t n, const char *words)
{
    if (n > 0) {
        wf_trace_note(trace, "%" PRIu64 " %s", n, words);
    }
}

/* ---- helpers for readers ---- */

const char *wf_probe_entry(const struct wf_reader_probe *probe, const char *ending, size_t *n)
{
    const char *first = NULL;
    size_t length = strlen(ending), found = 0;

    for (size_t i = 0; i < probe->n_entries; i++) {
        size_t all = strlen(probe->entries[i]);
        if (all >= length && strcmp(probe->entries[i] + all - length, ending) == 0) {
            first = first != NULL ? first : probe->entries[i];
            found++;
        }
    }
    if (n != NULL) {
        *n = found;
    }
    return first;
}

char *wf_probe_path(const struct wf_reader_probe *probe, const char *name)
{
    const char *slash = strrchr(probe->path, '/');
    size_t length = strlen(probe->path);

    if (!probe->is_directory) {
        length = slash != NULL ? (size_t)(slash - probe->path) + 1 : 0;
    }
    const char *between = probe->is_directory && probe->path[length - 1] != '/' ? "/" : "";
    return wf_text_make("%.*s%s%s", (int)length, probe->path, between, name);
}

size_t wf_probe_read(const struct wf_reader_probe *probe, const char *name,
                     unsigned char *bytes, size_t n)
{
    char *path = wf_probe_path(probe, name);
    size_t got = wf_file_head(path, bytes, n);

    free(path);
    return got;
}
