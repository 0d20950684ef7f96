/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Which requests a rank has created so far. An op that waits for a request that was never
 * created is a mistake in the trace. Waiting for a request that is complete already, or not
 * started, is allowed.
 *
 * Request numbers are kept as spans. Their count is bounded, however long the trace is: when
 * there are too many, the narrowest gap between two spans counts as created too. Programs that
 * use small numbers again have one span, and so have programs that use each number once.
 */

#include "base/buf.h"
#include "program/ops/op.h"

enum { WF_CREATED_SPANS = 32 };

struct wf_created_span {
    uint32_t begin, end;
};

/* Zeroed at the beginning of a rank. */
struct wf_created {
    struct wf_created_span latest; /* one of the spans, for a quick answer; empty at first */
    struct wf_created_span *spans; /* in the order of their numbers, apart from each other */
    uint16_t n, capacity;
    bool all; /* the ops before are not known: every request counts as created */
};

void wf_created_fini(struct wf_created *created);

/* What wf_created_check() does if the latest span has no answer. */
const char *wf_created_check_all(struct wf_created *created, const struct wf_op *op);

/* Adds the request that an op creates. Returns null, or what is wrong with the requests that it
 * waits for; nothing else about the op may be wrong. Ops come in their order and may come
 * again. */
static inline const char *wf_created_check(struct wf_created *created, const struct wf_op *op)
{
    const struct wf_op_info *info = wf_op_info(op->kind);
    uint32_t known = created->latest.end - created->latest.begin;
    uint32_t place = op->request - created->latest.begin;

    switch ((int)info->family) {
    case WF_FAMILY_SEND:
    case WF_FAMILY_RECV:
    case WF_FAMILY_COLLECTIVE:
        return !info->returns_request || place < known ? NULL
                                                       : wf_created_check_all(created, op);
    case WF_FAMILY_WAIT:
    case WF_FAMILY_TEST:
    case WF_FAMILY_START:
        return info->detail == WF_WAIT_ONE && place < known ? NULL
                                                            : wf_created_check_all(created, op);
    case WF_FAMILY_PERSISTENT:
    case WF_FAMILY_FREE:
        return wf_created_check_all(created, op);
    default:
        return NULL;
    }
}

/*
 * Takes requests that were never created out of waits and tests. A piece of a trace lacks some
 * that ops wait for, and generators name all that a rank may have, which ranks at a border have
 * not. A zeroed struct is one at the beginning of a rank.
 */
struct wf_created_filter {
    struct wf_created created;
    struct wf_buf requests, outcomes; /* of the latest op */
};

void wf_created_filter_fini(struct wf_created_filter *filter);

/* Changes the op so that it names no request that was not created; false if nothing is left of
 * it. Its arrays are valid until the next call. */
bool wf_created_filter_op(struct wf_created_filter *filter, struct wf_op *op);
