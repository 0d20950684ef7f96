/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Fills in ops. Each function sets the members that its kind of op uses and no others: an op
 * is large, generators make millions of ops a second, and readers ignore the other members.
 * All ops are on WF_COMM_WORLD.
 */

#include "program/ops/source.h"

#include <stddef.h>

/* The position of a rank is a copy of a struct in the words of its cursor. */
#define WF_GEN_IS_CURSOR(type)                                            \
    _Static_assert(sizeof(type) <= sizeof(((struct wf_cursor *)0)->word), \
                   "a position fits into a cursor")

static inline void wf_gen_make_compute(struct wf_op *op, int64_t duration)
{
    op->kind = WF_OP_COMPUTE;
    op->duration = duration;
    op->site = 0;
    op->n_counters = 0;
    op->disturbances = 0;
}

static inline void wf_gen_make_send(struct wf_op *op, uint32_t peer, int32_t tag,
                                    uint64_t bytes)
{
    op->kind = WF_OP_SEND;
    op->peer = peer;
    op->tag = tag;
    op->comm = WF_COMM_WORLD;
    op->bytes = bytes;
}

static inline void wf_gen_make_recv(struct wf_op *op, uint32_t peer, int32_t tag,
                                    uint64_t bytes)
{
    wf_gen_make_send(op, peer, tag, bytes);
    op->kind = WF_OP_RECV;
    op->recorded = false;
}

/* The nonblocking send and receive. */
static inline void wf_gen_make_isend(struct wf_op *op, uint32_t peer, int32_t tag,
                                     uint64_t bytes, uint32_t request)
{
    wf_gen_make_send(op, peer, tag, bytes);
    op->kind = WF_OP_ISEND;
    op->request = request;
}

static inline void wf_gen_make_irecv(struct wf_op *op, uint32_t peer, int32_t tag,
                                     uint64_t bytes, uint32_t request)
{
    wf_gen_make_recv(op, peer, tag, bytes);
    op->kind = WF_OP_IRECV;
    op->request = request;
}

/* Waits for the requests 0 to count - 1. */
static inline void wf_gen_make_waitall(struct wf_op *op, uint32_t count)
{
    op->kind = WF_OP_WAITALL;
    op->request = 0;
    op->count = count;
    op->requests = NULL;
}

/* Op number `step` of a round in which a rank posts `receives` receives, then `sends` sends, each
 * with its number as its request, and then waits for all of them. `peer` is that of the message. */
static inline void wf_gen_make_post(struct wf_op *op, uint32_t receives, uint32_t sends,
                                    uint32_t step, uint32_t peer, uint64_t bytes)
{
    if (step < receives) {
        wf_gen_make_irecv(op, peer, 0, bytes, step);
    } else if (step < receives + sends) {
        wf_gen_make_isend(op, peer, 0, bytes, step);
    } else {
        wf_gen_make_waitall(op, receives + sends);
    }
}

/* A collective without counts and neighbours. Its root is 0, and its request is 0 if it is
 * nonblocking. */
static inline void wf_gen_make_collective(struct wf_op *op, enum wf_op_kind kind,
                                          uint64_t bytes)
{
    op->kind = kind;
    op->comm = WF_COMM_WORLD;
    op->root = 0;
    op->reduction = WF_REDUCE_UNKNOWN;
    op->request = 0;
    op->bytes = bytes;
    op->counts = NULL;
    op->recv_counts = NULL;
    op->sources = NULL;
    op->destinations = NULL;
    op->n_sources = 0;
    op->n_destinations = 0;
}

/* Sets `out` to the group with the number `id`: `size` ranks from `first` on that are
 * `stride` apart. The rank has the number `rank` in it. Always returns true. */
static inline bool wf_gen_make_group(struct wf_group *out, uint32_t id, uint32_t size,
                                     uint32_t rank, uint32_t first, uint32_t stride)
{
    *out = (struct wf_group){
        .id = id, .size = size, .rank = rank, .first = first, .stride = stride, .width = size};
    return true;
}

static inline void wf_gen_make_marker(struct wf_op *op, enum wf_op_kind kind)
{
    op->kind = kind;
    op->tag = 0;
}
