/* SPDX-License-Identifier: Apache-2.0 */
#include "program/ops/created.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

void wf_created_fini(struct wf_created *created)
{
    free(created->spans);
    *created = (struct wf_created){.n = 0};
}

/* Returns the index of the first span that ends at `request` or after it. */
static uint32_t first_span_to(const struct wf_created *created, uint32_t request)
{
    uint32_t at = 0;

    while (at < created->n && created->spans[at].end < request) {
        at++;
    }
    return at;
}

static bool covers(const struct wf_created_span *span, uint32_t begin, uint32_t end)
{
    return span->begin <= begin && end <= span->end;
}

/* Returns whether all requests from `begin` to `end` - 1 were created. */
static bool has_span(struct wf_created *created, uint32_t begin, uint32_t end)
{
    if (created->all || begin == end || covers(&created->latest, begin, end)) {
        return true;
    }
    uint32_t at = first_span_to(created, end);
    if (at == created->n || !covers(&created->spans[at], begin, end)) {
        return false;
    }
    created->latest = created->spans[at];
    return true;
}

static bool has_request(struct wf_created *created, uint32_t request)
{
    return has_span(created, request, request + 1);
}

static void join(struct wf_created *created, uint32_t at)
{
    created->spans[at].end = created->spans[at + 1].end;
    created->n--;
    memmove(&created->spans[at + 1], &created->spans[at + 2],
            (created->n - at - 1) * sizeof(*created->spans));
}

static void join_nearest(struct wf_created *created)
{
    uint32_t nearest = 0;

    for (uint32_t i = 1; i + 1 < created->n; i++) {
        if (created->spans[i + 1].begin - created->spans[i].end <
            created->spans[nearest + 1].begin - created->spans[nearest].end) {
            nearest = i;
        }
    }
    join(created, nearest);
}

static void add(struct wf_created *created, uint32_t request)
{
    if (has_request(created, request)) {
        return;
    }
    WF_GROW(created->spans, created->n, created->capacity);
    uint32_t at = first_span_to(created, request);
    struct wf_created_span *span = &created->spans[at];
    if (at < created->n && span->end == request) {
        span->end++;
    } else if (at < created->n && span->begin == request + 1) {
        span->begin--;
    } else {
        memmove(span + 1, span, (created->n - at) * sizeof(*span));
        *span = (struct wf_created_span){request, request + 1};
        created->n++;
    }
    if (at + 1 < created->n && created->spans[at].end == created->spans[at + 1].begin) {
        join(created, at);
    }
    if (created->n > WF_CREATED_SPANS) {
        join_nearest(created);
    }
    created->latest = created->spans[first_span_to(created, request + 1)];
}

static bool has_set(struct wf_created *created, const struct wf_op *op)
{
    bool has = op->requests != NULL || has_span(created, op->request, op->request + op->count);

    for (uint32_t i = 0; op->requests != NULL && i < op->count && has; i++) {
        has = has_request(created, op->requests[i]);
    }
    return has;
}

const char *wf_created_check_all(struct wf_created *created, const struct wf_op *op)
{
    const struct wf_op_info *info = wf_op_info(op->kind);
    bool known = true;

    switch ((int)info->family) {
    case WF_FAMILY_SEND:
    case WF_FAMILY_RECV:
    case WF_FAMILY_COLLECTIVE:
    case WF_FAMILY_PERSISTENT:
        add(created, op->request);
        break;
    case WF_FAMILY_FREE:
        known = has_request(created, op->request);
        break;
    case WF_FAMILY_WAIT:
    case WF_FAMILY_TEST:
    case WF_FAMILY_START:
        known = info->detail == WF_WAIT_ONE ? has_request(created, op->request)
                                            : has_set(created, op);
        break;
    default:
        break;
    }
    return known ? NULL : "it names a request that the rank never created";
}

/* ---- the filter ---- */

void wf_created_filter_fini(struct wf_created_filter *filter)
{
    wf_created_fini(&filter->created);
    wf_buf_fini(&filter->requests);
    wf_buf_fini(&filter->outcomes);
}

/* Translates an index in the list of requests to an index in the filtered list. Returns n_left
 * if the request was removed. */
static uint32_t place_of(struct wf_created_filter *filter, const struct wf_op *op,
                         uint32_t place, uint32_t n_left)
{
    uint32_t before = 0;

    if (place >= op->count || !has_request(&filter->created, wf_op_request_at(op, place))) {
        return n_left;
    }
    for (uint32_t i = 0; i < place; i++) {
        before += has_request(&filter->created, wf_op_request_at(op, i)) ? 1 : 0;
    }
    return before;
}

/* Translates the recorded outcome to the filtered list of requests. Returns false if the call
 * completed requests, but none of them is left. */
static bool keep_outcome(struct wf_created_filter *filter, struct wf_op *op, uint32_t n_left)
{
    const struct wf_op_info *info = wf_op_info(op->kind);

    if (!op->recorded || info->detail < WF_WAIT_ANY) {
        return true;
    }
    if (info->detail == WF_WAIT_ANY) {
        bool found = op->outcome < op->count;
        op->outcome = place_of(filter, op, op->outcome, n_left);
        return !found || op->outcome < n_left;
    }
    filter->outcomes.size = 0;
    for (uint32_t i = 0; i < op->outcome; i++) {
        uint32_t place = place_of(filter, op, op->outcomes[i], n_left);
        if (place < n_left) {
            wf_buf_append(&filter->outcomes, &place, sizeof(place));
        }
    }
    bool found = op->outcome > 0;
    op->outcome = (uint32_t)(filter->outcomes.size / sizeof(uint32_t));
    op->outcomes =
        op->outcome > 0 ? (const uint32_t *)(const void *)filter->outcomes.data : NULL;
    return !found || op->outcome > 0;
}

static bool keep_set(struct wf_created_filter *filter, struct wf_op *op)
{
    filter->requests.size = 0;
    for (uint32_t i = 0; i < op->count; i++) {
        uint32_t request = wf_op_request_at(op, i);
        if (has_request(&filter->created, request)) {
            wf_buf_append(&filter->requests, &request, sizeof(request));
        }
    }
    uint32_t n_left = (uint32_t)(filter->requests.size / sizeof(uint32_t));
    if (n_left == op->count) {
        return true;
    }
    if (n_left == 0 || !keep_outcome(filter, op, n_left)) {
        return false;
    }
    op->requests = (const uint32_t *)(const void *)filter->requests.data;
    op->request = 0;
    op->count = n_left;
    return true;
}

bool wf_created_filter_op(struct wf_created_filter *filter, struct wf_op *op)
{
    const struct wf_op_info *info = wf_op_info(op->kind);

    if (wf_created_check(&filter->created, op) == NULL) {
        return true;
    }
    if (info->family == WF_FAMILY_FREE || info->detail == WF_WAIT_ONE) {
        return false;
    }
    return keep_set(filter, op);
}
