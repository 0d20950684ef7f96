/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How messages travel. Short messages are sent at once (eager). A long or synchronous message
 * is announced first; the receiver asks for it when it has a receive for it, and only then the
 * data follows (rendezvous, model/ranks/rendezvous.c).
 */
#include "model/ranks/protocol.h"

#include "model/ranks/files.h"
#include "model/ranks/live_polls.h"
#include "model/ranks/node_totals.h"
#include "model/ranks/rendezvous.h"

#include <string.h>

/* Sends a message to a rank on the same node; returns what wf_msg_transmit() returns. */
static int64_t transmit_locally(const struct wf_caller *who, const struct wf_msg_header *header,
                                const struct wf_net_message *msg, int64_t start)
{
    const struct wf_local *local = &who->ranks->local;
    enum wf_cores_distance distance =
        wf_local_distance(local, header->src_slot, header->dst_slot);

    wf_net_schedule(who->ranks->net, who->ctx, msg->src_node,
                    wf_time_add(start, local->latency[distance]), WF_NODE_LOCAL, msg);
    return wf_local_leaves_later(local)
               ? WF_NET_LATER
               : wf_time_add(start, wf_transfer_ps(msg->bytes, local->bandwidth[distance]));
}

/* Where a message goes, and the interfaces that it leaves and arrives by. */
struct route {
    uint32_t node, slot, src_nic, dst_nic;
};

static inline struct route route_to(const struct wf_caller *who, uint32_t node, uint32_t slot)
{
    const struct wf_rails *rails = &who->ranks->rails;

    return (struct route){node, slot, wf_rails_nic(rails, who->slot),
                          wf_rails_nic(rails, slot)};
}

static inline int64_t transmit(const struct wf_caller *who, const struct route *to,
                               struct wf_msg_header *header, uint64_t bytes, int64_t start)
{
    const struct wf_ranks *ranks = who->ranks;
    const struct wf_net *net = ranks->net;
    uint32_t own_node = wf_self(who->ctx) - net->first_node;
    struct wf_net_message msg = {.bytes = bytes,
                                 .src_node = wf_net_end(&net->ends, own_node, to->src_nic)};

    header->src_slot = (uint16_t)who->slot;
    header->dst_slot = (uint16_t)to->slot;
    memcpy(msg.header, header, sizeof(*header));
    if (to->node == own_node && ranks->mpi->local) {
        return transmit_locally(who, header, &msg, start);
    }
    return wf_node_nic_send(&ranks->nics, who->ctx, who->node,
                            wf_net_end(&net->ends, to->node, to->dst_nic), &msg, start);
}

int64_t wf_msg_transmit(const struct wf_caller *who, uint32_t to, struct wf_msg_header *header,
                        uint64_t bytes, int64_t start)
{
    const struct wf_place *place = who->ranks->place;
    const struct route route =
        route_to(who, wf_place_node(place, to), wf_place_slot(place, to));

    return transmit(who, &route, header, bytes, start);
}

void wf_msg_transmit_to(const struct wf_caller *who, uint32_t node, uint32_t slot,
                        struct wf_msg_header *header, uint64_t bytes, int64_t start)
{
    const struct route route = route_to(who, node, slot);

    (void)transmit(who, &route, header, bytes, start);
}

int64_t wf_msg_transmit_by(const struct wf_caller *who, uint32_t nic, uint32_t to,
                           struct wf_msg_header *header, uint64_t bytes, int64_t start)
{
    const struct wf_place *place = who->ranks->place;
    const struct route route = {wf_place_node(place, to), wf_place_slot(place, to), nic, nic};

    return transmit(who, &route, header, bytes, start);
}

bool wf_msg_is_local(const struct wf_caller *who, uint32_t rank)
{
    return who->ranks->mpi->local && wf_place_node(who->ranks->place, rank) ==
                                         wf_self(who->ctx) - who->ranks->net->first_node;
}

static bool is_eager(const struct wf_caller *who, const struct wf_peer *to)
{
    return to->buffered || wf_ranks_only_send(who->ranks) ||
           (!to->synchronous && to->bytes <= who->ranks->mpi->eager_max);
}

int64_t wf_protocol_send_bytes_ps(const struct wf_caller *who, const struct wf_peer *to)
{
    const struct wf_node_costs *costs = &who->ranks->costs;
    bool eager = is_eager(who, to);
    int64_t ps = wf_node_send_ps(costs, to->bytes, eager);

    if (costs->registers && !eager && !wf_msg_is_local(who, to->rank)) {
        ps = wf_time_add(ps, wf_node_register_ps(costs, to->bytes));
    }
    return ps;
}

uint32_t wf_protocol_send(const struct wf_caller *who, const struct wf_peer *to,
                          uint32_t context, int64_t start, uint32_t owner)
{
    struct wf_rank *rank = who->rank;
    struct wf_msg_header header;

    rank->sent_messages++;
    rank->sent_bytes = wf_count_add(rank->sent_bytes, to->bytes);
    rank->longest = (uint32_t)wf_max_u64(rank->longest, wf_min_u64(to->bytes, UINT32_MAX));
    if (is_eager(who, to)) {
        header = (struct wf_msg_header){.eager = {.tag = to->tag,
                                                  .context = context & WF_MSG_LOW_MASK,
                                                  .kind = WF_MSG_EAGER,
                                                  .departure = start}};
        /* The send is complete when the network has the message; when its last byte leaves does
         * not matter. */
        (void)wf_msg_transmit(who, to->rank, &header, to->bytes, start);
        return 0;
    }

    return wf_rendezvous_announce(who, to, context, start, owner);
}

/* The data of an eager message. */
struct eager {
    uint64_t bytes;
    int64_t departure, arrival;
};

/* A receive and its eager message have matched. */
static inline void match_eager(const struct wf_caller *who, uint32_t cell,
                               const struct wf_match_key *key, const struct eager *eager)
{
    struct wf_rank_request *recv = wf_request_edit(who, cell);

    if (wf_request_is_misfit(who, recv, eager->bytes)) {
        wf_rank_fail_sizes(who, key, recv->msg.bytes, eager->bytes);
        return;
    }
    recv->msg.bytes = eager->bytes;
    if (!recv->is_short) {
        recv->msg.peer = key->src;
        recv->key.tag = key->tag;
    }
    wf_request_set_departure(recv, eager->departure);
    /* By the rank's clock, which may be ahead of the engine's time. */
    recv->flags |= recv->at > eager->arrival ? WF_REQ_UNEXPECTED_DATA : 0;
    wf_request_complete_edited(who, cell, recv, eager->arrival);
}

/* A receive and its message have matched; the caller frees `message`. Returns the cell of the
 * receive. */
static uint32_t match_message(const struct wf_caller *who, uint32_t cell,
                              const struct wf_rank_request *message)
{
    if ((message->flags & WF_REQ_ANNOUNCED) == 0) {
        match_eager(who, cell, &message->key,
                    &(struct eager){message->unexpected.bytes, message->unexpected.departure,
                                    message->at});
        return cell;
    }
    if (wf_request_read(who, cell)->is_short) {
        cell = wf_request_lengthen(who, cell);
    }
    struct wf_rank_request *recv = wf_request_edit(who, cell);

    recv->msg.peer = message->key.src;
    recv->key.tag = message->key.tag;
    wf_rendezvous_match(who, cell, message);
    return cell;
}

/* Tells a live program that a wildcard receive has matched a message. */
static inline void tell_matched(const struct wf_caller *who, uint32_t cell, uint32_t src,
                                int32_t tag)
{
    if (who->ranks->live != NULL && (wf_request_read(who, cell)->flags & WF_REQ_WILDCARD)) {
        wf_live_matched(who, wf_request_read(who, cell)->number, src, tag);
    }
}

void wf_protocol_tell_live(const struct wf_caller *who, uint32_t cell)
{
    const struct wf_rank_request *recv = wf_request_read(who, cell);

    /* The receive is complete, or has asked for its data, or will ask as soon as it may. */
    if ((recv->flags & (WF_REQ_DONE | WF_REQ_DEFERRED)) || recv->msg.handle != 0) {
        tell_matched(who, cell, recv->msg.peer, recv->key.tag);
    }
}

uint32_t wf_protocol_recv(const struct wf_caller *who, const struct wf_peer *from,
                          uint32_t context, int64_t at, struct wf_recv_use use)
{
    bool open =
        from->open || from->rank == WF_MATCH_ANY_SOURCE || from->tag == WF_MATCH_ANY_TAG;
    bool is_short = wf_ranks_have_short_receives(who->ranks) && !open && use.owner == 0 &&
                    from->bytes <= who->ranks->mpi->eager_max;
    uint32_t cell = wf_cell_new_for(who->ctx, is_short ? WF_REQ_SHORT_SIZE : WF_REQ_SIZE);
    struct wf_rank_request *recv = wf_request_edit(who, cell);

    recv->link = (struct wf_match_link){.key = {context, from->rank, from->tag}};
    recv->order = 0;
    recv->number = use.number;
    recv->kind = WF_REQ_RECV;
    recv->is_short = is_short;
    recv->flags = open ? WF_REQ_WILDCARD : 0;
    recv->at = at;
    recv->msg.bytes = from->bytes;
    if (!is_short) {
        recv->msg.owner = use.owner;
        recv->msg.peer = from->rank;
        recv->msg.departure = 0;
    }
    uint32_t found = wf_match_post(who->ctx, &who->rank->match, cell);
    if (found != 0) {
        struct wf_rank_request message = *wf_request_read(who, found);

        wf_cell_free(who->ctx, found);
        if ((message.flags & WF_REQ_ANNOUNCED) == 0) {
            who->rank->unexpected_bytes -= message.unexpected.bytes;
        }
        cell = match_message(who, cell, &message);
    }
    return cell;
}

/* Finds the receive for a message that arrives, eager or announced. */
static uint32_t claim_receive(const struct wf_caller *who, const struct wf_match_key *key)
{
    uint32_t cell = wf_match_claim(who->ctx, &who->rank->match, key);

    if (cell != 0) {
        tell_matched(who, cell, key->src, key->tag);
    }
    return cell;
}

/* A message that found no receive waits for one. */
static void keep_unexpected(const struct wf_caller *who, const struct wf_rank_request *message)
{
    struct wf_rank *rank = who->rank;
    uint32_t cell = wf_cell_new_for(who->ctx, WF_REQ_SIZE);

    *wf_request_edit(who, cell) = *message;
    wf_match_keep(who->ctx, &rank->match, cell);
    if ((message->flags & WF_REQ_ANNOUNCED) == 0) {
        rank->unexpected_bytes =
            wf_count_add(rank->unexpected_bytes, message->unexpected.bytes);
        if (rank->unexpected_bytes > who->ranks->mpi->unexpected_limit) {
            wf_rank_fail(who, WF_FAILURE_UNEXPECTED, message->key.src);
            return;
        }
    }
    if (rank->state == WF_RANK_PROBING) {
        wf_rank_wake(who);
    } else if (rank->state == WF_RANK_POLLING) {
        wf_rank_poll_wake(who, message->at);
    }
}

void wf_arrival_note(const struct wf_arrival *arrival, int64_t departure)
{
    const struct wf_caller *to = &arrival->who;
    const struct wf_sent sent = {departure, arrival->at, arrival->bytes, arrival->from,
                                 to->number};
    const struct wf_node_note note = {.what = WF_NOTED_LATENCY, .at = arrival->at - departure};

    if (wf_now_is_final(to->ctx)) {
        wf_node_count_latency(&to->ranks->recorder, wf_tally(to->ctx), note.at);
    } else {
        wf_note(to->ctx, &note, offsetof(struct wf_node_note, time));
    }
    to->rank->noted = 1; /* in both cases: a mark gets another event (do_marker()) */
    if (wf_recorder_is_on(&to->ranks->recorder)) {
        wf_recorder_add_message(&to->ranks->recorder, to->ctx, to->sums, &sent);
    }
}

static void on_eager(const struct wf_arrival *arrival)
{
    const struct wf_caller *who = &arrival->who;
    struct wf_rank *rank = who->rank;
    uint32_t context = arrival->header->eager.context;
    int32_t tag = arrival->header->eager.tag;
    int64_t departure = arrival->header->eager.departure;

    wf_arrival_note(arrival, departure);
    if (!wf_ranks_only_send(who->ranks)) {
        const struct wf_match_key key = {context, arrival->from, tag};
        uint32_t cell = claim_receive(who, &key);

        if (cell != 0) {
            match_eager(who, cell, &key,
                        &(struct eager){arrival->bytes, departure, arrival->at});
        } else {
            keep_unexpected(
                who, &(struct wf_rank_request){.key = key,
                                               .number = WF_RANK_NO_REQUEST,
                                               .kind = WF_REQ_UNEXPECTED,
                                               .at = arrival->at,
                                               .unexpected = {arrival->bytes, {departure}}});
        }
    } else if (rank->state == WF_RANK_ENDED && arrival->at > rank->clock) {
        /* No rank receives it, but the run ends when the last message has arrived. A rank
         * that still sends ends later than now anyway. */
        wf_cause_note(who, (struct wf_cause){.until = arrival->at,
                                             .since = departure,
                                             .bytes = arrival->bytes,
                                             .from = arrival->from,
                                             .from_track = wf_track_of(context, tag),
                                             .why = WF_WHY_MESSAGE});
        rank->clock = arrival->at;
    }
}

static void on_announce(const struct wf_arrival *arrival)
{
    const struct wf_msg_header *header = arrival->header;
    const struct wf_rank_request message = {
        .key = {header->announce.context, arrival->from, header->announce.tag},
        .number = WF_RANK_NO_REQUEST,
        .kind = WF_REQ_UNEXPECTED,
        .flags = WF_REQ_ANNOUNCED,
        .at = arrival->at,
        .unexpected = {.bytes = header->announce.bytes,
                       .sender_handle = header->announce.sender_handle}};
    uint32_t cell = claim_receive(&arrival->who, &message.key);

    if (cell != 0) {
        (void)match_message(&arrival->who, cell, &message);
    } else {
        keep_unexpected(&arrival->who, &message);
    }
}

void wf_protocol_receive(const struct wf_arrival *arrival)
{
    static void (*const on_kind[])(const struct wf_arrival *arrival) = {
        [WF_MSG_EAGER] = on_eager,
        [WF_MSG_ANNOUNCE] = on_announce,
        [WF_MSG_ASK] = wf_rendezvous_asked,
        [WF_MSG_DATA] = wf_rendezvous_data,
        [WF_MSG_PUT] = wf_one_sided_put,
        [WF_MSG_PUT_DONE] = wf_one_sided_put_done,
        [WF_MSG_GET] = wf_one_sided_get,
        [WF_MSG_GET_DATA] = wf_one_sided_get_data,
        [WF_MSG_CONFIRM] = wf_rendezvous_confirmed,
        [WF_MSG_PART] = wf_rendezvous_part,
        [WF_MSG_FILE_DONE] = wf_files_answered,
    };

    on_kind[arrival->header->any.kind](arrival);
}

static uint32_t kind_of(const struct wf_net_message *msg)
{
    struct wf_msg_header header;

    memcpy(&header, msg->header, sizeof(header));
    return header.any.kind;
}

/* Messages match receives, and puts and gets take effect, in the order in which they were sent.
 * Others belong to what a handle in them names. */
bool wf_protocol_may_overtake(const struct wf_net_message *msg)
{
    static const bool may[] = {
        [WF_MSG_ASK] = true,      [WF_MSG_DATA] = true,      [WF_MSG_PUT_DONE] = true,
        [WF_MSG_GET_DATA] = true, [WF_MSG_CONFIRM] = true,   [WF_MSG_PART] = true,
        [WF_MSG_FILE] = true,     [WF_MSG_FILE_DONE] = true,
    };
    uint32_t kind = kind_of(msg);

    return kind < sizeof(may) / sizeof(may[0]) && may[kind];
}

bool wf_protocol_is_control(const struct wf_net_message *msg)
{
    static const bool is[] = {
        [WF_MSG_ANNOUNCE] = true, [WF_MSG_ASK] = true,     [WF_MSG_PUT_DONE] = true,
        [WF_MSG_GET] = true,      [WF_MSG_CONFIRM] = true,
    };
    uint32_t kind = kind_of(msg);

    return kind < sizeof(is) / sizeof(is[0]) && is[kind];
}
