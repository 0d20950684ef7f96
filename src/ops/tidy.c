/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/tidy.h"

#include "base/mem.h"

void wf_tidy_begin(struct wf_tidy *tidy)
{
    wf_created_fini(&tidy->made);
}

void wf_tidy_fini(struct wf_tidy *tidy)
{
    wf_created_fini(&tidy->made);
    wf_buf_fini(&tidy->requests);
    wf_buf_fini(&tidy->outcomes);
}

static uint32_t number_at(const struct wf_op *op, uint32_t i)
{
    return op->requests != NULL ? op->requests[i] : op->request + i;
}

/* Where in what is left a place of the whole set is; its size if it is not there. */
static uint32_t place_of(struct wf_tidy *tidy, const struct wf_op *op, uint32_t place,
                         uint32_t n_left)
{
    uint32_t before = 0;

    if (place >= op->count || !wf_created_has(&tidy->made, number_at(op, place))) {
        return n_left;
    }
    for (uint32_t i = 0; i < place; i++) {
        before += wf_created_has(&tidy->made, number_at(op, i)) ? 1 : 0;
    }
    return before;
}

/* What came of it, in places of what is left. False if that was left out. */
static bool keep_outcome(struct wf_tidy *tidy, struct wf_op *op, uint32_t n_left)
{
    const struct wf_op_info *info = wf_op_info(op->kind);

    if (!op->recorded || info->detail < WF_WAIT_ANY) {
        return true;
    }
    if (info->detail == WF_WAIT_ANY) {
        bool found = op->outcome < op->count;
        op->outcome = place_of(tidy, op, op->outcome, n_left);
        return !found || op->outcome < n_left;
    }
    tidy->outcomes.size = 0;
    for (uint32_t i = 0; i < op->outcome; i++) {
        uint32_t place = place_of(tidy, op, op->outcomes[i], n_left);
        if (place < n_left) {
            wf_buf_append(&tidy->outcomes, &place, sizeof(place));
        }
    }
    bool found = op->outcome > 0;
    op->outcome = (uint32_t)(tidy->outcomes.size / sizeof(uint32_t));
    op->outcomes = op->outcome > 0 ? (const uint32_t *)(const void *)tidy->outcomes.data : NULL;
    return !found || op->outcome > 0;
}

static bool keep_set(struct wf_tidy *tidy, struct wf_op *op)
{
    tidy->requests.size = 0;
    for (uint32_t i = 0; i < op->count; i++) {
        uint32_t request = number_at(op, i);
        if (wf_created_has(&tidy->made, request)) {
            wf_buf_append(&tidy->requests, &request, sizeof(request));
        }
    }
    uint32_t n_left = (uint32_t)(tidy->requests.size / sizeof(uint32_t));
    if (n_left == op->count) {
        return true;
    }
    if (n_left == 0 || !keep_outcome(tidy, op, n_left)) {
        return false;
    }
    op->requests = (const uint32_t *)(const void *)tidy->requests.data;
    op->request = 0;
    op->count = n_left;
    return true;
}

bool wf_tidy_op(struct wf_tidy *tidy, struct wf_op *op)
{
    const struct wf_op_info *info = wf_op_info(op->kind);

    /* What is wrong otherwise is for others to say. */
    if (wf_created_check(&tidy->made, op) == NULL) {
        return true;
    }
    if (info->family == WF_FAMILY_FREE || info->detail == WF_WAIT_ONE) {
        return false;
    }
    return keep_set(tidy, op);
}
