/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A writer turns a result document into a file for people or other programs.
 *
 * To add a writer: one .c file that defines a const struct wf_writer_ops, and one line in
 * ui/report/writers.def. The options that choose a format, and the test that every writer copes
 * with every kind of document, then include it.
 */

#include "base/choice.h"
#include "base/registry.h"
#include "base/result/doc.h"
#include "base/status.h"

#include <stdio.h>

struct wf_write_options {
    bool verbose; /* write the whole document, not only the main results */
    bool color;
    const struct wf_value *extra; /* what the page shows beside the document (ui/study/page.h);
                                     or null */
    /* For timelines: the ranks and times to show, and the maximum number of individual spans; 0
     * means no limit. */
    struct wf_choice view;
    uint64_t limit;
};

/* A file that accompanies another one. Their names differ only in the extension. */
struct wf_writer_beside {
    const char *extension;
    void (*write)(const struct wf_value *doc, const struct wf_write_options *options,
                  FILE *out);
};

/* Required: all members except the flags, `beside`, and either `write` or `save` with
 * `check`. Any member of a document may be missing, and texts may contain anything. All formats but
 * timelines show an error ("error.message") and who waits in a deadlock (`rank` and `waits` of
 * each value in "result.waiting.ranks"), and end with a newline. */
struct wf_writer_ops {
    const char *name;
    const char *extension; /* file extension of the format, with the dot */
    const char *summary;   /* one line, for help */
    bool records;          /* shows a recording... */
    bool timeline;         /* ...and nothing else... */
    bool links;            /* ...but the load of links, perhaps */

    /* Writes the whole document. The caller checks `out` for errors (ferror). */
    void (*write)(const struct wf_value *doc, const struct wf_write_options *options,
                  FILE *out);
    const struct wf_writer_beside *beside; /* ends with a null row; null if there are none */

    /* For formats that consist of several files: `save` writes to `path`; `check` tests before
     * a long run whether that is possible. */
    enum wf_status (*save)(const struct wf_value *doc, const struct wf_write_options *options,
                           const char *path, bool force, struct wf_err *err);
    enum wf_status (*check)(const char *path, bool force, struct wf_err *err);
};

#define WF_REPORT_WRITER(name) extern const struct wf_writer_ops wf_writer_##name;
#include "ui/report/writers.def"
extern struct wf_registry wf_writer_registry; /* for plug-ins */

/* The registered writers in a fixed order, null-terminated. */
const struct wf_writer_ops *const *wf_writer_table(void);

/* The extensions of all writers, and of those of timelines (base/extension.h). */
const char *wf_writer_extension(size_t i);
const char *wf_writer_timeline_extension(size_t i);

/* The writer for a file called `path`; null if there is none or `path` is null. */
const struct wf_writer_ops *wf_writer_of(const char *path);

/* Writes the document to the file `path`, with the files that accompany it. */
enum wf_status wf_writer_save(const struct wf_writer_ops *writer, const struct wf_value *doc,
                              const struct wf_write_options *options, const char *path,
                              bool force, struct wf_err *err);

/* Checks before a long run whether the file can be written. */
enum wf_status wf_writer_check(const struct wf_writer_ops *writer, const char *path, bool force,
                               struct wf_err *err);

/* Finds the writer for a file called `path`, by its extension. */
enum wf_status wf_writer_for_path(const char *path, const struct wf_writer_ops **out,
                                  struct wf_err *err);
