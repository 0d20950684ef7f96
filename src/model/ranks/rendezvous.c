/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/rendezvous.h"

#include "model/ranks/collective.h"
#include "model/ranks/deferred.h"
#include "model/ranks/stripe.h"

uint32_t wf_rendezvous_announce(const struct wf_caller *who, const struct wf_peer *to,
                                uint32_t context, int64_t start, uint32_t owner)
{
    uint32_t cell = wf_cell_new_for(who->ctx, WF_REQ_SIZE);
    uint32_t handle = wf_request_new_handle(who);

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
    wf_cellmap_put(who->ctx, &wf_rank_cold_edit(who)->handles, handle, cell);

    struct wf_msg_header header = {
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

    if (who->ranks->mpi->progress != WF_PROGRESS_INDEPENDENT &&
        who->rank->state != WF_RANK_ENDED && who->ranks->timeshare == NULL) {
        register_in_call(who, recv, cpu_ps, asking);
    } else {
        asking->at = wf_time_add(asking->at, cpu_ps);
    }
}

/* Asks for the data. */
static void ask_for_data(const struct wf_caller *who, struct asking asking)
{
    struct wf_rank_request *recv = wf_request_edit(who, asking.cell);
    uint32_t handle = wf_request_new_handle(who);

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
    wf_cellmap_put(who->ctx, &wf_rank_cold_edit(who)->handles, handle, asking.cell);
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
static void send_data(const struct wf_caller *who, uint32_t cell, uint32_t receiver_handle,
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
        wf_request_drop_handle(who, handle);
        data_gone(who, cell, at, left);
    }
}

/* Tells the sender that its data has been read. `cause` says why that is now. */
static void confirm_data(const struct wf_caller *who, uint32_t to, uint32_t sender_handle,
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
    uint32_t cell = wf_cell_new_for(who->ctx, WF_REQ_SIZE);
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
    confirm_data(who, req.msg.peer, req.other_handle, req.msg.handle, at,
                 (struct wf_cause){.since = at, .from = who->number, .why = WF_WHY_CALLED});
}

/* Defers an operation to the rank's next call; the request of the other side has this
 * handle. */
static void defer_request(const struct wf_caller *who, uint32_t cell, uint32_t other_handle)
{
    struct wf_rank_request *req = wf_request_edit(who, cell);

    req->other_handle = other_handle;
    wf_request_defer(who, cell, &req->msg.next_deferred);
}

void wf_rendezvous_run_deferred(const struct wf_caller *who, uint32_t cell, int64_t at)
{
    const struct wf_rank_request *req = wf_request_read(who, cell);

    if (req->kind == WF_REQ_RECV) {
        ask_for_data(who, (struct asking){.cell = cell,
                                          .sender_handle = req->other_handle,
                                          .bytes = req->announced,
                                          .at = at,
                                          .ready = READY_IN_CALL - at});
    } else if (req->kind == WF_REQ_CONFIRM) {
        run_confirmation(who, cell, at);
    } else {
        send_data(who, cell, req->other_handle, at,
                  (struct wf_cause){.since = at, .from = who->number, .why = WF_WHY_CALLED});
    }
}

void wf_rendezvous_match(const struct wf_caller *who, uint32_t cell,
                         const struct wf_rank_request *message)
{
    struct wf_rank_request *recv = wf_request_edit(who, cell);
    int64_t at = wf_rank_attend(who, wf_max_i64(recv->at, message->at), message->at);
    if (at == WF_NET_LATER) {
        recv->announced = (uint32_t)message->unexpected.bytes;
        defer_request(who, cell, message->unexpected.sender_handle);
    } else {
        bool announced = recv->at < message->at;

        ask_for_data(who, (struct asking){.cell = cell,
                                          .sender_handle = message->unexpected.sender_handle,
                                          .bytes = message->unexpected.bytes,
                                          .at = at,
                                          .ready = announced ? READY_BEFORE : recv->at,
                                          .announced = announced});
    }
}

/* The request with this handle and kind. In a run that will be rolled back it may be
 * missing. */
static uint32_t find_request(const struct wf_arrival *arrival, uint32_t handle,
                             enum wf_rank_request_kind kind)
{
    const struct wf_caller *who = &arrival->who;
    uint32_t cell = wf_cellmap_get(who->ctx, &wf_rank_cold(who)->handles, handle);

    return cell != 0 && wf_request_read(who, cell)->kind == kind ? cell : 0;
}

/* Which side was ready last for the data of a long message. */
static struct wf_cause who_was_last(const struct wf_arrival *arrival,
                                    const struct wf_rank_request *send)
{
    struct wf_cause cause = {.since = arrival->header->ask.ready,
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

void wf_rendezvous_asked(const struct wf_arrival *arrival)
{
    const struct wf_caller *who = &arrival->who;
    uint32_t cell = find_request(arrival, arrival->header->ask.sender_handle, WF_REQ_SEND);
    uint32_t receiver_handle = arrival->header->ask.receiver_handle;
    int64_t at =
        is_read(who->ranks) ? arrival->at : wf_rank_attend(who, arrival->at, arrival->at);

    if (cell == 0 || (wf_request_read(who, cell)->flags & WF_REQ_DEFERRED)) {
        return;
    }
    if (at == WF_NET_LATER) {
        defer_request(who, cell, receiver_handle);
    } else {
        send_data(who, cell, receiver_handle, at,
                  who_was_last(arrival, wf_request_read(who, cell)));
    }
}

/* The receiver has read all data: it confirms that, now or in its next call. */
static void confirm_arrival(const struct wf_arrival *arrival)
{
    const struct wf_caller *who = &arrival->who;
    uint32_t sender_handle = arrival->header->data.sender_handle;
    uint32_t receiver_handle = arrival->header->data.receiver_handle;

    if (wf_rank_progress(who, arrival->at) == WF_NET_LATER) {
        defer_confirmation(who, arrival->from, sender_handle, receiver_handle);
        return;
    }
    confirm_data(who, arrival->from, sender_handle, receiver_handle, arrival->at,
                 (struct wf_cause){.since = arrival->header->data.departure,
                                   .bytes = arrival->bytes,
                                   .from = arrival->from,
                                   .from_track = wf_track_asked(sender_handle),
                                   .why = WF_WHY_DATA});
}

void wf_rendezvous_data(const struct wf_arrival *arrival)
{
    const struct wf_caller *who = &arrival->who;
    const struct wf_msg_header *header = arrival->header;
    uint32_t cell = find_request(arrival, header->data.receiver_handle, WF_REQ_RECV);

    wf_arrival_note(arrival, header->data.departure);
    if (cell == 0) {
        return;
    }
    wf_request_drop_handle(who, header->data.receiver_handle);

    struct wf_rank_request *recv = wf_request_edit(who, cell);
    if (wf_request_is_misfit(who, recv, arrival->bytes)) {
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

void wf_rendezvous_part(const struct wf_arrival *arrival)
{
    struct wf_arrival whole = *arrival;
    uint32_t cell = find_request(arrival, arrival->header->data.receiver_handle, WF_REQ_RECV);

    if (cell != 0 && wf_stripe_arrived(cell, &whole)) {
        wf_rendezvous_data(&whole);
    }
}

void wf_rendezvous_confirmed(const struct wf_arrival *arrival)
{
    const struct wf_caller *who = &arrival->who;
    uint32_t handle = arrival->header->confirm.sender_handle;
    uint32_t cell = find_request(arrival, handle, WF_REQ_SEND);

    if (cell == 0) {
        return;
    }
    wf_request_drop_handle(who, handle);

    struct wf_rank_request *send = wf_request_edit(who, cell);
    send->key.src = arrival->header->confirm.receiver_handle;
    send->msg.departure = ~arrival->header->confirm.departure;
    send->flags |= WF_REQ_CONFIRMED;
    wf_request_complete(who, cell, arrival->at);
}

bool wf_rendezvous_awaits_leaving(const struct wf_ranks *ranks,
                                  const struct wf_msg_header *header)
{
    return (header->any.kind == WF_MSG_DATA || header->any.kind == WF_MSG_PART) &&
           !is_read(ranks);
}

void wf_rendezvous_left(const struct wf_caller *who, const struct wf_msg_header *header,
                        int64_t at)
{
    uint32_t cell =
        wf_cellmap_get(who->ctx, &wf_rank_cold(who)->handles, header->data.sender_handle);

    if (cell == 0 || (header->any.kind == WF_MSG_PART && !wf_stripe_left(who, cell, &at))) {
        return;
    }
    wf_request_drop_handle(who, header->data.sender_handle);
    if (who->rank->state != WF_RANK_FAILED) {
        data_gone(who, cell, header->data.departure, at);
    }
}
