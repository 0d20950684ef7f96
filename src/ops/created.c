/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/created.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void wf_created_fini(struct wf_created *made)
{
    free(made->spans);
    *made = (struct wf_created){.n = 0};
}

/* The first span that ends at or behind a number. */
static uint32_t find(const struct wf_created *made, uint32_t request)
{
    uint32_t at = 0;

    while (at < made->n && made->spans[at].end < request) {
        at++;
    }
    return at;
}

static bool covers(const struct wf_created_span *span, uint32_t begin, uint32_t end)
{
    return span->begin <= begin && end <= span->end;
}

/* Whether all numbers from `begin` to before `end` were made. */
static bool has_span(struct wf_created *made, uint32_t begin, uint32_t end)
{
    if (made->all || begin == end || covers(&made->latest, begin, end)) {
        return true;
    }
    uint32_t at = find(made, end);
    if (at == made->n || !covers(&made->spans[at], begin, end)) {
        return false;
    }
    made->latest = made->spans[at];
    return true;
}

bool wf_created_has(struct wf_created *made, uint32_t request)
{
    return has_span(made, request, request + 1);
}

static void join(struct wf_created *made, uint32_t at)
{
    made->spans[at].end = made->spans[at + 1].end;
    made->n--;
    memmove(&made->spans[at + 1], &made->spans[at + 2],
            (made->n - at - 1) * sizeof(*made->spans));
}

static void join_nearest(struct wf_created *made)
{
    uint32_t nearest = 0;

    for (uint32_t i = 1; i + 1 < made->n; i++) {
        if (made->spans[i + 1].begin - made->spans[i].end <
            made->spans[nearest + 1].begin - made->spans[nearest].end) {
            nearest = i;
        }
    }
    join(made, nearest);
}

static void add(struct wf_created *made, uint32_t request)
{
    if (wf_created_has(made, request)) {
        return;
    }
    if (made->n == made->capacity) {
        made->capacity = (uint16_t)(made->capacity * 2 + 2);
        made->spans = wf_xrealloc(made->spans, made->capacity, sizeof(*made->spans));
    }
    uint32_t at = find(made, request);
    struct wf_created_span *span = &made->spans[at];
    if (at < made->n && span->end == request) {
        span->end++;
    } else if (at < made->n && span->begin == request + 1) {
        span->begin--;
    } else {
        memmove(span + 1, span, (made->n - at) * sizeof(*span));
        *span = (struct wf_created_span){request, request + 1};
        made->n++;
    }
    if (at + 1 < made->n && made->spans[at].end == made->spans[at + 1].begin) {
        join(made, at);
    }
    if (made->n > WF_CREATED_SPANS) {
        join_nearest(made);
    }
    made->latest = made->spans[find(made, request + 1)];
}

static bool has_set(struct wf_created *made, const struct wf_op *op, uint32_t count)
{
    if (op->requests == NULL) {
        return has_span(made, op->request, op->request + count);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!wf_created_has(made, op->requests[i])) {
            return false;
        }
    }
    return true;
}

const char *wf_created_check_all(struct wf_created *made, const struct wf_op *op)
{
    const struct wf_op_info *info = wf_op_info(op->kind);
    bool known = true;

    switch (info->family) {
    case WF_FAMILY_SEND:
    case WF_FAMILY_RECV:
    case WF_FAMILY_COLLECTIVE:
    case WF_FAMILY_PERSISTENT:
        add(made, op->request);
        break;
    case WF_FAMILY_FREE:
        known = wf_created_has(made, op->request);
        break;
    case WF_FAMILY_WAIT:
    case WF_FAMILY_TEST:
    case WF_FAMILY_START:
        known = info->detail == WF_WAIT_ONE ? wf_created_has(made, op->request)
                                            : has_set(made, op, op->count);
        break;
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
    return known ? NULL : "it names a request that the rank never made";
}
