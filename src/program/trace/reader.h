/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Readers: each opens traces of one format as a source of ops or as a task graph.
 *
 * To add a format: one .c file that defines a const struct wf_reader_ops and one line in
 * program/trace/readers.def. The first bytes of a file tell its format, never its name. A trace of
 * several files is named by its directory, or by the file that lists the others.
 */

#include "base/registry.h"
#include "program/ops/graph.h"
#include "program/ops/source.h"

enum {
    WF_PROBE_BYTES = 512,
    WF_RANKS_MAX = 1 << 26, /* of any trace */
};

struct wf_records; /* program/trace/kit/records.h */

/* What is at a path: enough to recognise the format. */
struct wf_reader_probe {
    const char *path;
    bool is_directory;
    unsigned char bytes[WF_PROBE_BYTES]; /* the first bytes of the file */
    size_t n;
    char **entries; /* the names in the directory, sorted */
    size_t n_entries;
    uint32_t ranks; /* that are wanted: a reader may have more play a trace of one; 0: any */
};

/* What the accelerators of a rank did, and how much of its computing was at the same time.
 * Times are in picoseconds, and count once however many streams were busy. */
struct wf_trace_device {
    uint32_t n_streams;
    uint64_t n_kernels, n_copies, copied_bytes;
    int64_t kernels, copies; /* in which a kernel ran, and in which a copy did */
    int64_t computing_kernels, computing_copies;
};

/* An open trace: exactly one of the first two is not null. */
struct wf_trace {
    struct wf_source *source;
    struct wf_graph *graph;
    const struct wf_reader_ops *reader; /* set by wf_reader_open() */
    char **notes;                       /* for the user */
    size_t n_notes;
    struct wf_records *records;      /* counts of the records in the files, or null */
    struct wf_trace_device *devices; /* of each rank; null if the trace has none */
};

/* Members marked `may be null` have a default; all others are required. */
struct wf_reader_ops {
    const char *name;
    const char *summary; /* one line, for help */
    /* Parameters of the scope "trace": -p trace.flop_rate=1e9. May be null and 0. */
    const struct wf_param *params;
    size_t params_size;

    /* Whether this is probably a trace of this format. */
    bool (*detect)(const struct wf_reader_probe *probe);

    /* Sets the source or the graph, and adds notes; `out` is zeroed before. `params` is null if
     * there is no table. Neither is kept. `err` is not null, and its status is WF_OK before.
     * On failure, WF_EINVAL or WF_EIO that names the file, the caller closes `out`. */
    enum wf_status (*open)(const struct wf_reader_probe *probe, const void *params,
                           struct wf_trace *out, struct wf_err *err);

    /* Adds notes on what reading the whole trace has shown. May be null. */
    void (*review)(struct wf_trace *trace);
};

#define WF_TRACE_READER(name) extern const struct wf_reader_ops wf_##name##_reader_ops;
#include "program/trace/readers.def"
extern struct wf_registry wf_reader_registry; /* for plug-ins */

/* The registered formats in the order in which they are tried, null-terminated. */
const struct wf_reader_ops *const *wf_reader_table(void);

/* ---- for those who open a trace ---- */

/* Finds the format of what is at a path. On success the caller releases the probe with
 * wf_reader_probe_fini(). */
enum wf_status wf_reader_find(const char *path, struct wf_reader_probe *probe,
                              const struct wf_reader_ops **out, struct wf_err *err);
void wf_reader_probe_fini(struct wf_reader_probe *probe);

/* Opens what wf_reader_find() found. `params` belongs to the table of the reader, or is null.
 * On success the caller closes the trace with wf_trace_close(). */
enum wf_status wf_reader_open(const struct wf_reader_ops *reader,
                              const struct wf_reader_probe *probe, const void *params,
                              struct wf_trace *out, struct wf_err *err);

/* Finds the format and opens the trace, with default parameters. */
enum wf_status wf_trace_open(const char *path, struct wf_trace *out, struct wf_err *err);
void wf_trace_close(struct wf_trace *trace); /* zeroed is allowed; leaves it zeroed */

/* The same for a source of ops; a task graph is WF_EINVAL. */
enum wf_status wf_trace_open_source(const char *path, struct wf_source **out,
                                    struct wf_err *err);

/* Calls review() of the reader, if there is one. */
void wf_trace_review(struct wf_trace *trace);

/* ---- for readers ---- */

WF_PRINTF(2, 3)
WF_PLUGIN_API void wf_trace_note(struct wf_trace *trace, const char *fmt, ...);
/* "<n> <words>", unless n is 0. */
void wf_trace_note_count(struct wf_trace *trace, uint64_t n, const char *words);

/* The first entry of the directory whose name ends in `ending`, or null. Sets *n, unless `n` is
 * null, to the number of such entries. */
WF_PLUGIN_API const char *wf_probe_entry(const struct wf_reader_probe *probe,
                                         const char *ending, size_t *n);

/* The path of `name` in the directory, or beside the file; the caller frees it. */
WF_PLUGIN_API char *wf_probe_path(const struct wf_reader_probe *probe, const char *name);

/* Reads the first bytes, at most `n`, of that file; returns how many. */
size_t wf_probe_read(const struct wf_reader_probe *probe, const char *name,
                     unsigned char *bytes, size_t n);
