/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRACE_READER_H
#define WF_TRACE_READER_H

/*
 * What makes a source of a trace, in one format or another.
 *
 * To add a format: one .c file that defines a const struct wf_reader_ops and one line in
 * trace/registry.c. Formats are told apart by the first bytes of a file, never by its name.
 */

#include "trace/source.h"

enum { WF_PROBE_BYTES = 512 };

struct wf_reader_probe {
    const char *path;
    bool is_directory;
    const unsigned char *bytes; /* the first ones of the file; of a directory none */
    size_t n;                   /* at most WF_PROBE_BYTES */
};

/* All members are required. */
struct wf_reader_ops {
    const char *name;
    const char *summary; /* one line, for help */

    /* Whether this is probably a trace of this format. */
    bool (*detect)(const struct wf_reader_probe *probe);

    /* On success the caller owns *out; on failure, WF_EINVAL or WF_EIO, it is left alone. */
    enum wf_status (*open)(const char *path, struct wf_source **out, struct wf_err *err);
};

extern const struct wf_reader_ops wf_native_reader_ops;

/* The registered formats in the order in which they are tried, null-terminated. */
const struct wf_reader_ops *const *wf_reader_table(void);

/* Opens a trace of any known format. */
WF_NODISCARD
enum wf_status wf_trace_open(const char *path, struct wf_source **out, struct wf_err *err);

#endif
