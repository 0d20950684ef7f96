/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/replay.h"

#include "base/histogram.h"
#include "base/mem.h"
#include "base/rng.h"
#include "mpi/collective.h"
#include "mpi/rank.h"
#include "replay/cpu.h"
#include "trace/source.h"

#include <stdlib.h>
#include <string.h>

/* Ops that a rank may make in one event: bounds what one handler schedules. */
enum { OPS_PER_EVENT = 1024 };

struct wf_replay {
    struct wf_mpi mpi;
    struct wf_process_ops ops;
    const struct wf_source *source;
    uint64_t cpu_scale;
};

/* A rank and the program it runs. */
struct seat {
    struct wf_rank rank; /* first */
    struct progress {
        struct wf_cursor cursor;
        int64_t compute_ps;
    } progress;
};

static struct seat *to_seat(const struct wf_caller *who)
{
    return (struct seat *)who->rank;
}

static struct wf_peer peer_of(const struct wf_op *op)
{
    return (struct wf_peer){
        .rank = op->peer, .tag = op->tag, .comm = op->comm, .bytes = op->bytes};
}

static void compute(const struct wf_caller *who, int64_t duration)
{
    const struct wf_replay *replay = who->mpi->arg;
    struct progress *progress = &to_seat(who)->progress;
    int64_t scaled = wf_cpu_time(replay->cpu_scale, duration);

    progress->compute_ps = wf_time_add(progress->compute_ps, scaled);
    wf_mpi_compute(who, scaled);
}

static enum wf_called make_call(const struct wf_caller *who, const struct wf_op *op)
{
    const struct wf_peer peer = peer_of(op);

    switch (op->kind) {
    case WF_OP_COMPUTE:
        compute(who, op->duration);
        return WF_CALLED_DONE;
    case WF_OP_SEND:
    case WF_OP_ISEND: /* complete at once: its request never is in use */
        return wf_mpi_send(who, &peer);
    case WF_OP_RECV:
        return wf_mpi_recv(who, &peer);
    case WF_OP_IRECV:
        wf_mpi_irecv(who, &peer, op->request);
        return WF_CALLED_DONE;
    case WF_OP_WAIT:
        return wf_mpi_wait(who, op->request, 1);
    case WF_OP_WAITALL:
        return wf_mpi_wait(who, op->request, op->count);
    case WF_OP_BARRIER:
        return wf_mpi_collective(who, WF_COLL_BARRIER, op->comm, 0);
    case WF_OP_ALLREDUCE:
        return wf_mpi_collective(who, WF_COLL_ALLREDUCE, op->comm, op->bytes);
    case WF_OP_MARKER:
    case WF_OP_FINALIZE:
        return WF_CALLED_DONE;
    case WF_OP_KINDS:
        break;
    }
    wf_panic("rank %u: op of unknown kind %d", who->number, (int)op->kind);
}

/* Makes the rank's calls until one of them does not return. */
static void resume(void *arg, struct wf_ctx *ctx, void *node, uint32_t seat_number)
{
    const struct wf_replay *replay = arg;
    const struct wf_caller who = wf_mpi_caller(&replay->mpi, ctx, node, seat_number);
    struct seat *seat = to_seat(&who);

    wf_touch(ctx, &seat->progress, sizeof(seat->progress));
    for (int i = 0; i < OPS_PER_EVENT; i++) {
        struct wf_cursor cursor = seat->progress.cursor;
        struct wf_op op;

        if (!wf_source_next(replay->source, who.number, &cursor, &op)) {
            wf_mpi_end(&who);
            return;
        }

        enum wf_called called = make_call(&who, &op);
        if (called == WF_CALLED_AGAIN) {
            return;
        }
        seat->progress.cursor = cursor;
        if (called == WF_CALLED_BLOCKED) {
            return;
        }
    }
    wf_mpi_yield(&who);
}

static void node_init(void *state, struct wf_ctx *ctx)
{
    const struct wf_replay *replay = wf_model(ctx);

    (void)state;
    wf_mpi_start(&replay->mpi, ctx);
}

static void node_event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    const struct wf_replay *replay = wf_model(ctx);

    wf_mpi_event(&replay->mpi, ctx, state, ev);
}

static void add_unfinished(struct wf_ctx *ctx, const struct wf_rank *rank, uint32_t number)
{
    struct wf_replay_tally *tally = wf_tally(ctx);
    struct wf_blocked blocked = {.rank = number};
    struct wf_peer from;

    tally->unfinished++;
    if (wf_mpi_blocked_on(ctx, rank, &from)) {
        blocked.waits = 1;
        blocked.source = from.rank;
        blocked.tag = from.tag;
        blocked.comm = from.comm;
        blocked.collective = rank->coll_algorithm != 0;
    }
    wf_tally_block(tally, &blocked);
}

static uint64_t fingerprint(uint32_t rank, int64_t clock)
{
    return wf_rng_mix((uint64_t)clock + (rank + UINT64_C(1)) * WF_RNG_GOLDEN);
}

static void node_finish(const void *state, struct wf_ctx *ctx)
{
    const struct wf_replay *replay = wf_model(ctx);
    struct wf_replay_tally *tally = wf_tally(ctx);
    uint32_t n_seats = wf_mpi_n_seats(&replay->mpi, ctx);
    const struct wf_net *net = replay->mpi.net;

    if (net->ops->finish != NULL) {
        net->ops->finish(net, ctx, state, &tally->net);
    }
    for (uint32_t i = 0; i < n_seats; i++) {
        const struct wf_rank *rank = wf_mpi_rank(&replay->mpi, state, i);
        int64_t compute = ((const struct seat *)rank)->progress.compute_ps;

        tally->ends += fingerprint(wf_mpi_number(&replay->mpi, ctx, i), rank->clock);
        tally->messages += rank->sent_messages;
        tally->bytes = wf_count_add(tally->bytes, rank->sent_bytes);
        tally->unreceived += rank->unexpected_messages;
        tally->timeless += rank->clock == WF_TIME_MAX;
        wf_stat_add(&tally->compute, compute);
        wf_stat_add(&tally->wait, rank->wait_ps);
        wf_stat_add(&tally->overhead, rank->clock - compute - rank->wait_ps);
        if (rank->state == WF_RANK_ENDED) {
            wf_stat_add(&tally->finish, rank->clock);
        } else {
            add_unfinished(ctx, rank, wf_mpi_number(&replay->mpi, ctx, i));
        }
    }
}

/* Latencies are counted when they are final: no rank has to keep them, and nothing is undone.
 */
static void node_commit(const struct wf_event *ev, const void *note, struct wf_ctx *ctx)
{
    const struct wf_net *net = ((const struct wf_replay *)wf_model(ctx))->mpi.net;
    struct wf_replay_tally *tally = wf_tally(ctx);
    int64_t latency;

    if (note != NULL) {
        memcpy(&latency, note, sizeof(latency));
        wf_stat_add(&tally->latency, latency);
    }
    if (net->n_sums > 0 && note != NULL) {
        wf_tally_words(tally)->word[wf_histogram_bucket((uint64_t)latency)]++;
    }
    if (net->n_sums > 0 && ev->kind < WF_NET_KINDS) {
        net->ops->commit(net, ev, ctx);
    }
}

/* Completed by the size of the network's payloads. */
static const struct wf_process_ops node_ops = {
    .name = "node",
    .announces_changes = true,
    .init = node_init,
    .event = node_event,
    .commit = node_commit,
    .finish = node_finish,
};

uint32_t wf_replay_n_nodes(uint32_t n_ranks, uint32_t ranks_per_node)
{
    return wf_mpi_n_nodes(n_ranks, ranks_per_node);
}

enum wf_status wf_replay_new(struct wf_engine *engine, const struct wf_replay_config *config,
                             struct wf_replay **out, struct wf_err *err)
{
    uint32_t n_ranks = config->source->n_ranks;
    uint32_t n_nodes = wf_mpi_n_nodes(n_ranks, config->ranks_per_node);

    if (config->ranks_per_node > WF_MPI_SEATS_MAX) {
        return wf_err_set(err, WF_EINVAL, "%u ranks on a node are too many; the limit is %d",
                          config->ranks_per_node, WF_MPI_SEATS_MAX);
    }
    if (config->net->n_nodes != n_nodes) {
        return wf_err_set(err, WF_EINVAL, "%u ranks need %u nodes, the network has %u", n_ranks,
                          n_nodes, config->net->n_nodes);
    }

    struct wf_replay *replay = wf_xcalloc(1, sizeof(*replay));

    replay->source = config->source;
    replay->cpu_scale = config->cpu_scale != 0 ? config->cpu_scale : WF_CPU_SCALE_ONE;
    wf_mpi_init(&replay->mpi, config->net, n_ranks, config->ranks_per_node,
                sizeof(struct seat));
    replay->mpi.resume = resume;
    replay->mpi.arg = replay;
    replay->ops = node_ops;
    replay->ops.payload_max = wf_mpi_payload_max(&replay->mpi);

    uint32_t first =
        wf_engine_add(engine, &replay->ops, n_nodes, wf_mpi_node_size(&replay->mpi), replay);
    if (config->net->n_sums > 0) {
        uint64_t words = config->net->n_sums + config->net->n_maxima;
        config->net->words_offset = sizeof(struct wf_replay_tally);
        wf_engine_tally(engine,
                        sizeof(struct wf_replay_tally) + sizeof(struct wf_net_words) +
                            words * sizeof(uint64_t),
                        wf_tally_merge_all);
    } else {
        wf_engine_tally(engine, sizeof(struct wf_replay_tally), wf_tally_merge);
    }
    wf_mpi_attach(&replay->mpi, config->net, engine, first);
    *out = replay;
    return WF_OK;
}

void wf_replay_free(struct wf_replay *replay)
{
    free(replay);
}

uint64_t wf_replay_expected_events(const struct wf_replay *replay)
{
    uint64_t messages = replay->source->messages_expected;
    uint64_t each = replay->mpi.runs_ahead ? 1 : 2; /* a rank's turn to send is an event then */

    return messages == 0 ? 0 : messages * each + replay->source->n_ranks;
}
