/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_OPS_CREATED_H
#define WF_OPS_CREATED_H

/*
 * Which requests a rank has ever made: what waits for one that was never made is a mistake of
 * whoever wrote the trace, while one that is complete already, or not started, may be waited
 * for.
 *
 * Kept as spans of numbers, a bounded count of them however long the trace is: where there are
 * too many, the narrowest gap counts as made too. Programs that use small numbers again have
 * one span, and so have those that use every number once.
 */

#include "ops/op.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WF_CREATED_SPANS = 32 };

struct wf_created_span {
    uint32_t begin, end;
};

/* Zeroed at a rank's beginning. */
struct wf_created {
    struct wf_created_span latest; /* one of them, empty at first */
    struct wf_created_span *spans; /* by their numbers, apart from each other; null if none */
    uint16_t n, capacity;
    bool all; /* nobody knows: everything counts as made */
};

void wf_created_fini(struct wf_created *made);

/* What wf_created_check() does if the latest span does not answer it. */
const char *wf_created_check_all(struct wf_created *made, const struct wf_op *op);
bool wf_created_has(struct wf_created *made, uint32_t request);

/* Null, or what is wrong with the requests that an op names, which makes sense otherwise; the
 * ones that it makes are noted. Ops come in their order, but may come again. */
static inline const char *wf_created_check(struct wf_created *made, const struct wf_op *op)
{
    const struct wf_op_info *info = wf_op_info(op->kind);
    uint32_t known = made->latest.end - made->latest.begin;
    uint32_t place = op->request - made->latest.begin;

    switch (info->family) {
    case WF_FAMILY_SEND:
    case WF_FAMILY_RECV:
    case WF_FAMILY_COLLECTIVE:
        return !info->returns_request || place < known ? NULL : wf_created_check_all(made, op);
    case WF_FAMILY_WAIT:
    case WF_FAMILY_TEST:
    case WF_FAMILY_START:
        return info->detail == WF_WAIT_ONE && place < known ? NULL
                                                            : wf_created_check_all(made, op);
    case WF_FAMILY_PERSISTENT:
    case WF_FAMILY_FREE:
        return wf_created_check_all(made, op);
    case WF_FAMILY_COMPUTE:
    case WF_FAMILY_SENDRECV:
    case WF_FAMILY_PROBE:
    case WF_FAMILY_COMM:
    case WF_FAMILY_ONESIDED:
    case WF_FAMILY_EPOCH:
    case WF_FAMILY_MARKER:
    case WF_FAMILY_CALL:
        break;
    }
    return NULL;
}

#endif
