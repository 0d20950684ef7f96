/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/stripe.h"

/* The interface whose turn it is. */
static uint32_t take_turn(const struct wf_caller *who)
{
    const struct wf_rails *rails = &who->ranks->rails;
    uint64_t *turn = (void *)((unsigned char *)who->node + rails->turn_at);
    uint32_t nic = (uint32_t)*turn;

    wf_touch(who->ctx, turn, sizeof(*turn));
    *turn = nic + 1 < rails->net->ends.nics ? nic + 1 : 0;
    return nic;
}

/* Sends a part by each interface. */
static int64_t send_parts(const struct wf_caller *who, uint32_t cell,
                          struct wf_msg_header *header, int64_t at)
{
    struct wf_rank_request *send = wf_request_edit(who, cell);
    uint32_t nics = who->ranks->net->ends.nics;
    uint64_t bytes = send->msg.bytes;

    header->data.kind = WF_MSG_PART;
    send->msg.parts = nics;
    for (uint32_t nic = 0; nic < nics; nic++) {
        int64_t left = wf_msg_transmit_by(who, nic, send->msg.peer, header,
                                          bytes / nics + (nic < bytes % nics ? 1 : 0), at);
        if (left != WF_NET_LATER) {
            send->msg.parts--;
            send->at = wf_max_i64(send->at, left);
        }
    }
    return send->msg.parts == 0 ? send->at : WF_NET_LATER;
}

int64_t wf_stripe_send(const struct wf_caller *who, uint32_t cell, struct wf_msg_header *header,
                       int64_t at)
{
    const struct wf_rails *rails = &who->ranks->rails;
    const struct wf_rank_request *send = wf_request_read(who, cell);
    uint32_t to = send->msg.peer;

    if (rails->policy == WF_NODE_NIC_RANK || wf_msg_is_local(who, to)) {
        return wf_msg_transmit(who, to, header, send->msg.bytes, at);
    }
    if (rails->policy == WF_NODE_NIC_ROUND_ROBIN) {
        return wf_msg_transmit_by(who, take_turn(who), to, header, send->msg.bytes, at);
    }
    return wf_rails_stripes(rails, send->msg.bytes)
               ? send_parts(who, cell, header, at)
               : wf_msg_transmit(who, to, header, send->msg.bytes, at);
}

bool wf_stripe_arrived(uint32_t cell, struct wf_arrival *arrival)
{
    const struct wf_caller *who = &arrival->who;
    struct wf_rank_request *recv = wf_request_edit(who, cell);

    recv->received += arrival->bytes;
    recv->at = wf_max_i64(recv->at, arrival->at);
    if (++recv->msg.parts < who->ranks->net->ends.nics) {
        return false;
    }
    arrival->bytes = recv->received;
    arrival->at = recv->at;
    return true;
}

bool wf_stripe_left(const struct wf_caller *who, uint32_t cell, int64_t *at)
{
    struct wf_rank_request *send = wf_request_edit(who, cell);

    send->at = wf_max_i64(send->at, *at);
    if (send->msg.parts > 1) { /* 0 only in a run that will be rolled back */
        send->msg.parts--;
        return false;
    }
    *at = send->at;
    return true;
}
