/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/rank.h"

#include "mpi/internal.h"
#include "mpi/match.h"

#include <assert.h>
#include <string.h>

/* What this layer writes on its messages. The message knows the node it comes from and the
 * event the node it goes to, so that seats say which ranks. */
struct envelope {
    uint16_t src_seat, dst_seat;
    int32_t tag;
    uint32_t context;
    uint32_t departure[2]; /* an int64_t, in pieces because this is aligned to 4 */
};

_Static_assert(sizeof(struct envelope) == WF_ENVELOPE_WORDS * sizeof(uint32_t),
               "an envelope fills its place");

void wf_mpi_init(struct wf_mpi *mpi, const struct wf_net *net, uint32_t n_ranks,
                 uint32_t ranks_per_node, size_t seat_size)
{
    assert(n_ranks >= 1 && ranks_per_node >= 1 && ranks_per_node <= WF_MPI_SEATS_MAX);
    assert(seat_size >= sizeof(struct wf_rank) && seat_size % 8 == 0 &&
           net->node_size % 8 == 0);
    *mpi = (struct wf_mpi){
        .net = net,
        .n_ranks = n_ranks,
        .ranks_per_node = ranks_per_node,
        .seats_offset = net->node_size,
        .seat_size = seat_size,
        /* The clocks of several ranks on a node are not in order. */
        .runs_ahead =
            net->ahead == WF_NET_ANY || (net->ahead == WF_NET_IN_ORDER && ranks_per_node == 1),
    };
}

size_t wf_mpi_node_size(const struct wf_mpi *mpi)
{
    return mpi->seats_offset + mpi->ranks_per_node * mpi->seat_size;
}

size_t wf_mpi_payload_max(const struct wf_mpi *mpi)
{
    size_t own = sizeof(uint64_t);

    return mpi->net->payload_max > own ? mpi->net->payload_max : own;
}

size_t wf_mpi_cell_size(void)
{
    return sizeof(struct wf_receive);
}

uint32_t wf_mpi_n_nodes(uint32_t n_ranks, uint32_t ranks_per_node)
{
    return (n_ranks - 1) / ranks_per_node + 1;
}

static uint32_t node_number(const struct wf_mpi *mpi, const struct wf_ctx *ctx)
{
    return wf_self(ctx) - mpi->net->first_node;
}

uint32_t wf_mpi_n_seats(const struct wf_mpi *mpi, const struct wf_ctx *ctx)
{
    uint32_t first = node_number(mpi, ctx) * mpi->ranks_per_node;
    uint32_t left = mpi->n_ranks - first;

    return left < mpi->ranks_per_node ? left : mpi->ranks_per_node;
}

uint32_t wf_mpi_number(const struct wf_mpi *mpi, const struct wf_ctx *ctx, uint32_t seat)
{
    return node_number(mpi, ctx) * mpi->ranks_per_node + seat;
}

struct wf_caller wf_mpi_caller(const struct wf_mpi *mpi, struct wf_ctx *ctx, void *node,
                               uint32_t seat)
{
    return (struct wf_caller){
        .mpi = mpi,
        .ctx = ctx,
        .node = node,
        .rank = (void *)((unsigned char *)node + mpi->seats_offset + seat * mpi->seat_size),
        .seat = seat,
        .number = wf_mpi_number(mpi, ctx, seat),
    };
}

const struct wf_rank *wf_mpi_rank(const struct wf_mpi *mpi, const void *node, uint32_t seat)
{
    return (const void *)((const unsigned char *)node + mpi->seats_offset +
                          seat * mpi->seat_size);
}

static void schedule_resume(struct wf_ctx *ctx, uint64_t seat, int64_t delay)
{
    wf_schedule(ctx, wf_self(ctx), delay, WF_MPI_RESUME, &seat, sizeof(seat));
}

void wf_mpi_start(const struct wf_mpi *mpi, struct wf_ctx *ctx)
{
    uint32_t n_seats = wf_mpi_n_seats(mpi, ctx);

    for (uint32_t seat = 0; seat < n_seats; seat++) {
        schedule_resume(ctx, seat, 0);
    }
}

void wf_mpi_yield(const struct wf_caller *who)
{
    int64_t clock = who->rank->clock;

    schedule_resume(who->ctx, who->seat,
                    clock == WF_TIME_MAX ? WF_TIME_MAX : clock - wf_now(who->ctx));
}

void wf_mpi_compute(const struct wf_caller *who, int64_t duration)
{
    who->rank->clock = wf_time_add(who->rank->clock, duration);
}

enum wf_called wf_mpi_send_in(const struct wf_caller *who, const struct wf_peer *to,
                              uint32_t context)
{
    const struct wf_mpi *mpi = who->mpi;
    struct wf_rank *rank = who->rank;
    uint32_t dst_node = to->rank / mpi->ranks_per_node;
    struct envelope envelope = {
        .src_seat = (uint16_t)who->seat,
        .dst_seat = (uint16_t)(to->rank - dst_node * mpi->ranks_per_node),
        .tag = to->tag,
        .context = context,
    };
    struct wf_message msg = {.bytes = to->bytes, .src_node = node_number(mpi, who->ctx)};

    if (rank->overhead_paid == 0) {
        rank->clock = wf_time_add(rank->clock, mpi->net->o_send_ps);
    }
    if (!mpi->runs_ahead && rank->clock > wf_now(who->ctx)) {
        rank->overhead_paid = 1;
        wf_mpi_yield(who);
        return WF_CALLED_AGAIN;
    }
    rank->overhead_paid = 0;
    rank->sent_messages++;
    rank->sent_bytes = wf_count_add(rank->sent_bytes, to->bytes);
    memcpy(envelope.departure, &rank->clock, sizeof(envelope.departure));
    memcpy(msg.envelope, &envelope, sizeof(envelope));
    /* An eager send is over when the network has the message: when its last byte leaves is of
     * no interest. */
    (void)mpi->net->ops->send(mpi->net, who->ctx, who->node, dst_node, &msg, rank->clock);
    return WF_CALLED_DONE;
}

void wf_mpi_irecv_in(const struct wf_caller *who, const struct wf_peer *from, uint32_t context,
                     uint32_t request)
{
    const struct wf_match_key key = {.src = from->rank, .tag = from->tag, .context = context};

    wf_match_post(who->ctx, who->rank, &key, from->bytes, request);
}

enum wf_called wf_mpi_send(const struct wf_caller *who, const struct wf_peer *to)
{
    return wf_mpi_send_in(who, to, wf_match_context(to->comm, false));
}

void wf_mpi_irecv(const struct wf_caller *who, const struct wf_peer *from, uint32_t request)
{
    wf_mpi_irecv_in(who, from, wf_match_context(from->comm, false), request);
}

enum wf_called wf_mpi_recv(const struct wf_caller *who, const struct wf_peer *from)
{
    wf_mpi_irecv(who, from, WF_MPI_REQUEST_RECV);
    return wf_mpi_wait(who, WF_MPI_REQUEST_RECV, 1);
}

/* All that the rank waited for is there: the CPU takes it in, in the order of arrival. */
static void complete_wait(const struct wf_caller *who)
{
    struct wf_rank *rank = who->rank;
    int64_t overhead = who->mpi->net->o_recv_ps;
    int64_t at;

    while (wf_match_take(who->ctx, rank, rank->wait_first, rank->wait_count, &at)) {
        if (at > rank->clock) {
            rank->wait_ps += at - rank->clock;
            rank->clock = at;
        }
        rank->clock = wf_time_add(rank->clock, overhead);
    }
    rank->state = WF_RANK_READY;
}

enum wf_called wf_mpi_wait(const struct wf_caller *who, uint32_t first, uint32_t count)
{
    struct wf_rank *rank = who->rank;

    rank->wait_first = first;
    rank->wait_count = count;
    rank->missing = wf_match_missing(who->ctx, rank, first, count);
    if (rank->missing > 0) {
        rank->state = WF_RANK_WAITING;
        return WF_CALLED_BLOCKED;
    }
    complete_wait(who);
    return WF_CALLED_DONE;
}

void wf_mpi_end(const struct wf_caller *who)
{
    who->rank->state = WF_RANK_ENDED;
}

bool wf_mpi_blocked_on(struct wf_ctx *ctx, const struct wf_rank *rank, struct wf_peer *from)
{
    const struct wf_receive *receive = NULL;

    if (rank->state == WF_RANK_WAITING) {
        receive = wf_match_first_missing(ctx, rank, rank->wait_first, rank->wait_count);
    }
    if (receive == NULL) {
        return false;
    }
    *from = (struct wf_peer){.rank = receive->src,
                             .tag = receive->tag,
                             .comm = receive->context / 2,
                             .bytes = receive->bytes};
    return true;
}

/* The rank is not waiting any more: first the collective it is in, then its own program. */
static void proceed(const struct wf_caller *who)
{
    if (who->rank->coll_algorithm != 0 && wf_mpi_collective_go(who) != WF_CALLED_DONE) {
        return;
    }
    who->mpi->resume(who->mpi->arg, who->ctx, who->node, who->seat);
}

static void note_latency(struct wf_ctx *ctx, const struct envelope *envelope, int64_t at)
{
    int64_t departure, latency;

    memcpy(&departure, envelope->departure, sizeof(departure));
    latency = at - departure;
    wf_note(ctx, &latency, sizeof(latency));
}

static void arrived(void *arg, struct wf_ctx *ctx, void *node, const struct wf_message *msg,
                    int64_t at)
{
    const struct wf_mpi *mpi = arg;
    struct envelope envelope;
    uint32_t request;

    memcpy(&envelope, msg->envelope, sizeof(envelope));

    const struct wf_match_key key = {msg->src_node * mpi->ranks_per_node + envelope.src_seat,
                                     envelope.tag, envelope.context};
    const struct wf_caller who = wf_mpi_caller(mpi, ctx, node, envelope.dst_seat);
    struct wf_rank *rank = who.rank;

    note_latency(ctx, &envelope, at);
    wf_touch(ctx, rank, sizeof(*rank));
    if (!wf_match_arrive(ctx, rank, &key, msg->bytes, at, &request) ||
        rank->state != WF_RANK_WAITING || request - rank->wait_first >= rank->wait_count) {
        return;
    }
    if (--rank->missing == 0) {
        complete_wait(&who);
        proceed(&who);
    }
}

/* Of no interest to the eager protocol. */
static void sent(void *arg, struct wf_ctx *ctx, void *node, const struct wf_message *msg)
{
    (void)arg;
    (void)ctx;
    (void)node;
    (void)msg;
}

void wf_mpi_attach(struct wf_mpi *mpi, struct wf_net *net, struct wf_engine *engine,
                   uint32_t first_node)
{
    const struct wf_net_user user = {.arg = mpi, .arrived = arrived, .sent = sent};

    assert(net == mpi->net && mpi->resume != NULL);
    wf_engine_cells(engine, wf_mpi_cell_size());
    wf_net_attach(net, engine, first_node, &user);
}

void wf_mpi_event(const struct wf_mpi *mpi, struct wf_ctx *ctx, void *node,
                  const struct wf_event *ev)
{
    if (ev->kind < WF_NET_KINDS) {
        mpi->net->ops->event(mpi->net, ctx, node, ev);
        return;
    }

    const struct wf_caller who = wf_mpi_caller(mpi, ctx, node, (uint32_t)ev->payload[0]);

    assert(ev->kind == WF_MPI_RESUME);
    wf_touch(ctx, who.rank, sizeof(*who.rank));
    proceed(&who);
}
