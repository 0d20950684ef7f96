/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/kit/completion.h"

bool wf_completion_visit(const struct wf_op *op, wf_completion_fn complete, void *arg,
                         struct wf_losses *losses)
{
    const struct wf_op_info *info = wf_op_info(op->kind);
    bool tests = info->family == WF_FAMILY_TEST;

    if (tests && (!op->recorded || (info->detail < WF_WAIT_ANY && op->outcome == 0))) {
        wf_losses_add(losses, "tests that found nothing, or of which it is not known");
        return false;
    }
    if (info->detail == WF_WAIT_ONE || info->detail == WF_WAIT_ALL) {
        uint32_t n = info->detail == WF_WAIT_ONE ? 1 : op->count;
        for (uint32_t i = 0; i < n; i++) {
            complete(arg, wf_op_request_at(op, i));
        }
    } else if (!op->recorded) {
        wf_losses_add(losses, "waits for any of several, written as waits for the first");
        if (op->count > 0) {
            complete(arg, wf_op_request_at(op, 0));
        }
    } else if (info->detail == WF_WAIT_ANY && op->outcome < op->count) {
        complete(arg, wf_op_request_at(op, op->outcome));
    } else if (info->detail == WF_WAIT_SOME) {
        for (uint32_t i = 0; i < op->outcome; i++) {
            complete(arg, wf_op_request_at(op, op->outcomes[i]));
        }
    }
    return true;
}
