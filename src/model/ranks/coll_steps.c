/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a collective: what it sends, receives, waits for and combines. */
#include "base/arith.h"
#include "model/ranks/coll_run.h"
#include "model/ranks/deferred.h"
#include "model/ranks/protocol.h"

static inline struct wf_peer peer_of(const struct wf_collective_run *run, uint32_t rank,
                                     const struct wf_coll_slots *slots, bool received)
{
    uint64_t bytes = run->traffic > 0
                         ? run->traffic
                         : wf_coll_bytes(&run->args, run->n_slots, slots, received);

    return (struct wf_peer){
        .rank = wf_rank_group_member(&run->group, rank),
        .tag = wf_collective_tag(run),
        .group = run->group.id,
        .bytes =
            run->protocol == WF_COLL_PLAIN ? bytes : wf_coll_wire_bytes(run->protocol, bytes),
    };
}

/* Whether the collective claims its rank's core. */
static bool takes_turns(const struct wf_collective_run *run)
{
    return run->who->ranks->timeshare != NULL && wf_collective_blocks(run->coll);
}

/* The CPU time of messages up to the collective's clock: claims the core for what lies after
 * now. False if there is nothing to claim. */
static bool claim_core(const struct wf_collective_run *run, bool receiving)
{
    const struct wf_caller *who = run->who;
    int64_t now = wf_now(who->ctx), work = run->coll->at - now;

    if (!takes_turns(run) || work <= 0) {
        return false;
    }
    run->coll->at = now;
    wf_rank_claim_edit(who)->receiving = receiving;
    wf_timeshare_begin(who->ranks->timeshare, who->ctx, who->node, who->slot, work);
    return true;
}

/* Sends the message of a step. False if that has to wait for the engine's time or the core. */
static bool send_step(struct wf_collective_run *run, const struct wf_coll_step *step)
{
    const struct wf_caller *who = run->who;
    struct wf_rank_request *coll = run->coll;
    struct wf_peer to = peer_of(run, step->send_to, &step->send, false);

    if ((coll->flags & WF_REQ_PAID) == 0) {
        int64_t cost = wf_protocol_send_ps(who, &to);

        coll->at = wf_time_add(coll->at, cost);
        wf_collective_account(who, coll, cost);
    }
    if (who->ranks->pace != WF_PACE_AHEAD && coll->at > wf_now(who->ctx)) {
        coll->flags |= WF_REQ_PAID;
        if (!claim_core(run, false)) {
            wf_collective_continue_at(run, coll->at);
        }
        return false;
    }
    coll->flags &= (uint16_t)~WF_REQ_PAID;
    coll->coll.missing += wf_protocol_send(who, &to, wf_rank_context(run->group.id, true),
                                           coll->at, run->cell) != 0;
    return true;
}

static void recv_step(struct wf_collective_run *run, const struct wf_coll_step *step)
{
    const struct wf_peer from = peer_of(run, step->recv_from, &step->recv, true);

    run->coll->coll.missing++;
    (void)wf_protocol_recv(run->who, &from, wf_rank_context(run->group.id, true), run->coll->at,
                           (struct wf_recv_use){run->cell, WF_RANK_NO_REQUEST});
}

/* The data received since the last wait: in the previous step, and in the steps before it that
 * did not wait. */
struct batch {
    uint64_t combined; /* bytes that are combined with the rank's own */
    bool any, any_remote;
};

static struct batch batch_of(const struct wf_collective_run *run)
{
    const struct wf_ranks *ranks = run->who->ranks;
    uint32_t k = run->coll->coll.step, node = wf_place_node(ranks->place, run->who->number);
    bool is_first = (run->coll->flags & WF_REQ_LAST) == 0;
    struct batch batch = {.combined = 0};
    struct wf_coll_step step;

    for (; k > 0 && run->ops->step(&run->args, k - 1, &step); k--) {
        if (!is_first && !step.go_on) {
            break;
        }
        is_first = false;
        if (step.recv_from >= run->args.size) {
            continue;
        }
        uint32_t from = wf_rank_group_member(&run->group, step.recv_from);
        batch.any = true;
        batch.any_remote |= wf_place_node(ranks->place, from) != node;
        if (step.take == WF_COLL_COMBINE || step.take == WF_COLL_COMBINE_RESULT) {
            batch.combined = wf_count_add(
                batch.combined, wf_coll_bytes(&run->args, run->n_slots, &step.recv, true));
        }
    }
    return batch;
}

/* What the received data costs besides the messages: combining it and, with a protocol of GPUs,
 * the latency of a step. GPUs combine the beginning of the data while the rest arrives. Returns
 * the time of combining. */
static int64_t finish_batch(struct wf_collective_run *run)
{
    enum { SLICE = 512 << 10 };
    const struct wf_ranks *ranks = run->who->ranks;
    const struct batch batch = batch_of(run);
    uint64_t bytes = batch.combined;
    int64_t combining = 0;

    if (run->protocol != WF_COLL_PLAIN) {
        bytes = bytes < SLICE ? bytes : SLICE;
        if (batch.any && run->ops->hops == NULL) {
            run->coll->at = wf_time_add(run->coll->at,
                                        wf_coll_nccl_step_ps(run->protocol, !batch.any_remote));
        }
    }
    if (ranks->mpi->reduce_bandwidth != UINT64_MAX) {
        combining = wf_cpu_time(ranks->contention.crowd,
                                wf_transfer_ps(bytes, ranks->mpi->reduce_bandwidth));
        run->coll->at = wf_time_add(run->coll->at, combining);
    }
    return combining;
}

/* All messages that the step waited for have arrived. */
static void collect_step(struct wf_collective_run *run)
{
    int64_t cpu_ps;

    run->coll->at = wf_request_collect(run->who, run->cell, run->coll->at, &cpu_ps);
    if (run->protocol != WF_COLL_PLAIN ||
        run->who->ranks->mpi->reduce_bandwidth != UINT64_MAX) {
        cpu_ps = wf_time_add(cpu_ps, finish_batch(run));
    }
    wf_collective_account(run->who, run->coll, cpu_ps);
    run->coll->flags &= (uint16_t)~WF_REQ_POSTED;
}

/* Posts the messages of a step. False if the send has to wait for the engine's time. A peer
 * outside the communicator means no message, or a neighbour that is WF_PROC_NULL. */
static bool post_step(struct wf_collective_run *run, const struct wf_coll_step *step)
{
    struct wf_rank_request *coll = run->coll;
    bool receives = step->recv_from < run->args.size && !wf_ranks_only_send(run->who->ranks);
    bool waits = wf_ranks_read_in_waits(run->who->ranks);

    /* As libraries do; a send that waits for the engine's time comes here again. */
    if (waits && receives && (coll->flags & WF_REQ_PAID) == 0) {
        recv_step(run, step);
    }
    if (step->send_to < run->args.size && (coll->flags & WF_REQ_SENT) == 0) {
        if (!send_step(run, step)) {
            return false;
        }
        coll->flags |= WF_REQ_SENT;
    }
    if (receives && !waits) {
        recv_step(run, step);
    }
    coll->flags &= (uint16_t)~WF_REQ_SENT;
    coll->coll.step++;
    if (!step->go_on) {
        coll->flags |= WF_REQ_POSTED;
    }
    return true;
}

/* Whether the last byte for the step has not arrived yet and the collective has to wait for it
 * before it can claim the core. */
static bool waits_for_data(const struct wf_collective_run *run)
{
    int64_t latest = takes_turns(run) ? wf_request_latest(run->who, run->cell) : 0;

    if (latest <= wf_now(run->who->ctx)) {
        return false;
    }
    wf_collective_continue_at(run, latest);
    return true;
}

bool wf_collective_steps(struct wf_collective_run *run)
{
    struct wf_rank_request *coll = run->coll;

    for (;;) {
        struct wf_coll_step step;

        if (coll->flags & WF_REQ_POSTED) {
            if (coll->coll.missing > 0 || wf_collective_is_deferred(run) ||
                waits_for_data(run)) {
                return false;
            }
            collect_step(run);
            if (claim_core(run, true)) {
                return false;
            }
        }
        if (run->who->rank->state == WF_RANK_FAILED) {
            return false;
        }
        if (coll->flags & WF_REQ_LAST) {
            return true;
        }
        if (!run->ops->step(&run->args, coll->coll.step, &step)) {
            coll->flags |= WF_REQ_LAST | WF_REQ_POSTED;
        } else if (!post_step(run, &step)) {
            return false;
        }
    }
}
