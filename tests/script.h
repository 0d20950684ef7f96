/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TESTS_SCRIPT_H
#define WF_TESTS_SCRIPT_H

/* Programs written down op by op. */

#include "trace/source.h"

/* One rank's ops; the list ends with WF_OP_FINALIZE. */
struct script {
    struct wf_source source;
    const struct wf_op *const *ranks;
};

static inline bool script_next(const struct wf_source *source, uint32_t rank,
                               struct wf_cursor *cursor, struct wf_op *op)
{
    *op = ((const struct script *)source)->ranks[rank][cursor->word[0]];
    if (op->kind == WF_OP_FINALIZE) {
        return false;
    }
    cursor->word[0]++;
    return true;
}

static const struct wf_source_ops script_ops = {.name = "script", .next = script_next};

static inline struct script make_script(const struct wf_op *const *ranks, uint32_t n_ranks)
{
    return (struct script){.source = {.ops = &script_ops, .n_ranks = n_ranks}, .ranks = ranks};
}

#define COMPUTE(ps)                             \
    {                                           \
        .kind = WF_OP_COMPUTE, .duration = (ps) \
    }
#define SEND(to, t, n)                                             \
    {                                                              \
        .kind = WF_OP_SEND, .peer = (to), .tag = (t), .bytes = (n) \
    }
#define RECV(from, t)                                  \
    {                                                  \
        .kind = WF_OP_RECV, .peer = (from), .tag = (t) \
    }
#define ISEND(to, t, n, r)                                                          \
    {                                                                               \
        .kind = WF_OP_ISEND, .peer = (to), .tag = (t), .bytes = (n), .request = (r) \
    }
#define IRECV(from, t, r)                                               \
    {                                                                   \
        .kind = WF_OP_IRECV, .peer = (from), .tag = (t), .request = (r) \
    }
#define WAIT(r)                            \
    {                                      \
        .kind = WF_OP_WAIT, .request = (r) \
    }
#define WAITALL(r, n)                                       \
    {                                                       \
        .kind = WF_OP_WAITALL, .request = (r), .count = (n) \
    }
#define BARRIER               \
    {                         \
        .kind = WF_OP_BARRIER \
    }
#define ALLREDUCE(n)                          \
    {                                         \
        .kind = WF_OP_ALLREDUCE, .bytes = (n) \
    }
#define END                    \
    {                          \
        .kind = WF_OP_FINALIZE \
    }

#endif
