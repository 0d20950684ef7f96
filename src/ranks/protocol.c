/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How messages travel. Short messages are sent at once (eager). A long or synchronous message
 * is announced first; the receiver asks for it when it has a receive for it, and only then the
 * data follows (rendezvous):
 *
 *     sender                      receiver
 *       |  ------ ANNOUNCE ------>   |   request with a handle of the sender
 *       |  <-------- ASK ---------   |   once a receive matches: a handle of the receiver
 *       |  -------- DATA -------->   |
 *       |  <------ CONFIRM -------   |   with mpi.rendezvous=read only
 *
 * With mpi.rendezvous=write the sender sends the data, and its send is complete when the last
 * byte has left. With read the sender's network interface sends the data, whatever its CPU
 * does, and the send is complete when the confirmation has arrived.
 */
#include "ranks/protocol.h"

#include "base/mem.h"
#include "ranks/collective.h"
#include "ranks/stripe.h"

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

/* The interfaces that a message leaves and arrives by. */
struct interfaces {
    uint32_t src, dst;
};

static inline int64_t transmit(const struct wf_caller *who, uint32_t to,
                               struct wf_msg_header *header, uint64_t bytes, int64_t start,
                               const struct interfaces *nics)
{
    const struct wf_ranks *ranks = who->ranks;
    const struct wf_net *net = ranks->net;
    uint32_t own_node = wf_self(who->ctx) - net->first_node;
    uint32_t dst_node = wf_place_node(ranks->place, to),
             dst_slot = wf_place_slot(ranks->place, to);
    const struct interfaces used = nics != NULL ? *nics
                                                : (struct interfaces){
                                                      wf_rails_nic(&ranks->rails, who->slot),
                                                      wf_rails_nic(&ranks->rails, dst_slot),
                                                  };
    struct wf_net_message msg = {.bytes = bytes,
                                 .src_node = wf_net_end(&net->ends, own_node, used.src)};

    header->src_slot = (uint16_t)who->slot;
    header->dst_slot = (uint16_t)dst_slot;
    memcpy(msg.header, header, sizeof(*header));
    if (dst_node == own_node && ranks->mpi->local) {
        return transmit_locally(who, header, &msg, start);
    }
    return wf_node_nic_send(&ranks->nics, who->ctx, who->node,
                            wf_net_end(&net->ends, dst_node, used.dst), &msg, start);
}

int64_t wf_msg_transmit(const struct wf_caller *who, uint32_t to, struct wf_msg_header *header,
                        uint64_t bytes, int64_t start)
{
    return transmit(who, to, header, bytes, start, NULL);
}

int64_t wf_msg_transmit_by(const struct wf_caller *who, uint32_t nic, uint32_t to,
                           struct wf_msg_header *header, uint64_t bytes, int64_t start)
{
    return transmit(who, to, header, bytes, start, &(struct interfaces){nic, nic});
}

bool wf_msg_is_local(const struct wf_caller *who, uint32_t rank)
{
    return who->ranks->mpi->local && wf_place_node(who->ranks->place, rank) ==
                                         wf_self(who->ctx) - who->ranks->net->first_node;
}

static bool is_eager(const struct wf_caller *who, const struct wf_peer *to)
{
    return to->buffered || who->ranks->sends_only ||
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

    uint32_t cell = wf_cell_new(who->ctx);
    uint32_t handle = wf_request_new_handle(rank);

    *wf_request_edit(who, cell) = (struct wf_rank_request){
        .key = {context, to->rank, to->tag},
        .number = WF_RANK_NO_REQUEST,
        .kind = WF_REQ_SEND,
        .at = start,
        .msg = {.bytes = to->bytes, .owner = owner, .peer = to->rank, .handle = handle}};
    wf_cause_note(who, (struct wf_cause){.until = start,
                                         .since = start,
                                         .track = wf_track_announced(handle),
                                         .from = who->number,
                                         .from_track = wf_track_of(context, to->tag),
                                         .why = WF_WHY_ANNOUNCED});
    wf_cellmap_put(who->ctx, &rank->handles, handle, cell);
    header = (struct wf_msg_header){
        .announce = {.tag = to->tag,
                     .context = context & WF_MSG_LOW_MASK,
                     .kind = WF_MSG_ANNOUNCE,
                     .sender_handle = handle,
                     .bytes = to->bytes < UINT32_MAX ? (uint32_t)to->bytes : UINT32_MAX}};
    (void)wf_msg_transmit(who, to->rank, &header, who->ranks->mpi->control_bytes, start);
    return cell;
}

/* When the receiver was ready for a long message: a time; READY_BEFORE if it was ready
 * before the announcement arrived; READY_IN_CALL minus a time if a call of the rank
 * continued it. */
enum { READY_BEFORE = -1, READY_IN_CALL = -2 };

/* A receive that has matched the announcement of its message. */
struct asking {
    uint32_t cell;
    uint32_t sender_handle;
    uint64_t bytes; /* that were announced */
    int64_t at;     /* when the receiver handles the announcement */
    int64_t ready;
    bool announced; /* now: the receive was posted before */
};

/* The rank itself registers the memory: in a call, on the clock of the program or of the
 * collective that the receive belongs to. A rank that waits stops waiting for that. */
static void register_in_call(const struct wf_caller *who, const struct wf_rank_request *recv,
                             int64_t cpu_ps, struct asking *asking)
{
    struct wf_rank *rank = who->rank;
    uint32_t owner = recv->msg.owner;
    int64_t clock = owner != 0 ? wf_request_read(who, owner)->at : rank->clock;
    bool waited = asking->announced && asking->at > clock;
    uint32_t track = wf_track_of(recv->key.context, recv->key.tag);
    int64_t begin = wf_max_i64(clock, asking->at);

    wf_cause_note(who,
                  (struct wf_cause){
                      .until = begin,
                      .since = begin,
                      .track = track,
                      .from = waited ? recv->msg.peer : who->number,
                      .from_track = waited ? wf_track_announced(asking->sender_handle) : track,
                      .taken = (uint64_t)cpu_ps,
                      .why = waited ? WF_WHY_PROBED : WF_WHY_KINDS});
    if (owner != 0) {
        asking->at = wf_collective_charge(who, owner, begin, cpu_ps);
    } else {
        wf_rank_advance(who, begin, WF_IN_RECV);
        wf_rank_charge(who, cpu_ps);
        asking->at = wf_time_add(begin, cpu_ps);
    }
    if (asking->ready >= 0) {
        asking->ready = asking->at;
    }
}

/* The receiver registers its memory before it asks for the data. Where long messages progress
 * independently of the rank, or ranks share cores, that takes no CPU time from it. */
static void register_memory(const struct wf_caller *who, const struct wf_rank_request *recv,
                            struct asking *asking)
{
    uint64_t bytes = asking->bytes;

    /* An announcement has no place for larger numbers. */
    if (bytes == UINT32_MAX && recv->msg.bytes > bytes && recv->msg.bytes != UINT64_MAX) {
        bytes = recv->msg.bytes;
    }
    int64_t cpu_ps = wf_node_register_ps(&who->ranks->costs, bytes);

    if (who->ranks->mpi->progress == WF_PROGRESS_CALLS && who->rank->state != WF_RANK_ENDED &&
        !who->ranks->turns.on) {
        register_in_call(who, recv, cpu_ps, asking);
    } else {
        asking->at = wf_time_add(asking->at, cpu_ps);
    }
}

/* Asks for the data. */
static void ask(const struct wf_caller *who, struct asking asking)
{
    struct wf_rank_request *recv = wf_request_edit(who, asking.cell);
    uint32_t handle = wf_request_new_handle(who->rank);

    if (who->ranks->costs.registers && !wf_msg_is_local(who, recv->msg.peer)) {
        register_memory(who, recv, &asking);
    }
    struct wf_msg_header header = {.ask = {.sender_handle = asking.sender_handle,
                                           .receiver_handle = handle & WF_MSG_LOW_MASK,
                                           .kind = WF_MSG_ASK,
                                           .ready = asking.ready < READY_BEFORE
                                                        ? READY_IN_CALL - asking.at
                                                        : asking.ready}};

    recv->msg.handle = handle;
    recv->msg.parts = 0;
    recv->received = 0;
    wf_cellmap_put(who->ctx, &who->rank->handles, handle, asking.cell);
    (void)wf_msg_transmit(who, recv->msg.peer, &header, who->ranks->mpi->control_bytes,
                          asking.at);
}

/* The data of a long message departed, and its last byte left at the time `at`. */
static void data_gone(const struct wf_caller *who, uint32_t cell, int64_t departure, int64_t at)
{
    struct wf_rank_request *send = wf_request_edit(who, cell);

    send->key.src = send->msg.handle;
    send->msg.departure = ~departure;
    wf_request_complete(who, cell, at);
}

/* Whether the receiver reads the data of long messages. */
static bool is_read(const struct wf_ranks *ranks)
{
    return ranks->mpi->rendezvous == WF_RENDEZVOUS_READ;
}

/* Sends the data that the receive with this handle asked for. `cause` says which side was ready
 * last, and when. */
static void answer(const struct wf_caller *who, uint32_t cell, uint32_t receiver_handle,
                   int64_t at, struct wf_cause cause)
{
    const struct wf_rank_request *send = wf_request_read(who, cell);
    uint32_t handle = send->msg.handle;
    struct wf_msg_header header = {.data = {.receiver_handle = receiver_handle,
                                            .sender_handle = handle & WF_MSG_LOW_MASK,
                                            .kind = WF_MSG_DATA,
                                            .departure = at}};

    cause.until = at;
    cause.track = wf_track_asked(handle);
    wf_cause_note(who, cause);
    int64_t left = wf_stripe_send(who, cell, &header, at);
    if (left != WF_NET_LATER && !is_read(who->ranks)) {
        (void)wf_cellmap_take(who->ctx, &who->rank->handles, handle);
        data_gone(who, cell, at, left);
    }
}

/* Tells the sender that its data has been read. `cause` says why that is now. */
static void confirm(const struct wf_caller *who, uint32_t to, uint32_t sender_handle,
                    uint32_t receiver_handle, int64_t at, struct wf_cause cause)
{
    struct wf_msg_header header = {
        .confirm = {.sender_handle = sender_handle,
                    .receiver_handle = receiver_handle & WF_MSG_LOW_MASK,
                    .kind = WF_MSG_CONFIRM,
                    .departure = at}};

    cause.until = at;
    cause.track = wf_track_asked(receiver_handle);
    wf_cause_note(who, cause);
    (void)wf_msg_transmit(who, to, &header, who->ranks->mpi->control_bytes, at);
}

/* Likewise in the rank's next call. */
static void defer_confirmation(const struct wf_caller *who, uint32_t to, uint32_t sender_handle,
                               uint32_t receiver_handle)
{
    uint32_t cell = wf_cell_new(who->ctx);
    struct wf_rank_request *req = wf_request_edit(who, cell);

    *req = (struct wf_rank_request){.number = WF_RANK_NO_REQUEST,
                                    .kind = WF_REQ_CONFIRM,
                                    .msg = {.peer = to, .handle = receiver_handle}};
    req->other_handle = sender_handle;
    wf_request_defer(who, cell, &req->msg.next_deferred);
}

static void run_confirmation(const struct wf_caller *who, uint32_t cell, int64_t at)
{
    struct wf_rank_request req = *wf_request_read(who, cell);

    wf_cell_free(who->ctx, cell);
    confirm(who, req.msg.peer, req.other_handle, req.msg.handle, at,
            (struct wf_cause){.since = at, .from = who->number, .why = WF_WHY_CALLED});
}

/* Defers an operation to the rank's next call; the request of the other side has this
 * handle. */
static void defer(const struct wf_caller *who, uint32_t cell, uint32_t other_handle)
{
    struct wf_rank_request *req = wf_request_edit(who, cell);

    req->other_handle = other_handle;
    wf_request_defer(who, cell, &req->msg.next_deferred);
}

void wf_rank_run_deferred(const struct wf_caller *who)
{
    while (who->rank->deferred != 0) {
        uint32_t cell = who->rank->deferred;
        struct wf_rank_request *req = wf_request_edit(who, cell);
        int64_t at = who->rank->clock;

        who->rank->deferred =
            req->kind == WF_REQ_COLL ? req->coll.next_deferred : req->msg.next_deferred;
        req->flags &= (uint16_t)~WF_REQ_DEFERRED;
        if (req->kind == WF_REQ_RECV) {
            ask(who, (struct asking){.cell = cell,
                                     .sender_handle = req->other_handle,
                                     .bytes = req->announced,
                                     .at = at,
                                     .ready = READY_IN_CALL - at});
        } else if (req->kind == WF_REQ_CONFIRM) {
            run_confirmation(who, cell, at);
        } else if (req->kind == WF_REQ_SEND) {
            answer(who, cell, req->other_handle, at,
                   (struct wf_cause){.since = at, .from = who->number, .why = WF_WHY_CALLED});
        } else {
            wf_collective_run_deferred(who, cell, at);
        }
    }
}

/* Whether a message of this length is an error of the program. In a collective both sides
 * know the size; a receive of the program only gives its capacity. */
static bool is_misfit(const struct wf_rank_request *recv, uint64_t bytes)
{
    return bytes != recv->msg.bytes && (bytes > recv->msg.bytes || recv->msg.owner != 0);
}

/* A receive and its message have matched; the caller frees `message`. */
static void meet(const struct wf_caller *who, uint32_t cell,
                 const struct wf_rank_request *message)
{
    struct wf_rank_request *recv = wf_request_edit(who, cell);

    recv->msg.peer = message->key.src;
    recv->key.tag = message->key.tag;
    if ((message->flags & WF_REQ_ANNOUNCED) == 0) {
        if (is_misfit(recv, message->unexpected.bytes)) {
            wf_rank_fail_sizes(who, &message->key, recv->msg.bytes, message->unexpected.bytes);
            return;
        }
        recv->msg.bytes = message->unexpected.bytes;
        recv->msg.departure = message->unexpected.departure;
        /* By the rank's clock, which may be ahead of the engine's time. */
        recv->flags |= recv->at > message->at ? WF_REQ_UNEXPECTED_DATA : 0;
        wf_request_complete(who, cell, message->at);
        return;
    }
    int64_t at = wf_rank_progress(who, wf_max_i64(recv->at, message->at));
    if (at == WF_NET_LATER) {
        recv->announced = (uint32_t)message->unexpected.bytes;
        defer(who, cell, message->unexpected.sender_handle);
    } else {
        bool announced = recv->at < message->at;

        ask(who, (struct asking){.cell = cell,
                                 .sender_handle = message->unexpected.sender_handle,
                                 .bytes = message->unexpected.bytes,
                                 .at = at,
                                 .ready = announced ? READY_BEFORE : recv->at,
                                 .announced = announced});
    }
}

/* Tells a live program that a wildcard receive has matched a message. */
static void tell_matched(const struct wf_caller *who, uint32_t cell, uint32_t src, int32_t tag)
{
    const struct wf_rank_request *recv = wf_request_read(who, cell);

    if (who->ranks->has_live && (recv->flags & WF_REQ_WILDCARD)) {
        wf_live_matched(who, recv->number, src, tag);
    }
}

void wf_protocol_tell_posted(const struct wf_caller *who, uint32_t cell)
{
    const struct wf_rank_request *recv = wf_request_read(who, cell);

    /* The receive is complete, or has asked for its data, or will ask as soon as it may. */
    if ((recv->flags & (WF_REQ_DONE | WF_REQ_DEFERRED)) || recv->msg.handle != 0) {
        tell_matched(who, cell, recv->msg.peer, recv->key.tag);
    }
}

uint32_t wf_protocol_recv(const struct wf_caller *who, const struct wf_peer *from,
                          uint32_t context, int64_t at, uint32_t owner)
{
    uint32_t cell = wf_cell_new(who->ctx);
    bool open =
        from->open || from->rank == WF_MATCH_ANY_SOURCE || from->tag == WF_MATCH_ANY_TAG;

    *wf_request_edit(who, cell) =
        (struct wf_rank_request){.key = {context, from->rank, from->tag},
                                 .number = WF_RANK_NO_REQUEST,
                                 .kind = WF_REQ_RECV,
                                 .flags = open ? WF_REQ_WILDCARD : 0,
                                 .at = at,
                                 .msg = {from->bytes, owner, from->rank, {{0}}}};
    uint32_t found = wf_match_post(who->ctx, &who->rank->match, cell);
    if (found != 0) {
        struct wf_rank_request message = *wf_request_read(who, found);

        wf_cell_free(who->ctx, found);
        if ((message.flags & WF_REQ_ANNOUNCED) == 0) {
            who->rank->unexpected_bytes -= message.unexpected.bytes;
        }
        meet(who, cell, &message);
    }
    return cell;
}

/* A message that needs a match: eager, or announced. */
static void match_message(const struct wf_caller *who, const struct wf_rank_request *message)
{
    struct wf_rank *rank = who->rank;
    uint32_t cell = wf_match_claim(who->ctx, &rank->match, &message->key);

    if (cell != 0) {
        tell_matched(who, cell, message->key.src, message->key.tag);
        meet(who, cell, message);
        return;
    }
    cell = wf_cell_new(who->ctx);
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
    }
}

void wf_arrival_note(const struct wf_arrival *arrival, int64_t departure)
{
    wf_node_note_message(&arrival->who,
                         &(struct wf_sent){departure, arrival->at, arrival->bytes,
                                           arrival->from, arrival->who.number});
}

static void on_eager(const struct wf_arrival *arrival)
{
    const struct wf_caller *who = &arrival->who;
    struct wf_rank *rank = who->rank;
    uint32_t context = arrival->header.eager.context;
    int32_t tag = arrival->header.eager.tag;
    int64_t departure = arrival->header.eager.departure;

    wf_arrival_note(arrival, departure);
    if (!who->ranks->sends_only) {
        match_message(who,
                      &(struct wf_rank_request){.key = {context, arrival->from, tag},
                                                .number = WF_RANK_NO_REQUEST,
                                                .kind = WF_REQ_UNEXPECTED,
                                                .at = arrival->at,
                                                .unexpected = {arrival->bytes, {departure}}});
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
    const struct wf_msg_header *header = &arrival->header;

    match_message(&arrival->who,
                  &(struct wf_rank_request){
                      .key = {header->announce.context, arrival->from, header->announce.tag},
                      .number = WF_RANK_NO_REQUEST,
                      .kind = WF_REQ_UNEXPECTED,
                      .flags = WF_REQ_ANNOUNCED,
                      .at = arrival->at,
                      .unexpected = {.bytes = header->announce.bytes,
                                     .sender_handle = header->announce.sender_handle}});
}

/* The request with this handle and kind. In a run that will be rolled back it may be
 * missing. */
static uint32_t find_request(const struct wf_arrival *arrival, uint32_t handle,
                             enum wf_rank_request_kind kind)
{
    const struct wf_caller *who = &arrival->who;
    uint32_t cell = wf_cellmap_get(who->ctx, &who->rank->handles, handle);

    return cell != 0 && wf_request_read(who, cell)->kind == kind ? cell : 0;
}

/* Which side was ready last for the data of a long message. */
static struct wf_cause who_was_last(const struct wf_arrival *arrival,
                                    const struct wf_rank_request *send)
{
    struct wf_cause cause = {.since = arrival->header.ask.ready,
                             .from = arrival->from,
                             .from_track = wf_track_of(send->key.context, send->key.tag),
                             .why = WF_WHY_ASKED};

    if (cause.since == READY_BEFORE) {
        cause.from = arrival->who.number;
        cause.since = send->at;
    } else if (cause.since < 0) {
        cause.from_track = WF_TRACK_PROGRAM;
        cause.since = READY_IN_CALL - cause.since;
    }
    return cause;
}

static void on_ask(const struct wf_arrival *arrival)
{
    const struct wf_caller *who = &arrival->who;
    uint32_t cell = find_request(arrival, arrival->header.ask.sender_handle, WF_REQ_SEND);
    uint32_t receiver_handle = arrival->header.ask.receiver_handle;
    int64_t at = is_read(who->ranks) ? arrival->at : wf_rank_progress(who, arrival->at);

    if (cell == 0 || (wf_request_read(who, cell)->flags & WF_REQ_DEFERRED)) {
        return;
    }
    if (at == WF_NET_LATER) {
        defer(who, cell, receiver_handle);
    } else {
        answer(who, cell, receiver_handle, at,
               who_was_last(arrival, wf_request_read(who, cell)));
    }
}

/* The receiver has read all data: it confirms that, now or in its next call. */
static void confirm_arrival(const struct wf_arrival *arrival)
{
    const struct wf_caller *who = &arrival->who;
    uint32_t sender_handle = arrival->header.data.sender_handle;
    uint32_t receiver_handle = arrival->header.data.receiver_handle;

    if (wf_rank_progress(who, arrival->at) == WF_NET_LATER) {
        defer_confirmation(who, arrival->from, sender_handle, receiver_handle);
        return;
    }
    confirm(who, arrival->from, sender_handle, receiver_handle, arrival->at,
            (struct wf_cause){.since = arrival->header.data.departure,
                              .bytes = arrival->bytes,
                              .from = arrival->from,
                              .from_track = wf_track_asked(sender_handle),
                              .why = WF_WHY_DATA});
}

static void on_data(const struct wf_arrival *arrival)
{
    const struct wf_caller *who = &arrival->who;
    const struct wf_msg_header *header = &arrival->header;
    uint32_t cell = find_request(arrival, header->data.receiver_handle, WF_REQ_RECV);

    wf_arrival_note(arrival, header->data.departure);
    if (cell == 0) {
        return;
    }
    (void)wf_cellmap_take(who->ctx, &who->rank->handles, header->data.receiver_handle);

    struct wf_rank_request *recv = wf_request_edit(who, cell);
    if (is_misfit(recv, arrival->bytes)) {
        const struct wf_match_key key = {recv->key.context, recv->msg.peer, recv->key.tag};

        wf_rank_fail_sizes(who, &key, recv->msg.bytes, arrival->bytes);
        return;
    }
    recv->msg.bytes = arrival->bytes;
    recv->msg.departure = ~header->data.departure;
    recv->key.src = header->data.sender_handle;
    if (is_read(who->ranks)) {
        confirm_arrival(arrival);
    }
    wf_request_complete(who, cell, arrival->at);
}

static void on_part(const struct wf_arrival *arrival)
{
    struct wf_arrival whole = *arrival;
    uint32_t cell = find_request(arrival, arrival->header.data.receiver_handle, WF_REQ_RECV);

    if (cell != 0 && wf_stripe_arrived(cell, &whole)) {
        on_data(&whole);
    }
}

static void on_confirm(const struct wf_arrival *arrival)
{
    const struct wf_caller *who = &arrival->who;
    uint32_t handle = arrival->header.confirm.sender_handle;
    uint32_t cell = find_request(arrival, handle, WF_REQ_SEND);

    if (cell == 0) {
        return;
    }
    (void)wf_cellmap_take(who->ctx, &who->rank->handles, handle);

    struct wf_rank_request *send = wf_request_edit(who, cell);
    send->key.src = arrival->header.confirm.receiver_handle;
    send->msg.departure = ~arrival->header.confirm.departure;
    send->flags |= WF_REQ_CONFIRMED;
    wf_request_complete(who, cell, arrival->at);
}

void wf_protocol_arrived(void *ranks, struct wf_ctx *ctx, void *node,
                         const struct wf_net_message *msg, int64_t at)
{
    static void (*const on_kind[])(const struct wf_arrival *arrival) = {
        [WF_MSG_EAGER] = on_eager,       [WF_MSG_ANNOUNCE] = on_announce,
        [WF_MSG_ASK] = on_ask,           [WF_MSG_DATA] = on_data,
        [WF_MSG_PUT] = wf_one_sided_put, [WF_MSG_PUT_DONE] = wf_one_sided_put_done,
        [WF_MSG_GET] = wf_one_sided_get, [WF_MSG_GET_DATA] = wf_one_sided_get_data,
        [WF_MSG_CONFIRM] = on_confirm,   [WF_MSG_PART] = on_part,
    };
    const struct wf_ranks *run = ranks;
    struct wf_arrival arrival = {.bytes = msg->bytes, .at = at};

    memcpy(&arrival.header, msg->header, sizeof(arrival.header));
    arrival.who = wf_caller_enter(run, ctx, node, arrival.header.dst_slot);
    arrival.from = wf_rails_sender(&run->rails, msg, arrival.header.src_slot);
    if (arrival.who.rank->state != WF_RANK_FAILED) {
        on_kind[arrival.header.any.kind](&arrival);
    }
}

void wf_protocol_arrived_at_nic(void *ranks, struct wf_ctx *ctx, void *part,
                                const struct wf_net_message *msg, int64_t at)
{
    const struct wf_ranks *run = ranks;
    void *node = wf_rails_state(&run->rails, ctx, part);
    int64_t delay = wf_node_nic_delay(&run->nics, ctx, node);

    if (delay > 0 && run->in_time) {
        const struct wf_node_delayed delayed = {*msg, at - wf_now(ctx)};

        wf_schedule(ctx, wf_self(ctx), delay, WF_NODE_ARRIVED, &delayed, sizeof(delayed));
        return;
    }
    wf_protocol_arrived(ranks, ctx, node, msg, wf_time_add(at, delay));
}

void wf_protocol_delayed(const struct wf_ranks *ranks, struct wf_ctx *ctx, void *node,
                         const struct wf_event *ev)
{
    const struct wf_node_delayed *delayed = (const void *)ev->payload;

    wf_protocol_arrived(wf_unconst(ranks), ctx, node, &delayed->msg,
                        wf_time_add(wf_now(ctx), delayed->tail));
}

/* Whether a send waits for the last byte of this message to leave. */
static bool leaves(const struct wf_ranks *ranks, const struct wf_msg_header *header)
{
    return (header->any.kind == WF_MSG_DATA || header->any.kind == WF_MSG_PART) &&
           !is_read(ranks);
}

/* The last byte of the data of a long message leaves at the time `at`. `noted`: this event has
 * left its note. */
static void data_left(const struct wf_ranks *ranks, struct wf_ctx *ctx, void *node,
                      const struct wf_msg_header *header, int64_t at, bool noted)
{
    const struct wf_caller who = wf_caller_enter(ranks, ctx, node, header->src_slot);

    who.rank->noted = noted;
    uint32_t cell = wf_cellmap_get(ctx, &who.rank->handles, header->data.sender_handle);

    if (cell == 0 || (header->any.kind == WF_MSG_PART && !wf_stripe_left(&who, cell, &at))) {
        return;
    }
    (void)wf_cellmap_take(ctx, &who.rank->handles, header->data.sender_handle);
    if (who.rank->state != WF_RANK_FAILED) {
        data_gone(&who, cell, header->data.departure, at);
    }
}

/* A message within the node. Its sender may go on in the same event, which has left its note:
 * marks of the sender get another event. */
void wf_protocol_local(const struct wf_ranks *ranks, struct wf_ctx *ctx, void *node,
                       const struct wf_event *ev)
{
    const struct wf_net_message *msg = (const void *)ev->payload;
    struct wf_msg_header header;

    memcpy(&header, msg->header, sizeof(header));
    const struct wf_local_times times =
        wf_local_carry(&ranks->local, ctx, node, header.src_slot, header.dst_slot, msg->bytes);
    wf_protocol_arrived(wf_unconst(ranks), ctx, node, msg, times.arrival);
    if (leaves(ranks, &header) && wf_local_leaves_later(&ranks->local)) {
        data_left(ranks, ctx, node, &header, times.left, true);
    }
}

void wf_protocol_sent(void *ranks, struct wf_ctx *ctx, void *part,
                      const struct wf_net_message *msg)
{
    const struct wf_ranks *run = ranks;
    struct wf_msg_header header;

    memcpy(&header, msg->header, sizeof(header));
    if (leaves(run, &header)) {
        data_left(run, ctx, wf_rails_state(&run->rails, ctx, part), &header,
                  wf_time_add(wf_now(ctx), run->costs.injection), false);
    }
}

void wf_protocol_depart(const struct wf_ranks *ranks, struct wf_ctx *ctx, void *node,
                        const struct wf_event *ev)
{
    const struct wf_node_departure *departure = (const void *)ev->payload;
    int64_t left = wf_node_nic_event(&ranks->nics, ctx, node, ev);
    struct wf_msg_header header;

    memcpy(&header, departure->header, sizeof(header));
    if (leaves(ranks, &header) && left != WF_NET_LATER) {
        data_left(ranks, ctx, node, &header, left, false);
    }
}
