/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Writers of formats that are written from beginning to end, once all ops are known. Until then the
 * ops wait in a spool, so that a format gets those of each rank together, and all of them valid. A
 * format has two functions that write, and members of struct wf_trace_writer_ops from here.
 */

#include "program/trace/kit/target.h"
#include "program/trace/writer.h"

/* What a format writes to. */
struct wf_sheet {
    struct wf_target *target;
    FILE *file; /* null if the target is a directory */
    const char *path, *creator;
    uint32_t n_ranks;
    struct wf_losses *losses; /* may be null */
};

struct wf_spooled_format {
    const struct wf_trace_writer_ops *ops;
    enum {
        WF_SHEET_FILE,      /* one file */
        WF_SHEET_DIRECTORY, /* a directory, never in parts */
        WF_SHEET_EITHER     /* one file, or in parts a directory */
    } sheet;
    enum wf_status (*write)(const struct wf_sheet *sheet, const struct wf_source *source,
                            struct wf_err *err);
    /* May be null. */
    enum wf_status (*write_graph)(const struct wf_sheet *sheet, const struct wf_graph *graph,
                                  struct wf_err *err);
};

/* For create(), add_graph() and the other members. A failure to write to sheet->file is reported
 * here. */
enum wf_status wf_spooled_create(const struct wf_spooled_format *format, const char *path,
                                 const struct wf_trace_writer_options *options,
                                 struct wf_trace_writer **out, struct wf_err *err);
enum wf_status wf_spooled_add_graph(struct wf_trace_writer *writer,
                                    const struct wf_graph *graph, uint64_t *n_tasks,
                                    struct wf_err *err);
void wf_spooled_name(struct wf_trace_writer *writer, enum wf_source_name kind, uint32_t number,
                     const char *name);
enum wf_status wf_spooled_group(struct wf_trace_writer *writer, uint32_t rank, uint32_t comm,
                                const struct wf_group *group, struct wf_err *err);
enum wf_status wf_spooled_add(struct wf_trace_writer *writer, uint32_t rank,
                              const struct wf_op *op, struct wf_err *err);
enum wf_status wf_spooled_finish(struct wf_trace_writer *writer, struct wf_err *err);
void wf_spooled_discard(struct wf_trace_writer *writer);

/* The members that are the same in all these formats. */
#define WF_SPOOLED_MEMBERS                                                        \
    .name_of = wf_spooled_name, .group = wf_spooled_group, .add = wf_spooled_add, \
    .finish = wf_spooled_finish, .discard = wf_spooled_discard
