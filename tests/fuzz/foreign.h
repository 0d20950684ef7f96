/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the fuzz targets of readers of foreign formats share: files in a directory, and a look
 * at all that is read. */

#include "program/ops/fields.h"
#include "program/trace/reader.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FOREIGN_OPS_MAX = 20000, FOREIGN_RANKS_MAX = 64 };

static inline void require(int condition)
{
    if (!condition) {
        abort();
    }
}

/* The path of a file in a directory of this process, which is made once and gone at its end. */
static char foreign_directory[64];

static inline int foreign_remove(const char *path, const struct stat *st, int kind,
                                 struct FTW *where)
{
    return remove(path);
}

static inline void foreign_clean(void)
{
    (void)nftw(foreign_directory, foreign_remove, 8, FTW_DEPTH | FTW_PHYS);
}

static inline const char *foreign_path(const char *name, char *path, size_t size)
{
    if (foreign_directory[0] == '\0') {
        (void)snprintf(foreign_directory, sizeof(foreign_directory), "/tmp/fuzz-XXXXXX");
        require(mkdtemp(foreign_directory) != NULL);
        require(atexit(foreign_clean) == 0);
    }
    (void)snprintf(path, size, "%s/%s", foreign_directory, name);
    return path;
}

static inline void foreign_write(const char *name, const void *bytes, size_t size)
{
    char path[128];
    FILE *out = fopen(foreign_path(name, path, sizeof(path)), "wb");

    require(out != NULL && fwrite(bytes, 1, size, out) == size);
    require(fclose(out) == 0);
}

static inline void foreign_check_rank(const struct wf_source *source, uint32_t rank)
{
    struct wf_cursor cursor;
    struct wf_group group;
    struct wf_op op;

    memset(&cursor, 0, sizeof(cursor));
    for (int n = 0; n < FOREIGN_OPS_MAX && wf_source_next(source, rank, &cursor, &op); n++) {
        uint32_t comm = wf_op_has_comm(op.kind) ? op.comm : WF_COMM_WORLD;
        require(wf_source_group(source, rank, comm, &group));
        require(wf_op_fault(&op, &group) == NULL);
    }
}

/* Opens what is there, if it is of this format: every op makes sense, or there are words about
 * why not. */
static inline void foreign_check(const char *name, const struct wf_reader_ops *format)
{
    const struct wf_reader_ops *reader = NULL;
    struct wf_err err = {.status = WF_OK};
    struct wf_reader_probe probe;
    struct wf_trace trace;
    char path[128];

    if (wf_reader_find(foreign_path(name, path, sizeof(path)), &probe, &reader, &err) !=
        WF_OK) {
        require(strstr(err.text, "known format") != NULL ||
                strstr(err.text, ", not a trace") != NULL);
        return;
    }
    wf_reader_probe_fini(&probe);
    if (reader != format) {
        return;
    }
    enum wf_status status = wf_trace_open(path, &trace, &err);
    if (status != WF_OK) {
        require((status == WF_EINVAL || status == WF_EIO) && strlen(err.text) > 10);
        require(strstr(err.text, foreign_directory) != NULL);
        require(strstr(err.text, "rank") != NULL);
        return;
    }
    require(trace.source != NULL && trace.records != NULL);
    uint32_t n = trace.source->n_ranks;
    for (uint32_t rank = 0; rank < n && rank < FOREIGN_RANKS_MAX; rank++) {
        foreign_check_rank(trace.source, rank);
    }
    require(wf_source_check(trace.source, &err) == WF_OK);
    wf_trace_close(&trace);
}
