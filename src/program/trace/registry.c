/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/reader.h"
#include "program/trace/writer.h"

#include <stdio.h>
#include <string.h>

static const struct wf_reader_ops *const reader_table[] = {
#define WF_TRACE_READER(name) &wf_##name##_reader_ops,
#include "program/trace/readers.def"
    NULL,
};

static const struct wf_trace_writer_ops *const writer_table[] = {
#define WF_TRACE_WRITER(name) &wf_##name##_writer_ops,
#include "program/trace/writers.def"
    NULL,
};

struct wf_registry wf_reader_registry = WF_REGISTRY("trace format", reader_table, .with = NULL);

const struct wf_reader_ops *const *wf_reader_table(void)
{
    return (const struct wf_reader_ops *const *)wf_registry_entries(&wf_reader_registry);
}

const struct wf_trace_writer_ops *const *wf_trace_writer_table(void)
{
    return writer_table;
}

static bool ends_with(const char *path, size_t length, const char *end)
{
    size_t n = strlen(end);

    return length > n && memcmp(path + length - n, end, n) == 0;
}

enum wf_status wf_trace_writer_for_path(const char *path,
                                        const struct wf_trace_writer_ops **out,
                                        struct wf_err *err)
{
    size_t length = strlen(path);
    char known[96] = "";
    size_t at = 0;

    while (length > 1 && path[length - 1] == '/') {
        length--;
    }
    for (const struct wf_trace_writer_ops *const *ops = writer_table; *ops != NULL; ops++) {
        if (ends_with(path, length, (*ops)->extension)) {
            *out = *ops;
            return WF_OK;
        }
        int n = snprintf(known + at, sizeof(known) - at, "%s%s", at > 0 ? " or " : "",
                         (*ops)->extension);
        at += n > 0 && (size_t)n < sizeof(known) - at ? (size_t)n : 0;
    }
    return wf_err_set(err, WF_EUSAGE, "the name of a trace must end in %s: '%.200s'", known,
                      path);
}
