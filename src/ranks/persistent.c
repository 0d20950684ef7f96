/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that are made once and started again and again. */
#include "ranks/calls.h"
#include "ranks/protocol.h"
#include "ranks/request.h"

void wf_rank_persistent(const struct wf_caller *who, const struct wf_peer *peer, bool receives,
                        uint32_t request)
{
    if (!wf_request_is_free(who, request)) {
        return;
    }
    uint32_t cell = wf_cell_new(who->ctx);
    unsigned flags =
        (receives ? WF_REQ_RECEIVES : 0) | (peer->synchronous ? WF_REQ_SYNCHRONOUS : 0) |
        (peer->buffered ? WF_REQ_BUFFERED : 0) | (peer->open ? WF_REQ_WILDCARD : 0);

    *wf_request_edit(who, cell) =
        (struct wf_rank_request){.key = {peer->group, peer->rank, peer->tag},
                                 .request = WF_RANK_NO_REQUEST,
                                 .kind = WF_REQ_PERSISTENT,
                                 .flags = (uint16_t)flags,
                                 .bytes = peer->bytes};
    wf_request_register(who, cell, request);
}

enum wf_called wf_rank_start_request(const struct wf_caller *who, uint32_t request)
{
    uint32_t cell = wf_request_find(who, request);
    const struct wf_rank_request *made = cell != 0 ? wf_request_read(who, cell) : NULL;

    if (made == NULL || made->kind != WF_REQ_PERSISTENT || made->owner != 0) {
        wf_rank_fail(who, WF_FAILURE_REQUEST, request);
        return WF_CALLED_BLOCKED;
    }
    const struct wf_peer peer = {.rank = made->key.src,
                                 .tag = made->key.tag,
                                 .group = made->key.context,
                                 .bytes = made->bytes,
                                 .synchronous = made->flags & WF_REQ_SYNCHRONOUS,
                                 .buffered = made->flags & WF_REQ_BUFFERED,
                                 .open = made->flags & WF_REQ_WILDCARD};
    uint32_t started = 0;

    if (peer.rank == WF_RANK_PROC_NULL) {
        return WF_CALLED_DONE;
    }
    if (made->flags & WF_REQ_RECEIVES) {
        started = wf_protocol_recv(who, &peer, wf_rank_context(peer.group, false),
                                   who->rank->clock, 0);
    } else if (wf_rank_send_at_clock(who, &peer, &started) == WF_CALLED_AGAIN) {
        return WF_CALLED_AGAIN;
    }
    if (who->rank->state == WF_RANK_FAILED) {
        return WF_CALLED_BLOCKED;
    }
    if (started != 0) {
        struct wf_rank_request *req = wf_request_edit(who, started);

        req->request = request;
        req->flags |= WF_REQ_STARTED;
        wf_request_edit(who, cell)->owner = started;
        if (req->kind == WF_REQ_RECV) {
            wf_protocol_tell_posted(who, started);
        }
    }
    return WF_CALLED_DONE;
}
