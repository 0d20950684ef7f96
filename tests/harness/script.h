/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Programs that a test defines op by op. */

#include "program/ops/source.h"

/* The ops of one rank; the list ends with WF_OP_FINALIZE. */
struct script {
    struct wf_source source;
    const struct wf_op *const *ranks;
    /* The communicators besides the world, as struct wf_source_ops.group; may be null. */
    bool (*group)(uint32_t rank, uint32_t comm, struct wf_group *out);
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

static inline bool script_group(const struct wf_source *source, uint32_t rank, uint32_t comm,
                                struct wf_group *out)
{
    if (comm != WF_COMM_WORLD) {
        return ((const struct script *)source)->group(rank, comm, out);
    }
    *out = (struct wf_group){.size = source->n_ranks,
                             .rank = rank,
                             .stride = 1,
                             .width = source->n_ranks,
                             .stride2 = 0};
    return true;
}

static const struct wf_source_ops script_ops = {.name = "script", .next = script_next};
static const struct wf_source_ops script_group_ops = {
    .name = "script", .next = script_next, .group = script_group};

/* Whether the op acts in the background (struct wf_source.acts_in_background). */
static inline bool script_op_in_background(const struct wf_op *op)
{
    const struct wf_op_info *info = wf_op_info(op->kind);

    return info->family == WF_FAMILY_ONESIDED ||
           (info->family == WF_FAMILY_COLLECTIVE && info->returns_request) ||
           ((info->family == WF_FAMILY_SEND || info->family == WF_FAMILY_PERSISTENT) &&
            info->detail == WF_SEND_SYNCHRONOUS);
}

static inline struct script make_script(const struct wf_op *const *ranks, uint32_t n_ranks)
{
    struct script script = {.source = {.ops = &script_ops, .n_ranks = n_ranks}, .ranks = ranks};

    for (uint32_t i = 0; i < n_ranks; i++) {
        for (const struct wf_op *op = ranks[i]; op != NULL && op->kind != WF_OP_FINALIZE;
             op++) {
            script.source.acts_in_background |= script_op_in_background(op);
        }
    }
    return script;
}

/* A program with communicators. */
static inline struct script
make_group_script(const struct wf_op *const *ranks, uint32_t n_ranks,
                  bool (*group)(uint32_t, uint32_t, struct wf_group *))
{
    struct script script = make_script(ranks, n_ranks);

    script.source.ops = &script_group_ops;
    script.group = group;
    return script;
}

#define COMPUTE(ps)                             \
    {                                           \
        .kind = WF_OP_COMPUTE, .duration = (ps) \
    }
#define SEND(to, t, n)                                             \
    {                                                              \
        .kind = WF_OP_SEND, .peer = (to), .tag = (t), .bytes = (n) \
    }
#define RECV(from, t)                                                       \
    {                                                                       \
        .kind = WF_OP_RECV, .peer = (from), .tag = (t), .bytes = UINT64_MAX \
    }
#define ISEND(to, t, n, r)                                                          \
    {                                                                               \
        .kind = WF_OP_ISEND, .peer = (to), .tag = (t), .bytes = (n), .request = (r) \
    }
#define IRECV(from, t, r)                                                                    \
    {                                                                                        \
        .kind = WF_OP_IRECV, .peer = (from), .tag = (t), .request = (r), .bytes = UINT64_MAX \
    }
#define WAIT(r)                            \
    {                                      \
        .kind = WF_OP_WAIT, .request = (r) \
    }
#define WAITALL(r, n)                                       \
    {                                                       \
        .kind = WF_OP_WAITALL, .request = (r), .count = (n) \
    }
#define SSEND(to, t, n)                                             \
    {                                                               \
        .kind = WF_OP_SSEND, .peer = (to), .tag = (t), .bytes = (n) \
    }
/* Any kind with a peer and a request: irsend, recv_init, ... */
#define PEER_OP(k, to, t, n, r)                                                   \
    {                                                                             \
        .kind = WF_OP_##k, .peer = (to), .tag = (t), .bytes = (n), .request = (r) \
    }
#define SENDRECV(to, t, n, from, u)                                                          \
    {                                                                                        \
        .kind = WF_OP_SENDRECV, .peer = (to), .tag = (t), .bytes = (n), .recv_peer = (from), \
        .recv_tag = (u), .recv_bytes = UINT64_MAX                                            \
    }
/* An op on the requests r to r + n - 1: waitany, testsome, startall, ... */
#define SET_OP(k, r, n)                                 \
    {                                                   \
        .kind = WF_OP_##k, .request = (r), .count = (n) \
    }
/* A collective of n bytes with root 0 on the world; nonblocking ones with request r. */
#define COLL(k, n)                      \
    {                                   \
        .kind = WF_OP_##k, .bytes = (n) \
    }
#define BARRIER      COLL(BARRIER, 0)
#define ALLREDUCE(n) COLL(ALLREDUCE, n)
#define ICOLL(k, n, r)                                  \
    {                                                   \
        .kind = WF_OP_##k, .bytes = (n), .request = (r) \
    }
/* A marker, with the number of a region. */
#define MARK(k, n)                    \
    {                                 \
        .kind = WF_OP_##k, .tag = (n) \
    }
#define END                    \
    {                          \
        .kind = WF_OP_FINALIZE \
    }
