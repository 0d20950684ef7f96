/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRACE_WRITER_H
#define WF_TRACE_WRITER_H

/*
 * What writes ops or the tasks of a graph to a trace, in one format or another.
 *
 * To add a format: one .c file that defines a const struct wf_trace_writer_ops and one line in
 * trace/writers.def.
 */

#include "ops/graph.h"
#include "ops/source.h"
#include "trace/kit/losses.h"

struct wf_trace_writer_options {
    uint32_t n_ranks;    /* or PEs */
    bool tasks;          /* a graph will be added instead of ops */
    bool force;          /* replace what is there */
    uint32_t n_parts;    /* files in a directory, if the format can; 0 is one file */
    const char *creator; /* what the trace is made by or from; may be null */
};

/* The common head of every writer; the concrete struct has it as its first member. */
struct wf_trace_writer {
    const struct wf_trace_writer_ops *ops;
    struct wf_losses *losses; /* counts what is lost, if who made the writer set it; or null */
};

/* Members marked `may be null` are what a format can do without: it then says nothing of it. */
struct wf_trace_writer_ops {
    const char *name;
    const char *extension; /* with the dot */
    const char *summary;   /* one line, for help */
    const char *lacks;     /* what of a trace it cannot hold; may be null */

    enum wf_status (*create)(const char *path, const struct wf_trace_writer_options *options,
                             struct wf_trace_writer **out, struct wf_err *err);

    /* Before the first op that uses it; the same again is allowed. May be null. */
    void (*name_of)(struct wf_trace_writer *writer, enum wf_source_name kind, uint32_t number,
                    const char *name);
    /* What the rank means by `comm`. WF_EINVAL if it cannot be. May be null. */
    enum wf_status (*group)(struct wf_trace_writer *writer, uint32_t rank, uint32_t comm,
                            const struct wf_group *group, struct wf_err *err);
    /* The time the rank took when it was recorded. May be null. */
    void (*wall)(struct wf_trace_writer *writer, uint32_t rank, int64_t ps);
    /* What recording took, as of struct wf_source_ops. May be null. */
    void (*cost)(struct wf_trace_writer *writer, uint32_t rank, int64_t ps);

    /* Adds an op of a rank behind its others; ranks may come in any order. An op that makes no
     * sense is WF_EINVAL. May be null if the format holds nothing but graphs. */
    enum wf_status (*add)(struct wf_trace_writer *writer, uint32_t rank, const struct wf_op *op,
                          struct wf_err *err);

    /* Adds all tasks, instead of any op, and sets *n_tasks to how many they are. A graph that
     * makes no sense, or cannot be read, is WF_EINVAL. May be null: the format cannot hold any.
     */
    enum wf_status (*add_graph)(struct wf_trace_writer *writer, const struct wf_graph *graph,
                                uint64_t *n_tasks, struct wf_err *err);

    /* Both release the writer. Until the first has returned WF_OK there is nothing at the path
     * that was not there before. */
    enum wf_status (*finish)(struct wf_trace_writer *writer, struct wf_err *err);
    void (*discard)(struct wf_trace_writer *writer);
};

#define WF_TRACE_WRITER(name) extern const struct wf_trace_writer_ops wf_##name##_writer_ops;
#include "trace/writers.def"

/* The registered formats in a fixed order, null-terminated. */
const struct wf_trace_writer_ops *const *wf_trace_writer_table(void);

/* The format of a trace called `path`, by its extension. None is WF_EUSAGE. */
WF_NODISCARD
enum wf_status wf_trace_writer_for_path(const char *path,
                                        const struct wf_trace_writer_ops **out,
                                        struct wf_err *err);

#endif
