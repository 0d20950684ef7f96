/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRACE_READER_H
#define WF_TRACE_READER_H

/*
 * What makes a source of ops or a task graph of a trace, in one format or another.
 *
 * To add a format: one .c file that defines a const struct wf_reader_ops and one line in
 * trace/readers.def. Formats are told apart by the first bytes of a file, never by its name. A
 * trace of several files is named by its directory, or by the one of its files that lists the
 * others.
 */

#include "ops/graph.h"
#include "ops/source.h"

enum {
    WF_PROBE_BYTES = 512,
    WF_RANKS_MAX = 1 << 26, /* of any trace */
};

struct wf_records; /* trace/kit/records.h */

/* What is at a path, before anybody knows what it means. */
struct wf_reader_probe {
    const char *path;
    bool is_directory;
    unsigned char bytes[WF_PROBE_BYTES]; /* the first ones of the file; of a directory none */
    size_t n;
    char **entries; /* names in the directory, sorted; of a file none */
    size_t n_entries;
};

/* A trace that was opened: exactly one of the first two is not null. */
struct wf_trace {
    struct wf_source *source;
    struct wf_graph *graph;
    const struct wf_reader_ops *reader; /* set by who called open() */
    char **notes;                       /* what who looks at the trace should know */
    size_t n_notes;
    struct wf_records *records; /* what the files hold by the names of the format, or null */
};

/* Members marked `may be null` have a default; all others are required. */
struct wf_reader_ops {
    const char *name;
    const char *summary; /* one line, for help */
    /* Of the scope "trace": -p trace.flop_rate=1e9. May be null and 0. */
    const struct wf_param *params;
    size_t params_size;

    /* Whether this is probably a trace of this format. */
    bool (*detect)(const struct wf_reader_probe *probe);

    /* Sets the source or the graph, and adds notes; `out` is zeroed before. `params` is null if
     * there is no table. Neither is kept. `err` is not null, and its status is WF_OK before.
     * On failure, WF_EINVAL or WF_EIO that names the file, the caller closes `out`. */
    enum wf_status (*open)(const struct wf_reader_probe *probe, const void *params,
                           struct wf_trace *out, struct wf_err *err);

    /* Adds notes on what was found out since, usually by reading all. May be null. */
    void (*review)(struct wf_trace *trace);
};

#define WF_TRACE_READER(name) extern const struct wf_reader_ops wf_##name##_reader_ops;
#include "trace/readers.def"

/* The registered formats in the order in which they are tried, null-terminated. */
const struct wf_reader_ops *const *wf_reader_table(void);

/* ---- who opens a trace ---- */

/* Looks at what is there and finds its format. On success the probe is released with
 * wf_reader_probe_fini(). */
WF_NODISCARD
enum wf_status wf_reader_find(const char *path, struct wf_reader_probe *probe,
                              const struct wf_reader_ops **out, struct wf_err *err);
void wf_reader_probe_fini(struct wf_reader_probe *probe);

/* Opens what wf_reader_find() found. `params` is over the reader's table, or null. On success
 * the caller releases it with wf_trace_close(). */
WF_NODISCARD
enum wf_status wf_reader_open(const struct wf_reader_ops *reader,
                              const struct wf_reader_probe *probe, const void *params,
                              struct wf_trace *out, struct wf_err *err);

/* Both in one, with parameters as they are if nobody says anything. */
WF_NODISCARD
enum wf_status wf_trace_open(const char *path, struct wf_trace *out, struct wf_err *err);
void wf_trace_close(struct wf_trace *trace); /* zeroed is allowed, and what is left */

/* Likewise, but a task graph is WF_EINVAL. */
WF_NODISCARD
enum wf_status wf_trace_open_source(const char *path, struct wf_source **out,
                                    struct wf_err *err);

/* Calls the reader's review(), if there is one. */
void wf_trace_review(struct wf_trace *trace);

/* ---- for readers ---- */

WF_PRINTF(2, 3)
void wf_trace_note(struct wf_trace *trace, const char *fmt, ...);
/* "<n> <words>", unless n is 0. */
void wf_trace_note_count(struct wf_trace *trace, uint64_t n, const char *words);

/* The first entry of the directory whose name ends so, or null; `*n` is how many do and may be
 * null. */
const char *wf_probe_entry(const struct wf_reader_probe *probe, const char *ending, size_t *n);

/* The path of `name` in the directory, or beside the file; to be freed. */
char *wf_probe_path(const struct wf_reader_probe *probe, const char *name);

/* Reads the first bytes, at most `n`, of that file; returns how many. */
size_t wf_probe_read(const struct wf_reader_probe *probe, const char *name,
                     unsigned char *bytes, size_t n);

#endif
