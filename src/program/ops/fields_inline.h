/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The shapes of ops, for program/ops/fields.c and for the decoder of traces, which assembles every op
 * that it reads. A shape is the list of members that some kinds have in common. */

#include "program/ops/fields.h"

#include <string.h>

/* The members of each shape, in their order in files. Those that change often come first: their
 * bits make the shortest masks. N is a number of 32 bits, W of 64 bits, B a truth value. */
#define FIELDS_COMPUTE(N, W, B) \
    W(duration)                 \
    N(n_counters)               \
    W(counters[0]) W(counters[1]) W(counters[2]) W(counters[3]) N(site) N(disturbances)
#define FIELDS_SEND(N, W, B) N(request) N(peer) N(tag) W(bytes) N(comm)
#define FIELDS_RECV(N, W, B) \
    N(request) N(peer) N(tag) W(bytes) N(comm) B(recorded) N(matched_peer) N(matched_tag)
#define FIELDS_SENDRECV(N, W, B) \
    N(peer)                      \
    N(recv_peer)                 \
    N(tag) N(recv_tag) W(bytes) W(recv_bytes) N(comm) B(recorded) N(matched_peer) N(matched_tag)
#define FIELDS_PROBE(N, W, B) \
    N(peer) N(tag) N(comm) B(recorded) N(matched_peer) N(matched_tag) N(outcome)
#define FIELDS_ONE(N, W, B)        N(request)
#define FIELDS_TEST(N, W, B)       N(request) N(outcome) B(recorded)
#define FIELDS_SET(N, W, B)        N(request) N(count)
#define FIELDS_SET_ANY(N, W, B)    N(request) N(count) N(outcome) B(recorded)
#define FIELDS_SET_SOME(N, W, B)   N(request) N(count) N(outcome) B(recorded)
#define FIELDS_BARRIER(N, W, B)    N(request) N(comm)
#define FIELDS_COLL(N, W, B)       N(request) W(bytes) N(comm) N(reduction)
#define FIELDS_ROOTED(N, W, B)     N(request) W(bytes) N(root) N(comm) N(reduction)
#define FIELDS_COLL_V(N, W, B)     N(request) W(bytes) N(comm)
#define FIELDS_REDUCE_V(N, W, B)   N(request) W(bytes) N(comm) N(reduction)
#define FIELDS_ROOTED_V(N, W, B)   N(request) W(bytes) N(root) N(comm)
#define FIELDS_ALLTOALL_V(N, W, B) N(request) W(bytes) N(comm)
#define FIELDS_NEIGHBOR(N, W, B)   N(request) W(bytes) N(comm) N(n_sources) N(n_destinations)
#define FIELDS_NEW_COMM(N, W, B)   N(new_comm) N(comm)
#define FIELDS_ONESIDED(N, W, B)   N(peer) W(bytes) N(tag) N(comm) N(reduction)
#define FIELDS_EPOCH(N, W, B)      N(tag) N(comm)
#define FIELDS_MARKER(N, W, B)     N(tag) W(bytes)
#define FIELDS_CALL(N, W, B)       N(tag) N(comm)
#define FIELDS_FILE(N, W, B)       W(offset) W(bytes) N(tag)

/* One row per shape: the name, what it has (enum wf_op_layout_flag), how many arrays, which. */
#define SHAPES(X)                                                 \
    X(COMPUTE, 0, 0, NONE)                                        \
    X(SEND, WF_HAS_COMM, 0, NONE)                                 \
    X(RECV, WF_HAS_COMM | WF_HAS_RECORD, 0, NONE)                 \
    X(SENDRECV, WF_HAS_COMM | WF_HAS_RECORD, 0, NONE)             \
    X(PROBE, WF_HAS_COMM | WF_HAS_RECORD, 0, NONE)                \
    X(ONE, 0, 0, NONE)                                            \
    X(TEST, WF_HAS_RECORD, 0, NONE)                               \
    X(SET, WF_HAS_SET, 1, REQUESTS)                               \
    X(SET_ANY, WF_HAS_SET | WF_HAS_RECORD, 1, REQUESTS)           \
    X(SET_SOME, WF_HAS_SET | WF_HAS_RECORD, 2, REQUESTS_OUTCOMES) \
    X(BARRIER, WF_HAS_COMM, 0, NONE)                              \
    X(COLL, WF_HAS_COMM, 0, NONE)                                 \
    X(ROOTED, WF_HAS_COMM | WF_HAS_ROOT, 0, NONE)                 \
    X(COLL_V, WF_HAS_COMM, 1, COUNTS)                             \
    X(REDUCE_V, WF_HAS_COMM, 1, COUNTS)                           \
    X(ROOTED_V, WF_HAS_COMM | WF_HAS_ROOT, 1, COUNTS)             \
    X(ALLTOALL_V, WF_HAS_COMM, 2, COUNTS_BOTH)                    \
    X(NEIGHBOR, WF_HAS_COMM, 4, NEIGHBORS)                        \
    X(NEW_COMM, WF_HAS_COMM, 0, NONE)                             \
    X(ONESIDED, WF_HAS_COMM, 0, NONE)                             \
    X(EPOCH, WF_HAS_COMM, 0, NONE)                                \
    X(MARKER, 0, 0, NONE)                                         \
    X(CALL, 0, 0, NONE)                                           \
    X(FILE, 0, 0, NONE)

enum wf_op_shape {
#define X(name, flags, n_arrays, arrays) WF_SHAPE_##name,
    SHAPES(X)
#undef X
};

#define SET_N(member) op->member = (__typeof__(op->member))(uint32_t)values[i++];
#define SET_W(member) op->member = (__typeof__(op->member))values[i++];
#define SET_B(member) op->member = values[i++] != 0;

/* Sets the members of an op of this kind; its arrays become null. Other members stay as they
 * are. Of a member of 32 bits the low bits of the value count. */
static inline void wf_op_assemble(enum wf_op_kind kind, const struct wf_op_layout *layout,
                                  const uint64_t *values, struct wf_op *op)
{
    uint32_t i = 0;

    op->kind = kind;
    op->reduction = 0; /* old files do not have it */
    op->bytes = 0;     /* of a region: traces do not hold the value that a program gives */
    switch ((enum wf_op_shape)layout->shape) {
#define X(name, flags, n_arrays, arrays) \
    case WF_SHAPE_##name:                \
        FIELDS_##name(SET_N, SET_W, SET_B) break;
        SHAPES(X)
#undef X
    }
    for (uint32_t k = 0; k < layout->n_arrays; k++) {
        memset((char *)op + layout->arrays[k].offset, 0, sizeof(void *));
    }
}

#define GET_N(member) values[i++] = (uint32_t)op->member;
#define GET_W(member) values[i++] = (uint64_t)op->member;
#define GET_B(member) values[i++] = op->member ? 1 : 0;

/* The members of an op as values, whether this op uses them or not. */
static inline __attribute__((always_inline)) void
wf_op_get_fields(const struct wf_op *op, enum wf_op_shape shape, uint64_t *values)
{
    uint32_t i = 0;

    switch (shape) {
#define X(name, flags, n_arrays, arrays) \
    case WF_SHAPE_##name:                \
        FIELDS_##name(GET_N, GET_W, GET_B) break;
        SHAPES(X)
#undef X
    }
}

/* Whether the op has one of the most frequent shapes and needs no care: it has no arrays and no
 * outcome. */
static inline bool wf_op_is_simple(const struct wf_op *op, enum wf_op_shape shape)
{
    return shape == WF_SHAPE_COMPUTE || shape == WF_SHAPE_SEND || shape == WF_SHAPE_ONE ||
           (shape == WF_SHAPE_RECV && !op->recorded);
}

/* As wf_op_take_apart(), for such an op. `creates_request`: whether ops of its kind do. */
static inline __attribute__((always_inline)) void wf_op_take_simple(const struct wf_op *op,
                                                                    enum wf_op_shape shape,
                                                                    bool creates_request,
                                                                    uint64_t *values)
{
    wf_op_get_fields(op, shape, values);
    if (shape == WF_SHAPE_COMPUTE) {
        for (uint32_t i = 0; i < WF_COUNTERS_MAX; i++) {
            values[2 + i] = i < op->n_counters ? values[2 + i] : 0;
        }
    } else if (shape != WF_SHAPE_ONE) {
        values[0] = creates_request ? values[0] : 0;
    }
    if (shape == WF_SHAPE_RECV) {
        values[6] = 0; /* the match */
        values[7] = 0;
    }
}
