/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A quick check for the most frequent ops, for those who write and read every op of a trace. */

#include "program/ops/created.h"
#include "program/ops/fields_inline.h"

/* Properties of a kind of op, looked up once. */
struct wf_op_plan {
    const struct wf_op_layout *layout;
    enum wf_op_kind kind;
    bool creates_request;
};

static inline struct wf_op_plan wf_op_plan_of(enum wf_op_kind kind,
                                              const struct wf_op_layout *layout)
{
    const struct wf_op_info *info = wf_op_info(kind);

    return (struct wf_op_plan){.layout = layout,
                               .kind = kind,
                               .creates_request = info->returns_request ||
                                                  info->family == WF_FAMILY_PERSISTENT};
}

/* The state of a rank: a communicator, and the requests that it has created. */
struct wf_op_known {
    uint32_t comm, comm_size; /* comm_size: 0 if the rank does not have the communicator */
    struct wf_created_span requests;
};

/* Whether the op is certainly valid, and creates no request but one of those that are known. If
 * not, wf_op_fault() and wf_created_check() must look at it. An op that passes is simple, too
 * (wf_op_is_simple()). */
static inline bool wf_op_quick_check(const struct wf_op *op, const struct wf_op_plan *plan,
                                     const struct wf_op_known *known)
{
    bool has_request =
        op->request - known->requests.begin < known->requests.end - known->requests.begin;

    switch (plan->layout->shape) {
    case WF_SHAPE_COMPUTE:
        return op->duration >= 0 && op->n_counters <= WF_COUNTERS_MAX;
    case WF_SHAPE_RECV:
        if (op->recorded) {
            return false;
        }
        break;
    case WF_SHAPE_ONE:
        return has_request;
    case WF_SHAPE_SEND:
        break;
    default:
        return false;
    }
    return op->comm == known->comm && op->peer < known->comm_size && op->tag >= 0 &&
           op->bytes <= INT64_MAX && (has_request || !plan->creates_request);
}
