/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The files of a time-independent trace: one with the actions of all ranks, or a list of files with
 * the actions of one rank each. */

#include "base/buf.h"
#include "program/trace/reader.h"
#include "program/trace/ti/text.h"

struct wf_ti_files {
    bool by_rank; /* each rank has a file of its own; else there is one file */
    char *base;   /* goes before the names of a list; null without a list */
    char **names; /* of files, as in the list */
    uint32_t n, capacity;
};

bool wf_ti_detect(const struct wf_reader_probe *probe);

/* Finds what wf_ti_detect() recognised. The caller releases it with wf_ti_files_fini(), also after
 * a failure. */
void wf_ti_files_find(struct wf_ti_files *files, const struct wf_reader_probe *probe,
                      struct wf_err *err);
void wf_ti_files_fini(struct wf_ti_files *files); /* zeroed is allowed */

/* Opens a file. The names of a list are relative to the current directory, as in SimGrid; if the
 * first is not there, all are relative to the list. `path` is a buffer that the next call may use
 * again. */
void wf_ti_files_open(const struct wf_ti_files *files, uint32_t file, struct wf_buf *path,
                      struct wf_ti_text *text, struct wf_err *err);

/* If a file of the list is missing, that is the failure instead of the one in `err`: with too few
 * ranks, others follow from it. */
void wf_ti_files_report_missing(const struct wf_ti_files *files, struct wf_err *err);
