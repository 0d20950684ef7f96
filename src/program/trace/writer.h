/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Writers: each writes ops, or the tasks of a graph, to a trace of one format.
 *
 * To add a format: one .c file that defines a const struct wf_trace_writer_ops, and one line in
 * program/trace/writers.def. Formats that are written from beginning to end have only the functions that
 * write them (program/trace/spool/writer.h).
 */

#include "program/ops/graph.h"
#include "program/ops/source.h"
#include "program/trace/kit/losses.h"

struct wf_trace_writer_options {
    uint32_t n_ranks;    /* or PEs */
    bool tasks;          /* a graph will be added instead of ops */
    bool streams;        /* that graph has several streams or interfaces */
    bool force;          /* replace what is there */
    uint32_t n_parts;    /* files in a directory, if the format can; 0 is one file */
    const char *creator; /* the program or trace that the ops come from; may be null */
    bool temporary;      /* speed counts more than size: do not look for loops */
    bool by_rank;        /* the ops of a rank mostly follow each other, and `temporary` */
};

/* The common head of every writer; the concrete struct has it as its first member. */
struct wf_trace_writer {
    const struct wf_trace_writer_ops *ops;
    struct wf_losses
        *losses; /* set by the caller: counts what the format cannot hold; or null */
};

/* Members marked `may be null` are null in formats that cannot hold what they are told. */
struct wf_trace_writer_ops {
    const char *name;
    const char *extension; /* with the dot */
    const char *summary;   /* one line, for help */
    const char *lacks;     /* what the format cannot hold; may be null */

    enum wf_status (*create)(const char *path, const struct wf_trace_writer_options *options,
                             struct wf_trace_writer **out, struct wf_err *err);

    /* Tells a name before the first op that uses it, and perhaps again. May be null. */
    void (*name_of)(struct wf_trace_writer *writer, enum wf_source_name kind, uint32_t number,
                    const char *name);
    /* Tells which group `comm` of the rank stands for. WF_EINVAL if that cannot be. May be
     * null. */
    enum wf_status (*group)(struct wf_trace_writer *writer, uint32_t rank, uint32_t comm,
                            const struct wf_group *group, struct wf_err *err);
    /* Tells how long the rank ran when it was recorded. May be null. */
    void (*wall)(struct wf_trace_writer *writer, uint32_t rank, int64_t ps);
    /* Tells the cost of recording, as in struct wf_source_ops. May be null. */
    void (*cost)(struct wf_trace_writer *writer, uint32_t rank, int64_t ps);

    /* Tells that ranks may call a collective with different sizes, as in struct wf_source; once or
     * more often. May be null. */
    void (*any_sizes)(struct wf_trace_writer *writer);

    /* Adds an op after the others of its rank; ranks come in any order. An invalid op is
     * WF_EINVAL. May be null in a format of graphs only. */
    enum wf_status (*add)(struct wf_trace_writer *writer, uint32_t rank, const struct wf_op *op,
                          struct wf_err *err);

    /* Tells that the rank has no more ops. Not all callers know. May be null. */
    void (*rank_ends)(struct wf_trace_writer *writer, uint32_t rank);

    /* Adds all tasks of a graph instead of ops, and sets *n_tasks to their number. A graph that
     * is invalid or cannot be read is WF_EINVAL. May be null. */
    enum wf_status (*add_graph)(struct wf_trace_writer *writer, const struct wf_graph *graph,
                                uint64_t *n_tasks, struct wf_err *err);

    /* Both release the writer. The path does not change until finish() has returned WF_OK. */
    enum wf_status (*finish)(struct wf_trace_writer *writer, struct wf_err *err);
    void (*discard)(struct wf_trace_writer *writer);
};

#define WF_TRACE_WRITER(name) extern const struct wf_trace_writer_ops wf_##name##_writer_ops;
#include "program/trace/writers.def"

/* The registered formats in a fixed order, null-terminated. */
const struct wf_trace_writer_ops *const *wf_trace_writer_table(void);

/* The format of a trace called `path`, by its extension. None is WF_EUSAGE. */
enum wf_status wf_trace_writer_for_path(const char *path,
                                        const struct wf_trace_writer_ops **out,
                                        struct wf_err *err);
