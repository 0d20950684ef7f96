/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Random ops, and a comparison of ops member by member. Written from program/ops/op.h alone, so that it
 * finds members that a trace format loses.
 */

#include "harness/wf_test.h"
#include "program/ops/source.h"

#include <stdbool.h>

enum { TRACE_ARRAY_MAX = 64 };
/* Request numbers that ops wait for are mostly small; the first TRACE_MADE ops create the
 * requests. */
enum { TRACE_SMALL = 80, TRACE_MADE = TRACE_SMALL + 4 };

/* An op and the arrays that it points to. */
struct trace_op {
    struct wf_op op;
    uint32_t requests[TRACE_ARRAY_MAX], outcomes[TRACE_ARRAY_MAX];
    uint32_t sources[TRACE_ARRAY_MAX], destinations[TRACE_ARRAY_MAX];
    uint64_t counts[TRACE_ARRAY_MAX], recv_counts[TRACE_ARRAY_MAX];
};

struct trace_dice {
    uint64_t seed, stream, n;
};

static uint64_t trace_roll(struct trace_dice *dice, uint64_t n)
{
    return wf_test_rand(dice->seed, dice->stream, dice->n++) % n;
}

/* A number that is mostly small and sometimes very large. */
static uint64_t trace_roll_size(struct trace_dice *dice)
{
    uint64_t bits = trace_roll(dice, 10) == 0 ? trace_roll(dice, 64) : trace_roll(dice, 14);

    return bits == 0 ? 0 : wf_test_rand(dice->seed, dice->stream, dice->n++) >> (64 - bits);
}

static uint32_t trace_roll_peer(struct trace_dice *dice, uint32_t size, bool open)
{
    uint64_t special = trace_roll(dice, 12);

    if (special == 0) {
        return WF_PROC_NULL;
    }
    return special == 1 && open ? WF_ANY_SOURCE : (uint32_t)trace_roll(dice, size);
}

static int32_t trace_roll_tag(struct trace_dice *dice, bool open)
{
    if (open && trace_roll(dice, 8) == 0) {
        return WF_ANY_TAG;
    }
    return trace_roll(dice, 20) == 0 ? INT32_MAX : (int32_t)trace_roll(dice, 1000);
}

static void trace_roll_match(struct trace_dice *dice, uint32_t size, struct wf_op *op)
{
    op->recorded = trace_roll(dice, 2) == 0;
    if (op->recorded) {
        op->outcome = op->kind == WF_OP_IPROBE ? (uint32_t)trace_roll(dice, 2) : 0;
        op->matched_peer = (uint32_t)trace_roll(dice, size);
        op->matched_tag = trace_roll_tag(dice, false);
    }
}

static uint32_t trace_request(uint32_t i)
{
    return i < TRACE_SMALL ? i : WF_REQUEST_MAX - 1 - i * 1000000;
}

static void trace_roll_set(struct trace_dice *dice, struct trace_op *to)
{
    struct wf_op *op = &to->op;
    const struct wf_op_info *info = wf_op_info(op->kind);
    bool set = info->detail != 0 && info->family != WF_FAMILY_FREE;
    bool finds = info->family == WF_FAMILY_TEST ||
                 (info->family == WF_FAMILY_WAIT && info->detail >= WF_WAIT_ANY);

    op->request = (uint32_t)trace_roll(dice, TRACE_SMALL - TRACE_ARRAY_MAX);
    op->count = set ? (uint32_t)trace_roll(dice, TRACE_ARRAY_MAX + 1) : 1;
    if (set && trace_roll(dice, 2) == 0) {
        for (uint32_t i = 0; i < op->count; i++) {
            to->requests[i] = trace_request((uint32_t)trace_roll(dice, TRACE_MADE));
        }
        op->requests = to->requests;
        op->request = 0;
    }
    op->recorded = finds && trace_roll(dice, 2) == 0;
    if (op->recorded) {
        bool yes_or_no = info->family == WF_FAMILY_TEST && info->detail < WF_WAIT_ANY;
        op->outcome = (uint32_t)trace_roll(dice, yes_or_no ? 2 : op->count + 1);
        if (info->detail == WF_WAIT_SOME && op->outcome > 0) {
            for (uint32_t i = 0; i < op->outcome; i++) {
                to->outcomes[i] = (uint32_t)trace_roll(dice, op->count);
            }
            op->outcomes = to->outcomes;
        }
    }
}

/* Whether the collective with this number in model/coll/coll.h has a root. */
static bool trace_is_rooted(uint32_t detail)
{
    return detail == 1 || detail == 2 || (detail >= 4 && detail <= 7);
}

static void trace_roll_counts(struct trace_dice *dice, uint64_t *counts, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        counts[i] = trace_roll_size(dice);
    }
}

static void trace_roll_neighbors(struct trace_dice *dice, uint32_t size, struct trace_op *to)
{
    struct wf_op *op = &to->op;

    op->n_sources = (uint32_t)trace_roll(dice, 8);
    op->n_destinations = (uint32_t)trace_roll(dice, 8);
    for (uint32_t i = 0; i < 8; i++) {
        to->sources[i] = (uint32_t)trace_roll(dice, size);
        to->destinations[i] = (uint32_t)trace_roll(dice, size);
    }
    op->sources = to->sources;
    op->destinations = to->destinations;
    if (trace_roll(dice, 2) == 0) {
        trace_roll_counts(dice, to->counts, op->n_destinations);
        trace_roll_counts(dice, to->recv_counts, op->n_sources);
        op->counts = to->counts;
        op->recv_counts = to->recv_counts;
    }
}

static void trace_roll_collective(struct trace_dice *dice, const struct wf_group *group,
                                  struct trace_op *to)
{
    struct wf_op *op = &to->op;
    const struct wf_op_info *info = wf_op_info(op->kind);
    uint32_t detail = info->detail;

    op->request = info->returns_request ? (uint32_t)trace_roll(dice, 100) : 0;
    op->bytes = detail == 0 ? 0 : trace_roll_size(dice);
    op->root = trace_is_rooted(detail) ? (uint32_t)trace_roll(dice, group->size) : 0;
    if (detail == 9 || detail == 12 || detail == 11 ||
        ((detail == 5 || detail == 7) && op->root == group->rank)) {
        trace_roll_counts(dice, to->counts, group->size);
        op->counts = to->counts;
    }
    if (detail == 11) {
        trace_roll_counts(dice, to->recv_counts, group->size);
        op->recv_counts = to->recv_counts;
    }
    if (detail >= 16) {
        trace_roll_neighbors(dice, group->size, to);
    }
}

static void trace_roll_message(struct trace_dice *dice, uint32_t size, struct wf_op *op)
{
    const struct wf_op_info *info = wf_op_info(op->kind);
    bool receives = info->family == WF_FAMILY_RECV || info->family == WF_FAMILY_PROBE;
    bool open = receives || op->kind == WF_OP_RECV_INIT;

    op->peer = trace_roll_peer(dice, size, open);
    op->tag = trace_roll_tag(dice, open);
    if (info->family != WF_FAMILY_PROBE) {
        op->bytes = trace_roll_size(dice);
    }
    if ((info->returns_request && op->kind != WF_OP_IPROBE) ||
        info->family == WF_FAMILY_PERSISTENT) {
        op->request = (uint32_t)trace_roll(dice, WF_REQUEST_MAX);
    }
    if (info->family == WF_FAMILY_SENDRECV) {
        op->recv_peer = trace_roll_peer(dice, size, true);
        op->recv_tag = trace_roll_tag(dice, true);
        op->recv_bytes = trace_roll_size(dice);
    }
    if (receives || info->family == WF_FAMILY_SENDRECV) {
        trace_roll_match(dice, size, op);
    }
}

static void trace_roll_compute(struct trace_dice *dice, struct wf_op *op)
{
    op->duration = (int64_t)(trace_roll_size(dice) >> 1);
    op->n_counters = (uint32_t)trace_roll(dice, WF_COUNTERS_MAX + 1);
    for (uint32_t i = 0; i < op->n_counters; i++) {
        op->counters[i] = trace_roll_size(dice);
    }
    op->site = (uint32_t)trace_roll_size(dice);
    op->disturbances = (uint32_t)trace_roll_size(dice);
}

/* A valid op of this kind on the communicator `comm`, whose ranks are `group`. */
static void trace_roll_op(struct trace_dice *dice, enum wf_op_kind kind, uint32_t comm,
                          const struct wf_group *group, struct trace_op *to)
{
    memset(to, 0, sizeof(*to));
    to->op.kind = kind;
    to->op.comm = comm;
    to->op.reduction = wf_op_reduces(kind) ? (uint32_t)trace_roll(dice, WF_REDUCTIONS) : 0;
    switch (wf_op_info(kind)->family) {
    case WF_FAMILY_COMPUTE:
        trace_roll_compute(dice, &to->op);
        break;
    case WF_FAMILY_SEND:
    case WF_FAMILY_RECV:
    case WF_FAMILY_SENDRECV:
    case WF_FAMILY_PROBE:
    case WF_FAMILY_PERSISTENT:
    case WF_FAMILY_ONESIDED:
        trace_roll_message(dice, group->size, &to->op);
        break;
    case WF_FAMILY_START:
    case WF_FAMILY_FREE:
    case WF_FAMILY_WAIT:
    case WF_FAMILY_TEST:
        trace_roll_set(dice, to);
        break;
    case WF_FAMILY_COLLECTIVE:
        trace_roll_collective(dice, group, to);
        break;
    case WF_FAMILY_COMM:
        to->op.new_comm = (uint32_t)trace_roll(dice, 1000);
        break;
    case WF_FAMILY_FILE:
        to->op.bytes = trace_roll_size(dice) >> 1;
        to->op.offset = trace_roll_size(dice) >> 1;
        to->op.tag = (int32_t)trace_roll(dice, INT32_MAX);
        break;
    case WF_FAMILY_EPOCH:
    case WF_FAMILY_MARKER:
    case WF_FAMILY_CALL:
        to->op.tag = (int32_t)trace_roll(dice, 10);
        break;
    }
}

static bool trace_same_ints(const uint32_t *a, const uint32_t *b, uint32_t n)
{
    return (a == NULL) == (b == NULL) &&
           (a == NULL || n == 0 || memcmp(a, b, (size_t)n * 4) == 0);
}

static bool trace_same_counts(const uint64_t *a, const uint64_t *b, uint32_t n)
{
    return (a == NULL) == (b == NULL) &&
           (a == NULL || n == 0 || memcmp(a, b, (size_t)n * 8) == 0);
}

static bool trace_same_match(const struct wf_op *a, const struct wf_op *b)
{
    return a->recorded == b->recorded &&
           (!a->recorded ||
            (a->matched_peer == b->matched_peer && a->matched_tag == b->matched_tag &&
             (a->kind != WF_OP_IPROBE || a->outcome == b->outcome)));
}

static bool trace_same_set(const struct wf_op *a, const struct wf_op *b,
                           const struct wf_op_info *info)
{
    bool set = info->detail != 0 && info->family != WF_FAMILY_FREE;
    bool finds = info->family == WF_FAMILY_TEST ||
                 (info->family == WF_FAMILY_WAIT && info->detail >= WF_WAIT_ANY);

    if (!set) {
        return a->request == b->request &&
               (!finds ||
                (a->recorded == b->recorded && (!a->recorded || a->outcome == b->outcome)));
    }
    if (a->count != b->count || !trace_same_ints(a->requests, b->requests, a->count) ||
        (a->requests == NULL && a->request != b->request)) {
        return false;
    }
    return !finds ||
           (a->recorded == b->recorded &&
            (!a->recorded || (a->outcome == b->outcome &&
                              (info->detail != WF_WAIT_SOME ||
                               trace_same_ints(a->outcomes, b->outcomes, a->outcome)))));
}

static bool trace_same_collective(const struct wf_op *a, const struct wf_op *b,
                                  const struct wf_op_info *info, uint32_t size)
{
    uint32_t d = info->detail;
    bool near = d >= 16;

    if (a->comm != b->comm || (d != 0 && a->bytes != b->bytes) ||
        (trace_is_rooted(d) && a->root != b->root) ||
        (info->returns_request && a->request != b->request)) {
        return false;
    }
    if (near && (a->n_sources != b->n_sources || a->n_destinations != b->n_destinations ||
                 !trace_same_ints(a->sources, b->sources, a->n_sources) ||
                 !trace_same_ints(a->destinations, b->destinations, a->n_destinations))) {
        return false;
    }
    bool has_counts = near || d == 5 || d == 7 || d == 9 || d == 11 || d == 12;
    bool has_recv_counts = near || d == 11;
    return (!has_counts ||
            trace_same_counts(a->counts, b->counts, near ? a->n_destinations : size)) &&
           (!has_recv_counts ||
            trace_same_counts(a->recv_counts, b->recv_counts, near ? a->n_sources : size));
}

static bool trace_same_message(const struct wf_op *a, const struct wf_op *b,
                               const struct wf_op_info *info)
{
    bool probes = info->family == WF_FAMILY_PROBE;
    bool both = info->family == WF_FAMILY_SENDRECV;

    return a->peer == b->peer && a->tag == b->tag && a->comm == b->comm &&
           (probes || a->bytes == b->bytes) &&
           (!((info->returns_request && !probes) || info->family == WF_FAMILY_PERSISTENT) ||
            a->request == b->request) &&
           (!both || (a->recv_peer == b->recv_peer && a->recv_tag == b->recv_tag &&
                      a->recv_bytes == b->recv_bytes)) &&
           (!(probes || both || info->family == WF_FAMILY_RECV) || trace_same_match(a, b));
}

/* Whether two ops agree in all members of their kind; `size` is the size of the
 * communicator. */
static bool trace_same_op(const struct wf_op *a, const struct wf_op *b, uint32_t size)
{
    const struct wf_op_info *info = wf_op_info(a->kind);

    if (a->kind != b->kind || (wf_op_reduces(a->kind) && a->reduction != b->reduction)) {
        return false;
    }
    switch (info->family) {
    case WF_FAMILY_COMPUTE:
        return a->duration == b->duration && a->n_counters == b->n_counters &&
               a->site == b->site && a->disturbances == b->disturbances &&
               memcmp(a->counters, b->counters, a->n_counters * sizeof(a->counters[0])) == 0;
    case WF_FAMILY_SEND:
    case WF_FAMILY_RECV:
    case WF_FAMILY_SENDRECV:
    case WF_FAMILY_PROBE:
    case WF_FAMILY_PERSISTENT:
    case WF_FAMILY_ONESIDED:
        return trace_same_message(a, b, info);
    case WF_FAMILY_START:
    case WF_FAMILY_FREE:
    case WF_FAMILY_WAIT:
    case WF_FAMILY_TEST:
        return trace_same_set(a, b, info);
    case WF_FAMILY_COLLECTIVE:
        return trace_same_collective(a, b, info, size);
    case WF_FAMILY_COMM:
        return a->comm == b->comm && a->new_comm == b->new_comm;
    case WF_FAMILY_EPOCH:
        return a->comm == b->comm;
    case WF_FAMILY_FILE:
        return a->tag == b->tag && a->bytes == b->bytes && a->offset == b->offset;
    case WF_FAMILY_MARKER:
        return a->tag == b->tag;
    case WF_FAMILY_CALL:
        return a->tag == b->tag && (a->kind != WF_OP_COMM_FREE || a->comm == b->comm);
    }
    return false;
}
