/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRACE_SOURCE_H
#define WF_TRACE_SOURCE_H

/*
 * Where ops come from: one op at a time, for one rank at a time.
 *
 * A source is read-only once it is created. Where a rank stands is kept by the caller, in a
 * cursor that is part of the rank's state: an optimistic run that goes back restores the
 * cursor and asks again, and must get the same answer. Any number of threads may ask at once.
 *
 * To add a generator: one .c file that defines a const struct wf_source_ops and one line in
 * gen/registry.c. The conformance test picks it up from there.
 */

#include "base/param.h"
#include "trace/op.h"

#include <stdbool.h>

/* Zeroed at a rank's beginning; what the words mean is the source's own business. */
struct wf_cursor {
    uint64_t word[3];
};

struct wf_source;

/* All members are required. */
struct wf_source_ops {
    const char *name;    /* as written on the command line, without the "gen:" */
    const char *summary; /* one line, for --help */
    const struct wf_param *params;
    size_t params_size;

    /* Builds the source of a program of `n_ranks` >= 1 ranks. `params` is borrowed. On success
     * the caller owns *out and releases it with wf_source_free(); on failure *out is left
     * alone. */
    enum wf_status (*create)(const void *params, uint32_t n_ranks, struct wf_source **out,
                             struct wf_err *err);
    void (*destroy)(struct wf_source *source);

    /* Sets *op to the rank's next op and moves the cursor past it. At the end of the rank's
     * program returns false and leaves both alone. */
    bool (*next)(const struct wf_source *source, uint32_t rank, struct wf_cursor *cursor,
                 struct wf_op *op);
};

/* The common head of every source; the concrete struct has it as its first member. */
struct wf_source {
    const struct wf_source_ops *ops;
    uint32_t n_ranks;
    /* Messages of the whole program, roughly, to tell how far a run is; 0 is unknown. */
    uint64_t messages_expected;
};

static inline bool wf_source_next(const struct wf_source *source, uint32_t rank,
                                  struct wf_cursor *cursor, struct wf_op *op)
{
    return source->ops->next(source, rank, cursor, op);
}

void wf_source_free(struct wf_source *source); /* null is allowed */

#endif
