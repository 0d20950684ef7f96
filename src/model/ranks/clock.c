/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of a rank, and the time that it spends on its core. */
#include "model/ranks/clock.h"

void wf_rank_resume_at(const struct wf_caller *who, int64_t at)
{
    const struct wf_node_wakeup wakeup = {who->slot, ++who->rank->ticket};

    wf_schedule(who->ctx, wf_self(who->ctx),
                at == WF_TIME_MAX ? WF_TIME_MAX : at - wf_now(who->ctx), WF_NODE_RESUME,
                &wakeup, sizeof(wakeup));
}

void wf_rank_yield(const struct wf_caller *who)
{
    wf_rank_resume_at(who, who->rank->clock);
}

/* ---- ranks that share cores ---- */

/* The rank has spent CPU time on messages while it waited for others. */
static void spend_owed(const struct wf_caller *who, int64_t time)
{
    int64_t until = wf_time_add(who->rank->clock, time);

    wf_rank_claim_edit(who)->owed -= time;
    wf_rank_spent(who, WF_SPENT_ON_MESSAGES, until);
    who->rank->clock = until;
}

/* Whether the rank has spent all CPU time that it was charged; else claims its core for the
 * rest. Part of the time may lie before the last message that the rank waited for. */
static bool has_spent_all(const struct wf_caller *who)
{
    int64_t past = wf_now(who->ctx) - who->rank->clock;
    int64_t owed = wf_rank_claim(who)->owed;

    if (owed > 0 && past > 0) {
        spend_owed(who, wf_min_i64(owed, past));
        owed = wf_rank_claim(who)->owed;
    }
    if (owed > 0) {
        who->rank->ticket++; /* only the core resumes the rank */
        wf_timeshare_begin(who->ranks->timeshare, who->ctx, who->node, who->slot, owed);
    }
    return owed == 0;
}

void wf_rank_served(const struct wf_caller *who)
{
    struct wf_timeshare_claim *claim = wf_rank_claim_edit(who);
    struct wf_rank_slot *slot = (struct wf_rank_slot *)who->rank;
    int64_t since = who->rank->clock, now = wf_now(who->ctx);
    int64_t begin = now - claim->busy; /* as if the core had served it in one piece */

    if (begin > since) {
        wf_cause_note(who, (struct wf_cause){.until = begin,
                                             .since = since,
                                             .from = who->number,
                                             .taken = wf_rank_taken(who, claim),
                                             .why = WF_WHY_CORE});
        wf_rank_spent(who, (enum wf_spent)WF_SPENT_WAITING + WF_IN_CORE, begin);
        claim->wait_ps = wf_time_add(claim->wait_ps, begin - since);
        who->rank->clock = begin;
    }
    wf_rank_spent(who, claim->computing ? WF_SPENT_COMPUTING : WF_SPENT_ON_MESSAGES, now);
    who->rank->clock = now;
    if (claim->computing) {
        wf_touch(who->ctx, &slot->progress.compute_ps, sizeof(slot->progress.compute_ps));
        slot->progress.compute_ps = wf_time_add(slot->progress.compute_ps, claim->busy);
    }
    claim->owed = 0;
    claim->computing = 0;
    claim->receiving = 0;
}

uint64_t wf_rank_taken(const struct wf_caller *who, const struct wf_timeshare_claim *claim)
{
    int64_t unit = who->ranks->costs.recv_unit;

    return claim->receiving && unit > 0 ? (uint64_t)(claim->busy / unit) : 0;
}

enum wf_called wf_rank_sync(const struct wf_caller *who)
{
    if (who->rank->clock > wf_now(who->ctx)) {
        wf_rank_yield(who);
        return WF_CALLED_AGAIN;
    }
    if (who->ranks->timeshare != NULL && !has_spent_all(who)) {
        return WF_CALLED_AGAIN;
    }
    who->rank->computes = 0;
    return WF_CALLED_DONE;
}

int64_t wf_rank_compute(const struct wf_caller *who, int64_t duration)
{
    const struct wf_ranks *ranks = who->ranks;
    int64_t since = who->rank->clock, until = wf_time_add(since, duration);

    who->rank->computes = 1;
    if (ranks->timeshare != NULL) {
        if (duration > 0) {
            wf_rank_claim_edit(who)->owed = duration;
            wf_rank_claim_edit(who)->computing = 1;
        }
        return 0;
    }
    if (ranks->noise.kind != WF_NODE_NOISE_NONE) {
        const struct wf_noise_core core = {wf_self(who->ctx) - ranks->net->first_node,
                                           wf_cores_core(&ranks->local.cores, who->slot)};

        until = wf_noise_end(&ranks->noise, core, since, duration);
    }
    wf_rank_spent(who, WF_SPENT_COMPUTING, until);
    who->rank->clock = until;
    return until - since;
}

int64_t wf_rank_sleep(const struct wf_caller *who, int64_t duration)
{
    int64_t since = who->rank->clock, until = wf_time_add(since, duration);

    who->rank->computes = 1;
    wf_rank_spent(who, WF_SPENT_COMPUTING, until);
    who->rank->clock = until;
    return until - since;
}

/* ---- shared cores ---- */

static void advance_shared(const struct wf_caller *who, int64_t at, enum wf_rank_in in)
{
    struct wf_rank *rank = who->rank;
    int64_t owed = wf_rank_claim(who)->owed;

    if (at > wf_time_add(rank->clock, owed)) {
        if (owed > 0) {
            spend_owed(who, owed);
        }
        wf_rank_spent(who, WF_SPENT_WAITING + (enum wf_spent)in, at);
        rank->wait_ps[in] += at - rank->clock;
        rank->clock = at;
    }
}

static void charge_shared(const struct wf_caller *who, int64_t overhead)
{
    struct wf_timeshare_claim *claim = wf_rank_claim_edit(who);

    who->rank->overhead_ps = wf_time_add(who->rank->overhead_ps, overhead);
    claim->owed = wf_time_add(claim->owed, overhead);
}

static void receive_shared(const struct wf_caller *who, int64_t at, int64_t overhead)
{
    advance_shared(who, at, WF_IN_RECV);
    charge_shared(who, overhead);
}

/* ---- recorded runs ---- */

static void advance_recorded(const struct wf_caller *who, int64_t at, enum wf_rank_in in)
{
    struct wf_rank *rank = who->rank;
    int64_t since = rank->clock;

    if (at > since) {
        rank->wait_ps[in] += at - since;
        rank->clock = at;
        wf_rank_did(who, WF_SPENT_WAITING + (enum wf_spent)in, since, at);
    }
}

static void charge_recorded(const struct wf_caller *who, int64_t overhead)
{
    struct wf_rank *rank = who->rank;
    int64_t since = rank->clock;

    rank->overhead_ps = wf_time_add(rank->overhead_ps, overhead);
    rank->clock = wf_time_add(since, overhead);
    wf_rank_did(who, WF_SPENT_ON_MESSAGES, since, rank->clock);
}

/* Not inlined, so that receive_recorded() saves no registers. */
__attribute__((noinline)) static void receive_in_steps(const struct wf_caller *who, int64_t at,
                                                       int64_t overhead)
{
    advance_recorded(who, at, WF_IN_RECV);
    charge_recorded(who, overhead);
}

static void receive_recorded(const struct wf_caller *who, int64_t at, int64_t overhead)
{
    struct wf_rank *rank = who->rank;
    const struct wf_span wait = {rank->clock, at, who->number,
                                 WF_SPENT_WAITING + (uint32_t)WF_IN_RECV};
    int64_t until = wf_time_add(at, overhead);

    if (who->sums == NULL || at <= wait.from || until <= at ||
        who->sums->last.what == wait.what) {
        receive_in_steps(who, at, overhead);
        return;
    }
    rank->wait_ps[WF_IN_RECV] += at - wait.from;
    rank->overhead_ps = wf_time_add(rank->overhead_ps, overhead);
    rank->clock = until;
    wf_recorder_add_both(&who->ranks->recorder, who->ctx, who->sums, &wait, until);
}

const struct wf_clock_ops *wf_ranks_clock_ops(const struct wf_ranks *ranks)
{
    static const struct wf_clock_ops shared = {advance_shared, charge_shared, receive_shared};
    static const struct wf_clock_ops recorded = {advance_recorded, charge_recorded,
                                                 receive_recorded};

    return ranks->timeshare != NULL              ? &shared
           : wf_recorder_is_on(&ranks->recorder) ? &recorded
                                                 : NULL;
}
