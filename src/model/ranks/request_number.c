/* SPDX-License-Identifier: Apache-2.0 */
/* The names of requests: numbers that programs use, and handles that messages carry. */
#include "model/ranks/request.h"

#include <string.h>

uint32_t wf_request_new_handle(const struct wf_caller *who)
{
    enum { BITS = 28 }; /* fits beside the kind in a message header */
    struct wf_rank_cold *cold = wf_rank_cold_edit(who);

    cold->next_handle = cold->next_handle % ((UINT32_C(1) << BITS) - 1) + 1;
    return cold->next_handle;
}

void wf_request_drop_handle(const struct wf_caller *who, uint32_t handle)
{
    (void)wf_cellmap_take(who->ctx, &wf_rank_cold_edit(who)->handles, handle);
    wf_rank_cold_release(who);
}

void wf_request_defer(const struct wf_caller *who, uint32_t cell, uint32_t *next_deferred)
{
    struct wf_rank_cold *cold = wf_rank_cold_edit(who);

    wf_request_edit(who, cell)->flags |= WF_REQ_DEFERRED;
    *next_deferred = cold->deferred;
    cold->deferred = cell;
}

uint32_t wf_request_find_large(const struct wf_caller *who, uint32_t number)
{
    return wf_cellmap_get(who->ctx, &who->rank->requests, number);
}

void wf_request_leave(const struct wf_caller *who, uint32_t number)
{
    if (number < WF_RANK_SMALL_REQUESTS) {
        who->rank->small_requests[number] = 0;
    } else {
        (void)wf_cellmap_take(who->ctx, &who->rank->requests, number);
    }
}

bool wf_request_fail_unless_free(const struct wf_caller *who, uint32_t number)
{
    bool is_free = wf_request_find(who, number) == 0;

    if (!is_free) {
        wf_rank_fail(who, WF_FAILURE_REQUEST, number);
    }
    return is_free;
}

void wf_request_enter(const struct wf_caller *who, uint32_t cell, uint32_t number)
{
    if (number < WF_RANK_SMALL_REQUESTS) {
        who->rank->small_requests[number] = cell;
    } else {
        wf_cellmap_put(who->ctx, &who->rank->requests, number, cell);
    }
}

void wf_request_register(const struct wf_caller *who, uint32_t cell, uint32_t number)
{
    wf_request_edit(who, cell)->number = number;
    wf_request_enter(who, cell, number);
}

uint32_t wf_request_lengthen(const struct wf_caller *who, uint32_t cell)
{
    uint32_t whole = wf_cell_new_for(who->ctx, WF_REQ_SIZE);
    struct wf_rank_request *req = wf_request_edit(who, whole);

    memcpy(req, wf_request_read(who, cell), WF_REQ_SHORT_SIZE);
    req->is_short = 0;
    req->msg.peer = req->key.src;
    wf_cell_free(who->ctx, cell);

    uint32_t named = req->number != WF_RANK_NO_REQUEST ? wf_request_find(who, req->number) : 0;
    if (named != 0 && (req->flags & WF_REQ_STARTED)) {
        wf_request_edit(who, named)->persistent.started = whole;
    } else if (named == cell) { /* not if the caller has yet to enter it */
        wf_request_leave(who, req->number);
        wf_request_enter(who, whole, req->number);
    }
    return whole;
}
